"""Linear SVMs with a logistic output, one for each label on the other labels.

As Weka's ``SMO -M``: inputs scaled to [0, 1], soft margin with unpenalised bias, then a logistic
fit of the label on the outputs of the training rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC

from labelkin.odds import log_odds_of
from labelkin.solvers.sigmoid import SigmoidPrior, fit_sigmoid

Array = NDArray[np.float64]

#: Outputs that differ by less than this over all training rows are solver noise, not a rule.
_NO_SPREAD = 1e-3


def fit_svm_layer(
    inputs: Array,
    positive: sparse.csr_array,
    counts: Array,
    *,
    unknown: sparse.csr_array | None = None,
    C: float = 1.0,
    balance_rare: bool = False,
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """Return weights ``(n_labels, n_labels)``, the diagonal 0, and bias ``(n_labels,)``.

    Parameters
    ----------
    inputs, positive
        The rows as inputs, and 1 where a row has the label, ``(n_rows, n_labels)``.
    counts
        How often each row occurs, ``(n_rows,)``.
    unknown
        1 where the row is left out for the label, ``(n_rows, n_labels)``.
    C
        Penalty of a margin violation.
    balance_rare
        Whether a label whose best SVM gives every row the same answer is fitted again with both
        sides weighing the same. Otherwise its log-odds are the prior's.
    n_jobs
        Labels fitted at a time.
    """
    n_labels = positive.shape[1]
    low = inputs.min(axis=0, initial=np.inf) if len(inputs) else np.zeros(n_labels)
    spread = (inputs.max(axis=0, initial=-np.inf) if len(inputs) else low) - low
    scale = np.divide(1.0, spread, out=np.zeros(n_labels), where=spread > 0)
    scaled = (inputs - low) * scale

    def problems() -> Iterator[tuple[Array, Array, int]]:
        for j in range(n_labels):
            left_out = 0.0 if unknown is None else unknown[:, [j]].toarray().ravel()
            yield positive[:, [j]].toarray().ravel(), counts * (1 - left_out), j

    columns = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_svm_column)(scaled, *problem, C, balance_rare) for problem in problems()
    )
    on_scaled = np.array([weights for weights, _ in columns]).reshape(n_labels, n_labels).T
    weights = on_scaled * scale[:, None]
    return weights, np.array([bias for _, bias in columns]) - low @ weights


def _svm_column(
    inputs: Array, target: Array, count: Array, j: int, C: float, balance_rare: bool
) -> tuple[Array, float]:
    """Weights (own place 0) and bias of label j's log-odds on the scaled inputs."""
    rows = np.flatnonzero(count > 0)
    others = inputs[rows]
    others[:, j] = 0.0
    target, count = target[rows], count[rows]
    prior = target @ count / count.sum() if len(rows) else 0.5
    # A label without two sides goes to the end of the scale, as Weka's logistic fit drives it
    # there.
    nothing = np.zeros(inputs.shape[1]), float(log_odds_of(prior, clip=1e-7))
    if len(np.unique(target)) < 2:
        return nothing
    svm = SVC(kernel="linear", C=C, tol=1e-6).fit(others, target, sample_weight=count)
    if balance_rare and np.ptp(svm.decision_function(others)) < _NO_SPREAD:
        svm.fit(others, target, sample_weight=_balanced(target, count))
    output = svm.decision_function(others)
    if np.ptp(output) < _NO_SPREAD:
        return nothing
    prior = SigmoidPrior(slope_precision=2e-8)  # Weka's ridge of 1e-8
    sigmoid = fit_sigmoid(output[:, None], target[:, None], count, smooth=False, prior=prior)
    slope, intercept = -float(sigmoid.slope[0]), -float(sigmoid.intercept[0])
    return slope * svm.coef_.ravel(), slope * float(svm.intercept_[0]) + intercept


def _balanced(target: Array, count: Array) -> Array:
    """Scale counts so that both sides weigh half of all."""
    positive = target @ count
    half = count.sum() / 2
    return count * np.where(target == 1, half / positive, half / (count.sum() - positive))
