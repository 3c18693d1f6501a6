"""Posterior = content + the terms of predicted and of known labels, in log-odds."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from labelkin.label_matrix import Cells, LabelMatrix, labels_for
from labelkin.method.combination import FillIn, Matrix
from labelkin.method.label_sets import LabelSets
from labelkin.odds import constant_labels, count_log_odds
from labelkin.solvers.logistic import LinearTerm

#: Documents combined at a time, so that intermediate results fit the cache.
_BLOCK = 512


class Part(NamedTuple):
    """A part of the posterior; the parts add up to it for labels that are not known.

    Attributes
    ----------
    name
        ``"prior"``, ``"content"``, ``"predicted labels"``, ``"known labels"`` or ``"rules"``.
    log_odds
        Its log-odds, ``(n_documents, n_labels)``.
    values, expected
        If the part is linear in the labels: the value of each label and the value at which it adds
        0, ``(n_documents, n_labels)``; NaN for labels without a value.
    term
        Its weights: label k adds ``values[i, k] - expected[i, k]`` times its weight to label j of
        document i.
    """

    name: str
    log_odds: Matrix
    values: Matrix | None = None
    expected: Matrix | None = None
    term: LinearTerm | None = None

    def contributions(self, i: int, j: int) -> Matrix:
        """Return the log-odds that each label adds to label j of document i, ``(n_labels,)``."""
        if self.values is None or self.expected is None or self.term is None:
            return np.zeros(self.log_odds.shape[1])
        return np.nan_to_num((self.values[i] - self.expected[i]) * self.term.column(j))


class _Pickled:
    """Pickles without cached properties, so that predicting does not change the bytes."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class PaperEvidence(_Pickled):
    """The paper's label evidence less the prior.

    Attributes
    ----------
    labels
        Label classifier, fitted on true label sets.
    prior, prior_log_odds
        p(label) and its finite log-odds, ``(n_labels,)``.
    constant
        Labels of no or all documents, ``(n_labels,)``; their label evidence is 0.
    """

    labels: Any
    prior: Matrix
    prior_log_odds: Matrix
    constant: NDArray[np.bool_]

    @classmethod
    def fit(cls, classifier: Any, labels: LabelMatrix, weight: Matrix | None = None) -> Self:
        """Fit a clone of the label classifier on the labels of documents."""
        fitted = clone(classifier)
        counted = {} if weight is None else {"sample_weight": weight}
        fitted.fit(labels_for(fitted, labels), **counted)
        return cls._of(fitted, labels.prior(weight), *labels.counts(weight))

    @classmethod
    def fit_counted(cls, classifier: Any, label_sets: LabelSets, names: Any) -> Self:
        """Fit a clone of the label classifier on counted label sets."""
        fitted = clone(classifier).fit_counted(label_sets, names)
        return cls._of(fitted, label_sets.prior(), label_sets.positives(), label_sets.known())

    @classmethod
    def _of(cls, fitted: Any, prior: Matrix, positive: Matrix, known: Matrix) -> Self:
        constant = constant_labels(positive, known) | (len(prior) == 1)
        return cls(fitted, prior, count_log_odds(positive, known), constant)

    @cached_property
    def linear(self) -> LinearTerm | None:
        """The evidence as a linear term; ``None`` if the label classifier is not linear."""
        if getattr(self.labels, "weights_", None) is None:
            return None
        bias, rest = self.labels.bias_ - self.prior_log_odds, getattr(self.labels, "rest_", None)
        term = LinearTerm(self.labels.weights_, bias, rest)
        return term.scaled(~self.constant) if self.constant.any() else term

    def at(self, L: Matrix) -> Matrix:
        """Return the evidence of labels (0, 1 or probabilities), ``(n_documents, n_labels)``."""
        if self.linear is not None:
            return self.linear.at(L)
        added: Matrix = self.labels.log_odds(L) - self.prior_log_odds
        added[:, self.constant] = 0.0
        return added

    def at_cells(self, cells: Cells, values: Matrix, absent: Matrix | None = None) -> Matrix:
        """Return the evidence of labels at candidate cells, ``(n_cells,)``.

        Parameters
        ----------
        cells
            The candidates.
        values
            Their values, ``(n_cells,)``.
        absent
            Value of a label outside the candidates, ``(n_labels,)``; default 0.
        """
        if self.linear is not None:
            return self.linear.at_cells(cells, values, absent)
        added = np.empty(cells.n)
        for start in range(0, cells.shape[0], _BLOCK):
            part, places = cells.rows(start, min(start + _BLOCK, cells.shape[0]))
            added[places] = part.at(self.at(part.dense(values[places], _or_zero(absent))))
        return added


