"""What the evidence of each member of an ensemble counts: learned on unseen documents.

Weights that all labels share are learned first, from all cells, documents × labels; those of a
label are drawn towards them. Most cells are far from any doubt: such are counted, or drawn by lot,
instead of visited.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelkin.content.ensemble_spec import MemberEvidence
from labelkin.label_matrix import LabelMatrix
from labelkin.solvers.grouped_logistic import GroupedCells, Prior, fit_logistic

_Floats = NDArray[np.float64]

#: Of the shared weights, so that constant evidence also has one.
_RIDGE = 1e-3
#: Where all members are below, cells without the label are counted, not visited.
_FAR = -8.0
#: From so many documents on, of cells below without the label only one document in so many is
#: visited, and counts for all of them.
_MANY = 2000
_LOW, _EVERY = -5.0, 8
#: Documents × labels that learn their weights together.
_BLOCK_CELLS = 2**22
#: Cells from which the shared weights are learned, at most: they are a handful of numbers.
_POOLED_CELLS = 2**18
#: Of weights without a fold, which are near those of all documents.
_COARSE = 0.03


class MemberWeights(NamedTuple):
    """What members count.

    Attributes
    ----------
    once
        Whether the prior is counted once, or as often as the members together.
    kept
        The members that help; the others have no positive weight beside them.
    shared
        Their weights and, last, a bias, for all labels.
    """

    once: bool
    kept: list[int]
    shared: _Floats


class _Block(NamedTuple):
    """Some labels, the cells to learn from with the prior counted once, and their documents."""

    columns: NDArray[np.intp]
    cells: GroupedCells
    document: NDArray[np.intp]


@dataclass(frozen=True)
class TrainingEvidence:
    """Evidence of documents that the members have not seen, with what is true of them.

    Attributes
    ----------
    evidence
        What members say beyond the prior.
    labels
        What is true.
    weight
        How many times a document counts, ``(n_documents,)``; ``None``: once.
    prior
        Log-odds of the prior, ``(n_labels,)``.
    """

    evidence: MemberEvidence
    labels: LabelMatrix
    weight: NDArray[np.float64] | None
    prior: _Floats

    def members(self, some: list[int]) -> TrainingEvidence:
        """Return the evidence of some members."""
        return replace(self, evidence=self.evidence.some(some))

    def choose(self) -> MemberWeights:
        """Return which members help, and how the prior counts by the better Brier score."""
        cells = _together([block.cells for block in self._pooled()._blocks()])
        tried = []
        begin = None
        for once in (True, False):
            some = cells if once else _with_prior(cells)
            kept, theta = _positive_weights(some, begin)
            log_odds = some.offset + theta[:-1] @ some.inputs[kept] + theta[-1]
            brier = float(some.weight @ (some.target - expit(log_odds)) ** 2)
            tried.append((brier, MemberWeights(once, kept, theta)))
            begin = theta if len(kept) == len(some.inputs) else None
        return min(tried, key=lambda one: one[0])[1]

    def fit(self, chosen: MemberWeights, strength: float, fold: NDArray[np.intp]) -> list[_Floats]:
        """Return weights and bias of every label, ``(n_labels, n_members + 1)``.

        Of the documents that are not in each fold; last, of all of them.

        Parameters
        ----------
        chosen
            What is shared.
        strength
            How strongly the weights of a label are drawn to it.
        fold
            The fold of every document; −1 without folds.
        """
        n_folds = int(fold.max(initial=-1)) + 1
        shape = self.labels.shape[1], len(chosen.shared)
        thetas = [np.zeros(shape) for _ in range(n_folds + 1)]
        precision = np.full(len(chosen.shared), strength)
        precision[-1] /= 10  # a bias is a label's own more than its weights are
        for columns, grouped, document in self._blocks():
            cells = grouped if chosen.once else _with_prior(grouped)
            whole = fit_logistic(cells, Prior(chosen.shared, precision))
            thetas[-1][columns] = whole
            of_cell = np.where(document < 0, -1, fold[document])
            for k in range(n_folds):
                # A part has a share of the documents, and of the prior for all of them.
                share = float(np.mean(fold != k))
                times = np.where(of_cell == k, 0.0, np.where(document < 0, share, 1.0))
                part = replace(cells, weight=times * cells.weight)
                prior = Prior(chosen.shared, share * precision)
                thetas[k][columns] = fit_logistic(part, prior, whole, _COARSE)
        for k, theta in enumerate(thetas):
            theta[:, :-1] = np.maximum(theta[:, :-1], 0.0)  # no member has a negative weight
            rows = np.flatnonzero(fold != k)
            weight = None if self.weight is None else self.weight[rows]
            theta[self.labels.rows(rows).constant(weight)] = 0.0
        return thetas

    def _pooled(self) -> TrainingEvidence:
        """Return as many documents as the shared weights are learned from."""
        n_documents, n_cells = self.labels.shape[0], self.evidence.values[0].size
        every = max(-(-n_cells // _POOLED_CELLS), 1)
        if every == 1:
            return self
        some = np.zeros(n_documents, dtype=np.bool_)
        some[::every] = True
        return TrainingEvidence(
            self.evidence.documents(some)[0],
            self.labels.rows(np.flatnonzero(some)),
            None if self.weight is None else self.weight[some],
            self.prior,
        )

    def _blocks(self) -> Iterator[_Block]:
        """Yield some labels at a time; one block is kept, for it is asked for again."""
        n_documents, n_labels = self.labels.shape
        width = max(_BLOCK_CELLS // max(n_documents, 1), 1)
        if width >= n_labels:
            yield self._only_block
            return
        for first in range(0, n_labels, width):
            yield self._block(first, min(first + width, n_labels))

    @cached_property
    def _only_block(self) -> _Block:
        return self._block(0, self.labels.shape[1])

    @cached_property
    def _by_label(self) -> NDArray[np.intp]:
        """The order of candidate cells in which those of a label are together."""
        assert self.evidence.cells is not None
        return np.argsort(self.evidence.cells.label, kind="stable")

    def _block(self, first: int, stop: int) -> _Block:
        """Return the cells of some labels: those that matter, and for each label one of the rest.

        A cell hardly matters where no member finds the label likely and the document lacks it. The
        mean of a label's such cells, with as much weight as they have together, keeps the bias
        where it belongs; its document is −1.
        """
        n_documents, width = self.labels.shape[0], stop - first
        cells = self.evidence.cells
        if cells is None:
            inputs = self.evidence.values[:, :, first:stop].reshape(len(self.evidence.values), -1)
            truth = self.labels.columns(np.arange(first, stop)).dense().ravel()
            document = np.repeat(np.arange(n_documents), width)
            label = np.tile(np.arange(width), n_documents)
        else:
            ends = np.searchsorted(cells.label[self._by_label], [first, stop])
            places = self._by_label[ends[0] : ends[1]]
            inputs, truth = self.evidence.values[:, places], cells.at(self.labels.positive)[places]
            document, label = cells.document[places], cells.label[places] - first
            if self.labels.unknown is not None:
                truth[cells.at(self.labels.unknown)[places] > 0] = np.nan
        prior = self.prior[first:stop]
        highest = inputs.max(axis=0) + prior[label]
        lacks = truth == 0
        is_low = lacks & (highest < _LOW)
        times = 1.0
        is_visited = lacks | (truth == 1)
        if n_documents >= _MANY:
            is_visited &= ~is_low | _is_drawn(n_documents)[document]
            times = float(_EVERY)
        if self.weight is not None:
            is_visited &= self.weight[document] > 0
        visited = np.flatnonzero(is_visited)
        inputs, truth, document = inputs[:, visited], truth[visited], document[visited]
        label, is_low = label[visited], is_low[visited]
        weight = np.where(is_low, times, 1.0)
        if self.weight is not None:
            weight *= self.weight[document]
        is_far = is_low & (highest[visited] < _FAR)
        far, near = np.flatnonzero(is_far), np.flatnonzero(~is_far)
        n_far = np.bincount(label[far], weight[far], width)
        some = np.flatnonzero(n_far)
        means = [np.bincount(label[far], weight[far] * one[far], width)[some] for one in inputs]
        labels = np.concatenate([label[near], some])
        order = np.argsort(labels, kind="stable")
        grouped = GroupedCells(
            np.searchsorted(labels[order], np.arange(width + 1)),
            np.hstack([inputs[:, near], np.array(means) / n_far[some]])[:, order],
            prior[labels[order]],
            np.concatenate([truth[near], np.zeros(len(some))])[order],
            np.concatenate([weight[near], n_far[some]])[order],
        )
        documents = np.concatenate([document[near], np.full(len(some), -1)])[order]
        return _Block(np.arange(first, stop), grouped, documents)


def _is_drawn(n_documents: int) -> NDArray[np.bool_]:
    """Return which documents stand for others; the same ones whatever the order of labels."""
    mixed = np.arange(n_documents, dtype=np.uint64) * np.uint64(2654435761) >> np.uint64(8)
    return np.asarray(mixed % np.uint64(_EVERY) == 0)


def _together(groups: list[GroupedCells]) -> GroupedCells:
    """Return the cells of all labels as those of one."""
    ends = np.array([0, sum(len(group.target) for group in groups)])
    inputs = np.hstack([group.inputs for group in groups])
    offset, target, weight = (
        np.concatenate([getattr(group, name) for group in groups])
        for name in ("offset", "target", "weight")
    )
    return GroupedCells(ends, inputs, offset, target, weight)


def _with_prior(cells: GroupedCells) -> GroupedCells:
    """Return cells whose inputs hold the prior, every one of them, in place of the offset."""
    return replace(cells, inputs=cells.inputs + cells.offset, offset=np.zeros(len(cells.offset)))


def _positive_weights(cells: GroupedCells, begin: _Floats | None) -> tuple[list[int], _Floats]:
    """Fit shared weights; while one is not positive, leave out the smallest."""
    kept = list(range(len(cells.inputs)))
    while True:
        some = replace(cells, inputs=cells.inputs[kept])
        prior = Prior(np.zeros(len(kept) + 1), np.full(len(kept) + 1, _RIDGE))
        (theta,) = fit_logistic(some, prior, None if begin is None else begin[None])
        if theta[:-1].min() > 0:
            return kept, theta
        if len(kept) == 1:  # nothing helps: a weight is 0 in each fold
            return kept, np.array([0.0, theta[-1]])
        kept.pop(int(theta[:-1].argmin()))
        begin = None
