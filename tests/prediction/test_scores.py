"""Score matrices in files: formats, names and errors."""

import re

import numpy as np
import pytest
from scipy import sparse

from labelkin.prediction.scores import ScoreMatrix, read_score_file, write_scores

NAMES = ["gold", "grain", "wheat"]


def test_candidates_are_written_as_npz_or_text(tmp_path):
    candidates = ScoreMatrix(sparse.csr_array(np.array([[0.0, 0.5], [0.8, 0.0]])), NAMES[:2])
    with (tmp_path / "s").open("wb") as file, pytest.raises(ValueError, match=r"as \.npz, \.txt"):
        write_scores(file, candidates, ".csv")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("s.xlsx", "", "must be a file .npy, .npz, .csv, .tsv, .jsonl"),
        ("s.csv", "", "documents × labels"),
        ("s.csv", "grain,wheat\n", "documents × labels"),
        ("s.csv", "grain,wheat\n0.1\n", "line 2: a row must have 2 cells, got 1"),
        ("s.npy", "no array", "must be an array as numpy.save"),
        ("s.npz", "no archive", "must be an archive of arrays"),
        ("s.jsonl", '{"id": 1}\n', "must have 'scores' by label"),
        ("s.jsonl", "{", "line 1"),
        ("s.jsonl", '{"scores": {"zoo": 0.5}}\n', "got 'zoo'"),
    ],
)
def test_file_without_scores_is_an_error(tmp_path, name, text, expected):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(expected)):
        read_score_file(path, NAMES)
