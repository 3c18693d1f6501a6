"""The SVM with Platt's probabilities: against scikit-learn's, and against itself without numba."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from benchmarks.setting import Setting
from benchmarks.table import Row, ratio_row, skipped_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.content.platt_svm import PlattSVM
from labelkin.solvers import linear_svm

Array = NDArray[np.float64]
#: Ours by default, and scikit-learn's.
TOLERANCES = (0.1, 1e-4)
_SAME_FOLDS = 0


def measure_calibrated_svm(setting: Setting) -> list[Row]:
    """Fit the labels that five documents carry: scikit-learn's stratified folds need as many.

    Both with their default tolerances, then both with the one and with the other. Both give a
    label up after 1,000 sweeps, which 1e-4 can take.
    """
    train, test = setting.corpus.train, setting.corpus.test
    enough = np.flatnonzero(train.indicator.sum(axis=0) >= 5)
    X, Y, truth = train.tfidf, train.indicator[:, enough], test.indicator[:, enough]

    def fit(tol: float) -> PlattSVM:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return PlattSVM(tol=tol, random_state=0).fit(X, Y)

    turns = {
        (whose, tol): timed(partial(call, tol))
        for tol in TOLERANCES
        for whose, call in {"peer": partial(_fit_calibrated, X, Y), "ours": fit}.items()
    }
    seconds = alternate(turns, setting.rounds)
    ours = {tol: fit(tol).predict_proba(test.tfidf) for tol in TOLERANCES}
    theirs = {tol: _calibrated(_fit_calibrated(X, Y, tol), test.tfidf) for tol in TOLERANCES}
    rows = []
    loose, tight = TOLERANCES
    for tol, peer_tol, target in [(loose, tight, 0.25), (loose, loose, None), (tight, tight, None)]:
        apart = np.abs(ours[tol] - theirs[peer_tol]).mean()
        check = (
            f"{len(enough)} labels; micro F1 {micro_f1(truth, ours[tol] > 0.5)}, peer "
            f"{micro_f1(truth, theirs[peer_tol] > 0.5)}; mean |ΔP| {apart:.1e}"
        )
        against = (
            f"scikit-learn CalibratedClassifierCV(LinearSVC(hinge, tol={peer_tol:g}), cv=5, "
            "ensemble=False) per label"
        )
        measured = ratio(seconds["ours", tol], seconds["peer", peer_tol])
        rows.append(ratio_row(f"PlattSVM(tol={tol:g}), fit", against, measured, target, check))
    return rows


def measure_without_numba(setting: Setting) -> list[Row]:
    """Fit the same folds with numba and with scikit-learn's solver, which takes over without it."""
    subject, against = "PlattSVM without numba", "PlattSVM with numba, same folds"
    if linear_svm.load_kernels() is None:
        return [skipped_row(subject, against, 2e-4, "numba is not installed")]
    train = setting.corpus.train

    def fit() -> PlattSVM:
        return PlattSVM(random_state=_SAME_FOLDS).fit(train.tfidf, train.labels)

    def fit_without() -> PlattSVM:
        with patch.object(linear_svm, "load_kernels", return_value=None):
            return fit()

    seconds = alternate({"with": timed(fit), "without": timed(fit_without)}, setting.rounds)
    X = setting.corpus.test.tfidf
    once, again = (fit_without().predict_proba(X) for _ in range(2))
    apart = float(np.abs(fit().predict_proba(X) - once).mean())
    same = "the same bytes twice" if once.tobytes() == again.tobytes() else "NOT reproducible"
    measured = ratio(seconds["without"], seconds["with"])
    return [
        Row(subject, against, apart, 2e-4, f"mean |ΔP| {apart:.1e}", same),
        ratio_row(f"{subject}, fit", against, measured, None),
    ]


def micro_f1(truth: NDArray[Any], decisions: NDArray[Any]) -> str:
    """Return scikit-learn's micro F1 as text."""
    return f"{f1_score(truth, decisions, average='micro', zero_division=0):.4f}"


def _fit_calibrated(X: Any, Y: NDArray[np.int64], tol: float) -> list[Any]:
    svm = LinearSVC(loss="hinge", tol=tol, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [CalibratedClassifierCV(svm, cv=5, ensemble=False).fit(X, y) for y in Y.T]


def _calibrated(models: list[Any], X: Any) -> Array:
    return np.column_stack([model.predict_proba(X)[:, 1] for model in models])
