"""Ohsumed: tiny folders and archives of our own, then the counts of the published files."""

import tarfile

import pytest
from benchmarks.corpus import DATA

from labelkin.corpora.published.texts import read_ohsumed

ARCHIVE = DATA / "ohsumed" / "ohsumed-single-23.tar.gz"
WORDS = DATA / "ohsumed" / "OHSUMED-F.arff"

FILES = {
    "training/C04/0000002": "Second.\n Of two.",
    "training/C01/0000001": "First.\n",
    "training/C02/0000002": "Second.\n Of two.",
    "test/C01/0000001": "Another first.",
    "training/C01/.hidden": "no document",
    "readme/notes": "no document",
}


def write(folder, files=None):
    for name, text in (files or FILES).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("latin-1"))
    return folder


def check(corpus):
    assert corpus.documents.tolist() == ["First.", "Second.\n Of two.", "Another first."]
    assert corpus.label_sets() == [("C01",), ("C02", "C04"), ("C01",)]
    assert corpus.ids.tolist() == ["training/0000001", "training/0000002", "test/0000001"]
    assert (corpus.train.tolist(), corpus.test.tolist()) == ([0, 1], [2])


def test_a_file_in_two_categories_is_one_document_with_two_labels(tmp_path):
    check(read_ohsumed(write(tmp_path)))


def test_the_corpus_may_be_a_folder_deeper(tmp_path):
    write(tmp_path / "ohsumed-first-20000-docs")
    check(read_ohsumed(tmp_path))


@pytest.mark.parametrize(
    ("files", "match"),
    [
        (
            {**FILES, "training/C04/0000002": "Other."},
            r"0000002: a file in several categories must have the same text",
        ),
        ({"training/C01/1": "x"}, r"such as training/.* got 1 training and 0 test documents"),
        (
            {f"{top}/{n}": t for top in "ab" for n, t in FILES.items()},
            r"one corpus, .* in a, b",
        ),
    ],
)
def test_other_folders_are_errors(tmp_path, files, match):
    with pytest.raises(ValueError, match=match):
        read_ohsumed(write(tmp_path, files))


@pytest.mark.skipif(not ARCHIVE.exists(), reason=f"no {ARCHIVE}: set LABELKIN_DATA")
def test_the_published_single_label_texts_have_their_counts(tmp_path):
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    corpus = read_ohsumed(tmp_path)
    assert (len(corpus.train), len(corpus.test)) == (3357, 4043)
    assert corpus.label_names.tolist() == [f"C{k:02}" for k in range(1, 24)]
    assert (corpus.Y.sum(axis=1) == 1).all()
    assert all(corpus.documents)
    assert len(set(corpus.ids.tolist())) == 7400
