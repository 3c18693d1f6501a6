"""Corrections are made where they belong, and nothing else in a file changes."""

import gzip
import json

import pytest

from labelkin.corpora import text_format
from labelkin.corpora.documents import Documents
from labelkin.curation.corrected_files import write_corrected
from labelkin.curation.corrections import Corrections, Decision

SUGAR = "http://example.org/sugar"
TEA = "http://example.org/tea"


def corrected(folder, name, text, *changes, **options):
    """Write a file, correct it, and return what comes out and the counts."""
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
        '{"id": "a", "note": {"labels": ["x"]},  "labels" : ["tea", "s\\u00fc\\u00df"], '
        '"text": "Tee \\u00fc", "n": 1.50}\n'
        "\n"
        '{"labels":["sugar"],"text":"b","id":7}\r\n'
        '{"id": "c", "text": "c", "labels": ["tea"]}'
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
        'b,milk,"",=x\r\n'
        'c,none,"te,a",\r\n'
    )
    assert (counts.added, counts.removed) == (2, 1)


def test_tables_may_have_other_columns_and_no_ids(tmp_path):
    before = "body\ttags\nTea\ttea|sugar\nMilk\tmilk\n"
    after, _ = corrected(
        tmp_path, "x.tsv", before, ("2", "tea", False), ("1", "tea", True),
        columns={"text": "body", "labels": "tags"}, separator="|",
    )  # fmt: skip
    assert after == "body\ttags\nTea\tsugar\nMilk\tmilk|tea\n"


def test_a_label_that_no_cell_can_hold_is_an_error_and_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match="separated by ';'"):
        corrected(tmp_path, "x.csv", "text,labels\nTea,tea\n", ("1", "a;b", False))
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_annif_lines_and_tables(tmp_path):
    after, _ = corrected(
        tmp_path, "x.tsv", f"Tea\t<{TEA}> <{SUGAR}>\n\nMilk\t<{TEA}>\r\n",
        ("1", TEA, True), ("2", SUGAR, False),
    )  # fmt: skip
    assert after == f"Tea\t<{SUGAR}>\n\nMilk\t<{TEA}> <{SUGAR}>\r\n"
    after, _ = corrected(
        tmp_path, "x.csv", f"text,subject_uris,document_id\nTea,<{TEA}>,d1\n",
        ("d1", SUGAR, False),
    )  # fmt: skip
    assert after.endswith(f"Tea,<{TEA}> <{SUGAR}>,d1\n")


def test_annif_folders_are_copied_with_corrected_labels(tmp_path):
    folder = tmp_path / "full"
    folder.mkdir()
    (folder / "a.txt").write_text("Tea.")
    (folder / "a.tsv").write_text(f"<{TEA}>\ttea")
    (folder / "b.txt").write_text("Sugar.")
    (folder / "b.tsv").write_text(f"<{SUGAR}>\tsugar\n")
    (folder / "README").write_text("ours")
    corrections = Corrections([Decision("a", SUGAR, False), Decision("b", SUGAR, True)])
    documents = Documents(folder, needed=("text", "labels"))
    write_corrected(documents, text_format(folder), tmp_path / "new", corrections)
    found = {path.name: path.read_text() for path in (tmp_path / "new").iterdir()}
    assert found == {
        "a.txt": "Tea.", "b.txt": "Sugar.", "README": "ours",
        "a.tsv": f"<{TEA}>\ttea\n<{SUGAR}>\tsugar\n", "b.tsv": "",
    }  # fmt: skip
    assert (folder / "b.tsv").read_text() == f"<{SUGAR}>\tsugar\n"


def test_annif_folders_of_names_with_a_split(tmp_path):
    for part in ("train", "test"):
        (tmp_path / "full" / part).mkdir(parents=True)
        (tmp_path / "full" / part / "a.txt").write_text("Tea.")
        (tmp_path / "full" / part / "a.key").write_text("tea\n")
    corrections = Corrections([Decision("test/a", "sugar", False)])
    documents = Documents(tmp_path / "full", needed=("text", "labels"))
    write_corrected(documents, "folder", tmp_path / "new", corrections)
    assert (tmp_path / "new/train/a.key").read_text() == "tea\n"
    assert (tmp_path / "new/test/a.key").read_text() == "tea\nsugar\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16"])
def test_encodings_and_byte_order_marks_stay(tmp_path, encoding):
    text = "text,labels\nTé,thé\nLait,lait\n"
    source, out = tmp_path / "x.csv", tmp_path / "y.csv"
    source.write_bytes(text.encode(encoding))
    documents = Documents(
        source, needed=("text", "labels"), encoding="utf-8" if "8-s" in encoding else encoding
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
