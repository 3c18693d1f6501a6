"""Members of an ensemble, their evidence beyond the prior, and its weights.

Weights that all labels share are fitted first, on all cells, documents × labels; the weights of a
label have them as prior mean. Most cells are improbable and negative: these are merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.preprocessing import FunctionTransformer

from labelkin.content.any_classifier import as_content
from labelkin.content.naive_bayes import NaiveBayes
from labelkin.content.nearest_neighbours import NearestNeighbours
from labelkin.label_matrix import Cells, LabelMatrix
from labelkin.odds import to_log_odds
from labelkin.registry import PARTS
from labelkin.scikit_learn import n_rows
from labelkin.solvers.grouped_logistic import GroupedCells, Prior, fit_logistic

_Floats = NDArray[np.float64]


class Member(NamedTuple):
    """One classifier of an ensemble.

    Attributes
    ----------
    name
        Its name in explanations and parameters.
    features
        Transformer from the documents to its view; ``None``: the documents.
    classifier
        A content classifier.
    """

    name: str
    features: Any
    classifier: Any

    def view(self, X: Any) -> Any:
        """Return the documents as the fitted member sees them."""
        return X if self.features is None else self.features.transform(X)


def read_members(members: Any) -> list[Member]:
    """Return members with names, by default those of their classes.

    Parameters
    ----------
    members : list or tuple
        Classifiers, pairs (name, classifier), triples (name, transformer, classifier).

    Examples
    --------
    >>> [member.name for member in read_members(["svm", "svm", ("title", "naive_bayes")])]
    ['svm', 'svm_2', 'title']
    """
    if not isinstance(members, list | tuple) or not members:
        raise ValueError(f"members must be a list of classifiers, got {members!r}.")
    found: list[Member] = []
    for given in members:
        member = _read_member(given)
        taken = {one.name for one in found}
        name, again = member.name, 2
        while name in taken:
            name, again = f"{member.name}_{again}", again + 1
        found.append(member._replace(name=name))
    return found


def content_name(classifier: Any) -> str:
    """Return the name of a classifier in the registry, else that of its class."""
    kind = type(innermost(classifier))
    for name, place in PARTS["content"].items():
        if place.endswith(f".{kind.__name__}"):
            return name
    return kind.__name__.lower()


def innermost(classifier: Any) -> Any:
    """Return the classifier inside wrappers and pipelines."""
    inner = getattr(classifier, "estimator", None)
    if inner is not None:
        return innermost(inner)
    steps = getattr(classifier, "steps", None)
    return innermost(steps[-1][1]) if steps else classifier


def _read_member(given: Any) -> Member:
    if isinstance(given, Member):
        return given
    if not isinstance(given, tuple | list):
        classifier = as_content(given)
        return Member(content_name(classifier), None, classifier)
    if len(given) not in (2, 3) or not isinstance(given[0], str):
        raise ValueError(
            "A member must be a classifier, (name, classifier) or (name, transformer, classifier), "
            f"got {given!r:.80}."
        )
    name, *features, classifier = given
    if name in ("", "prior", "all members"):
        raise ValueError(f"A member must have a name other than 'prior', got {name!r}.")
    view = features[0] if features else None
    if view is not None and not hasattr(view, "transform"):
        if not callable(view):
            raise TypeError(
                f"The view of member {name!r} must be a transformer or a function of documents, "
                f"got {view!r:.80}."
            )
        view = FunctionTransformer(view)
    return Member(name, view, as_content(classifier))


class MemberEvidence(NamedTuple):
    """Evidence of members beyond the prior.

    Attributes
    ----------
    values
        ``(n_members, n_cells)``.
    cells
        The candidates of all members, or all cells.
    is_dense
        Whether the log-odds of all members are dense.
    """

    values: _Floats
    cells: Cells
    is_dense: bool

    @classmethod
    def of(
        cls, members: list[Member], views: list[Any], log_odds: list[Any], prior: _Floats
    ) -> MemberEvidence:
        """Return the evidence of documents, 0 for an empty view."""
        patterns = [Cells.of(z) for z in log_odds if sparse.issparse(z)]
        cells = patterns[0] if patterns else Cells.full(log_odds[0].shape)
        for pattern in patterns[1:]:
            cells = cells.union(pattern)[0]
        values = np.empty((len(members), cells.n))
        for k, (member, view) in enumerate(zip(members, views, strict=True)):
            given = _at(cells, log_odds[k])
            values[k] = beyond_prior(member.classifier, given, prior[cells.label])
            values[k, is_empty(view)[cells.document]] = 0.0
        return cls(values, cells, not patterns)

    def documents(self, rows: NDArray[np.bool_]) -> tuple[MemberEvidence, NDArray[np.intp]]:
        """Return the evidence of some documents, and its places among the values of all."""
        cells, places = self.cells.take(np.flatnonzero(rows))
        return MemberEvidence(self.values[:, places], cells, self.is_dense), places

    def matrix(self, values: _Floats) -> Any:
        """Return values of cells as a dense matrix, or a CSR array of the candidates."""
        return values.reshape(self.cells.shape) if self.is_dense else self.cells.matrix(values)


def beyond_prior(classifier: Any, log_odds: _Floats, prior: _Floats) -> _Floats:
    """Return finite evidence beyond the prior, label by label along the last axis.

    Naive Bayes treats words as independent, which makes it overconfident: its evidence is the
    logarithm of its log-odds. To a share of k votes the prior is added as one more vote, so that 0
    of k votes does not mean impossible.
    """
    inner = innermost(classifier)
    if isinstance(inner, NaiveBayes):
        beyond = log_odds - prior
        return np.asarray(np.sign(beyond) * np.log1p(np.abs(beyond)))
    votes = _votes(inner)
    if votes is not None:
        share = (votes * expit(log_odds) + expit(prior)) / (votes + 1)
        return to_log_odds(share) - prior
    return log_odds - prior


def is_empty(view: Any) -> NDArray[np.bool_]:
    """Return which documents have an empty view; only matrices of numbers can be empty."""
    if sparse.issparse(view):
        return np.diff(sparse.csr_array(view).indptr) == 0
    if getattr(view, "ndim", 0) == 2 and np.asarray(view).dtype.kind == "f":
        return np.isnan(np.asarray(view)).all(axis=1)
    return np.zeros(n_rows(view), dtype=np.bool_)


def _votes(classifier: Any) -> int | None:
    """Return the number of votes if probabilities are shares of votes, else ``None``."""
    if isinstance(classifier, NearestNeighbours):
        return int(classifier.n_neighbors)
    trees = getattr(classifier, "n_estimators", None)
    return int(trees) if trees is not None and hasattr(classifier, "estimators_") else None


def _at(cells: Cells, log_odds: Any) -> _Floats:
    """Return the log-odds of a member at the candidates of all members.

    A candidate of other members has the lowest log-odds of the document, or the lowest of all.
    """
    if not sparse.issparse(log_odds):
        return cells.at(log_odds)
    own = Cells.of(log_odds)
    place, found = cells.find(own)
    lowest = np.full(cells.shape[0], log_odds.data.min(initial=0.0))
    some = np.flatnonzero(np.diff(own.indptr))
    if len(some):
        lowest[some] = np.minimum.reduceat(log_odds.data, own.indptr[some])
    values = lowest[cells.document]
    values[place[found]] = log_odds.data[found]
    return values


#: Precision of the prior of shared weights, so that constant evidence also has a weight.
_RIDGE = 1e-3
#: Negative cells in which all members are below this are merged, one cell per label.
_IMPROBABLE = -8.0
#: Number of documents × labels in a block of labels.
_BLOCK_CELLS = 2**22
#: Maximum number of cells for the shared weights.
_POOLED_CELLS = 2**18
#: Tolerance of weights without a fold, which are close to those of all documents.
_COARSE = 0.03


class MemberWeights(NamedTuple):
    """The weights of members for all labels.

    Attributes
    ----------
    once
        Whether the prior is counted once, or as often as the members together.
    kept
        The members with a positive weight.
    shared
        Their weights and, last, a bias.
    """

    once: bool
    kept: list[int]
    shared: _Floats


#: Some labels, their cells with the prior counted once, and the documents of the cells.
_Block = tuple[NDArray[np.intp], GroupedCells, NDArray[np.intp]]


@dataclass(frozen=True)
class TrainingEvidence:
    """Out-of-fold evidence of the training documents, and their labels.

    Attributes
    ----------
    evidence
        Evidence of the members beyond the prior.
    labels
        True labels.
    weight
        Weights of the documents, ``(n_documents,)``; ``None``: 1.
    prior
        Log-odds of the prior, ``(n_labels,)``.
    """

    evidence: MemberEvidence
    labels: LabelMatrix
    weight: NDArray[np.float64] | None
    prior: _Floats

    def members(self, some: list[int]) -> TrainingEvidence:
        """Return the evidence of some members."""
        return replace(self, evidence=self.evidence._replace(values=self.evidence.values[some]))

    def choose(self) -> MemberWeights:
        """Return the members that help, and whether the prior is added once, by the Brier score."""
        cells = _together([cells for _, cells, _ in self._pooled()._blocks()])
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

        The last array is fitted on all documents, the others each without one fold.

        Parameters
        ----------
        chosen
            The shared weights.
        strength
            Precision of the prior of a label's weights around them.
        fold
            The fold of every document; −1 without folds.
        """
        n_folds = int(fold.max(initial=-1)) + 1
        shape = self.labels.shape[1], len(chosen.shared)
        thetas = [np.zeros(shape) for _ in range(n_folds + 1)]
        precision = np.full(len(chosen.shared), strength)
        precision[-1] /= 10  # biases differ more between labels than weights
        for columns, grouped, document in self._blocks():
            cells = grouped if chosen.once else _with_prior(grouped)
            whole = fit_logistic(cells, Prior(chosen.shared, precision))
            thetas[-1][columns] = whole
            of_cell = np.where(document < 0, -1, fold[document])
            for k in range(n_folds):
                # The prior is as strong, relative to the documents, as for all of them.
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
        """Return the documents on which the shared weights are fitted."""
        n_documents, n_cells = self.labels.shape[0], self.evidence.cells.n
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
        """Yield the cells of some labels at a time."""
        n_documents, n_labels = self.labels.shape
        width = max(_BLOCK_CELLS // max(n_documents, 1), 1)
        for first in range(0, n_labels, width):
            yield self._block(first, min(first + width, n_labels))

    @cached_property
    def _by_label(self) -> NDArray[np.intp]:
        """The order of cells by label."""
        return np.argsort(self.evidence.cells.label, kind="stable")

    def _block(self, first: int, stop: int) -> _Block:
        """Return the cells of some labels, with one cell per label for improbable negatives.

        That cell is the mean of the improbable negative cells and has their total weight, so that
        the bias is right; its document is −1.
        """
        width, cells = stop - first, self.evidence.cells
        ends = np.searchsorted(cells.label[self._by_label], [first, stop])
        places = self._by_label[ends[0] : ends[1]]
        inputs, truth = self.evidence.values[:, places], cells.at(self.labels.positive)[places]
        document, label = cells.document[places], cells.label[places] - first
        if self.labels.unknown is not None:
            truth[cells.at(self.labels.unknown)[places] > 0] = np.nan
        weight = np.ones(len(truth)) if self.weight is None else self.weight[document]
        used = np.flatnonzero(~np.isnan(truth) & (weight > 0))
        inputs, truth, document = inputs[:, used], truth[used], document[used]
        label, weight, prior = label[used], weight[used], self.prior[first:stop]
        is_far = (truth == 0) & (inputs.max(axis=0) + prior[label] < _IMPROBABLE)
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
        return np.arange(first, stop), grouped, documents


def _together(groups: list[GroupedCells]) -> GroupedCells:
    """Return the cells of all labels as those of one label."""
    ends = np.array([0, sum(len(group.target) for group in groups)])
    inputs = np.hstack([group.inputs for group in groups])
    offset, target, weight = (
        np.concatenate([getattr(group, name) for group in groups])
        for name in ("offset", "target", "weight")
    )
    return GroupedCells(ends, inputs, offset, target, weight)


def _with_prior(cells: GroupedCells) -> GroupedCells:
    """Return cells with the prior as part of every input instead of the offset."""
    return replace(cells, inputs=cells.inputs + cells.offset, offset=np.zeros(len(cells.offset)))


def _positive_weights(cells: GroupedCells, begin: _Floats | None) -> tuple[list[int], _Floats]:
    """Fit shared weights; while one is not positive, remove the smallest."""
    kept = list(range(len(cells.inputs)))
    while True:
        some = replace(cells, inputs=cells.inputs[kept])
        prior = Prior(np.zeros(len(kept) + 1), np.full(len(kept) + 1, _RIDGE))
        (theta,) = fit_logistic(some, prior, None if begin is None else begin[None])
        if theta[:-1].min() > 0:
            return kept, theta
        if len(kept) == 1:  # no member helps
            return kept, np.array([0.0, theta[-1]])
        kept.pop(int(theta[:-1].argmin()))
        begin = None
