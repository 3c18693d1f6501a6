"""Documents of any format: equal records, and errors that name the place."""

import bz2
import gzip
import io
import json
import lzma
import os
import threading

import pytest

from labelkin.corpora import Documents
from labelkin.corpora.documents import FORMATS, format_of


def names_and_texts(source, format=None, **options):
    return [(d.name, d.text) for d in Documents(source, format, **options)]


def test_a_document_without_an_id_is_named_by_its_number():
    lines = ['{"text": "a"}\n', "\n", '{"text": "b", "id": "x"}']
    assert names_and_texts(lines, "jsonl") == [(1, "a"), ("x", "b")]
    assert names_and_texts(["a\r\n", "\n"], "text") == [(1, "a"), (2, "")]
    assert names_and_texts(["text\n", "a\n", '"b\n', 'c"\n'], "csv") == [(1, "a"), (2, "b\nc")]
    assert [d.id for d in Documents(lines, "jsonl")] == [None, "x"]


@pytest.mark.parametrize(
    ("kind", "lines", "expected"),
    [
        ("jsonl", ["[1]"], "f, line 1: a document must be a JSON object"),
        ("jsonl", ['{"text": 3}'], "'text' must be the document's text, got 3"),
        ("jsonl", ['{"id": ' + "1" * 5000 + "}"], "line 1: a line must be one JSON object"),
        ("jsonl", ['{"a":' * 100_000], "line 1: a line must be one JSON object.*recursion"),
        ("csv", ["id,text\n", "1\n"], "line 2: a row must have the header's 2 cells, got 1"),
        ("csv", ["text\n", '"a\n'], "line 2: a row must be cells in whole quotes"),
        ("csv", ["id;text\n"], "must name 'text', got 'id;text'.* Pass delimiter=';'"),
        ("annif_tsv", ["a\n"], "f, line 1: a line must be a text, a tab and URIs"),
        ("pdf", [], "format must be one of 'jsonl', 'json', 'csv', 'tsv', 'text'"),
    ],
)
def test_errors_name_file_and_line(kind, lines, expected):
    with pytest.raises(ValueError, match=expected):
        list(Documents(lines, kind, name="f", delimiter="," if kind == "csv" else None))


RECORD = {"id": 7, "title": "Tea", "text": "Hot.", "labels": ["tea"], "accepted": ["drink"]}


def test_fields_that_are_not_requested_are_not_read():
    line = json.dumps({"text": "a", "labels": 3, "split": "dev", "accepted": "x", "id": "7"})
    [document] = Documents([line], "jsonl")
    assert (document.id, document.labels, document.known, document.split) == ("7", None, None, None)
    with pytest.raises(
        ValueError, match="labels must be a list of texts that are not empty, got 3"
    ):
        list(Documents([line], "jsonl", optional=("labels",)))
    with pytest.raises(ValueError, match="'split' must be 'train' or 'test', got 'dev'"):
        list(Documents([line], "jsonl", optional=("split",)))


def test_several_columns_of_texts_are_views():
    lines = [json.dumps(RECORD)]
    [document] = Documents(lines, "jsonl", columns={"text": ["title", "text"]})
    assert document.texts == {"title": "Tea", "text": "Hot."}
    assert document.text == "Tea\nHot."
    [document] = Documents(lines, "jsonl", columns={"text": "title"})
    assert document.texts == {"text": "Tea"}
    with pytest.raises(ValueError, match=r"must name 'body', got 'id', 'title', 'text'"):
        list(Documents(lines, "jsonl", columns={"text": ["title", "body"]}))


def test_known_labels_are_read_from_lines_and_cells():
    fields = {"needed": ("text",), "optional": ("accepted", "rejected")}
    [document] = Documents([json.dumps(RECORD)], "jsonl", **fields)
    assert document.known == {"accepted": ("drink",), "rejected": ()}
    table = ["text|accepted|no\n", "a|x ; y|z\n", "b||\n"]
    columns = {"rejected": "no"}
    first, second = Documents(table, "csv", columns=columns, delimiter="|", **fields)
    assert first.known == {"accepted": ("x", "y"), "rejected": ("z",)}
    assert second.known == {"accepted": (), "rejected": ()}
    [document] = Documents(["text\n", "a\n"], "csv", **fields)
    assert document.known is None


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_a_file_is_read_again_at_every_pass_packed_or_not(tmp_path, pack):
    path = tmp_path / "a.jsonl"
    path.write_bytes(pack('{"text": "чай"}\n{"text": "b"}'.encode()))
    documents = Documents(path)
    for _ in range(2):
        assert [d.text for d in documents] == ["чай", "b"]
        assert [[d.number for d in block] for block in documents.blocks(1)] == [[1], [2]]


