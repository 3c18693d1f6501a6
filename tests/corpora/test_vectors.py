"""Vectors in text: LIBSVM's and the extreme-classification repository's formats."""

import bz2
import gzip
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from labelkin.corpora import load
from labelkin.corpora.vectors import format_scores, read_extreme, read_libsvm, read_score_text


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="tiny_train.txt"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write_text


def test_a_file_becomes_a_corpus(write):
    corpus = read_extreme(write("4 3 5\n4,0 1:0.5 2:1e-1\n 0:2\n2\n3,3\t2:1\n\n"))
    assert corpus.documents.toarray().tolist() == [[0, 0.5, 0.1], [2, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert corpus.label_sets() == [(0, 4), (), (2,), (3,)]
    assert corpus.label_names.tolist() == [0, 1, 2, 3, 4]
    assert corpus.Y.max() == 1
    assert corpus.train.tolist() == [0, 1, 2, 3]
    assert corpus.test.tolist() == []
    assert corpus.features == "weights"


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_it_reads_what_scikit_learn_writes(tmp_path_factory, n, d, p, seed):
    rng = np.random.default_rng(seed)
    # A feature at least: scikit-learn passes over documents of nothing.
    stored = (rng.random((n, d)) < 0.6) | (np.arange(d) == 0)
    X = sparse.csr_array(rng.normal(size=(n, d)) * stored)
    Y = (rng.random((n, p)) < 0.4).astype(int)
    written = BytesIO()
    dump_svmlight_file(X, Y, written, multilabel=True, zero_based=True)
    path = tmp_path_factory.mktemp("any") / "any.txt.gz"
    path.write_bytes(gzip.compress(f"{n} {d} {p}\n".encode() + written.getvalue()))
    X_theirs, labels = load_svmlight_file(
        BytesIO(written.getvalue()), multilabel=True, zero_based=True, n_features=d
    )
    corpus = read_extreme(path)
    np.testing.assert_array_equal(corpus.documents.toarray(), X_theirs.toarray())
    assert corpus.label_sets() == [tuple(sorted(map(int, row))) for row in labels]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n0 0:1\n", r"line 1: the first line must be the numbers .* got '1 2'"),
        ("2 2 2\n0 0:1\n", r"the file must have the 2 documents .* got 1\. Is it cut off"),
        ("1 2 2\n0 0:1\n1 1:1\n", r"the file must have the 1 documents .* got 2"),
        ("2 2 2\n0 0:1\n2 1:1\n", r"tiny_train\.txt: labels must be numbers from 0 to 1, got 2"),
        ("3 2 2\n0 0:1\n\n0 2:1\n", r"tiny_train\.txt: terms must be 0 to 1, got 2"),
        ("1 2 2\n0 0:1 0:2\n", r"line 2: a line must be LABEL.*sorted and unique"),
        ("2 2 2\n1 1:1\n0 1:1:2\n", r"line 3: a line must be LABEL,LABEL .*b'1:2'"),
        ("1 2 2\n0,x 1:2\n", r"line 2: a line must be LABEL,LABEL .* float: b'x'"),
        ("2 2 2\n1 1:1\n0 1:nan\n", r"document 2: weights must be finite numbers"),
        ("1 2 2\n-1 1:1\n", r"labels must be numbers from 0 to 1, got -1"),
        ("1 2 2\n0.5 1:1\n", r"labels must be numbers from 0 to 1, got 0.5"),
        ("0 2 2\n", r"tiny_train\.txt: a corpus must have documents, got none"),
    ],
)
def test_damaged_files_of_the_extreme_repository_are_errors(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_extreme(write(text))


def test_load_recognises_a_file_by_its_first_line(write):
    path = write("1 2 2\n0 0:1\n")
    assert load(path).Y.shape == (1, 2)
    assert load(path, test=write("1 2 2\n1 0:1\n", name="b.txt")).label_sets() == [(0,), (1,)]


def write_packed(folder, name, text):
    path = folder / name
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "wt") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
def test_libsvm_files_are_read_as_they_were_written(tmp_path, ending):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 5)) * (rng.random((12, 5)) < 0.5)
    Y = (rng.random((12, 11)) < 0.3).astype(int)
    for name, rows in [("train", slice(0, 8)), ("test", slice(8, 12))]:
        dump_svmlight_file(
            X[rows], Y[rows], str(tmp_path / "plain"), zero_based=False, multilabel=True
        )
        write_packed(tmp_path, f"{name}.svm{ending}", (tmp_path / "plain").read_text())
    corpus = read_libsvm(tmp_path / f"train.svm{ending}", tmp_path / f"test.svm{ending}")
    np.testing.assert_allclose(corpus.documents.toarray(), X, rtol=1e-14)
    assert corpus.label_names.tolist() == [str(j) for j in range(11) if Y[:, j].any()]
    np.testing.assert_array_equal(corpus.Y, Y[:, Y.any(axis=0)])
    assert (len(corpus.train), len(corpus.test), corpus.name) == (8, 4, "train")
    assert corpus.features == "numbers"


