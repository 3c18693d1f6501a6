"""A real vocabulary of thousands of places: loaded, trained with, suggested in two languages."""

import json
import os
import random
from pathlib import Path

import pytest
from iso_codes import BASE, has_iso_codes, write_skos

from labelkin.cli import main
from labelkin.storage import load
from labelkin.vocabulary import read_vocabulary, vocabulary_of
from labelkin.vocabulary.rules import rules_of

SHARE = Path(os.environ.get("LABELKIN_ISO_CODES", "/usr/share"))
pytestmark = [
    pytest.mark.skipif(
        not has_iso_codes(SHARE, ["de"]),
        reason=f"Debian's package iso-codes, with German names, is not in {SHARE}",
    ),
    pytest.mark.xdist_group("iso codes"),
]
pytest.importorskip("rdflib", reason="rdflib is in the extra skos")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("iso") / "places.ttl"
    assert write_skos(SHARE, path, ["de"]) > 5_000
    return path


@pytest.fixture(scope="module")
def vocabulary(file):
    return read_vocabulary(file, language="en")


@pytest.fixture(scope="module")
def model(file, vocabulary, tmp_path_factory):
    """Train on documents that name the places of one country each, and have its URI, too."""
    draw = random.Random(7)
    below = {}
    for concept in vocabulary:
        for above in concept.broader:
            below.setdefault(above, []).append(concept.uri)
    lines = []
    for number in range(240):
        country = f"{BASE}{('DE', 'AT', 'CH', 'PL')[number % 4]}"
        chosen = draw.sample(below[country][:6], 2)
        text = " and ".join(vocabulary.name_of(uri) for uri in chosen)
        labels = [country, *chosen]
        lines.append({"id": number, "text": f"A journey from {text}.", "labels": labels})
    folder = tmp_path_factory.mktemp("iso-model")
    corpus = folder / "journeys.jsonl"
    corpus.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    path = folder / "places.labelkin"
    options = ("--content", "naive_bayes", "--evidence-weight", "0.5", "--no-stem", "--quiet")
    run("train", corpus, "-o", path, "--vocab", file, "--rules", file, *options)
    return path


@pytest.fixture(scope="module")
def served(model, tmp_path_factory):
    pytest.importorskip("fastapi", reason="fastapi is in the extra serve")
    pytest.importorskip("httpx")
    from labelkin.service import create_app

    app = create_app([model], saved_work=tmp_path_factory.mktemp("iso-saved_work") / "j.sqlite")
    testclient = pytest.importorskip("fastapi.testclient")
    with testclient.TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    assert not end.value.code


def test_it_has_thousands_of_concepts_in_two_languages(vocabulary):
    assert len(vocabulary) > 5_000
    assert vocabulary.languages == ("de", "en")
    assert vocabulary.name_of(f"{BASE}DE-BY", "de") == "Bayern"
    assert vocabulary.name_of(f"{BASE}AT", "de") == "Österreich"
    assert vocabulary.concept(f"{BASE}DE-BY").broader == (f"{BASE}DE",)
    assert f"{BASE}DE-BY" in vocabulary.narrower([f"{BASE}DE"])


def test_its_hierarchy_is_rules(vocabulary):
    labels = [f"{BASE}DE", f"{BASE}DE-BY", f"{BASE}AT"]
    assert rules_of(vocabulary, labels).implies == ((f"{BASE}DE-BY", f"{BASE}DE"),)


def test_the_whole_vocabulary_travels_in_the_model(model, vocabulary):
    kept = vocabulary_of(load(model))
    assert kept.uris == vocabulary.uris
    assert kept.labels == vocabulary.labels
    assert len(load(model)[-1].rules) >= 20


@pytest.mark.parametrize(("language", "country"), [("en", "Switzerland"), ("de", "Schweiz")])
def test_suggestions_come_in_both_languages(model, capsys, language, country):
    capsys.readouterr()
    text = "A journey from Aargau and Bern."
    run("suggest", model, text, "--top", 3, "--json", "--label-language", language)
    rows = json.loads(capsys.readouterr().out)["suggestions"]
    assert rows[0]["label"] == rows[0]["uri"] == f"{BASE}CH"
    assert (rows[0]["name"], rows[0]["notation"]) == (country, "CH")


def test_a_country_is_excluded_with_its_parts(model, capsys):
    capsys.readouterr()
    text = "A journey from Aargau and Bern."
    run("suggest", model, text, "--top", 50, "--json", "--exclude", "Schweiz")
    rows = json.loads(capsys.readouterr().out)["suggestions"]
    assert rows
    assert not [row for row in rows if row["label"].startswith(f"{BASE}CH")]


@pytest.mark.parametrize(("language", "country"), [("en", "Switzerland"), ("de", "Schweiz")])
def test_the_service_suggests_in_both_languages(served, language, country):
    asked = {"text": "A journey from Aargau and Bern.", "language": language}
    subject = served.post("/v1/projects/places/suggest", data=asked).json()["results"][0]
    assert (subject["uri"], subject["label"]) == (f"{BASE}CH", country)
    assert subject["notation"] == "CH"
    own = served.post("/api/models/places/suggest", json=asked).json()
    assert own["names"][f"{BASE}CH"] == country


def test_the_service_excludes_a_country_with_its_parts_and_lists_the_vocabulary(served):
    form = {"text": "A journey from Aargau and Bern.", "exclude": "Schweiz", "limit": 50}
    results = served.post("/v1/projects/places/suggest", data=form).json()["results"]
    assert results and not [one for one in results if one["uri"].startswith(f"{BASE}CH")]
    (vocab,) = served.get("/v1/vocabs").json()["vocabs"]
    assert vocab["size"] > 5_000 and vocab["languages"] == ["de", "en"]
