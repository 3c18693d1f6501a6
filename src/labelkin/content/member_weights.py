"""What the evidence of each member of an ensemble counts: learned on unseen documents.

Weights that all labels share are learned first, from all cells, documents × labels; those of a
label are drawn towards them. Most cells are far from any doubt: such are counted, or drawn by lot,
instead of visited.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelkin.content.member_evidence import Floats, MemberEvidence
from labelkin.label_matrix import LabelMatrix
from labelkin.solvers.shrunken_logistic import GroupedCells, Prior, fit_logistic

#: Of the shared weights, so that evidence that is everywhere the same has one, too.
_RIDGE = 1e-3
#: Where all classifiers are below, cells without the label are counted, not visited.
_FAR = -8.0
#: From so many documents on, of cells below without the label only one document in so many is
#: visited, and counts for all of them.
_MANY = 2000
_THINNED = ((-5.0, 8),)
#: Documents × labels that learn their weights together.
_BLOCK_CELLS = 2**22
#: Cells from which the shared weights are learned, at most: they are a handful of numbers.
_POOLED_CELLS = 2**23
_FOLDS = 5


@dataclass(frozen=True)
class TrainingEvidence:
    """Evidence to learn weights from, with what is true."""

    evidence: MemberEvidence
    labels: LabelMatrix
    weight: NDArray[np.float64] | None
    prior: Floats

    def documents(self, rows: NDArray[np.bool_]) -> TrainingEvidence:
        """Return some of the documents."""
        weight = None if self.weight is None else self.weight[rows]
        index = np.flatnonzero(rows)
        return TrainingEvidence(
            self.evidence.documents(rows)[0], self.labels.rows(index), weight, self.prior
        )

    def choose(self) -> tuple[bool, list[int], Floats]:
        """Return whether the prior counts once, which members help, and the shared weights."""
        n_documents = self.labels.shape[0]
        most = max(_POOLED_CELLS * n_documents // max(self.evidence.values[0].size, 1), 1)
        few = np.zeros(n_documents, dtype=np.bool_)
        few[:: -(-n_documents // min(most, n_documents))] = True
        part = self if few.all() else self.documents(few)
        groups = [group for _, group, _ in part.groups(True)]
        tried = []
        for once in (True, False):
            cells = _together(groups, once)
            kept, theta = _positive_weights(cells)
            loss = cells.target - expit(
                cells.offset + cells.inputs[:, kept] @ theta[:-1] + theta[-1]
            )
            tried.append((float(cells.weight @ loss**2), not once, kept, theta))
        _, is_plain, kept, theta = min(tried, key=lambda one: one[:2])
        return not is_plain, kept, theta

    def fit(
        self, shared: Floats, strength: float, once: bool, fold: NDArray[np.intp]
    ) -> list[Floats]:
        """Return weights and bias of every label, ``(n_labels, n_members + 1)``.

        Of the documents that are not in each fold; last, of all of them.
        """
        n_folds = int(fold.max(initial=0)) + 1 if len(fold) > 1 else 0
        thetas = [np.zeros((self.labels.shape[1], len(shared))) for _ in range(n_folds + 1)]
        precision = np.full(len(shared), strength)
        precision[-1] /= 10  # a bias is a label's own more than its weights are
        for columns, cells, document in self.groups(once):
            whole = fit_logistic(cells, Prior(shared, precision))
            thetas[-1][columns] = whole
            for k in range(n_folds):
                # A part has a part of the documents, and of the prior that is meant for all.
                share = float(np.mean(fold != k))
                part = cells.some((document < 0) | (fold[document] != k), document < 0, share)
                prior = Prior(shared, share * precision)
                thetas[k][columns] = fit_logistic(part, prior, whole)
        for k, theta in enumerate(thetas):
            theta[:, :-1] = np.maximum(theta[:, :-1], 0.0)  # nobody is believed the wrong way round
            rows = np.flatnonzero(fold != k)
            weight = None if self.weight is None else self.weight[rows]
            theta[self.labels.rows(rows).constant(weight)] = 0.0
        return thetas

    def groups(
        self, once: bool
    ) -> Iterator[tuple[NDArray[np.intp], GroupedCells, NDArray[np.intp]]]:
        """Yield labels, their cells and the cells' documents, some labels at a time."""
        n_documents, n_labels = self.labels.shape
        width = max(_BLOCK_CELLS // max(n_documents, 1), 1)
        order = None
        if self.evidence.cells is not None:
            order = np.argsort(self.evidence.cells.label, kind="stable")
        for first in range(0, n_labels, width):
            columns = np.arange(first, min(first + width, n_labels))
            yield columns, *self._group(columns, order, once)

    def _group(
        self, columns: NDArray[np.intp], order: NDArray[np.intp] | None, once: bool
    ) -> tuple[GroupedCells, NDArray[np.intp]]:
        labels = self.labels.columns(columns)
        if order is None:
            values = self.evidence.values[:, :, columns].transpose(0, 2, 1)
            inputs = values.reshape(len(values), -1)
            truth = labels.dense().T.ravel()
            document = np.tile(np.arange(self.labels.shape[0]), len(columns))
            label = np.repeat(np.arange(len(columns)), self.labels.shape[0])
        else:
            cells = self.evidence.cells
            assert cells is not None
            ends = np.searchsorted(cells.label[order], [columns[0], columns[-1] + 1])
            places = order[ends[0] : ends[1]]
            inputs = self.evidence.values[:, places]
            document, label = cells.document[places], cells.label[places] - columns[0]
            truth = cells.at(self.labels.positive)[places]
            if self.labels.unknown is not None:
                truth = np.where(cells.at(self.labels.unknown)[places] > 0, np.nan, truth)
        weight = np.ones(len(truth)) if self.weight is None else self.weight[document]
        prior = self.prior[columns]
        if self.labels.shape[0] >= _MANY:
            highest = inputs.max(axis=0) + prior[label]
            weight = weight * _times_counted(highest, document, truth)
        return _grouped(inputs, truth, weight, label, document, prior, once)


def _grouped(
    inputs: Floats,
    truth: Floats,
    weight: Floats,
    label: NDArray[np.intp],
    document: NDArray[np.intp],
    prior: Floats,
    once: bool,
) -> tuple[GroupedCells, NDArray[np.intp]]:
    """Group cells by label; those that cannot matter become one cell of their label.

    A cell cannot matter where no member finds the label likely and the document lacks it. Their
    mean, with as much weight as they have together, keeps the bias where it belongs. Returns the
    documents of the cells, too; −1 for such a mean.
    """
    n_labels, of_prior = len(prior), prior[label]
    known = ~np.isnan(truth) & (weight > 0)
    far = known & (truth == 0) & ((inputs + of_prior) < _FAR).all(axis=0)
    near = np.flatnonzero(known & ~far)
    n_far = np.bincount(label[far], weight[far], n_labels)
    some = np.flatnonzero(n_far)
    means = [np.bincount(label[far], weight[far] * one[far], n_labels)[some] for one in inputs]
    all_labels = np.concatenate([label[near], some])
    all_inputs = np.hstack([inputs[:, near], np.array(means) / n_far[some]]).T
    order = np.argsort(all_labels, kind="stable")
    start = np.searchsorted(all_labels[order], np.arange(n_labels + 1))
    offset = prior[all_labels[order]]
    documents = np.concatenate([document[near], np.full(len(some), -1)])[order]
    cells = GroupedCells(
        start,
        all_inputs[order] + (0.0 if once else offset[:, None]),
        offset if once else np.zeros(len(order)),
        np.concatenate([truth[near], np.zeros(len(some))])[order],
        np.concatenate([weight[near], n_far[some]])[order],
    )
    return cells, documents


def _times_counted(highest: Floats, document: NDArray[np.intp], truth: Floats) -> Floats:
    """Return how often a cell counts, 0 if it is not visited, where there are very many.

    Which documents are visited is the same for all labels, so that their order does not matter.
    """
    drawn = (document.astype(np.uint64) * np.uint64(2654435761) >> np.uint64(8)) % np.uint64(16)
    times = np.ones(len(truth))
    for below, every in _THINNED:
        low = (highest < below) & (truth == 0)
        times[low] = np.where(drawn[low] % np.uint64(every) == 0, float(every), 0.0)
    return times


def _together(groups: list[GroupedCells], once: bool) -> GroupedCells:
    """Return cells, grouped with the prior counted once, as those of one label."""
    inputs, offset, target, weight = (
        np.concatenate([getattr(group, name) for group in groups])
        for name in ("inputs", "offset", "target", "weight")
    )
    if not once:
        inputs, offset = inputs + offset[:, None], np.zeros(len(offset))
    return GroupedCells(np.array([0, len(target)]), inputs, offset, target, weight)


def _positive_weights(cells: GroupedCells) -> tuple[list[int], Floats]:
    """Fit shared weights; while one is not positive, leave out the smallest."""
    kept = list(range(cells.inputs.shape[1]))
    while True:
        some = replace(cells, inputs=cells.inputs[:, kept])
        prior = Prior(np.zeros(len(kept) + 1), np.full(len(kept) + 1, _RIDGE))
        (theta,) = fit_logistic(some, prior)
        if theta[:-1].min() > 0:
            return kept, theta
        if len(kept) == 1:  # nothing helps: what is left out of a fold, or of itself, errs a little
            return kept, np.array([0.0, theta[-1]])
        kept.pop(int(theta[:-1].argmin()))
