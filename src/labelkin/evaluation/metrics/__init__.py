"""Metrics of multilabel decisions, rankings and probabilities, computed from counts that add up.

:func:`evaluate` returns every score, in an :class:`Evaluation` that adds up over blocks of
documents; one function per metric returns one number, and defines it, 0/0 included.

==================================================  ================================================
decisions, by cell (unknown cells are skipped)      :func:`hamming_loss`; :func:`precision`,
                                                    :func:`recall`, :func:`f1`, :func:`jaccard` with
                                                    ``average="micro"``, ``"macro"``,
                                                    ``"weighted"`` or, by label,
                                                    ``average=None``; :func:`micro_f1`,
                                                    :func:`macro_f1`
decisions, by document (unknown cells raise)        :func:`subset_loss`; the four above with
                                                    ``average="document"``
rankings by log-odds (unknown cells raise)          :func:`one_error`, :func:`coverage`,
                                                    :func:`ranking_loss`,
                                                    :func:`label_ranking_average_precision`,
                                                    :func:`precision_at_k`, :func:`recall_at_k`,
                                                    :func:`ndcg_at_k`
probabilities, by cell (unknown cells are skipped)  :func:`brier_score`, :func:`log_loss`,
                                                    :func:`expected_calibration_error`,
                                                    :func:`reliability`
==================================================  ================================================

Rankings and probabilities are evaluated from log-odds; use ``evaluate(Y, probabilities=...)`` or
:func:`to_log_odds` for probabilities.
"""

from labelkin.evaluation.metrics.decisions import (
    f1,
    hamming_loss,
    jaccard,
    macro_f1,
    micro_f1,
    precision,
    recall,
    subset_loss,
)
from labelkin.evaluation.metrics.evaluation import Evaluation, evaluate, evaluate_blocks
from labelkin.evaluation.metrics.probabilities import (
    Reliability,
    brier_score,
    expected_calibration_error,
    log_loss,
    reliability,
)
from labelkin.evaluation.metrics.rankings import (
    coverage,
    label_ranking_average_precision,
    ndcg_at_k,
    one_error,
    precision_at_k,
    ranking_loss,
    recall_at_k,
)
from labelkin.odds import to_log_odds

__all__ = [
    "Evaluation",
    "Reliability",
    "brier_score",
    "coverage",
    "evaluate",
    "evaluate_blocks",
    "expected_calibration_error",
    "f1",
    "hamming_loss",
    "jaccard",
    "label_ranking_average_precision",
    "log_loss",
    "macro_f1",
    "micro_f1",
    "ndcg_at_k",
    "one_error",
    "precision",
    "precision_at_k",
    "ranking_loss",
    "recall",
    "recall_at_k",
    "reliability",
    "subset_loss",
    "to_log_odds",
]
