"""The label layer: against scikit-learn label by label, and as a share of fitting the content."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from benchmarks.setting import Setting
from benchmarks.table import Row, ratio_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.content.platt_svm import PlattSVM
from labelkin.label_matrix import LabelMatrix
from labelkin.method.label_evidence import LogisticLabels, prior_scale
from labelkin.method.label_sets import count_label_sets

Array = NDArray[np.float64]


def measure_label_layer(setting: Setting) -> list[Row]:
    """Fit p(label | other labels) of all labels, both to one objective."""
    labels = setting.corpus.train.labels
    tau = prior_scale(count_label_sets(labels))
    problems = _problems(labels.dense(), tau)
    seconds = alternate(
        {
            "peer": timed(lambda: _fit_each(problems)),
            "ours": timed(lambda: LogisticLabels().fit(labels)),
        },
        setting.rounds,
    )
    check = _compare_objectives(labels, tau, _fit_each(problems))
    against = "scikit-learn LogisticRegression (liblinear) per label"
    measured = ratio(seconds["ours"], seconds["peer"])
    return [ratio_row("LogisticLabels, fit", against, measured, 0.08, check)]


def measure_layer_share(setting: Setting) -> list[Row]:
    """Compare what the labels cost with what the content costs."""
    train = setting.corpus.train
    seconds = alternate(
        {
            "content": timed(lambda: PlattSVM(random_state=0).fit(train.tfidf, train.labels)),
            "labels": timed(lambda: LogisticLabels().fit(train.labels)),
        },
        setting.rounds,
    )
    measured = ratio(seconds["labels"], seconds["content"])
    return [ratio_row("LogisticLabels, fit", "PlattSVM, fit", measured, 0.05)]


def _problems(Y: Array, tau: Array) -> list[tuple[Any, Array, float]]:
    """Prepare inputs, target and C = tau/2 of every label, outside the time of the peer."""
    return [
        (sparse.csr_matrix(np.delete(Y, j, axis=1)), Y[:, j], tau[j] / 2) for j in range(len(tau))
    ]


def _fit_each(problems: list[tuple[Any, Array, float]]) -> list[Any]:
    """Fit one after the other; ``intercept_scaling=1`` penalises the intercept as we do."""
    return [LogisticRegression(C=C, solver="liblinear").fit(X, y) for X, y, C in problems]


def _compare_objectives(labels: LabelMatrix, tau: Array, peers: list[Any]) -> str:
    """Say by how much either solution misses the better one, at most."""
    layer = LogisticLabels().fit(labels)
    ours = _objectives(labels, tau, layer.weights_, layer.bias_)
    weights = np.zeros_like(layer.weights_)
    for j, peer in enumerate(peers):
        weights[np.delete(np.arange(len(peers)), j), j] = peer.coef_[0]
    theirs = _objectives(labels, tau, weights, np.array([peer.intercept_[0] for peer in peers]))
    best = np.minimum(ours, theirs)
    return (
        f"objective above the better of the two, at most: ours {np.max(ours / best - 1):.1e}, "
        f"peer {np.max(theirs / best - 1):.1e}"
    )


def _objectives(labels: LabelMatrix, tau: Array, weights: Array, bias: Array) -> Array:
    """Σ log(1 + exp(m)) − y m + |w|²/tau of every label."""
    Y = labels.dense()
    margins = Y @ weights + bias
    loss = (np.logaddexp(0, margins) - Y * margins).sum(axis=0)
    return np.asarray(loss + ((weights**2).sum(axis=0) + bias**2) / tau)
