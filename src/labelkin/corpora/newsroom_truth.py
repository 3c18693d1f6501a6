"""How the made newsroom hands out labels: an explicit model, sampled and solved exactly.

A **desk** takes the document (drawn by its share), and every **beat**, a small group of labels, is
open or closed at that desk with a known chance, independently of the other beats. An open beat
writes one **story**: one of the label sets listed for it, drawn by weight, where a desk may lean
towards some labels, or now and then an odd one. So

    p(label set) = Σ_desk share(desk) · Π_beat p(labels of the beat | desk)

and p(label | all other labels) takes two such sums: one with the label, one without. Every label
set is possible but those with labels that exclude each other and those without a topic: every desk
has a beat that is always open, and it is never the region.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.corpora.newsroom_desks import BEATS, DESKS, EXCLUSIVE, Desk
from labelkin.label_matrix import LabelMatrix, read_labels

RARELY_OPEN = 0.005
"""Chance of a beat that the desk does not name."""
ODD_STORIES = 0.01
"""Part of an open beat's stories that are not listed ones but any labels that may go together, …"""
ODD_LABEL = 0.2
"""… each further label making them five times rarer."""


@dataclass(frozen=True)
class NewsroomTruth:
    """The exact distribution of the made newsroom's label sets.

    Attributes
    ----------
    names
        The labels in alphabetical order: the columns of every matrix here, ``(n_labels,)``.
    shares
        p(desk), ``(n_desks,)``.
    columns
        For every beat the columns of its labels.
    tables
        For every beat p(its labels | desk), ``(n_desks, 2 ** n_labels_of_the_beat)``. Position in a
        table: its first label counts 1, the second 2, the third 4, and so on.
    """

    names: NDArray[np.str_]
    shares: NDArray[np.float64]
    columns: tuple[NDArray[np.int64], ...]
    tables: tuple[NDArray[np.float64], ...]

    @property
    def prior(self) -> NDArray[np.float64]:
        """p(label), ``(n_labels,)``."""
        prior = np.empty(len(self.names))
        for columns, table in zip(self.columns, self.tables, strict=True):
            prior[columns] = self.shares @ table @ _bits(len(columns))
        return prior

    def log_odds(self, L: Any) -> NDArray[np.float64]:
        """Return the exact log-odds of p(label | all other labels), ``(n_documents, n_labels)``.

        ``-inf``: the label cannot join the others (victory beside defeat). ``inf``: they cannot be
        without it (a first topic). NaN: 0/0, the others never occur, with it or without.

        Parameters
        ----------
        L
            Complete label sets, ``(n_documents, n_labels)`` of 0 and 1 or any other kind of ``Y``;
            column j is ignored for label j.
        """
        cells = _complete(read_labels(L, names=self.names))
        codes = [_code(cells[:, columns]) for columns in self.columns]
        chances = [table[:, code].T for table, code in zip(self.tables, codes, strict=True)]
        log_odds = np.empty(cells.shape)
        for g, (columns, table) in enumerate(zip(self.columns, self.tables, strict=True)):
            # p(desk, labels of all other beats), one column per desk
            others = self.shares * np.prod(chances[:g] + chances[g + 1 :], axis=0)
            for bit, j in enumerate(columns):
                without = codes[g] & ~(1 << bit)
                p_without = (others * table[:, without].T).sum(axis=1)
                p_with = (others * table[:, without | 1 << bit].T).sum(axis=1)
                log_odds[:, j] = _log_ratio(p_with, p_without)
        return log_odds

    def sample(
        self, n_documents: int, *, seed: int | np.random.SeedSequence = 0
    ) -> NDArray[np.int64]:
        """Draw label sets without texts, 0/1, ``(n_documents, n_labels)``.

        With the same seed, fewer documents are the beginning of more.
        """
        # Uniform numbers only: their stream is the same on every machine.
        u = np.random.default_rng(seed).random((n_documents, 1 + len(self.tables)))
        desks = _draw(self.shares, u[:, 0])
        Y = np.zeros((n_documents, len(self.names)), dtype=np.int64)
        for g, (columns, table) in enumerate(zip(self.columns, self.tables, strict=True), start=1):
            for desk, p in enumerate(table):
                rows = np.flatnonzero(desks == desk)
                Y[np.ix_(rows, columns)] = _bits(len(columns))[_draw(p, u[rows, g])]
        return Y


