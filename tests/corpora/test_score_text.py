"""Scores of candidates as text."""

import numpy as np
import pytest
from scipy import sparse

from labelkin.corpora.score_text import read_score_text, score_text


def written(tmp_path, text):
    path = tmp_path / "scores.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize("text", ["0:0.5 2:-1e-3\n\n1:0.0\n", "0:0.5,2:-1e-3\n\n1:0\n"])
def test_candidates_are_read_a_stored_zero_included(tmp_path, text):
    found = read_score_text(written(tmp_path, text))
    assert found.shape == (3, 3)
    assert found.indptr.tolist() == [0, 2, 2, 3]
    assert found.data.tolist() == [0.5, -0.001, 0.0]


def test_a_first_line_says_how_many(tmp_path):
    assert read_score_text(written(tmp_path, "1 7\n3:0.5\n")).shape == (1, 7)
    assert read_score_text(written(tmp_path, "3:0.5\n"), n_labels=5).shape == (1, 5)


def test_what_is_written_is_read(tmp_path):
    rng = np.random.default_rng(0)
    scores = sparse.csr_array(np.where(rng.random((9, 5)) < 0.4, rng.normal(size=(9, 5)), 0.0))
    found = read_score_text(written(tmp_path, score_text(scores)))
    assert (found != scores).nnz == 0
    assert found.shape == scores.shape


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0:0.5 x:1\n", r"scores.txt:1: candidates must be label:score.*got 'x:1'"),
        ("0:0.5\n1:high\n", r"scores.txt:2: candidates must be label:score.*got '1:high'"),
        ("0:0.5 0:0.6\n", r"scores.txt:1: a label must be there once, got 0 twice"),
        ("2 3\n0:0.5\n", r"first line says 2 documents, got 1 lines"),
        ("1 3\n3:0.5\n", r"numbers from 0 to 2, got 3"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_score_text(written(tmp_path, text))
