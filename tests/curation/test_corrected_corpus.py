"""Corrections change only the labels of a file."""

import gzip
import json

import pytest

from labelkin.corpora import text_format
from labelkin.corpora.documents import Documents
from labelkin.curation.corrected_corpus import write_corrected
from labelkin.curation.corrections import Corrections, Decision

SUGAR = "http://example.org/sugar"
TEA = "http://example.org/tea"


def corrected(folder, name, text, *changes, **options):
    """Write a file, correct it, and return the output and the counts."""
    source, out = folder / name, folder / f"new-{name}"
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    corrections = Corrections([Decision(*change) for change in changes])
    documents = Documents(source, needed=("text", "labels"), **options)
    write_corrected(documents, text_format(source), out, corrections)
    return out.read_bytes().decode(options.get("encoding", "utf-8")), corrections


def test_json_lines_keep_all_but_the_labels(tmp_path):
    before = (
        '{"id": "a", "note": {"labels": ["x"]},  "labels" : ["tea"], '
        '"text": "Tee \\u00fc", "n": 1.50}\n'
        "\n"
        '{"labels":["tea","sugar"],"text":"b","id":7}\r\n'
        '{"id": "c", "text": "c", "labels": []}'
    )
    after, counts = corrected(
        tmp_path, "x.jsonl", before, ("a", "süß", False), ("7", "tea", True), ("c", "tea", False)
    )
    assert after == (
        '{"id": "a", "note": {"labels": ["x"]}, "labels": ["tea", "s\\u00fc\\u00df"], '
        '"text": "Tee \\u00fc", "n": 1.5}\n'
        "\n"
        '{"labels": ["sugar"], "text": "b", "id": 7}\n'
        '{"id": "c", "text": "c", "labels": ["tea"]}\n'
    )
    assert (counts.added, counts.removed, counts.unmet) == (2, 1, [])


def test_tables_keep_all_but_the_cell(tmp_path):
    before = (
        '"id",text,"labels",more\r\n'
        'a,"Tea, with\r\n""sugar""",tea; sugar,-1\r\n'
        "\r\n"
        'b,milk,"milk",=x\r\n'
        "c,none,,\r\n"
    )
    after, counts = corrected(
        tmp_path, "x.csv", before,
        ("a", "milk", False), ("b", "milk", True), ("c", "te,a", False),
    )  # fmt: skip
    assert after == (
        '"id",text,"labels",more\r\n'
        'a,"Tea, with\r\n""sugar""",tea; sugar; milk,-1\r\n'
        "\r\n"
        "b,milk,,=x\r\n"
        'c,none,"te,a",\r\n'
    )
    assert (counts.added, counts.removed) == (2, 1)


def test_label_with_a_separator_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="separated by ';'"):
        corrected(tmp_path, "x.csv", "text,labels\nTea,tea\n", ("1", "a;b", False))
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_annif_tables(tmp_path):
    after, _ = corrected(
        tmp_path, "x.csv", f"text,subject_uris,document_id\nTea,<{TEA}>,d1\n",
        ("d1", SUGAR, False),
    )  # fmt: skip
    assert after.endswith(f"Tea,<{TEA}> <{SUGAR}>,d1\n")


def test_labels_in_several_columns(tmp_path):
    after, _ = corrected(
        tmp_path, "x.csv", "id,text,650,650\n7,Tea,tea,hot\n8,Milk,milk,\n",
        ("7", "hot", True), ("7", "sweet", False),
    )  # fmt: skip
    assert after == "id,text,650,650\n7,Tea,tea;sweet,\n8,Milk,milk,\n"


def test_objects_stay_objects(tmp_path):
    before = '{"id": 1, "text": "x", "metadata": {"subjects": [{"uri": "u:1", "label": "one"}]}}\n'
    after, _ = corrected(tmp_path, "x.jsonl", before, ("1", "u:2", False))
    subjects = json.loads(after)["metadata"]["subjects"]
    assert subjects == [{"uri": "u:1", "label": "one"}, {"uri": "u:2"}]


def test_examples_of_prodigy_are_an_error(tmp_path):
    line = '{"id": 1, "text": "x", "accept": ["tea"], "answer": "accept"}\n'
    with pytest.raises(ValueError, match=r"must have its labels in labels, got .* Prodigy"):
        corrected(tmp_path, "x.jsonl", line, ("1", "tea", True))
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings_and_byte_order_marks_stay(tmp_path, encoding):
    text = "text,labels\nTé,thé\nLait,lait\n"
    source, out = tmp_path / "x.csv", tmp_path / "y.csv"
    source.write_bytes(text.encode(encoding))
    documents = Documents(
        source, needed=("text", "labels"), encoding=None if "8-s" in encoding else encoding
    )
    corrections = Corrections([Decision("2", "thé", False)])
    write_corrected(documents, "csv", out, corrections)
    assert out.read_bytes() == text.replace(",lait", ",lait;thé").encode(encoding)


def test_packed_files_stay_packed(tmp_path):
    source, out = tmp_path / "x.jsonl.gz", tmp_path / "y.jsonl.gz"
    source.write_bytes(gzip.compress(b'{"id": 1, "text": "x", "labels": ["tea"]}\n'))
    corrections = Corrections([Decision("1", "tea", True)])
    write_corrected(Documents(source, needed=("labels",)), "jsonl", out, corrections)
    assert json.loads(gzip.decompress(out.read_bytes()))["labels"] == []
