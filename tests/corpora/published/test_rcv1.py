"""RCV1-v2: tiny files in its formats, one large made file, then what is published."""

import bz2
import gzip
import re

import numpy as np
import pytest
from benchmarks.corpus import DATA
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from labelkin.corpora.published.rcv1 import (
    FIRST_TRAIN,
    LAST_TRAIN,
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
        tokens = "".join(f".I {i}\n.W\nstem{i} tea\nsugar\n\n" for i in documents)
        write(folder, f"lyrl2004_vectors_{part}.dat{ending}", vectors)
        write(folder, f"lyrl2004_tokens_{part}.dat{ending}", tokens)
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


def write_tokens(folder, texts):
    """Write token files, the texts of TOPICS in their order, a few tokens per line."""
    write_rcv1(folder)
    text_of = dict(zip(TOPICS, texts, strict=True))
    for part, documents in PARTS.items():
        entries = [f".I {i}\n.W\n" + text_of[i].replace("/", "\n") + "\n\n" for i in documents]
        write(folder, f"lyrl2004_tokens_{part}.dat", "".join(entries))
    return folder


TEXTS = ["tea tea/sugar", "tea milk tea", "rye tea/tea tea", "", "sugar sugar milk"]


def test_counts_are_of_the_stems_of_training_documents(tmp_path):
    corpus = read_rcv1(write_tokens(tmp_path, TEXTS), form="counts")
    assert corpus.terms.tolist() == ["milk", "sugar", "tea"]
    assert corpus.documents.toarray().tolist() == [
        [0, 1, 2],
        [1, 0, 2],
        [0, 0, 3],
        [0, 0, 0],
        [1, 2, 0],
    ]
    assert (corpus.features, corpus.ids.tolist()) == ("counts", list(TOPICS))
    assert corpus.label_sets() == read_rcv1(tmp_path).label_sets()


def test_counts_are_those_of_scikit_learn(tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"stem{k}" for k in rng.integers(0, 30, 40)) for _ in TOPICS]
    corpus = read_rcv1(write_tokens(tmp_path, texts), form="counts", min_documents=2)
    theirs = CountVectorizer(min_df=2).fit(texts[:2])
    assert corpus.terms.tolist() == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(corpus.documents.toarray(), theirs.transform(texts).toarray())


def test_terms_in_few_training_documents_are_left_out(tmp_path):
    parts = {**PARTS, "train": {2286: "1:0.6 3:0.8", 26150: "2:0.28 3:0.96"}}
    corpus = read_rcv1(write_rcv1(tmp_path, parts), min_documents=2)
    assert corpus.terms.tolist() == ["3"]
    assert corpus.documents.toarray().tolist() == [[1], [1], [0], [0], [1]]
    counts = read_rcv1(write_tokens(tmp_path, TEXTS), form="counts", min_documents=2)
    assert counts.terms.tolist() == ["tea"]
    assert counts.documents.toarray().ravel().tolist() == [2, 2, 3, 0, 0]


def test_what_is_left_of_a_vector_points_where_it_did(tmp_path):
    rows = [f"{k % 2 + 1}\tfirst\tC11\t1:0.6 2:0.64 {k + 3}:0.48" for k in range(4)]
    rows.append("4\tfirst\tC11\t1:0.36 2:0.48 9:0.8")
    path = write(tmp_path, "s", "\n".join(rows))
    whole, kept = read_rcv1_sample(path), read_rcv1_sample(path, min_documents=4)
    assert whole.documents.shape[1] == 47236
    assert kept.terms.tolist() == ["1", "2"]
    X = whole.documents[:, [0, 1]].toarray()
    expected = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(kept.documents.toarray(), expected)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"min_documents": 0}, "min_documents must be at least 1, got 0"),
        ({"min_documents": 3}, "none is in 3 of the 2 training documents. Lower it"),
    ],
)
def test_a_wrong_number_of_documents_is_named(tmp_path, options, match):
    with pytest.raises(ValueError, match=match):
        read_rcv1(write_rcv1(tmp_path), **options)


@pytest.mark.parametrize("form", ["vectors", "counts"])
def test_a_missing_document_is_named(tmp_path, form):
    folder = write_rcv1(tmp_path, {**PARTS, "test_pt2": {}})
    with pytest.raises(ValueError, match=r"of the 5 .* got 4; document 800000 is missing"):
        read_rcv1(folder, form=form)
    with pytest.raises(ValueError, match=r"there must be lines|document 2286 is missing"):
        read_rcv1(write_rcv1(tmp_path, {part: {} for part in PARTS}), form=form)


