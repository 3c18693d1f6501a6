"""``labelkin next``: the documents that are worth labelling, as a table, a file or JSON."""

import csv
import json

import pytest
from in_process import call

import labelkin


@pytest.fixture(scope="module")
def pool(news, tmp_path_factory):
    """Sixty documents without labels, and two with some."""
    path = tmp_path_factory.mktemp("pool") / "pool.jsonl"
    rows = [{"id": f"u{i}", "text": text} for i, text in enumerate(news.documents[300:360])]
    rows += [
        {"id": f"done{i}", "text": news.documents[i], "labels": list(labels)}
        for i, labels in enumerate(news.label_sets(slice(0, 2)))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_documents_equal_those_of_the_library(model, news, pool):
    printed = json.loads(call("next", model, pool, "-n", 5, "--json", "-q").done())
    texts = list(news.documents[300:360])
    chosen = labelkin.curation.next_documents(labelkin.load(model), texts, 5)
    assert [row["id"] for row in printed] == [f"u{one.document}" for one in chosen]
    assert [row["value"] for row in printed] == pytest.approx(
        [one.value for one in chosen], abs=1e-6
    )
    first = printed[0]["labels"][0]
    assert first["label"] == chosen[0].labels[0].label
    assert set(first) == {"label", "probability", "bits"}


def test_table_has_reasons(model, pool):
    done = call("next", model, pool, "-n", 3)
    lines = done.done().splitlines()
    assert lines[0].split() == ["document", "bits", "similar", "because", "of"]
    assert len(lines) == 4
    assert all(line.startswith("u") for line in lines[1:])
    assert "3 of 60 documents, 2 with labels skipped." in done.err
    assert "bits: uncertainty of the labels, added up; similar: cosine" in done.err


def test_csv_file_is_written_and_replaced(model, pool, tmp_path):
    out = tmp_path / "next.csv"
    assert call("next", model, pool, "-n", 4, "--out", out, "-q").done() == ""
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert list(rows[0]) == ["id", "value", "similarity", "labels"]
    assert "--replace" in call("next", model, pool, "--out", out).refused()
    call("next", model, pool, "-n", 2, "--out", out, "--replace", "-q").done()
    assert len(out.read_text().splitlines()) == 3


def test_known_labels_of_documents_are_used(model, news, tmp_path):
    text = news.documents[300]
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"id": "a", "text": text}) + "\n")
    [before] = json.loads(call("next", model, path, "--json", "-q").done())
    label = before["labels"][0]["label"]
    path.write_text(json.dumps({"id": "a", "text": text, "rejected": [label]}) + "\n")
    [after] = json.loads(call("next", model, path, "--json", "-q").done())
    assert label not in [one["label"] for one in after["labels"]]


def test_wrong_calls_are_one_line(model, vector_model, pool, news_file, tmp_path):
    assert (
        "without labels, and has none: all 420 have labels"
        in call("next", model, news_file).refused()
    )
    assert (
        "must end in .csv, .tsv, .jsonl"
        in call("next", model, pool, "--out", tmp_path / "a.txt").refused()
    )
    assert "takes vectors" in call("next", vector_model, pool).refused()
    assert "does not exist" in call("next", "nothing.labelkin", pool).refused()
