"""Names of metrics and the direction in which each improves."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from labelkin.label_matrix.record import check_choice

#: Metrics of which a lower value is better; all others improve upwards.
LOWER_IS_BETTER = frozenset(
    (
        *("hamming_loss", "subset_loss", "one_error", "coverage", "ranking_loss"),
        *("log_loss", "log_loss_per_label", "brier_score", "brier_score_per_label"),
        "expected_calibration_error",
    )
)
#: The names in :meth:`labelkin.evaluation.metrics.Evaluation.scores` of decisions and log-odds.
SCORE_NAMES = (
    *("hamming_loss", "subset_loss", "one_error", "coverage", "ranking_loss"),
    "label_ranking_average_precision",
    *(
        f"{average}_{metric}"
        for average in ("micro", "macro", "weighted", "document")
        for metric in ("precision", "recall", "f1", "jaccard")
    ),
    *(f"{metric}@{k}" for metric in ("precision", "recall", "ndcg") for k in (1, 3, 5)),
    *("brier_score", "log_loss", "expected_calibration_error"),
)
_AVERAGES = {"micro": "micro", "macro": "macro", "weighted": "weighted", "samples": "document"}
#: scikit-learn's name → ours, for metrics that are the same.
SCIKIT_LEARN_NAMES = {
    "zero_one_loss": "subset_loss",
    "coverage_error": "coverage",
    "label_ranking_loss": "ranking_loss",
    "label_ranking_average_precision_score": "label_ranking_average_precision",
} | {
    f"{metric}_{theirs}": f"{ours}_{metric}"
    for metric in ("f1", "precision", "recall", "jaccard")
    for theirs, ours in _AVERAGES.items()
}


def metric_name(name: Any, choices: Iterable[str], what: str = "metric") -> str:
    """Return our name of a metric that is one of the choices, given by our or scikit-learn's name.

    Examples
    --------
    >>> metric_name("f1_micro", ["micro_f1", "hamming_loss"])
    'micro_f1'
    """
    ours = SCIKIT_LEARN_NAMES.get(name, name) if isinstance(name, str) else name
    choices = tuple(choices)
    check_choice(what, ours if ours in choices else name, choices)
    return str(ours)


def greater_is_better(metric: Any) -> bool:
    """Return the direction of a metric function; raise if it is unknown.

    Known are the functions of this library and scikit-learn's, whose names end in ``_loss``,
    ``_error`` or ``_deviance`` if lower is better.

    Examples
    --------
    >>> from labelkin.evaluation.metrics import hamming_loss
    >>> greater_is_better(hamming_loss)
    False
    """
    if hasattr(metric, "greater_is_better"):
        return bool(metric.greater_is_better)
    while isinstance(metric, functools.partial):
        metric = metric.func
    name, module = (getattr(metric, key, "") or "" for key in ("__name__", "__module__"))
    if module.startswith("labelkin.evaluation.metrics"):
        return name not in LOWER_IS_BETTER
    if module.startswith("sklearn.metrics"):
        return not name.endswith(("_loss", "_error", "_deviance"))
    raise ValueError(
        f"The direction of the metric {name or metric!r} is unknown. Pass greater_is_better=True, "
        "or False for a loss."
    )
