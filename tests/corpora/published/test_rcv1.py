"""RCV1-v2: tiny files in its formats, one large made file, then what is published."""

import bz2
import gzip
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from benchmarks.corpus import DATA
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from labelkin.corpora.published.rcv1 import (
    Rcv1Topics,
    iter_rcv1_tokens,
    iter_rcv1_vectors,
    lyrl2004_split,
    rcv1_files,
    read_rcv1,
    read_rcv1_sample,
    read_rcv1_taxonomy,
    read_rcv1_topics,
)

FOLDER = DATA / "rcv1"
QRELS = FOLDER / "rcv1-v2.topics.qrels.gz"
SAMPLE = FOLDER / "rcv1-sample-30000.svm.gz"
TAXONOMY = FOLDER / "rcv1.taxonomy"

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


def test_tokens_are_texts(tmp_path):
    corpus = read_rcv1(write_rcv1(tmp_path), form="tokens")
    assert corpus.documents.tolist() == [f"stem{i} tea sugar" for i in TOPICS]
    assert corpus.ids.tolist() == list(TOPICS)
    assert (corpus.features, corpus.Y.shape) == ("text", (5, 2))


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
        ({"min_documents": 2, "form": "tokens"}, "must be 1 for tokens, .*WordCounts.* got 2"),
    ],
)
def test_a_wrong_number_of_documents_is_named(tmp_path, options, match):
    with pytest.raises(ValueError, match=match):
        read_rcv1(write_rcv1(tmp_path), **options)


@pytest.mark.parametrize("form", ["vectors", "tokens", "counts"])
@pytest.mark.parametrize(
    ("parts", "match"),
    [
        (
            {**PARTS, "test_pt2": {}},
            r"each of the 5 documents .* got 4; document 800000 is missing",
        ),
        (
            {part: {} for part in PARTS},
            r"each of the 5 documents .* got 0; document 2286 is missing",
        ),
    ],
)
def test_a_missing_document_is_named(tmp_path, form, parts, match):
    with pytest.raises(ValueError, match=match):
        read_rcv1(write_rcv1(tmp_path, parts), form=form)


def test_a_document_given_twice_or_without_topics_is_named(tmp_path):
    again = {**PARTS, "test_pt3": {2286: "1:1"}}
    with pytest.raises(
        ValueError, match=r"test_pt3.dat, line 1: documents must be unique, got 2286"
    ):
        read_rcv1(write_rcv1(tmp_path, again))
    with pytest.raises(ValueError, match="got 6; document 2286 is one too many"):
        read_rcv1(tmp_path, form="tokens")
    strange = {**PARTS, "test_pt3": {77: "1:1"}}
    with pytest.raises(ValueError, match=r"line 1: document 77 must have topics, and has none"):
        read_rcv1(write_rcv1(tmp_path, strange))


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the file rcv1-v2.topics.qrels \(or .*gz"):
        read_rcv1(tmp_path)
    write_rcv1(tmp_path)
    (tmp_path / "lyrl2004_vectors_test_pt3.dat").unlink()
    with pytest.raises(FileNotFoundError, match=r"the file lyrl2004_vectors_test_pt3.dat"):
        read_rcv1(tmp_path)
    with pytest.raises(ValueError, match="'tokens' or 'counts', got 'words'"):
        rcv1_files(tmp_path, "words")


def test_topics_are_found_by_document(tmp_path):
    topics = read_rcv1_topics(write(tmp_path, "q", "GCAT 9 1\nC11 3 1\nECAT 9 1\nGCAT 9 1\n"))
    assert topics.ids.tolist() == [3, 9]
    assert topics.label_names.tolist() == ["C11", "ECAT", "GCAT"]
    assert topics.Y.toarray().tolist() == [[1, 0, 0], [0, 1, 1]]
    assert topics.positions(np.array([9, 4, 3, 10])).tolist() == [1, -1, 0, -1]


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
    "text",
    [
        "Root\tCCAT\tECAT\nCCAT\tC11\n",
        "parent: None  child: Root  child-description: Root\n"
        "parent: Root child: CCAT child-description: CORPORATE\n"
        "parent: Root child: ECAT child-description: ECONOMICS\n"
        "parent: CCAT child: C11  child-description: STRATEGY\n",
    ],
)
def test_both_forms_of_the_taxonomy_give_the_parents(tmp_path, text):
    expected = {"CCAT": "Root", "ECAT": "Root", "C11": "CCAT"}
    assert read_rcv1_taxonomy(write(tmp_path, "t", text)) == expected


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("Root CCAT\nX CCAT\n", r"t, line 2: a topic must have one parent, got 'X' and 'Root' for"),
        ("Root CCAT\nCCAT\n", r"t, line 2: a line must name a parent and a child, got 'CCAT'"),
        ("parent: child: x\n", r"t, line 1: a line must name a parent and a child"),
        ("", r"t: there must be lines such as 'Root CCAT ECAT', got none"),
    ],
)
def test_a_damaged_taxonomy_is_named_with_its_line(tmp_path, text, match):
    with pytest.raises(ValueError, match=match):
        read_rcv1_taxonomy(write(tmp_path, "t", text))


