"""Records of what a report tells: a score, its baseline's, and the paper's beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

#: The paper's metrics, in the order of its tables: two to be raised, three to be lowered.
F1_METRICS = ("micro_f1", "macro_f1")
LOSSES = ("hamming_loss", "subset_loss", "one_error")
METRICS = (*F1_METRICS, *LOSSES)

Mark = Literal["", "•", "◦"]

_ROUNDING = 1e-12  # what a mean over seeds can make of equal scores


@dataclass(frozen=True)
class Standing:
    """A score, and how it stands to the content classifier alone.

    Attributes
    ----------
    metric
        One of ``METRICS``.
    value
        The score; NaN where there is none.
    baseline
        The score of the content classifier alone; NaN for that classifier itself.
    change
        Δ%: the change against the baseline in per cent of it, NaN where there is none.
    sign
        Of the sign test, ``≪ < ~ > ≫``; empty where there is none.
    """

    metric: str
    value: float
    baseline: float = math.nan
    change: float = math.nan
    sign: str = ""

    @property
    def lead(self) -> float:
        """By how much it is better than the baseline; below 0: worse; NaN: not compared."""
        lead = self.value - self.baseline
        if abs(lead) <= _ROUNDING:
            return 0.0
        return -lead if self.metric in LOSSES else lead

    @property
    def mark(self) -> Mark:
        """``•`` for better than the baseline or equal to it, ``◦`` for worse; as in the paper."""
        if math.isnan(self.lead):
            return ""
        return "•" if self.lead >= 0 else "◦"


@dataclass(frozen=True)
class Score:
    """One number of one system on one corpus, and the paper's.

    Attributes
    ----------
    corpus
        Name of the corpus.
    content, addition
        The content classifier, and what was added to it: ``"NB"``, ``"BLR+M2"`` or nothing.
    ours
        The score measured, the mean over the seeds; NaN where no run is there.
    paper
        The paper's, ``None`` where it has none.
    note
        What to tell who asks for more: the P values of the sign tests.
    """

    corpus: str
    content: str
    addition: str
    ours: Standing
    paper: Standing | None = None
    note: str = ""

    @property
    def system(self) -> str:
        """The name as the paper writes it, ``"NB+BLR+M2"``."""
        return system_name(self.content, self.addition)

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.ours.metric

    @property
    def difference(self) -> float:
        """Ours less the paper's; NaN where either is missing."""
        return math.nan if self.paper is None else self.ours.value - self.paper.value


class Counts(NamedTuple):
    """How often something added is better and worse than the content classifier alone."""

    better: int
    significantly_better: int
    worse: int
    significantly_worse: int


def count_leads(standings: Iterable[Standing]) -> Counts:
    """Count as the paper's summaries do: an equal score is neither better nor worse.

    Examples
    --------
    >>> up = Standing("micro_f1", 0.7, 0.6, sign="≪")
    >>> same, down = Standing("micro_f1", 0.6, 0.6, sign="~"), Standing("micro_f1", 0.5, 0.6)
    >>> count_leads([up, same, down])
    Counts(better=1, significantly_better=1, worse=1, significantly_worse=0)
    """
    given = list(standings)
    return Counts(
        sum(s.lead > 0 for s in given),
        sum(s.sign in {"≪", "<"} for s in given),
        sum(s.lead < 0 for s in given),
        sum(s.sign in {"≫", ">"} for s in given),
    )


def system_name(content: str, addition: str) -> str:
    """Return the name as the paper writes it.

    Examples
    --------
    >>> system_name("NB", "BLR+M2"), system_name("NB", "")
    ('NB+BLR+M2', 'NB')
    """
    return f"{content}+{addition}" if addition else content
