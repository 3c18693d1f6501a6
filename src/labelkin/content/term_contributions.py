"""Contributions of terms, or of similar documents, to the content evidence of a label.

Content log-odds that are linear in the vector of the document are a constant, the log-odds of a
document without words, plus a contribution of every term. Nearest neighbours return their
neighbours. Other classifiers have no exact contributions: ``None``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.naive_bayes import MultinomialNB

from labelkin.records import short_repr


@short_repr
class TermEvidence(NamedTuple):
    """Contribution of one term of a document to a label.

    Attributes
    ----------
    term
        Its name if it is known, otherwise its column of ``X``.
    log_odds
        Weight × value, in log-odds.
    value
        Value of the term in the document's vector; not 0.
    """

    term: Any
    log_odds: float
    value: float


@short_repr
class NeighbourVote(NamedTuple):
    """A training document that is similar to the document.

    Attributes
    ----------
    document
        Its row in training.
    similarity
        Cosine, above 0.
    has_label
        Whether it has the label; ``None`` if that is unknown.
    share
        Its share of the similarity of all neighbours for which the label is known; 0 if it is not.
        The shares of neighbours with the label sum to the probability before clipping.
    """

    document: int
    similarity: float
    has_label: bool | None
    share: float


@short_repr
@dataclass(frozen=True)
class ContentContributions:
    """The content log-odds of one label for one document, decomposed.

    constant + the contributions of the terms + clipped = log_odds.

    Attributes
    ----------
    terms
        Contributions of terms other than 0, strongest first.
    constant
        The log-odds of a document without words; all log-odds if there are no terms.
    neighbours
        The most similar documents first; empty if no neighbour has a vote.
    clipped
        Difference made by clipping of probabilities; 0 for classifiers that return log-odds.
    """

    terms: tuple[TermEvidence, ...]
    constant: float
    neighbours: tuple[NeighbourVote, ...] = ()
    clipped: float = 0.0

    @property
    def log_odds(self) -> float:
        """The content log-odds, the sum of all parts."""
        return self.constant + sum(term.log_odds for term in self.terms) + self.clipped


ContributionsOfDocuments = list[list[ContentContributions]]


def contributions_of(content: Any, X: Any, columns: ArrayLike) -> ContributionsOfDocuments | None:
    """Return the contributions of a fitted content classifier; ``None`` without exact ones.

    ``[i][k]`` is document i of ``X`` and label column ``columns[k]``.
    """
    ask = getattr(content, "term_contributions", None)
    return None if ask is None else ask(X, columns)


def linear_contributions(
    X: Any,
    weigh: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    constant: NDArray[np.float64],
) -> ContributionsOfDocuments:
    """Decompose linear log-odds, for a few documents and labels.

    Parameters
    ----------
    X
        Documents × terms, dense or sparse.
    weigh
        Function from terms to their weights, ``(n_of_these_terms, n_labels)``; called once, with
        the terms of the documents.
    constant
        Constants of the labels, ``(n_labels,)``.
    """
    documents = sparse.csr_array(X, dtype=np.float64, copy=True)
    documents.sum_duplicates()
    documents.eliminate_zeros()
    used, place = np.unique(documents.indices, return_inverse=True)
    weights = weigh(used)
    rows = (slice(start, stop) for start, stop in pairwise(documents.indptr))
    return [
        [
            ContentContributions(
                _strongest_first(documents.indices[row], documents.data[row], by_term), float(added)
            )
            for by_term, added in zip(weights[place[row]].T, constant, strict=True)
        ]
        for row in rows
    ]


def with_term_names(shares: ContentContributions, names: Any) -> ContentContributions:
    """Replace columns by the names of terms; unchanged for ``None``."""
    if names is None:
        return shares
    terms = (t._replace(term=names[t.term]) if isinstance(t.term, int) else t for t in shares.terms)
    return replace(shares, terms=tuple(terms))


def terms_of(features: Any, columns: Any = None) -> NDArray[Any] | None:
    """Return the output names of fitted steps; ``None`` if a step has no names.

    Parameters
    ----------
    features
        A transformer or a pipeline of them, such as ``WordCounts`` and ``TermWeights``.
    columns
        Names of the input columns, if any.
    """
    if not hasattr(features, "get_feature_names_out"):
        return None
    try:
        return np.asarray(features.get_feature_names_out(columns), dtype=object)
    except AttributeError:  # a step of a pipeline without names
        return None


def check_columns(columns: ArrayLike, n_labels: int) -> NDArray[np.int64]:
    """Check label columns, each from 0 to ``n_labels − 1``."""
    asked = np.atleast_1d(np.asarray(columns))
    if asked.size and asked.dtype.kind not in "iu":
        raise TypeError(f"columns must be a list of integers, got {columns!r}.")
    outside = asked[(asked < 0) | (asked >= n_labels)]
    if len(outside):
        raise ValueError(
            f"columns must be label columns from 0 to {n_labels - 1}, got {outside[0]} "
            f"({len(outside)} such of {len(asked)})."
        )
    return asked.astype(np.int64)


def _strongest_first(
    terms: NDArray[np.int64], values: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[TermEvidence, ...]:
    shares = values * weights
    order = np.argsort(-np.abs(shares), kind="stable")
    return tuple(
        TermEvidence(int(terms[f]), float(shares[f]), float(values[f])) for f in order if shares[f]
    )


#: Tolerance relative to the parts, for sums of float32 documents.
_ROUNDING = 1e-5


def estimator_contributions(
    estimator: Any, X: Any, given: NDArray[np.float64], clip: float
) -> list[ContentContributions] | None:
    """Decompose the log-odds of one binary classifier for some documents; ``None`` if not linear.

    Parameters
    ----------
    estimator
        A fitted classifier of two classes.
    X
        Its documents.
    given
        Its log-odds for them, ``(n_documents,)``.
    clip
        Probability at which they are clipped.
    """
    form = _linear_form(estimator)
    if form is None:
        return None
    weights, constant = form
    features = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    found = linear_contributions(
        features, lambda terms: weights[terms][:, None], np.array([constant])
    )
    shares = [row for (row,) in found]
    linear = np.array([row.log_odds for row in shares])
    size = np.array([sum(abs(term.log_odds) for term in row.terms) for row in shares])
    if not _agree(given, linear, 1 + size + abs(constant), clip):
        return None
    return [
        replace(row, clipped=beyond if abs(beyond := float(value - row.log_odds)) >= 1e-10 else 0.0)
        for row, value in zip(shares, given, strict=True)
    ]


def _linear_form(estimator: Any) -> tuple[NDArray[np.float64], float] | None:
    """Return weights and constant of a linear classifier of two classes, or ``None``."""
    if isinstance(estimator, MultinomialNB):
        no, yes = estimator.feature_log_prob_
        prior_no, prior_yes = estimator.class_log_prior_
        return yes - no, float(prior_yes - prior_no)
    if not (hasattr(estimator, "coef_") and hasattr(estimator, "intercept_")):
        return None
    coef = estimator.coef_.toarray() if sparse.issparse(estimator.coef_) else estimator.coef_
    if np.ndim(coef) != 2 or len(coef) != 1:
        return None
    return coef[0], float(np.ravel(estimator.intercept_)[0])


def _agree(
    given: NDArray[np.float64], linear: NDArray[np.float64], size: NDArray[np.float64], clip: float
) -> bool:
    """Return whether log-odds are the linear ones, or clipped."""
    end = -logit(clip)
    is_clipped = (np.abs(given) > end - _ROUNDING) & (given * linear > end * (end - _ROUNDING))
    return bool(np.all(is_clipped | (np.abs(given - linear) <= _ROUNDING * size)))
