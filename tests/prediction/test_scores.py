"""Score matrices in files: formats, names and errors."""

import re

import numpy as np
import pytest
from scipy import sparse

from labelkin.prediction.scores import ScoreMatrix, read_score_file, write_scores

NAMES = ["gold", "grain", "wheat"]


def test_sparse_archive_contains_names(tmp_path):
    candidates = sparse.csr_array(np.array([[0.0, 0.5, 0.9], [0.8, 0.0, 0.3]]))
    path = tmp_path / "s.npz"
    with path.open("wb") as file:
        write_scores(file, ScoreMatrix(candidates, NAMES), ".npz")
    assert (sparse.load_npz(path) != candidates).nnz == 0
    assert read_score_file(path).names == NAMES


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("s.xlsx", "", "must be a file .npy, .npz, .csv, .tsv, .jsonl"),
        ("s.csv", "", "documents × labels"),
        ("s.csv", "grain,wheat\n", "documents × labels"),
        ("s.csv", "grain,wheat\n0.1\n", "line 2: a row must have 2 cells, got 1"),
        ("s.npy", "no array", "must be an array of numbers"),
        ("s.npz", "no archive", "must be an archive of arrays"),
        ("s.jsonl", '{"id": 1}\n', "an object with 'scores'"),
        ("s.jsonl", "{", "line 1"),
        ("s.jsonl", '{"scores": {"zoo": 0.5}}\n', "got 'zoo'"),
        ("s.jsonl", '{"scores": {"gold": 1}}\n{"scores": [1]}\n', "lists in all lines, or objects"),
    ],
)
def test_file_without_scores_is_an_error(tmp_path, name, text, expected):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(expected)):
        read_score_file(path, NAMES)
