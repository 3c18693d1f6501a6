"""Equations 2, 3 and 4 of the paper, in log-odds, and the fitted rule that applies them.

Content evidence says how probable a label is given the document, label evidence how probable it is
given the document's other labels. Equation 2 combines the two; equations 3 and 4 fill in the other
labels of a new document, whose labels nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone

from labelkin.label_matrix import Cells, LabelMatrix, labels_for
from labelkin.odds import constant_labels, count_log_odds
from labelkin.solvers.logistic import LinearTerm

Matrix = NDArray[np.float64]
#: Content log-odds → labels filled in, numbers in [0, 1], ``(n_documents, n_labels)``.
FillIn = Callable[[Matrix], Matrix]

#: Documents combined at a time: what lies between content and posterior stays in the cache.
_BLOCK = 512


def combine(content: Any, label: Any, prior: Any, weight: Any = 1.0) -> Any:
    """Combine what the document says with what the other labels say; all in log-odds.

    Equation 2 of the paper is ``weight = 1``; 0 is the content alone.

    Parameters
    ----------
    content, label, prior : float or array
        Log-odds of content evidence, of label evidence, and of the prior.
    weight : float or array, default 1.0
        Of what the other labels say beyond the prior.

    Returns
    -------
    float or array
        Log-odds of the posterior.

    Examples
    --------
    Two independent hints of 0.9 on a label that half the documents have:

    >>> from scipy.special import expit, logit
    >>> round(float(expit(combine(logit(0.9), logit(0.9), logit(0.5)))), 3)
    0.988
    """
    return content + weight * (label - prior)


def decided_labels(content: Matrix) -> Matrix:
    """Fill in the other labels as the content decides them (M1, equation 3); ½ counts as yes.

    Parameters
    ----------
    content : array of shape (n_documents, n_labels)
        Content evidence in log-odds.

    Returns
    -------
    array of shape (n_documents, n_labels)
        0 or 1.

    Examples
    --------
    >>> decided_labels(np.array([[-2.2, 0.0, 2.2]])).tolist()
    [[0.0, 1.0, 1.0]]
    """
    return (content >= 0).astype(np.float64)


def probable_labels(content: Matrix) -> Matrix:
    """Fill in the other labels with their probabilities (M2, equation 4).

    Parameters
    ----------
    content : array of shape (n_documents, n_labels)
        Content evidence in log-odds.

    Returns
    -------
    array of shape (n_documents, n_labels)
        From 0 to 1.

    Examples
    --------
    >>> probable_labels(np.array([[-2.2, 0.0, 2.2]])).round(1).tolist()
    [[0.1, 0.5, 0.9]]
    """
    return np.asarray(expit(content))


def fill_in_absent(variant: FillIn, content: Matrix, absent: Any) -> Matrix:
    """Fill in labels; ``absent`` where content is −inf, which a variant need not understand."""
    is_absent = np.isneginf(content)
    if not is_absent.any():
        return variant(content)
    return np.where(is_absent, absent, variant(np.where(is_absent, 0.0, content)))


def fill_in_cells(variant: FillIn, cells: Cells, content: Matrix) -> Matrix:
    """Fill in candidate cells, ``(n_cells,)``: cell by cell, or as the variant says."""
    at_cells = getattr(variant, "at_cells", None)
    filled: Matrix = variant(content) if at_cells is None else at_cells(cells, content)
    return filled


#: The paper's variants.
VARIANTS: dict[str, FillIn] = {"hard": decided_labels, "soft": probable_labels}


class LabelClassifier(Protocol):
    """Fitted p(label | other labels), all labels at once; column j of ``L`` is ignored for label j.

    One with ``weights_`` (n_labels × n_labels, ``[k, j]`` = what label k adds to label j) and
    ``bias_`` is linear, and then each label's contribution is known.
    """

    def log_odds(self, L: Any) -> Matrix:
        """Return the log-odds given filled-in labels in [0, 1], ``(n_documents, n_labels)``."""


class Part(NamedTuple):
    """A part of the posterior: on open cells, the parts add up to it.

    Attributes
    ----------
    name
        ``"prior"``, ``"content"``, ``"predicted labels"``, ``"known labels"``, ``"first place"``
        or ``"rules"``.
    log_odds
        What it adds, ``(n_documents, n_labels)``.
    values
        Where the part is linear in the labels: what each label counts as, same shape; NaN where a
        label has no part in it.
    expected, term
        Label k adds ``values[i, k] - expected[i, k]`` times its weight in the term to label j of
        document i: a predicted label counts for what it is above its prior, a known one for what it
        is above its prediction. What all of them leave is there when every label is as expected.
    if_rejected
        The term of labels that are rejected, where it is another.
    root_term
        A second term, in which square roots of ``values`` and ``expected`` count.
    """

    name: str
    log_odds: Matrix
    values: Matrix | None = None
    expected: Matrix | None = None
    term: LinearTerm | None = None
    if_rejected: LinearTerm | None = None
    root_term: LinearTerm | None = None

    def contributions(self, i: int, j: int) -> Matrix:
        """Return what each label adds to label j of document i, ``(n_labels,)``."""
        if self.values is None or self.expected is None or self.term is None:
            return np.zeros(self.log_odds.shape[1])
        weights = self.term.column(j)
        if self.if_rejected is not None:
            weights = np.where(self.values[i] == 0, self.if_rejected.column(j), weights)
        added = (self.values[i] - self.expected[i]) * weights
        if self.root_term is not None:
            above = np.sqrt(self.values[i]) - np.sqrt(self.expected[i])
            added += above * self.root_term.column(j)
        return np.nan_to_num(added)


@dataclass(frozen=True)
class Combination:
    """The fitted rule that turns content log-odds into the posterior's.

    Attributes
    ----------
    labels
        The label classifier.
    prior
        p(label), ``(n_labels,)``.
    prior_log_odds
        Its log-odds, finite.
    variant
        How labels that are not known are filled in.
    weight
        The evidence weight: how much label evidence counts.
    constant
        Labels that nobody or everybody has, ``(n_labels,)``: the others add nothing to them.
    predicted
        What predicted labels add to the others, where the label classifier is linear; else
        ``None``.
    """

    labels: LabelClassifier
    prior: Matrix
    prior_log_odds: Matrix
    variant: FillIn
    weight: float
    constant: NDArray[np.bool_]
    predicted: LinearTerm | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if len(self.prior) == 1:  # there are no other labels
            object.__setattr__(self, "constant", np.ones(1, dtype=np.bool_))
        predicted = self._linear_term(self.labels)
        object.__setattr__(self, "predicted", predicted and predicted.scaled(self.weight))

    @property
    def evidence_weight(self) -> float:
        """How much the paper's label evidence counts where labels are filled in."""
        return self.weight

    @property
    def paper_labels(self) -> LabelClassifier:
        """The paper's label classifier, fitted on true labels."""
        return self.labels

    @cached_property
    def paper_term(self) -> LinearTerm | None:
        """The paper's label evidence less the prior, where it is linear; else ``None``."""
        return self._linear_term(self.paper_labels)

    @property
    def predicted_roots(self) -> LinearTerm | None:
        """What square roots of predicted labels add besides: nothing in the paper."""
        return None

    @cached_property
    def known_terms(self) -> tuple[LinearTerm, LinearTerm] | None:
        """What accepted and what rejected labels count; ``None``: not linear."""
        return None if self.predicted is None else (self.predicted, self.predicted)

    def posterior(
        self, content: Matrix, known: Matrix | None = None, out: Matrix | None = None
    ) -> Matrix:
        """Return the posterior log-odds, ``(n_documents, n_labels)``; ±inf where known.

        Parameters
        ----------
        content
            Content log-odds, ``(n_documents, n_labels)``.
        known
            1 and 0 where labels are known, NaN where they are open; ``None``: all open.
        out
            Where the posterior is written, ``content`` itself included; ``None``: a new array.
        """
        posterior = np.empty(content.shape) if out is None else out
        step = max(len(content), 1) if self.predicted is None else _BLOCK
        for start in range(0, len(content), step):
            rows = slice(start, start + step)
            if known is None or np.isnan(known[rows]).all():
                posterior[rows] = self._combined(content[rows])
            else:
                posterior[rows], _ = self.taken_apart(content[rows], known[rows])
        return posterior

    def posterior_at(self, cells: Cells, content: Matrix) -> Matrix:
        """Return the posterior log-odds of candidate cells alone, ``(n_cells,)``.

        Parameters
        ----------
        cells
            The candidates of every document. A label that is none counts as a "no".
        content
            Their content log-odds, ``(n_cells,)``.
        """
        return content + self.added_at(cells, fill_in_cells(self.variant, cells, content))

    def added_at(self, cells: Cells, filled: Matrix, absent: Matrix | None = None) -> Matrix:
        """Return what predicted labels add at candidate cells, ``(n_cells,)``.

        Parameters
        ----------
        cells
            The candidates.
        filled
            What they count as, ``(n_cells,)``.
        absent
            What a label counts as that is no candidate, ``(n_labels,)``; ``None``: 0.
        """
        if self.predicted is not None:
            return self.predicted.at_cells(cells, filled, absent)
        added = np.empty(cells.n)
        for start in range(0, cells.shape[0], _BLOCK):
            part, places = cells.rows(start, min(start + _BLOCK, cells.shape[0]))
            whole = part.dense(filled[places], 0.0 if absent is None else absent)
            label = part.at(self.label_evidence(whole))
            added[places] = self.weight * (label - self.prior_log_odds[part.label])
        return added

    def taken_apart(
        self, content: Matrix, known: Matrix | None = None
    ) -> tuple[Matrix, list[Part]]:
        """Return the posterior and its parts, in the order they are added, computed once."""
        known = np.full(content.shape, np.nan) if known is None else known
        added = self._label_parts(content, known)
        # The posterior is not summed from prior and content less prior: that would round twice.
        posterior = content + np.asarray(sum(part.log_odds for part in added))
        posterior[known == 1], posterior[known == 0] = np.inf, -np.inf
        prior = np.broadcast_to(self.prior_log_odds, content.shape)
        return posterior, [Part("prior", prior), Part("content", content - prior), *added]

    def with_labels(
        self, labels: Any, prior: Matrix, prior_log_odds: Matrix, constant: NDArray[np.bool_]
    ) -> Self:
        """Return the same rule with label evidence learned from more label sets."""
        return replace(
            self, labels=labels, prior=prior, prior_log_odds=prior_log_odds, constant=constant
        )

    def label_evidence(self, filled: Matrix, labels: LabelClassifier | None = None) -> Matrix:
        """Return p(label | other labels) in log-odds; the prior's for constant labels."""
        label = (self.labels if labels is None else labels).log_odds(filled)
        if self.constant.any():
            label[:, self.constant] = self.prior_log_odds[self.constant]
        return label

    def beyond_prior(self, filled: Matrix) -> Matrix:
        """Return what other labels add to the prior in the paper: label evidence less the prior."""
        if self.paper_term is not None:
            return self.paper_term.at(filled)
        return self.label_evidence(filled, self.paper_labels) - self.prior_log_odds

    def _combined(self, content: Matrix) -> Matrix:
        """Return the posterior of documents of which no label is known: the paper."""
        label = self.label_evidence(self.fill_in(content))
        return combine(content, label, self.prior_log_odds, self.weight)

    def fill_in(self, content: Matrix) -> Matrix:
        """Return predicted labels, ``(n_documents, n_labels)``; 0 where content is −inf, a "no"."""
        return fill_in_absent(self.variant, content, 0.0)

    def _label_parts(self, content: Matrix, known: Matrix) -> list[Part]:
        """Return what predicted labels add, and what there is to add once some are known.

        All labels are predicted, those that are known, too: most of what a known label has to say
        is in the content already, and so in its prediction. What it adds is what it is above that.
        """
        filled = self.fill_in(content)
        label = self.label_evidence(filled)
        added = combine(0.0, label, self.prior_log_odds, self.weight)
        parts = [Part("predicted labels", added)]
        if self.predicted is not None:
            prior = np.broadcast_to(self.prior, filled.shape)
            parts = [Part("predicted labels", added, filled, prior, self.predicted)]
        if not np.isnan(known).all():
            parts.append(self._known_part(filled, known, added))
        return parts

    def _known_part(self, filled: Matrix, known: Matrix, predicted: Matrix) -> Part:
        """Return what known labels add: what they say less what their predictions have said."""
        if self.predicted is None:
            label = self.label_evidence(np.where(np.isnan(known), filled, known))
            return Part("known labels", self.weight * (label - self.prior_log_odds) - predicted)
        added = self.predicted.beyond_bias(np.nan_to_num(known - filled))
        return Part("known labels", added, known, filled, self.predicted)

    def _linear_term(self, labels: Any) -> LinearTerm | None:
        """Return label evidence less the prior, where it is linear; nothing for constant labels."""
        if getattr(labels, "weights_", None) is None:
            return None
        bias, rest = labels.bias_ - self.prior_log_odds, getattr(labels, "rest_", None)
        term = LinearTerm(labels.weights_, bias, rest)
        return term.scaled(~self.constant) if self.constant.any() else term


def fit_combination(
    classifier: Any,
    labels: LabelMatrix,
    variant: FillIn = probable_labels,
    weight: float = 1.0,
    sample_weight: Matrix | None = None,
) -> Combination:
    """Learn p(label | other labels) from the true labels of the training documents.

    Parameters
    ----------
    classifier : label classifier
        A clone of it is fitted.
    labels : LabelMatrix
        The labels of the training documents.
    variant : callable
        How labels that are not known will be filled in.
    weight : float, default 1.0
        The evidence weight.
    sample_weight : array of shape (n_documents,), optional
        How often each document counts.
    """
    fitted = clone(classifier)
    counted = {} if sample_weight is None else {"sample_weight": sample_weight}
    fitted.fit(labels_for(fitted, labels), **counted)
    positive, known = labels.counts(sample_weight)
    return Combination(
        fitted,
        labels.prior(sample_weight),
        count_log_odds(positive, known),
        variant,
        weight,
        constant_labels(positive, known),
    )