def test_a_document_given_twice_or_without_topics_is_named(tmp_path):
    again = {**PARTS, "test_pt3": {2286: "1:1"}}
    for form in ("vectors", "counts"):
        with pytest.raises(ValueError, match="got 6; document 2286 is one too many"):
            read_rcv1(write_rcv1(tmp_path, again), form=form)
    strange = {**PARTS, "test_pt3": {77: "1:1"}}
    with pytest.raises(ValueError, match="document 77 is one too many"):
        read_rcv1(write_rcv1(tmp_path, strange))


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the file rcv1-v2.topics.qrels \(or .*gz"):
        read_rcv1(tmp_path)
    write_rcv1(tmp_path)
    (tmp_path / "lyrl2004_vectors_test_pt3.dat").unlink()
    with pytest.raises(FileNotFoundError, match=r"the file lyrl2004_vectors_test_pt3.dat"):
        read_rcv1(tmp_path)
    with pytest.raises(ValueError, match="form must be 'vectors' or 'counts', got 'words'"):
        read_rcv1(tmp_path, form="words")


def test_topics_are_found_by_document(tmp_path):
    topics = read_rcv1_topics(write(tmp_path, "q", "GCAT 9 1\nC11 3 1\nECAT 9 1\nGCAT 9 1\n"))
    assert topics.ids.tolist() == [3, 9]
    assert topics.label_names.tolist() == ["C11", "ECAT", "GCAT"]
    assert topics.Y.toarray().tolist() == [[1, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("C11 3 1\nC12 3\n", r"q, line 2: a line must be TOPIC DOCID 1, got 'C12 3'. Is the file"),
        ("C11 3 1\n\nC12 3 0\n", r"q, line 3: a line must be TOPIC DOCID 1, got 'C12 3 0'"),
        ("C11 x 1\n", r"q, line 1: a line must be TOPIC DOCID 1, got 'C11 x 1'"),
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
        ("5:", r"train.dat, line 1: .* Is the file cut off"),
        ("2:3 2:4", r"train.dat, line 1: .* sorted and unique"),
        ("0:3", r"train.dat, line 1: .* Invalid index 0"),
        ("47237:3", r"train.dat: terms must be 1 to 47236, got 47237"),
        ("2:nan", r"train.dat, document 1: weights must be finite"),
        ("2:1e999", r"train.dat, document 1: weights must be finite"),
    ],
)
def test_damaged_vectors_are_named_with_their_line(tmp_path, vector, match):
    parts = {**PARTS, "train": {2286: vector, 26150: "2:1"}}
    with pytest.raises(ValueError, match=match):
        read_rcv1(write_rcv1(tmp_path, parts))


def test_a_compressed_file_cut_off_is_named_with_its_line(tmp_path):
    write_rcv1(tmp_path)
    rng = np.random.default_rng(0)
    lines = [f"{i}  1:{rng.random()}\n".encode() for i in range(1, 10_001)]
    whole = gzip.compress(b"".join(lines))
    (tmp_path / "lyrl2004_vectors_train.dat").unlink()
    (tmp_path / "lyrl2004_vectors_train.dat.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"line \d+: a gzip file must unpack .* cut off\?") as bad:
        read_rcv1(tmp_path)
    assert 1_000 < int(re.search(r"line (\d+)", str(bad.value))[1]) < 5_500


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("tea\n.I 7\n.W\n", r"train.dat, line 1: the document that ends here .* got 'tea'"),
        ("\n.I x\n.W\n", r"train.dat, line 3: .* got '.I x .W'"),
        (".I 7\n.W\ntea\n.I 8\n", r"train.dat, line 4: .* got '.I 8'. Is the file cut off"),
        (".I 7\ntea\n", r"train.dat, line 2: .* got '.I 7 tea'"),
    ],
)
def test_damaged_tokens_are_named_with_their_line(tmp_path, text, match):
    write_rcv1(tmp_path)
    write(tmp_path, "lyrl2004_tokens_train.dat", text)
    with pytest.raises(ValueError, match=match):
        read_rcv1(tmp_path, form="counts")


def test_the_sample_trains_on_two_subsets_and_tests_on_terms_not_seen(tmp_path):
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


@pytest.mark.skipif(not QRELS.exists(), reason=f"no {QRELS}: set LABELKIN_DATA")
def test_the_published_topics_have_their_counts():
    topics = read_rcv1_topics(QRELS)
    assert topics.Y.shape == (804414, 103)
    assert round(topics.Y.sum() / 804414, 4) == 3.2407
    train = (topics.ids >= FIRST_TRAIN) & (topics.ids <= LAST_TRAIN)
    assert (train.sum(), (~train).sum()) == (23149, 781265)
    assert (topics.Y[train].sum(axis=0) > 0).sum() == 101


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
