"""Training labels from files: a corpus, lines with label sets, or a 0/1 matrix."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from labelkin.cli.options import load_corpus
from labelkin.cli.scores import DELIMITERS, read_scores
from labelkin.corpora.decoded_lines import decoded_lines
from labelkin.label_matrix import LabelMatrix, read_labels

_SEPARATOR = ";"


def read_training_labels(name: str) -> LabelMatrix:
    """Return the label sets of training documents.

    Parameters
    ----------
    name
        A 0/1 matrix (``.npy``, ``.npz``; ``.csv`` and ``.tsv`` whose header names labels); label
        sets, in JSON lines with ``labels`` or in a table with a column ``labels``; or any corpus
        that :func:`labelkin.corpora.load` takes: then its training part.
    """
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix in (".npy", ".npz") and path.exists():
        return _matrix(path)
    if suffix in (".jsonl", ".ndjson") and path.exists():
        return read_labels([set(labels) for labels in _json_label_sets(path)])
    if suffix in DELIMITERS and path.exists():
        return _table(path)
    corpus = load_corpus(name)
    return corpus.Y.rows(corpus.train)


def labels_of_columns(labels: LabelMatrix, names: list[str] | None) -> LabelMatrix:
    """Return the labels in the columns of scores; those that are no column are left out."""
    if names is None:
        return labels
    wanted = set(names)
    known = np.array([j for j, name in enumerate(labels.names) if str(name) in wanted], int)
    if not len(known):
        raise ValueError(
            f"Scores and training labels must have labels in common, got {names[:3]} … and "
            f"{[str(name) for name in labels.names[:3]]} …."
        )
    kept = labels.columns(known)
    texts = read_labels(kept.plain(), names=[str(name) for name in kept.names])
    return read_labels(texts, names=names)


def _matrix(path: Path) -> LabelMatrix:
    if path.suffix.lower() == ".npz":
        try:
            return read_labels(sparse.load_npz(path))
        except ValueError:
            pass  # no sparse matrix: arrays with names, as scores have them
    scores = read_scores(path)
    return read_labels(scores.values, names=scores.names)


def _table(path: Path) -> LabelMatrix:
    rows = csv.reader(decoded_lines(path), delimiter=DELIMITERS[path.suffix.lower()])
    header = [cell.strip() for cell in next(rows, [])]
    if "labels" not in header:
        scores = read_scores(path)
        return read_labels(scores.values, names=scores.names)
    place = header.index("labels")
    cells = [row[place] for row in rows if len(row) > place]
    return read_labels([{x.strip() for x in cell.split(_SEPARATOR) if x.strip()} for cell in cells])


def _json_label_sets(path: Path) -> Iterator[list[str]]:
    for number, line in enumerate(decoded_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            labels = record["labels"]
        except (ValueError, KeyError, TypeError):
            labels = None
        if not isinstance(labels, list) or not all(isinstance(x, str) for x in labels):
            raise ValueError(
                f"{path.name}, line {number}: a line must be an object with 'labels', a list of "
                f"texts, got {line.strip()[:60]!r}."
            )
        if record.get("split") != "test":
            yield labels
