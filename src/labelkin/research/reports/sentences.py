"""The record of scores → a few plain sentences; every number in them is counted, none is typed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labelkin.research.reports.results import Outcome, System
from labelkin.research.reports.scores import F1_METRICS, LOSSES, WORDS, Score, count_leads
from labelkin.research.reports.tables import score_text, signed_text


def describe(outcome: Outcome, addition: str | None = None) -> list[str]:
    """Say in sentences what the first seed shows, what it does not, and where the gains are.

    Parameters
    ----------
    outcome
        What came out; systems whose content classifier alone is not there are left out.
    addition : str, default None
        The addition that is looked at label by label, ``"BLR+M2"``; ``None``: the one that plots
        look at.

    Returns
    -------
    The sentences; none where nothing was added to anything.
    """
    addition = outcome.addition if addition is None else addition
    pairs = outcome.pairs(addition) if addition else []
    if not pairs or outcome.labels is None:
        return []
    contents = {alone.content for alone, _ in outcome.pairs()}
    rows = [r for r in outcome.by_seed if r.seed == outcome.seeds[0] and r.content in contents]
    rows = [row for row in rows if not row.rule]
    proposals = [row for row in rows if row.addition]
    return [
        _lead_with(addition, proposals),
        *(_count_f1([row for row in proposals if row.metric == metric]) for metric in F1_METRICS),
        _name_best(rows),
        _count_losses(proposals),
        _split_gains(addition, pairs, outcome.labels.counts()[0]),
        _compare_calibration(addition, pairs),
    ]


def gains_per_label(alone: System, added: System) -> NDArray[np.float64]:
    """Return the F1 of every label less the content classifier's, ``(n_labels,)``."""
    before, after = (system.evaluation.per_label()["f1"] for system in (alone, added))
    return np.asarray(after - before, dtype=np.float64)


def _lead_with(addition: str, proposals: Sequence[Score]) -> str:
    parts = []
    for metric in F1_METRICS:
        rows = [row for row in proposals if (row.addition, row.metric) == (addition, metric)]
        changes = [
            f"{row.content} {score_text(row.baseline)} → {score_text(row.value)} ({row.sign})"
            for row in rows
        ]
        parts.append(f"{WORDS[metric]} {_join(changes)}")
    return f"{addition} against the content classifier alone: {'; '.join(parts)}."


def _count_f1(proposals: Sequence[Score]) -> str:
    counts, total = count_leads(proposals), len(proposals)
    metric = WORDS[proposals[0].metric]
    return (
        f"{metric[0].upper()}{metric[1:]}: {counts.better} of {total} "
        f"{'proposal' if total == 1 else 'proposals'} {'scores' if counts.better == 1 else 'score'}"
        f" higher than the content classifier alone; {counts.significantly_better} significantly "
        f"better, {counts.significantly_worse} significantly worse (P < 0.05)."
    )


def _name_best(rows: Sequence[Score]) -> str:
    parts = []
    for metric in F1_METRICS:
        best = max((row for row in rows if row.metric == metric), key=lambda row: row.value)
        place = f"{best.system} alone"
        if best.addition:
            place = f"{best.system}, {signed_text(best.change)} % on {best.content} alone"
        parts.append(f"{WORDS[metric]} {score_text(best.value)} ({place})")
    return f"Best scores: {' and '.join(parts)}."


def _count_losses(proposals: Sequence[Score]) -> str:
    parts = []
    for metric in LOSSES:
        rows = [row for row in proposals if row.metric == metric]
        parts.append(f"{WORDS[metric]} in {count_leads(rows).better}")
    return f"Of the same {len(rows)}, fewer errors by {_join(parts)}."


def _split_gains(
    addition: str, pairs: Sequence[tuple[System, System]], label_counts: NDArray[np.float64]
) -> str:
    mean_gain = np.mean([gains_per_label(*pair) for pair in pairs], axis=0)
    order = np.argsort(label_counts, kind="stable")
    half = (len(order) + 1) // 2  # a label in the middle belongs to both halves
    rare, frequent = (float(mean_gain[part].mean()) for part in (order[:half], order[-half:]))
    return (
        f"With {addition}, F1 changes by {signed_text(rare, 4)} on average over the rarer half of "
        f"the labels and by {signed_text(frequent, 4)} over the more frequent half (mean over "
        f"{_join([alone.content for alone, _ in pairs])})."
    )


def _compare_calibration(addition: str, pairs: Sequence[tuple[System, System]]) -> str:
    parts = []
    for pair in pairs:
        before, after = (system.scores["expected_calibration_error"] for system in pair)
        parts.append(f"{pair[0].content} {score_text(before)} → {score_text(after)}")
    return f"Calibration error before and after {addition} (lower is better): {_join(parts)}."


def _join(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