@dataclass(frozen=True)
class PredictedLabels(_Pickled):
    """The term of predicted labels: weight × the paper's label evidence + a correction.

    Attributes
    ----------
    paper
        The paper's label evidence.
    fill_in
        Function from content log-odds to predicted labels in [0, 1].
    weight
        The evidence weight; 1 in the paper.
    correction
        Learned linear term of predicted labels; ``None`` in the paper.
    absent
        Value of a label outside the candidates, ``(n_labels,)``; default 0.
    """

    paper: PaperEvidence
    fill_in: FillIn
    weight: float = 1.0
    correction: LinearTerm | None = None
    absent: Matrix | None = None

    @cached_property
    def linear(self) -> LinearTerm | None:
        """The whole term as a linear one; ``None`` if the label classifier is not linear."""
        if self.paper.linear is None:
            return None
        term = self.paper.linear if self.weight == 1 else self.paper.linear.scaled(self.weight)
        return term.plus(self.correction)

    def filled(self, content: Matrix) -> Matrix:
        """Return the predicted labels given content log-odds, −inf outside the candidates."""
        is_absent = np.isneginf(content)
        if not is_absent.any():
            return self.fill_in(content)
        filled = self.fill_in(np.where(is_absent, 0.0, content))
        return np.where(is_absent, _or_zero(self.absent), filled)

    def filled_cells(self, cells: Cells, content: Matrix) -> Matrix:
        """Return the predicted labels at candidate cells, ``(n_cells,)``."""
        at_cells = getattr(self.fill_in, "at_cells", None)
        return self.fill_in(content) if at_cells is None else at_cells(cells, content)

    def at(self, filled: Matrix) -> Matrix:
        """Return the term, ``(n_documents, n_labels)``, given predicted labels."""
        if self.linear is not None:
            return self.linear.at(filled)
        added = self.weight * self.paper.at(filled)
        return added if self.correction is None else added + self.correction.at(filled)

    def at_cells(self, cells: Cells, filled: Matrix) -> Matrix:
        """Return the term at candidate cells, ``(n_cells,)``, given predicted labels."""
        if self.linear is not None:
            return self.linear.at_cells(cells, filled, self.absent)
        return self.weight * self.paper.at_cells(cells, filled, self.absent)

    def parts(self, filled: Matrix) -> tuple[Matrix, Part]:
        """Return the log-odds from each label's own prediction, and the part of other labels."""
        added = self.at(filled)
        if self.linear is None:
            return np.zeros_like(added), Part("predicted labels", added)
        own, others = self._own_weights
        prior = np.broadcast_to(self.paper.prior, filled.shape)
        mine = filled * own
        part = Part("predicted labels", added - mine, filled, prior, others)
        return mine, part

    @cached_property
    def _own_weights(self) -> tuple[Matrix, LinearTerm]:
        """Return the diagonal of the weights, and the term without it."""
        assert self.linear is not None
        weights = self.linear.weights
        own = weights.diagonal()
        if sparse.issparse(weights) or not own.any():
            return np.zeros(len(own)), self.linear
        return own, self.linear._replace(weights=weights - np.diag(own))


