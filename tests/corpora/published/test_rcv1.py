"""RCV1-v2: tiny files in its formats, one large synthetic file, and the published files."""

import bz2
import gzip

import numpy as np
import pytest
from benchmarks.corpus import DATA
from scipy import sparse

from labelkin.corpora.published.rcv1 import (
    read_rcv1,
    read_rcv1_sample,
    read_rcv1_topics,
)

FOLDER = DATA / "rcv1"
QRELS = FOLDER / "rcv1-v2.topics.qrels.gz"
SAMPLE = FOLDER / "rcv1-sample-30000.svm.gz"

# Two training documents, then two in the first test file and one in the third.
TOPICS = {2286: "E11 ECAT", 26150: "ECAT", 26151: "ECAT GCAT", 26160: "E11", 800000: "ECAT"}
PARTS = {
    "train": {2286: "1:0.5 3:0.25", 26150: "2:1"},
    "test_pt0": {26151: "47236:1", 26160: ""},
    "test_pt1": {},
    "test_pt2": {800000: "3:0.75"},
    "test_pt3": {},
}


def write(folder, name, text):
    path = folder / name
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "wt") as file:
        file.write(text)
    return path


def write_qrels(folder, topics=None, name="rcv1-v2.topics.qrels"):
    lines = [f"{code} {i} 1\n" for i, codes in (topics or TOPICS).items() for code in codes.split()]
    return write(folder, name, "".join(lines))


def write_rcv1(folder, parts=None, ending=""):
    write_qrels(folder, name=f"rcv1-v2.topics.qrels{ending}")
    for part, documents in (parts or PARTS).items():
        vectors = "".join(f"{i}  {vector}\n" for i, vector in documents.items())
        write(folder, f"lyrl2004_vectors_{part}.dat{ending}", vectors)
    return folder


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_vectors_have_their_topics_and_the_lyrl2004_split(tmp_path, ending):
    corpus = read_rcv1(write_rcv1(tmp_path, ending=ending))
    assert corpus.ids.tolist() == list(TOPICS)
    assert (corpus.train.tolist(), corpus.test.tolist()) == ([0, 1], [2, 3, 4])
    assert corpus.label_names.tolist() == ["E11", "ECAT"]
    assert corpus.label_sets() == [("E11", "ECAT"), ("ECAT",), ("ECAT",), ("E11",), ("ECAT",)]
    assert corpus.documents.shape == (5, 47236)
    stored = sparse.coo_array(corpus.documents)
    assert stored.row.tolist() == [0, 0, 1, 2, 4]
    assert stored.col.tolist() == [0, 2, 1, 47235, 2]
    assert stored.data.tolist() == [0.5, 0.25, 1, 1, 0.75]
    assert corpus.documents.indices.dtype == np.int32
    assert corpus.features == "weights"


def test_terms_in_few_training_documents_are_left_out(tmp_path):
    parts = {**PARTS, "train": {2286: "1:0.6 3:0.8", 26150: "2:0.28 3:0.96"}}
    corpus = read_rcv1(write_rcv1(tmp_path, parts), min_documents=2)
    assert corpus.terms.tolist() == ["3"]
    assert corpus.documents.toarray().tolist() == [[1], [1], [0], [0], [1]]


@pytest.mark.parametrize("min_documents", [0, 3])
def test_a_wrong_minimum_of_documents_is_an_error(tmp_path, min_documents):
    match = f"min_documents must be at least 1 and leave terms .* got {min_documents}"
    with pytest.raises(ValueError, match=match):
        read_rcv1(write_rcv1(tmp_path), min_documents=min_documents)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"test_pt2": {}}, r"of the 5 .* got 4; document 800000 is missing"),
        ({"test_pt3": {2286: "1:1"}}, "got 6; document 2286 is one too many"),
        ({"test_pt3": {77: "1:1"}}, "document 77 is one too many"),
    ],
)
def test_missing_and_surplus_documents_are_errors(tmp_path, changed, message):
    with pytest.raises(ValueError, match=message):
        read_rcv1(write_rcv1(tmp_path, {**PARTS, **changed}))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("C11 3 1\nC12 3\n", r"q, line 2: a line must be TOPIC DOCID 1, got 'C12 3'. Is the file"),
        ("\n", r"q: there must be lines such as 'GCAT 2286 1', got none"),
    ],
)
def test_damaged_topics_are_named_with_their_line(tmp_path, text, match):
    with pytest.raises(ValueError, match=match):
        read_rcv1_topics(write(tmp_path, "q", text))


@pytest.mark.parametrize(
    ("vector", "match"),
    [
        ("2:3 x", r"train.dat, line 1: a line must be .* terms ascending from 1"),
        ("47237:3", r"train.dat: terms must be 1 to 47236, got 47237"),
        ("2:nan", r"train.dat, document 1: weights must be finite"),
    ],
)
def test_damaged_vectors_are_named_with_their_line(tmp_path, vector, match):
    parts = {**PARTS, "train": {2286: vector, 26150: "2:1"}}
    with pytest.raises(ValueError, match=match):
        read_rcv1(write_rcv1(tmp_path, parts))


def test_the_sample_is_tested_on_unseen_vectors(tmp_path):
    rows = [
        "3\tlast\tECAT\t7:1",
        "1\tfirst\tC11,CCAT\t1:0.5 3:0.25",
        "2\tlast\tGCAT\t2:1",
        "4\tfirst\tCCAT\t1:0.4 3:0.3",
        "5\tfirst\tGCAT\t2:1 3:1",
        "5\tlast\t\t7:1",
    ]
    corpus = read_rcv1_sample(write(tmp_path, "s.gz", "\n".join(rows)))
    assert (corpus.train.tolist(), corpus.test.tolist()) == ([1, 2], [4, 5])
    assert corpus.label_names.tolist() == ["C11", "CCAT", "ECAT", "GCAT"]
    assert corpus.label_sets()[5] == ()
    assert corpus.documents.shape == (6, 47236)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (
            "1\tfirst\tC11\t1:1\n6\tfirst\tC11\t1:1\n",
            r"s, line 2: a line must be subset \(1 to 5\)",
        ),
        (
            "1\tC11\t1:1\n",
            r"s, line 1: a line must be subset .* before the last",
        ),
        ("1\tfirst\tC11\t1\n", r"s, line 1: a line must be LABEL,LABEL TERM:WEIGHT"),
        ("", r"s: there must be a document per line, got none"),
    ],
)
def test_a_damaged_sample_is_named_with_its_line(tmp_path, text, match):
    with pytest.raises(ValueError, match=match):
        read_rcv1_sample(write(tmp_path, "s", text))


@pytest.mark.skipif(not SAMPLE.exists(), reason=f"no {SAMPLE}: set LABELKIN_DATA")
def test_the_sample_has_its_counts():
    corpus = read_rcv1_sample(SAMPLE)
    X = corpus.documents
    assert (X.shape, corpus.Y.shape) == ((30000, 47236), (30000, 102))
    assert (len(corpus.train), len(corpus.test)) == (12000, 11009)
    assert round(corpus.Y.sum() / 30000, 3) == 3.198
    np.testing.assert_allclose(sparse.linalg.norm(X, axis=1), 1, atol=1e-4)
    rows = {
        (X.indices[a:b].tobytes(), X.data[a:b].tobytes())
        for a, b in zip(X.indptr, X.indptr[1:], strict=False)
    }
    assert len(rows) == 27613
