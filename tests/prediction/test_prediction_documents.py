"""Documents from lines: ids, places in errors, and answers on lines."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.prediction import Answer, Document, make_layout, read_documents
from labelkin.prediction.output import cut_torn_line


def test_a_document_without_an_id_is_known_by_its_number():
    found = read_documents(['{"text": "a"}\n', "\n", '{"text": "b", "id": "x"}'], "jsonl", "f")
    assert list(found) == [Document(1, "a"), Document("x", "b")]
    assert list(read_documents(["a\r\n", "\n"], "text", "f")) == [Document(1, "a"), Document(2, "")]
    assert list(read_documents(["text\n", "a\n", '"b\n', 'c"\n'], "csv", "f")) == [
        Document(1, "a"),
        Document(2, "b\nc"),
    ]


def test_long_texts_are_texts():
    long = "word " * 100_000
    assert next(read_documents(["text\n", f"{long}\n"], "csv", "f")).text == long


@pytest.mark.parametrize(
    ("kind", "lines", "expected"),
    [
        ("jsonl", ["[1]"], "f, line 1: a line must be one JSON object"),
        ("jsonl", ['{"text": "a"}\n', "{"], "f, line 2"),
        ("jsonl", ['{"text": 3}'], "'text' must be the document's text, got 3"),
        ("jsonl", ['{"text": "a", "id": 1.5}'], "must be text or a whole number, got 1.5"),
        ("jsonl", ['{"text": "a", "id": "1\\n2"}'], "must be on one line"),
        ("csv", ["id,text\n", "1\n"], "line 2: a row must have the header's 2 cells, got 1"),
        ("csv", ["text\n", '"a\n'], "line 2: a row must be cells in whole quotes"),
        ("csv", [], "the header must name a column 'text', got nothing"),
        ("pdf", [], "must be one of 'jsonl', 'csv', 'tsv', 'text'"),
    ],
)
def test_what_cannot_be_read_is_located(kind, lines, expected):
    with pytest.raises(ValueError, match=expected):
        list(read_documents(lines, kind, "f"))


IDS = st.one_of(st.integers(), st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])))


@given(IDS, st.sampled_from(["jsonl", "csv", "tsv"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_line_tells_whose_it_is(id, kind, all_scores):
    layout = make_layout(kind, ["sugar", "tea"], all_scores)
    line = layout.line(Answer(id, np.array([1]), np.array([0.2, 0.8])))
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert layout.id_of(line) == str(id)


@given(st.lists(st.binary(max_size=40)), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_cutting_leaves_whole_lines_only(tmp_path_factory, pieces, times):
    path = tmp_path_factory.getbasetemp() / "torn"
    data = b"\n".join(pieces) * times
    path.write_bytes(data)
    n_cut = cut_torn_line(path)
    kept = path.read_bytes()
    assert data == kept + data[len(kept) :]
    assert n_cut == len(data) - len(kept)
    assert b"\n" not in data[len(kept) :]
    assert kept == b"" or kept.endswith(b"\n")


def test_a_torn_line_may_be_longer_than_a_block(tmp_path):
    path = tmp_path / "long"
    path.write_bytes(b"whole\n" + b"x" * 200_000)
    assert cut_torn_line(path) == 200_000
    assert path.read_bytes() == b"whole\n"