@dataclass(frozen=True)
class KnownLabels(_Pickled):
    """The term of known labels: weight × (known − predicted) × the paper's label weights.

    Attributes
    ----------
    paper
        The paper's label evidence.
    weight
        1 in the paper.
    """

    paper: PaperEvidence
    weight: float

    def at(self, filled: Matrix, known: Matrix) -> Matrix:
        """Return the term given predicted and known labels (1 or 0, NaN if not known)."""
        linear, is_known = self.paper.linear, ~np.isnan(known)
        if linear is None:
            difference = self.paper.at(np.where(is_known, known, filled)) - self.paper.at(filled)
        elif sparse.issparse(linear.weights) or linear.rest is not None:
            difference = linear.beyond_bias(np.where(is_known, known - filled, 0.0))
        else:  # a document has few known labels
            used = np.flatnonzero(is_known.any(axis=0))
            change = np.where(is_known[:, used], known[:, used] - filled[:, used], 0.0)
            difference = change @ linear.weights[used]
        return self.weight * difference

    def part(self, filled: Matrix, known: Matrix) -> Part:
        """Return the part of known labels."""
        return Part("known labels", self.at(filled, known), known, filled, self.linear)

    @cached_property
    def linear(self) -> LinearTerm | None:
        """The weights of known labels; ``None`` if the label classifier is not linear."""
        return self.paper.linear and self.paper.linear.scaled(self.weight)


@dataclass(frozen=True)
class Combination:
    """The posterior: content evidence plus the terms of predicted and of known labels."""

    predicted: PredictedLabels
    known: KnownLabels

    def posterior(
        self, content: Matrix, known: Matrix | None = None, out: Matrix | None = None
    ) -> Matrix:
        """Return the posterior log-odds, ``(n_documents, n_labels)``; ±inf where known.

        Parameters
        ----------
        content
            Content log-odds, ``(n_documents, n_labels)``.
        known
            1 and 0 for known labels, NaN for others; default: no label is known.
        out
            Array for the result, may be ``content``; default a new array.
        """
        posterior = np.empty(content.shape) if out is None else out
        step = max(len(content), 1) if self.predicted.linear is None else _BLOCK
        for start in range(0, len(content), step):
            rows = slice(start, start + step)
            filled = self.predicted.filled(content[rows])
            np.add(content[rows], self.predicted.at(filled), out=posterior[rows])
            if known is not None and not np.isnan(known[rows]).all():
                posterior[rows] += self.known.at(filled, known[rows])
                _set_known(posterior[rows], known[rows])
        return posterior

    def posterior_at(self, cells: Cells, content: Matrix) -> Matrix:
        """Return the posterior log-odds of candidate cells, ``(n_cells,)``."""
        filled = self.predicted.filled_cells(cells, content)
        return content + self.predicted.at_cells(cells, filled)

    def decompose(self, content: Matrix, known: Matrix | None = None) -> tuple[Matrix, list[Part]]:
        """Return the posterior and its parts."""
        filled, prior = self.predicted.filled(content), self.predicted.paper.prior_log_odds
        own, predicted = self.predicted.parts(filled)
        parts = [
            Part("prior", np.broadcast_to(prior, content.shape)),
            Part("content", content - prior + own),
            predicted,
        ]
        posterior = content + (own + predicted.log_odds)
        if known is not None and not np.isnan(known).all():
            parts.append(self.known.part(filled, known))
            posterior += parts[-1].log_odds
            _set_known(posterior, known)
        return posterior, parts

    def with_evidence(self, paper: PaperEvidence) -> Self:
        """Return the same rule with label evidence fitted on more label sets."""
        predicted = replace(self.predicted, paper=paper)
        return replace(self, predicted=predicted, known=replace(self.known, paper=paper))


def _set_known(posterior: Matrix, known: Matrix) -> None:
    posterior[known == 1], posterior[known == 0] = np.inf, -np.inf


def _or_zero(absent: Matrix | None) -> Any:
    return 0.0 if absent is None else absent
