"""Vocabularies on the command line: a librarian reads names, programs read URIs."""

import json

import pytest
from in_process import call

from labelkin.storage import load
from labelkin.vocabulary import vocabulary_of

pytest.importorskip("rdflib", reason="rdflib is in the extra skos")

BASE = "http://example.org/drinks/"
SKOS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix : <http://example.org/drinks/> .
:drink a skos:Concept ; skos:prefLabel "drink"@en, "Getränk"@de .
:tea a skos:Concept ; skos:prefLabel "tea"@en, "Tee"@de ; skos:altLabel "cuppa"@en ;
  skos:notation "T1" ; skos:broader :drink .
:milk a skos:Concept ; skos:prefLabel "milk"@en, "Milch"@de ; skos:broader :drink .
:bread a skos:Concept ; skos:prefLabel "bread"@en, "Brot"@de .
:chai a skos:Concept ; skos:prefLabel "chai"@en ; dct:isReplacedBy :tea .
"""
TEXTS = {"tea": "a hot cup with leaves", "milk": "white from the cow", "bread": "baked in the oven"}
TRAIN = ("--content", "naive_bayes", "--evidence-weight", 0.5, "--min-documents", 1, "--no-stem")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A corpus by URI, the same by German names, Annif's folder with names, the vocabulary."""
    folder = tmp_path_factory.mktemp("drinks")
    (folder / "drinks.ttl").write_text(SKOS, encoding="utf-8")
    names = {"drink": "Getränk", "tea": "Tee", "milk": "Milch", "bread": "Brot"}
    by_uri, by_name = [], []
    (folder / "annif").mkdir()
    for i in range(24):
        kind = ("tea", "milk", "bread")[i % 3]
        labels = [kind] if kind == "bread" else [kind, "drink"]
        text = f"{TEXTS[kind]} number {i}"
        old = ["chai" if label == "tea" and i < 6 else label for label in labels]
        by_uri.append({"text": text, "labels": [BASE + label for label in old]})
        by_name.append({"text": text, "labels": [names[label] for label in labels]})
        (folder / "annif" / f"{i:02}.txt").write_text(text)
        subjects = [f"<{BASE}{label}>\t{names[label]}\n" for label in labels]
        (folder / "annif" / f"{i:02}.tsv").write_text("".join(subjects), encoding="utf-8")
    for name, lines in (("uris", by_uri), ("names", by_name)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    vocab = folder / "drinks.ttl"
    options = ("--vocab", vocab, "--rules", vocab, *TRAIN)
    return call("train", folder / "uris.jsonl", "-o", folder / "uris.labelkin", *options)


@pytest.fixture(scope="module")
def model(trained, folder):
    trained.done()
    return folder / "uris.labelkin"


def test_training_reports_named_labels(trained):
    assert "drinks: 4 concepts in 'de', 'en'; 4 of 4 labels have a name." in trained.err
    assert "5 labels" in trained.err and "24 documents, 4 labels" in trained.err
    assert "4 labels: 'bread', 'drink', 'milk', 'tea'" in trained.err
    assert "2 rules about labels of the corpus, of 2 in" in trained.err


def test_model_contains_the_vocabulary_and_uris_are_labels(model):
    loaded = load(model)
    assert loaded[-1].label_names_.tolist() == [BASE + x for x in ("bread", "drink", "milk", "tea")]
    assert vocabulary_of(loaded).name_of(BASE + "tea", "de") == "Tee"
    assert vocabulary_of(loaded).language == "en"
    assert set(loaded[-1].rules.implies) == {(BASE + x, BASE + "drink") for x in ("tea", "milk")}


def test_suggestions_are_shown_by_name(model):
    out = call("suggest", model, TEXTS["tea"], "--label-language", "de", "--explain").done()
    lines = out.splitlines()
    assert lines[0].split() == [
        *("label", "probability", "assigned", "prior", "content", "other", "labels", "uri"),
    ]
    shown = {line.split()[0]: line.split()[-1] for line in lines[1:5]}
    assert shown["Tee"] == BASE + "tea"
    assert set(shown) == {"Tee", "Getränk", "Milch", "Brot"}
    assert any(line.startswith("Tee: ") for line in lines)


@pytest.mark.parametrize("text", [BASE + "tea", "tea", "Tee", "T1", "cuppa", BASE + "chai"])
def test_labels_are_accepted_by_any_name(model, text):
    found = json.loads(call("suggest", model, "text", "--accept", text, "--json").done())
    assert found["known"]["accepted"] == [BASE + "tea"]


def test_a_label_that_is_mistyped_or_named_twice_is_an_error(model):
    line = call("suggest", model, "text", "--accept", "Teee").refused()
    assert "--accept must be one of the 4 labels" in line
    assert "Did you mean 'Tee'" in line  # in the language that was typed
    line = call("suggest", model, "text", "--accept", "Tee", "--reject", "T1").refused()
    assert "accepted or rejected" in line


def test_concepts_are_excluded_and_included_with_narrower_ones(model):
    without = json.loads(call("suggest", model, "x", "--exclude", "Getränk", "--json").done())
    assert [row["name"] for row in without["suggestions"]] == ["bread"]
    only = json.loads(call("suggest", model, "x", "--include", BASE + "drink", "--json").done())
    assert {row["name"] for row in only["suggestions"]} == {"drink", "milk", "tea"}
    none = ("--include", "tea", "--exclude", "drink")
    assert "must leave a label" in call("suggest", model, "Hot tea", *none).refused()


def test_predictions_have_names_beside_uris(model):
    text = f"{TEXTS['tea']}\n{TEXTS['bread']}\n".encode()
    lines = call("predict", model, "-", "--label-language", "de", "-q", stdin=text).done()
    first, second = map(json.loads, lines.splitlines())
    assert dict(zip(first["labels"], first["names"], strict=True)) == {
        BASE + "tea": "Tee",
        BASE + "drink": "Getränk",
    }
    assert list(second["probabilities"]) == [BASE + "bread"]
    table = call("predict", model, "-", "--format", "csv", "-q", stdin=text).done()
    assert table.splitlines()[0] == "id,labels,names,probabilities"
    assert table.splitlines()[2].startswith(f"2,{BASE}bread,bread,")


def test_excluded_concepts_are_not_predicted(model):
    text = f"{TEXTS['tea']}\n{TEXTS['bread']}\n".encode()
    lines = call("predict", model, "-", "--exclude", "Getränk", "-q", stdin=text).done()
    assert [json.loads(line)["names"] for line in lines.splitlines()] == [[], ["bread"]]


def test_an_audit_shows_names_of_the_vocabulary(folder, tmp_path):
    rows = [{"text": f"{TEXTS[kind]} {i}", "labels": [BASE + kind]}
            for i, kind in enumerate([*TEXTS] * 8)]  # fmt: skip
    rows[0]["labels"] = [BASE + "bread"]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = ("--vocab", folder / "drinks.ttl", "--top", 4, "--out", tmp_path / "i.jsonl")
    printed = call("audit", tmp_path / "a.jsonl", *options, "--min-documents", 1).done()
    assert "remove bread" in printed or "add tea" in printed
    issues = [json.loads(line) for line in (tmp_path / "i.jsonl").open()]
    assert {issue["label"] for issue in issues} <= {BASE + kind for kind in TEXTS}


def test_inspect_shows_the_vocabulary(model):
    out = call("inspect", model, "--label-language", "de").done()
    assert "vocabulary         drinks: 4 concepts in de, en, 4 of them labels" in out
    assert "4: 'Brot', 'Getränk', 'Milch', 'Tee'" in out
    found = json.loads(call("inspect", model, "--json").done())
    assert found["labels"][0] == BASE + "bread"
    assert found["names"][0] == "bread"
    assert found["vocabulary"]["languages"] == ["de", "en"]


def test_unknown_language_is_an_error(model, folder):
    for command in (("suggest", model, "x"), ("inspect", model), ("predict", model, "-")):
        line = call(*command, "--label-language", "fi", stdin=b"a\n").refused()
        assert "'de', 'en', got 'fi'" in line
    options = ("-o", folder / "no", "--label-language", "en", *TRAIN)
    line = call("train", folder / "uris.jsonl", *options, "-q").refused()
    assert "Name a vocabulary by --vocab" in line


def test_labels_that_are_names_are_matched_in_the_language_that_fits(folder):
    path, vocab = folder / "names.labelkin", folder / "drinks.ttl"
    done = call("train", folder / "names.jsonl", "-o", path, "--vocab", vocab, "--rules", vocab,
                *TRAIN)  # fmt: skip
    done.done()
    assert "2 rules about labels of the corpus, of 2 in" in done.err
    found = json.loads(call("suggest", path, TEXTS["tea"], "--json").done())
    tea = next(row for row in found["suggestions"] if row["label"] == "Tee")
    assert (tea["uri"], tea["name"]) == (BASE + "tea", "tea")


def test_annif_folder_contains_names(folder):
    path = folder / "annif.labelkin"
    call("train", folder / "annif", "-o", path, *TRAIN).done()
    out = call("suggest", path, TEXTS["milk"], "--top", 2).done()
    assert {line.split()[0] for line in out.splitlines()[1:]} == {"Getränk", "Milch"}
    assert BASE + "milk" in out


def test_a_vocabulary_of_other_labels_is_an_error_with_three_of_each_side(folder, tmp_path):
    (tmp_path / "other.csv").write_text("u:1,apple\nu:2,pear\nu:3,plum\nu:4,fig\n")
    line = call("train", folder / "uris.jsonl", "-o", tmp_path / "m", "--vocab",
                tmp_path / "other.csv", *TRAIN, "-q").refused()  # fmt: skip
    assert "none of the 5 labels of the corpus is in" in line
    assert f"'{BASE}bread', '{BASE}chai', '{BASE}drink' …" in line
    assert "'u:1', 'u:2', 'u:3' … (4 in all), called 'apple', 'pear', 'plum'" in line


OTHER = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<u:apple> skos:prefLabel "apple"@en ; skos:broader <u:fruit> .
<u:pear> skos:broader <u:fruit> . <u:plum> skos:broader <u:fruit> .
"""


def test_a_table_of_rules_may_use_names_of_the_vocabulary(folder, tmp_path):
    (tmp_path / "rules.csv").write_text("narrower,broader\nTee,Getränk\n", encoding="utf-8")
    path = tmp_path / "m.labelkin"
    call("train", folder / "uris.jsonl", "-o", path, "--vocab", folder / "drinks.ttl", "--rules",
         tmp_path / "rules.csv", *TRAIN).done()  # fmt: skip
    assert load(path)[-1].rules.implies == ((BASE + "tea", BASE + "drink"),)
