"""Records → where an addition raises or lowers F1 as it does in the paper, and where not."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from labelkin.report.scores import F1_METRICS, Score


@dataclass(frozen=True)
class Agreement:
    """How the signs of Δ compare with the paper's, for one label classifier.

    A cell is a micro or macro F1 of a system with an addition: three content classifiers, two
    variants and two metrics make twelve per label classifier. It agrees when Δ has the same sign
    as the paper's; a Δ of 0 agrees with 0 only.

    Attributes
    ----------
    labels
        The label classifier, ``"BLR"``.
    agreeing, disagreeing
        The cells by verdict.
    missing
        Cells of which a run is not there.
    """

    labels: str
    agreeing: tuple[Score, ...]
    disagreeing: tuple[Score, ...]
    missing: tuple[Score, ...]

    def __str__(self) -> str:
        """Return the verdict in a sentence."""
        compared = len(self.agreeing) + len(self.disagreeing)
        missing = f" ({len(self.missing)} more are missing)" if self.missing else ""
        return (
            f"{self.labels}: the sign of Δ agrees with the paper in {len(self.agreeing)} of "
            f"{compared} cells{missing}."
        )


def compare_signs(scores: Iterable[Score]) -> list[Agreement]:
    """Compare the sign of Δ with the paper's, for every label classifier of the paper."""
    cells: dict[str, list[Score]] = {}
    for score in scores:
        if score.addition and score.paper and score.metric in F1_METRICS:
            cells.setdefault(score.addition.partition("+")[0], []).append(score)
    return [_agreement(labels, chosen) for labels, chosen in cells.items()]


def _agreement(labels: str, scores: list[Score]) -> Agreement:
    verdicts: dict[bool | None, list[Score]] = {True: [], False: [], None: []}
    for score in scores:
        verdicts[_agrees(score)].append(score)
    return Agreement(labels, *(tuple(verdicts[verdict]) for verdict in (True, False, None)))


def _agrees(score: Score) -> bool | None:
    paper = score.paper.lead if score.paper else math.nan
    if math.isnan(score.ours.lead) or math.isnan(paper):
        return None
    return (score.ours.lead > 0) == (paper > 0) and (score.ours.lead < 0) == (paper < 0)