def test_libsvm_documents_may_have_no_labels_or_no_features(tmp_path):
    path = write_packed(tmp_path, "a.svm", "3,1 2:1 4:2\n 1:1\n2:3\n3 \n3\n")
    corpus = read_libsvm(path)
    assert corpus.label_sets() == [("1", "3"), (), (), ("3",), ("3",)]
    assert corpus.documents.shape == (5, 4)
    assert corpus.documents.sum(axis=1).tolist() == [3, 1, 3, 0, 0]
    assert corpus.features == "counts"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("1 2:1\n1,2 3:x\n", r"a.svm, line 2: a line must be LABEL,LABEL TERM:WEIGHT .*b'x'. Is"),
        ("1 0:1\n", r"a.svm, line 1: .* terms ascending from 1, got: Invalid index 0"),
        ("1 99999999999:1\n", r"a.svm, line 1: a line must be"),
        ("1,nan 2:1\n", r"a.svm: labels must be finite numbers"),
        ("", r"a.svm: a corpus must have documents, got none"),
    ],
)
def test_damaged_libsvm_files_are_named_with_their_line(tmp_path, text, match):
    with pytest.raises(ValueError, match=match):
        read_libsvm(write_packed(tmp_path, "a.svm", text))


def written(tmp_path, text):
    path = tmp_path / "scores.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize("text", ["0:0.5 2:-1e-3\n\n1:0.0\n", "0:0.5,2:-1e-3\n\n1:0\n"])
def test_candidates_are_read_including_stored_zeros(tmp_path, text):
    found = read_score_text(written(tmp_path, text))
    assert found.shape == (3, 3)
    assert found.indptr.tolist() == [0, 2, 2, 3]
    assert found.data.tolist() == [0.5, -0.001, 0.0]


def test_written_scores_are_read_back(tmp_path):
    rng = np.random.default_rng(0)
    scores = sparse.csr_array(np.where(rng.random((9, 5)) < 0.4, rng.normal(size=(9, 5)), 0.0))
    found = read_score_text(written(tmp_path, format_scores(scores)))
    assert (found != scores).nnz == 0
    assert found.shape == scores.shape


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0:0.5 x:1\n", r"scores.txt, line 1: candidates must be label:score.*got 'x:1'"),
        ("0:0.5\n1:high\n", r"scores.txt, line 2: candidates must be label:score.*got '1:high'"),
        ("0:0.5 0:0.6\n", r"scores.txt, line 1: candidates must be label:score, distinct"),
        ("2 3\n0:0.5\n", r"must have the 2 documents of its first line, got 1"),
        ("1 3\n3:0.5\n", r"numbers from 0 to 2, got 3"),
    ],
)
def test_damaged_scores_are_errors(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_score_text(written(tmp_path, text))
