"""Linear SVMs at equal tolerance: ours and the peers' stop at the same violation, 0.1 and 1e-4.

One SVM per label and nothing else, no folds and no probabilities, all with the hinge loss, C = 1
and the bias as one more weight, so that all three minimise one objective. Ours is made for six at
once, the SVM of all documents and those of five folds; here five of its lanes run idle.

LIBLINEAR, which both peers call, stops when the largest and the smallest projected gradient are
less than the tolerance apart, ours when none is larger than the tolerance: the objectives show how
much either leaves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.corpus import Part
from benchmarks.libmultilabel_peer import PeerMissingError, prepare_peer, run_peer, save_corpus
from benchmarks.setting import Setting
from benchmarks.svm import TOLERANCES, micro_f1
from benchmarks.table import Row, ratio_row, skipped_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.label_matrix import LabelMatrix
from labelkin.solvers.linear_svm import solve_svms

Array = NDArray[np.float64]
#: Weights ``(n_labels, n_features)`` and biases ``(n_labels,)``.
Solution = tuple[Array, Array]
#: Of the solution that all objectives are compared with.
_FINEST = 1e-6
#: Large enough for the tolerance to end it; LIBLINEAR, as LibMultiLabel calls it, has another.
_SWEEPS = 10_000


def measure_svm_tolerance(setting: Setting) -> list[Row]:
    """Solve the SVMs of all labels; return objective and micro F1 by tolerance."""
    train, test = setting.corpus.train, setting.corpus.test
    finest = _objectives(train, _solve_ours(train, _FINEST))

    def quality(solution: Solution) -> str:
        weights, bias = solution
        above = np.mean(_objectives(train, solution) / finest - 1)
        f1 = micro_f1(test.indicator, test.tfidf @ weights.T + bias > 0)
        return f"objective {above:.1e} above the optimum, micro F1 {f1}"

    with TemporaryDirectory() as name:
        folder = Path(name)
        save_corpus(setting.corpus, folder)
        return [row for tol in TOLERANCES for row in _measure_at(tol, setting, folder, quality)]


def _measure_at(
    tol: float, setting: Setting, folder: Path, quality: Callable[[Solution], str]
) -> list[Row]:
    train = setting.corpus.train
    options = f"-s 3 -B 1 -e {tol:g}"
    subject = f"linear SVMs without folds (one lane of six), tol={tol:g}"
    peers = {"scikit-learn": f"scikit-learn LinearSVC(hinge, tol={tol:g}) per label"}
    turns = {
        "ours": timed(lambda: _solve_ours(train, tol)),
        "scikit-learn": timed(lambda: _solve_each(train, tol)),
    }
    rows = []
    try:
        peers["LibMultiLabel"] = f"LibMultiLabel {prepare_peer()} train_1vsrest ({options})"
        turns["LibMultiLabel"] = partial(run_peer, folder, options)
    except PeerMissingError as reason:
        rows.append(skipped_row(subject, "LibMultiLabel", None, str(reason)))
    seconds = alternate(turns, setting.rounds)
    ours = quality(_solve_ours(train, tol))
    for name, against in peers.items():
        theirs = _read_peer(folder) if name == "LibMultiLabel" else _solve_each(train, tol)
        check = f"ours: {ours}; peer: {quality(theirs)}"
        rows.append(ratio_row(subject, against, ratio(seconds["ours"], seconds[name]), None, check))
    return rows


def _solve_ours(train: Part, tol: float) -> Solution:
    """Solve without folds: the one part that there is leaves nothing to learn from."""
    folds = np.zeros(train.labels.shape[0], dtype=np.int64)
    svms = solve_svms(train.tfidf, train.labels, folds, tol=tol, max_sweeps=_SWEEPS)
    return svms.weights, svms.bias


def _solve_each(train: Part, tol: float) -> Solution:
    svm = LinearSVC(loss="hinge", tol=tol, max_iter=_SWEEPS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = [clone(svm).fit(train.tfidf, y) for y in train.indicator.T]
    weights = np.vstack([each.coef_ for each in fitted])
    return weights, np.concatenate([each.intercept_ for each in fitted])


def _read_peer(folder: Path) -> Solution:
    """Read the weights that LibMultiLabel left; the last is the bias."""
    weights = np.load(folder / "weights.npy")
    return weights[:-1].T, weights[-1]


def _objectives(train: Part, solution: Solution) -> Array:
    """½ |weights|² + ½ bias² + Σ max(0, 1 − sign · decision value) of every label."""
    weights, bias = solution
    signs = _signs(train.labels)
    slack = np.maximum(0, 1 - signs * (train.tfidf @ weights.T + bias))
    return np.asarray(((weights**2).sum(axis=1) + bias**2) / 2 + slack.sum(axis=0))


def _signs(labels: LabelMatrix) -> Array:
    return 2 * labels.dense() - 1
