"""Score matrices in files: blocks, formats, errors."""

import io
import json
import re

import numpy as np
import pytest
from scipy import sparse

from labelkin.prediction.scores import ScoreMatrix, read_score_file, score_blocks, write_blocks

NAMES = ["gold", "grain", "wheat"]


def write_scores(scores, kind):
    """Return a whole score matrix as the bytes of a file."""
    file = io.BytesIO()
    write_blocks(file, [scores], kind)
    return file.getvalue()


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", [".npy", ".npz", ".csv", ".tsv", ".jsonl", ".txt"])
@pytest.mark.parametrize("ids", [None, [f"d{i}" for i in range(11)]])
def test_blocks_of_documents_are_the_same_bytes_as_the_whole(tmp_path, monkeypatch, kind, ids):
    monkeypatch.setattr("labelkin.prediction.scores.DOCUMENTS", 4)
    values = np.random.default_rng(0).random((11, 3))
    named = kind not in (".npy", ".txt")
    whole = ScoreMatrix(
        values, NAMES if named else None, ids if kind in (".csv", ".jsonl") else None
    )
    path, again = tmp_path / f"s{kind}", tmp_path / f"again{kind}"
    path.write_bytes(write_scores(whole, kind))
    blocks = list(score_blocks(path, NAMES))
    assert len(blocks) == (1 if kind in (".npz", ".txt") else 3)
    with again.open("wb") as file:
        assert write_blocks(file, blocks, kind) == (11, 3)
    assert again.read_bytes() == path.read_bytes()


def test_lines_of_two_kinds_are_an_error_also_far_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("labelkin.prediction.scores.DOCUMENTS", 2)
    rows = [{"scores": dict.fromkeys(NAMES, 0.5)}] * 3 + [{"scores": [0.5] * 3}] * 3
    path = write(tmp_path / "s.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ValueError, match="lists in all lines, or objects in all"):
        list(score_blocks(path, NAMES))


def test_names_are_stored_in_a_sparse_archive(tmp_path):
    candidates = sparse.csr_array(np.array([[0.0, 0.5, 0.9], [0.8, 0.0, 0.3]]))
    path = tmp_path / "s.npz"
    path.write_bytes(write_scores(ScoreMatrix(candidates, NAMES), ".npz"))
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
    ],
)
def test_a_file_without_scores_is_an_error(tmp_path, name, text, expected):
    path = write(tmp_path / name, text)
    with pytest.raises(ValueError, match=re.escape(expected)):
        read_score_file(path, NAMES)