def newsroom_truth() -> NewsroomTruth:
    """Return the distribution behind :func:`newsroom`.

    Examples
    --------
    What wheat says about grain, and what weather does:

    >>> truth = newsroom_truth()
    >>> grain = truth.names.tolist().index("grain")
    >>> truth.log_odds([["wheat"], ["weather"]])[:, grain].round(1).tolist()
    [2.8, -3.2]
    """
    return make_truth(BEATS, DESKS, EXCLUSIVE)


def make_truth(
    beats: Mapping[str, Mapping[str, float]],
    desks: Mapping[str, Desk],
    exclusive: Sequence[tuple[str, str]],
) -> NewsroomTruth:
    """Turn stories, desks and the labels that exclude each other into probability tables."""
    labels = {beat: _labels_of(stories) for beat, stories in beats.items()}
    names = sorted(label for members in labels.values() for label in members)
    shares = np.array([desk.share for desk in desks.values()])
    columns = [np.array([names.index(name) for name in members]) for members in labels.values()]
    tables = []
    for beat, members in labels.items():
        odd = _odd_stories(members, exclusive)
        rows = [
            _table(_listed_stories(beats[beat], members, desk), odd, _chance(desk, beat))
            for desk in desks.values()
        ]
        tables.append(np.array(rows))
    return NewsroomTruth(np.array(names), shares / shares.sum(), tuple(columns), tuple(tables))


def _labels_of(stories: Mapping[str, float]) -> list[str]:
    return list(dict.fromkeys(label for story in stories for label in story.split()))


def _chance(desk: Desk, beat: str) -> float:
    return desk.beats.get(beat, RARELY_OPEN)


def _table(
    listed: NDArray[np.float64], odd: NDArray[np.float64], chance: float
) -> NDArray[np.float64]:
    """p(labels of the beat | desk); a closed beat has none of its labels."""
    table = chance * ((1 - ODD_STORIES) * listed + ODD_STORIES * odd)
    table[0] = 1 - chance
    return table


def _listed_stories(
    stories: Mapping[str, float], labels: list[str], desk: Desk
) -> NDArray[np.float64]:
    """p(label set of the beat | desk, open): weights of the stories times leanings of the desk."""
    weights = np.zeros(2 ** len(labels))
    for story, weight in stories.items():
        members = story.split()
        lean = math.prod(desk.leans.get(label, 1.0) for label in members)
        weights[sum(1 << labels.index(label) for label in members)] = weight * lean
    return weights / weights.sum()


def _odd_stories(labels: list[str], exclusive: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """p(label set of the beat | odd): the larger the rarer, never two that exclude each other."""
    bits = _bits(len(labels))
    weights = ODD_LABEL ** bits.sum(axis=1)
    weights[0] = 0.0
    for pair in exclusive:
        columns = [labels.index(label) for label in pair if label in labels]
        weights[bits[:, columns].sum(axis=1) == 2] = 0.0
    return weights / weights.sum()


def _complete(labels: LabelMatrix) -> NDArray[np.int64]:
    if labels.unknown is not None:
        raise ValueError(
            "L must hold complete label sets, as p(label | all other labels) needs all of them, "
            f"got {labels.unknown.nnz} unknown cells (NaN). Fill them in with 0 or 1."
        )
    return labels.positive.toarray().astype(np.int64)


def _bits(n_labels: int) -> NDArray[np.int64]:
    """Return the label sets in table order, 0/1, ``(2 ** n_labels, n_labels)``."""
    return np.arange(2**n_labels)[:, None] >> np.arange(n_labels) & 1


def _code(L: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each row in table order."""
    return L @ (1 << np.arange(L.shape[1]))


def _draw(p: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each ``u``, the first place whose cumulated probability exceeds it."""
    cumulated = np.cumsum(p)
    return np.searchsorted(cumulated, u * cumulated[-1], side="right")


def _log_ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):  # ±inf and NaN are the answers meant
        return np.log(a) - np.log(b)