def test_the_split_goes_by_the_number_of_the_document():
    train, test = lyrl2004_split(np.array([2286, 26151, 26150, 810596]))
    assert (train.tolist(), test.tolist()) == ([0, 2], [1, 3])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("1 2:3\n2 2:3 x\n", r"v, line 2: a vector must be TERM:WEIGHT .* got 'x' after term 2"),
        (
            "1 2:3\n2 5:\n",
            r"v, line 2: a vector must .* got '5:' after term 0. Is the file cut off",
        ),
        ("1 2:3 2:4\n", r"v, line 1: .* terms ascending from 1 to 9, got '2:4' after term 2"),
        ("1 0:3\n", r"v, line 1: .* got '0:3' after term 0"),
        ("1 10:3\n", r"v, line 1: .* ascending from 1 to 9, got '10:3'"),
        ("1 2:nan\n", r"v, line 1: .* got '2:nan' after term 0"),
        ("1 2:1e999\n", r"v, line 1: .* got '2:1e999' after term 0"),
        ("\n\n1 2:3\n1 2:3\n", r"v, line 4: documents must be unique, got 1 again"),
        ("1 2:3\n2 2:3\n1 2:3\n", r"v, line 3: documents must be unique, got 1 again"),
        ("x 2:3\n", r"v, line 1: a line must begin with the number of a document, got 'x'"),
        ("2:3\n", r"v, line 1: a line must begin with the number of a document, got ''"),
    ],
)
def test_damaged_vectors_are_named_with_their_line(tmp_path, text, match):
    topics = read_rcv1_topics(write_qrels(tmp_path, {1: "A", 2: "B"}))
    with pytest.raises(ValueError, match=match):
        list(iter_rcv1_vectors([write(tmp_path, "v", text)], topics, n_terms=9, block=2))


