"""Scores of candidates as text: ``label:score label:score``, a line per document.

Omikuji and napkinXC print their predictions like that, and so do the tools of the extreme
classification repository, with a first line that says how many documents and labels there are.
(PECOS saves its predictions as SciPy does, in ``.npz``.) Labels are numbers from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from labelkin.corpora.lines import decoded_lines
from labelkin.files import MOST_LABELS, check_declared

_PAIR = re.compile(r"(\d+):(\S+)")
_HEADER = re.compile(r"\s*(\d+)\s+(\d+)\s*")


def read_score_text(path: Path, n_labels: int | None = None) -> sparse.csr_array:
    """Read scores of candidates.

    Parameters
    ----------
    path
        A text file: pairs ``label:score`` separated by spaces, tabs or commas, a line per document,
        empty where there is no candidate; a first line of two numbers says how many documents and
        labels there are.
    n_labels
        How many labels there are, where no first line says it; ``None``: as many as the highest
        number needs.

    Returns
    -------
    csr_array
        ``(n_documents, n_labels)``, stored = candidate, sorted indices.
    """
    ends, labels, scores = [0], list[int](), list[float]()
    lines = iter(decoded_lines(path))
    shape: tuple[int, int] | None = None
    for number, line in enumerate(lines, start=1):
        header = _HEADER.fullmatch(line) if number == 1 else None
        if header:
            shape = int(header[1]), int(header[2])
            continue
        row = dict(_pairs(line, f"{path.name}:{number}"))
        for label in sorted(row):
            labels.append(label)
            scores.append(row[label])
        ends.append(len(labels))
    n_documents, width = len(ends) - 1, max(labels, default=-1) + 1
    if shape is not None and shape[0] != n_documents:
        raise ValueError(
            f"{path.name}: its first line says {shape[0]} documents, got {n_documents} lines. Is "
            "the file cut off?"
        )
    most = shape[1] if shape is not None else n_labels
    if shape is not None or n_labels is None:
        check_declared(path, width if most is None else most, "labels", MOST_LABELS)
    if most is not None and width > most:
        raise ValueError(
            f"{path.name}: labels must be numbers from 0 to {most - 1}, got {width - 1}. Are these "
            "scores of the same labels?"
        )
    return sparse.csr_array(
        (np.array(scores), np.array(labels, dtype=np.int32), np.array(ends)),
        shape=(n_documents, width if most is None else most),
    )


def score_text(scores: sparse.csr_array) -> str:
    """Return candidates as text, the best of each document first, after a line with the shape.

    Examples
    --------
    >>> print(score_text(sparse.csr_array(np.array([[0.25, 0.0, 0.5]]))), end="")
    1 3
    2:0.5 0:0.25
    """
    lines = [f"{scores.shape[0]} {scores.shape[1]}"]
    for start, stop in pairwise(scores.indptr.tolist()):
        best = start + np.argsort(-scores.data[start:stop], kind="stable")
        pairs = zip(scores.indices[best].tolist(), scores.data[best].tolist(), strict=True)
        lines.append(" ".join(f"{label}:{score!r}" for label, score in pairs))
    return "\n".join(lines) + "\n"


def _pairs(line: str, place: str) -> Iterator[tuple[int, float]]:
    seen: set[int] = set()
    for item in line.replace(",", " ").split():
        pair = _PAIR.fullmatch(item)
        try:
            label, score = int(pair[1]), float(pair[2])  # type: ignore[index]
        except (TypeError, ValueError):
            raise ValueError(
                f"{place}: candidates must be label:score, a number from 0 and a score, got "
                f"{item[:40]!r}."
            ) from None
        if label in seen:
            raise ValueError(f"{place}: a label must be there once, got {label} twice.")
        seen.add(label)
        yield label, score
