"""Records → a few plain sentences; every number in them is counted, none is typed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labelkin.report.comparison import Comparison, System
from labelkin.report.number_text import score_text, signed_text

_F1 = {"micro_f1": "Micro F1", "macro_f1": "Macro F1"}
_LOSSES = {
    "hamming_loss": "Hamming loss",
    "subset_loss": "subset 0/1 loss",
    "one_error": "one-error",
}


def read_comparison(
    comparison: Comparison, addition: str, label_counts: NDArray[np.float64]
) -> list[str]:
    """Say in sentences what the comparison shows, what it does not, and where the gains are.

    Parameters
    ----------
    comparison
        The compared systems.
    addition
        The addition that is looked at label by label, ``"BLR+M2"``.
    label_counts
        Training documents with each label, ``(n_labels,)``.
    """
    return [
        *(_count_f1(comparison, metric) for metric in _F1),
        _name_best(comparison),
        _count_losses(comparison),
        _split_gains(comparison, addition, label_counts),
        _tell_calibration(comparison, addition),
    ]


def gains_per_label(comparison: Comparison, system: System) -> NDArray[np.float64]:
    """Return the F1 of every label less the baseline's, ``(n_labels,)``."""
    baseline = comparison[system.content].evaluation.per_label()["f1"]
    difference: NDArray[np.float64] = system.evaluation.per_label()["f1"] - baseline
    return difference


def _count_f1(comparison: Comparison, metric: str) -> str:
    proposals = comparison.proposals
    higher = [s for s in proposals if _difference(comparison, s, metric) > 0]
    tests = [s.micro if metric == "micro_f1" else s.macro for s in proposals]
    better = sum(test is not None and test.sign in "≪<" for test in tests)
    worse = sum(test is not None and test.sign in "≫>" for test in tests)
    return (
        f"{_F1[metric]}: {len(higher)} of {_count(len(proposals), 'proposal')} "
        f"{'scores' if len(higher) == 1 else 'score'} higher than the content classifier alone; "
        f"{better} significantly better, {worse} significantly worse (P < 0.05)."
    )


def _name_best(comparison: Comparison) -> str:
    parts = []
    for metric, words in _F1.items():
        best = max(comparison.systems, key=lambda s: s.scores[metric])
        score = score_text(best.scores[metric])
        place = _place(comparison, best, metric)
        parts.append(f"{words[0].lower()}{words[1:]} {score} ({place})")
    return f"Best scores: {' and '.join(parts)}."


def _place(comparison: Comparison, system: System, metric: str) -> str:
    if not system.addition:
        return f"{system.name} alone"
    gain = comparison.gain(system, metric)
    return f"{system.name}, {signed_text(gain)} % on {system.content} alone"


def _count_losses(comparison: Comparison) -> str:
    total = len(comparison.proposals)
    parts = []
    for metric, words in _LOSSES.items():
        lower = sum(_difference(comparison, s, metric) < 0 for s in comparison.proposals)
        parts.append(f"{words} in {lower}")
    return f"Of the same {total}, fewer errors by {_join(parts)}."


def _split_gains(comparison: Comparison, addition: str, label_counts: NDArray[np.float64]) -> str:
    systems = [s for s in comparison.proposals if s.addition == addition]
    mean_gain = np.mean([gains_per_label(comparison, s) for s in systems], axis=0)
    order = np.argsort(label_counts, kind="stable")
    half = (len(order) + 1) // 2  # a label in the middle belongs to both halves
    rare, frequent = (float(mean_gain[part].mean()) for part in (order[:half], order[-half:]))
    contents = _join([s.content for s in systems])
    return (
        f"With {addition}, F1 changes by {signed_text(rare, 4)} on average over the rarer half of "
        f"the labels and by {signed_text(frequent, 4)} over the more frequent half (mean over "
        f"{contents})."
    )


def _tell_calibration(comparison: Comparison, addition: str) -> str:
    parts = []
    for system in (s for s in comparison.proposals if s.addition == addition):
        before = comparison[system.content].scores["expected_calibration_error"]
        after = system.scores["expected_calibration_error"]
        parts.append(f"{system.content} {score_text(before)} → {score_text(after)}")
    return f"Calibration error before and after {addition} (lower is better): {_join(parts)}."


def _difference(comparison: Comparison, system: System, metric: str) -> float:
    return system.scores[metric] - comparison[system.content].scores[metric]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _join(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