def test_a_compressed_file_cut_off_is_named_with_its_line(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{i}  1:{rng.random()}\n".encode() for i in range(1, 10_001)]
    whole = gzip.compress(b"".join(lines))
    (tmp_path / "v.gz").write_bytes(whole[: len(whole) // 2])
    topics = read_rcv1_topics(write_qrels(tmp_path, dict.fromkeys(range(1, 10_001), "A")))
    blocks = iter_rcv1_vectors([tmp_path / "v.gz"], topics, block=100)
    n_read = 0
    with pytest.raises(
        ValueError, match=r"v.gz, line \d+: a gzip file must unpack .* cut off\?"
    ) as bad:
        for block in blocks:
            n_read += len(block.ids)
    line = int(re.search(r"line (\d+)", str(bad.value))[1])
    assert 1_000 < n_read < line < 5_500


def test_blocks_must_hold_documents(tmp_path):
    topics = read_rcv1_topics(write_qrels(tmp_path))
    with pytest.raises(ValueError, match="block must be at least 1 document, got 0"):
        next(iter_rcv1_vectors([tmp_path / "v"], topics, block=0))


@given(
    density=st.floats(0, 1),
    n_documents=st.integers(1, 9),
    block=st.integers(1, 10),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_blocks_put_together_are_what_was_written(
    tmp_path_factory, density, n_documents, block, seed
):
    folder = tmp_path_factory.mktemp("rcv1")
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n_documents, 7)) < density, rng.normal(size=(n_documents, 7)), 0)
    ids = rng.choice(np.arange(1, 100), n_documents, replace=False)
    topics = write_qrels(folder, {i: f"T{i % 3} ALL" for i in ids.tolist()})
    path = folder / "v"
    lines = [
        f"{i}  " + " ".join(f"{t + 1}:{row[t]!r}" for t in np.flatnonzero(row).tolist())
        for i, row in zip(ids.tolist(), X.astype(object), strict=True)
    ]
    path.write_text("\n".join(lines))
    read = read_rcv1_topics(topics)
    blocks = list(iter_rcv1_vectors([path], read, n_terms=7, block=block))
    assert [len(b.ids) for b in blocks[:-1]] == [block] * (len(blocks) - 1)
    assert np.concatenate([b.ids for b in blocks]).tolist() == ids.tolist()
    np.testing.assert_array_equal(np.vstack([b.X.toarray() for b in blocks]), X)
    names = [read.label_names[row > 0].tolist() for b in blocks for row in b.Y.toarray()]
    assert names == [["ALL", f"T{i % 3}"] for i in ids]


def write_large(path, n_documents):
    """Write a file like RCV1's, 40 terms of 47,236 per document."""
    rng = np.random.default_rng(0)
    vectors = []
    for _ in range(200):
        terms = np.sort(rng.choice(47236, 40, replace=False)) + 1
        vectors.append(" ".join(f"{t}:{w:.6f}" for t, w in zip(terms, rng.random(40), strict=True)))
    with path.open("w") as file:
        file.writelines(f"{i}  {vectors[i % 200]}\n" for i in range(n_documents))
    return path


def made_topics(n_documents):
    one = np.ones(n_documents), np.arange(n_documents) % 103, np.arange(n_documents + 1)
    return Rcv1Topics(np.arange(n_documents), sparse.csr_array(one), np.arange(103))


def traced_peak(path, n_documents):
    """Return the most that was allocated at a time while the documents went by."""
    topics = made_topics(n_documents)
    tracemalloc.start()
    n_read = sum(len(block.ids) for block in iter_rcv1_vectors([path], topics, block=250))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_read == n_documents
    return peak


def test_memory_does_not_grow_with_the_file(tmp_path):
    small, large = (
        traced_peak(write_large(tmp_path / "v", n_documents), n_documents)
        for n_documents in (500, 4_000)
    )
    # Whether a document came before takes a byte each; its vector would take 480.
    assert large < small * 1.05 + 2 * 4_000


READ_ALL = """
import resource, sys
from test_rcv1 import iter_rcv1_vectors, made_topics
topics = made_topics(int(sys.argv[2]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(sum(len(block.ids) for block in iter_rcv1_vectors([sys.argv[1]], topics)))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.long
def test_as_many_documents_as_rcv1_has_go_by_in_little_memory(tmp_path, long_proofs):
    n_documents = 800_000 if long_proofs else 20_000
    path = write_large(tmp_path / "v", n_documents)
    here = Path(__file__).parent
    answer = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(path), str(n_documents)],
        cwd=here.parent.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(here), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    n_read, grown = map(int, answer.stdout.split())
    assert n_read == n_documents
    assert grown < 100e6


def test_token_files_are_read_document_by_document(tmp_path):
    text = ".I 7\n.W\ntea sugar\nmilk\n\n.I 8\n.W\n.I 9\n.W\nrye\n"
    paths = [write(tmp_path, "a.gz", text), write(tmp_path, "b", ".I 1\n.W\noat\n")]
    found = list(iter_rcv1_tokens(paths))
    assert found == [(7, "tea sugar milk"), (8, ""), (9, "rye"), (1, "oat")]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("tea\n.I 7\n.W\n", r"a, line 1: a document must begin with .I NUMBER, got 'tea'"),
        ("\n.I x\n.W\n", r"a, line 2: a document must begin with .I NUMBER, got '.I x'"),
        (".I 7\n.W\ntea\n.I 8\n", r"a, line 4: document 8 must go on with .W, got nothing. Is the"),
        (".I 7\ntea\n", r"a, line 1: document 7 must go on with .W, got 'tea'"),
    ],
)
def test_damaged_tokens_are_named_with_their_line(tmp_path, text, match):
    with pytest.raises(ValueError, match=match):
        list(iter_rcv1_tokens([write(tmp_path, "a", text)]))


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
            r"s, line 1: a line must be subset .* got \['1', 'C11'\] before the last",
        ),
        ("1\tfirst\tC11\t1\n", r"s, line 1: a vector must be TERM:WEIGHT"),
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
    train, test = lyrl2004_split(topics.ids)
    assert (len(train), len(test)) == (23149, 781265)
    assert topics.ids[train[[0, -1]]].tolist() == [2286, 26150]
    assert (topics.Y[train].sum(axis=0) > 0).sum() == 101
    assert set(read_rcv1_taxonomy(TAXONOMY)) == set(topics.label_names.tolist())


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