def test_the_format_of_a_stream_is_detected_by_its_first_line():
    assert names_and_texts(io.BytesIO(b' {"text": "a"}\n')) == [(1, "a")]
    assert names_and_texts(io.BytesIO("é\nb".encode("latin-1")), encoding="latin-1") == [
        (1, "é"),
        (2, "b"),
    ]
    with pytest.raises(
        ValueError, match=r"stdin, line 2: the text must be utf-8, got 0xE9 at byte"
    ):
        list(Documents(io.BytesIO(b"a\ncaf\xe9"), name="stdin", encoding="utf-8"))


def test_a_stream_yields_a_line_before_the_next_one_is_written():
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as reading, os.fdopen(write_end, "wb", 0) as writing:
        documents = iter(Documents(reading, "text"))
        for text in ("first", "second"):
            threading.Timer(0.05, writing.write, [f"{text}\n".encode()]).start()
            assert next(documents).text == text


def test_a_pipe_that_has_a_name_is_opened_once(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    content = gzip.compress(b"text\na\n")
    writer = threading.Thread(target=path.write_bytes, args=[content])
    writer.start()
    assert names_and_texts(path) == [(1, "a")]
    writer.join(timeout=5)
    assert not writer.is_alive()


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.JSONL.gz", "", "jsonl"),
        ("a.ndjson", "", "jsonl"),
        ("a.csv", "text,labels", "csv"),
        ("a.csv", "text,subject_uris", "csv"),
        ("a.tab", "text\tlabels", "tsv"),
        ("a.tsv", "tea\t<http://example.org/tea>", "annif_tsv"),
        ("a.txt", "tea", "text"),
        ("a", "tea", "text"),
    ],
)
def test_the_format_is_detected_by_ending_and_first_line(tmp_path, name, content, format):
    (tmp_path / name).write_text(content)
    assert format_of(tmp_path / name) == format
    assert format in FORMATS


def test_a_long_line_is_read_in_linear_time_and_has_a_greatest_length(monkeypatch):
    import time

    from labelkin.corpora import lines

    def seconds(n_bytes):
        start = time.process_time()
        assert [len(line) for line in lines.decoded_lines(io.BytesIO(b"x" * n_bytes))] == [n_bytes]
        return time.process_time() - start

    seconds(1 << 20)
    assert seconds(64 << 20) < 1.5  # in quadratic time it takes 2 GB of copies
    monkeypatch.setattr(lines, "LONGEST_LINE", 3_000_000)
    assert [*lines.decoded_lines(io.BytesIO(b"x" * 2_900_000 + b"\ny"))][1] == "y"
    with pytest.raises(ValueError, match="the stream, line 2: a line may have 3,000,000 charact"):
        [*lines.decoded_lines(io.BytesIO(b"a\n" + b"x" * 9_000_000))]


def test_a_small_file_with_an_unlimited_line_is_an_error(tmp_path, monkeypatch):
    import tracemalloc

    from labelkin.corpora import lines

    monkeypatch.setattr(lines, "LONGEST_LINE", 1_000_000)
    path = tmp_path / "bomb.svm.gz"
    path.write_bytes(gzip.compress(b"1 1:2\n2 " + b"1" * 30_000_000))
    for read in (lines.decoded_lines, lines.byte_lines):
        tracemalloc.start()
        with pytest.raises(
            ValueError, match=r"bomb\.svm\.gz, line 2: a line may have 1,000,000 char"
        ):
            [*read(path)]
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
        tracemalloc.stop()


class TestTitles:
    def test_of_a_table_are_the_first_lines(self):
        lines = ["headline,text,labels\n", "Tea,Hot.,tea\n", ",Cold.,ice\n"]
        found = list(Documents(lines, "csv", columns={"title": "headline"}))
        assert [one.texts for one in found] == [
            {"title": "Tea", "text": "Hot."},
            {"title": "", "text": "Cold."},
        ]
        assert [one.text for one in found] == ["Tea\nHot.", "\nCold."]

    def test_that_some_records_lack_are_empty(self):
        lines = ['{"title": "Tea,\\n milk", "text": "Hot."}\n', '{"text": "Cold.\\nIce."}\n']
        found = list(Documents(lines, "jsonl", optional=("title",)))
        assert [one.text for one in found] == ["Tea, milk\nHot.", "\nCold.\nIce."]
