"""Stratified folds of many documents; there is no peer in scikit-learn to compare with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.setting import Setting
from benchmarks.table import Row
from benchmarks.timing import alternate, timed
from labelkin.evaluation.splits import stratified_folds

N_DOCUMENTS, N_LABELS, CARDINALITY = 20_000, 100, 3


def measure_splits(setting: Setting) -> list[Row]:
    """Cut label sets drawn at random, frequent and rare labels among them, into five folds."""
    Y = random_labels(np.random.default_rng(0))

    def folds() -> NDArray[np.int64]:
        return stratified_folds(Y, 5, random_state=0)

    seconds = float(np.median(alternate({"ours": timed(folds)}, setting.rounds)["ours"]))
    fold = folds()
    counts = np.array([Y[fold == k].sum(axis=0) for k in range(5)])
    check = f"a label's folds differ by at most {np.ptp(counts, axis=0).max():g} documents"
    subject = f"stratified_folds, {N_DOCUMENTS:,} × {N_LABELS}"
    return [Row(subject, "(nobody)", seconds, None, f"{seconds:.2f} s CPU", check)]


def random_labels(rng: np.random.Generator) -> sparse.csr_array:
    """Draw independent labels whose frequencies fall as 1/rank, about three to a document."""
    frequency = 1 / np.arange(1, N_LABELS + 1)
    frequency *= CARDINALITY / frequency.sum()
    return sparse.csr_array((rng.random((N_DOCUMENTS, N_LABELS)) < frequency).astype(np.int64))
