"""Comparison of many systems over several corpora: the tests of Friedman, Nemenyi and Holm.

As Demšar (2006) recommends: systems are ranked on every corpus; Friedman's test, with Iman and
Davenport's statistic, asks whether all are the same; then either any two differ by more than
Nemenyi's critical difference of their mean ranks, or all are compared with one by Holm's procedure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from labelkin.records import short_repr


@short_repr
@dataclass(frozen=True)
class RankTest:
    """Systems ranked on several corpora.

    Attributes
    ----------
    names : tuple of str
        The systems.
    ranks : array of shape (n_corpora, n_systems)
        1 is the best; equal scores share their ranks.
    statistic, p_value : float
        Iman and Davenport's F, and P that it is as large or larger when all systems are the same; 0
        and 1 if all systems have equal ranks on all corpora.
    critical_difference : float
        Nemenyi's: two systems whose mean ranks differ by at least this are different, at ``alpha``.
    alpha : float
        The level, for all pairs together.

    Examples
    --------
    >>> from docs.make.rank_test import rank_test
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.6, 0.5, 0.4]]
    >>> test = rank_test(scores, ["A", "B", "C"])
    >>> test.ranks[2].tolist(), test.mean_ranks.tolist()
    ([1.0, 3.0, 2.0], [1.0, 2.25, 2.75])
    >>> round(test.critical_difference, 2), test.groups()
    (1.66, [('A', 'B'), ('B', 'C')])
    """

    names: tuple[str, ...]
    ranks: NDArray[np.float64]
    statistic: float
    p_value: float
    critical_difference: float
    alpha: float

    @property
    def mean_ranks(self) -> NDArray[np.float64]:
        """The mean rank of each system, ``(n_systems,)``."""
        return np.asarray(self.ranks.mean(axis=0))

    def holm(self, control: str) -> dict[str, float]:
        """Return, by system, the P value of its difference from one, adjusted by Holm.

        Two-sided, from the mean ranks; what is at most α may be called different, all together.
        """
        if control not in self.names:
            raise ValueError(
                f"control must be one of {', '.join(map(repr, self.names))}, got {control!r}."
            )
        mean = dict(zip(self.names, self.mean_ranks, strict=True))
        others = [name for name in self.names if name != control]
        z = np.array([abs(mean[name] - mean[control]) for name in others]) / self._spread
        p = 2 * stats.norm.sf(z)
        adjusted, largest = {}, 0.0
        for step, i in enumerate(np.argsort(p, kind="stable")):
            largest = max(largest, min(1.0, float(p[i]) * (len(others) - step)))
            adjusted[others[i]] = largest
        return {name: adjusted[name] for name in others}

    def groups(self) -> list[tuple[str, ...]]:
        """Return the largest groups of systems, best first, none of which differ by Nemenyi."""
        order = np.argsort(self.mean_ranks, kind="stable")
        mean = self.mean_ranks[order]
        found: list[tuple[int, int]] = []
        for start in range(len(order)):
            stop = int(np.searchsorted(mean, mean[start] + self.critical_difference, "left"))
            if stop > start + 1 and (not found or stop > found[-1][1]):
                found.append((start, stop))
        return [tuple(self.names[i] for i in order[start:stop]) for start, stop in found]

    @property
    def _spread(self) -> float:
        n_corpora, n_systems = self.ranks.shape
        return float(np.sqrt(n_systems * (n_systems + 1) / (6 * n_corpora)))


def rank_test(
    scores: ArrayLike,
    names: Sequence[str],
    *,
    greater_is_better: bool = True,
    alpha: float = 0.05,
) -> RankTest:
    """Rank systems on several corpora and test whether they differ.

    Parameters
    ----------
    scores : array of shape (n_corpora, n_systems)
        One number for each; every system on every corpus (complete blocks).
    names : sequence of str
        The systems, in the order of the columns.
    greater_is_better : bool, default True
        Whether the largest score is ranked first.
    alpha : float, default 0.05
        The level of Nemenyi's critical difference.

    Returns
    -------
    RankTest

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.6, 0.5, 0.4]]
    >>> test = rank_test(scores, ["A", "B", "C"])
    >>> test.mean_ranks.tolist(), round(test.p_value, 4)
    ([1.0, 2.25, 2.75], 0.0066)
    >>> {name: round(p, 3) for name, p in test.holm("A").items()}
    {'B': 0.077, 'C': 0.027}
    """
    values: Any = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(names) or min(values.shape) < 2:
        raise ValueError(
            "scores must be corpora × systems, at least two of each, with a name for each system; "
            f"got shape {values.shape} and {len(names)} names."
        )
    if np.isnan(values).any():
        i, j = np.argwhere(np.isnan(values))[0]
        raise ValueError(
            f"scores must be there for every system on every corpus, got NaN for {names[j]} on "
            f"corpus {i} ({int(np.isnan(values).sum())} such cells). Leave out the system, or the "
            "corpus."
        )
    # what rounding makes of equal scores is no difference
    ranks = stats.rankdata((-values if greater_is_better else values).round(12), axis=1)
    n, k = ranks.shape
    chi_square = 12 * n / (k * (k + 1)) * (((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    rest = n * (k - 1) - chi_square
    statistic = (n - 1) * chi_square / rest if rest > 1e-9 else np.inf
    p_value = float(stats.f.sf(statistic, k - 1, (k - 1) * (n - 1)))
    studentised = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    critical = float(studentised * np.sqrt(k * (k + 1) / (6 * n)))
    return RankTest(tuple(names), ranks, float(statistic), p_value, critical, alpha)
