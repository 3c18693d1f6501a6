"""JSON lines: unchanged texts, and errors with their line."""

import gzip
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.corpora import Documents
from labelkin.corpora.corpus import read_texts

# NumPy cuts off zeros at the end of names.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEA = {"id": "a", "text": "Tea, please.", "labels": ["tea"], "split": "train"}
SUGAR = {"id": "b", "text": "Sugar?", "labels": ["tea", "sugar"], "split": "test"}
NOTHING = {"id": 7, "text": "", "labels": [], "split": "train"}


@pytest.fixture
def write(tmp_path):
    def write_lines(*lines, name="news.jsonl"):
        path = tmp_path / name
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts), encoding="utf-8")
        return path

    return write_lines


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.text(CHARACTERS), st.lists(st.text(CHARACTERS, min_size=1), max_size=3)),
        min_size=1,
        max_size=8,
    ).filter(lambda documents: any(labels for _, labels in documents)),
    st.booleans(),
    st.integers(1, 5),
)
def test_any_text_is_read_back_unchanged(tmp_path_factory, documents, raw, block):
    path = tmp_path_factory.mktemp("any") / "any.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8", newline="\n") as file:
        for i, (text, labels) in enumerate(documents):
            row = {"id": i, "text": text, "labels": labels}
            file.write(json.dumps(row, ensure_ascii=not raw) + "\n")
    corpus = read_texts(path)
    assert corpus.documents.tolist() == [text for text, _ in documents]
    assert [set(labels) for labels in corpus.label_sets()] == [set(ls) for _, ls in documents]
    blocks = list(Documents(path).blocks(block))
    assert all(len(some) == block for some in blocks[:-1])
    assert [document.text for some in blocks for document in some] == corpus.documents.tolist()


def test_a_large_file_is_read_in_little_memory(tmp_path):
    path = tmp_path / "large.jsonl"
    line = json.dumps({"id": 1, "text": "word " * 2000, "labels": ["tea"]}) + "\n"
    path.write_text(line * 2500)
    assert path.stat().st_size > 25e6
    tracemalloc.start()
    assert sum(len(block) for block in Documents(path).blocks(50)) == 2500
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "c", "text": "cut o', r"line 2: a line must be one JSON object.*Unterminated"),
        ("[1, 2]", r"line 2: a document must be a JSON object, got list"),
        ({"id": "c", "head": "x"}, r"line 2: .* must name 'text', 'labels', got 'id', 'head'"),
        ({**TEA, "id": None}, r"line 2: 'id' must be text or a whole number, got None"),
        ({**TEA, "text": ["x"]}, r"line 2: 'text' must be the document's text, got \['x'\]"),
        ({**TEA, "labels": ["tea", ""]}, r"line 2: labels must be a list of texts that are not em"),
        ({**TEA, "labels": [3]}, r"line 2: labels must be a list of texts .* got \[3\]"),
        ({**TEA, "split": "dev"}, r"line 2: 'split' must be 'train' or 'test', got 'dev'"),
        (TEA, r"news.jsonl, line 2: ids must be distinct, got 'a' again, first in .*, line 1"),
        ({"id": "c", "text": "", "labels": []}, r"line 2: either every document .* 1 of 2"),
    ],
)
def test_a_wrong_line_is_an_error_with_its_number(write, line, message):
    with pytest.raises(ValueError, match=message):
        read_texts(write(TEA, line))


def test_files_without_documents_or_labels_are_errors(write):
    with pytest.raises(ValueError, match=r"news\.jsonl: a corpus must have documents, got none"):
        read_texts(write("", "  "))
    with pytest.raises(ValueError, match=r"a corpus must have labels, got none in 1 documents"):
        read_texts(write(NOTHING))
