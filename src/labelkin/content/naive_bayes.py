"""Content evidence by multinomial naive Bayes, each label against the rest.

The binary model of McCallum & Nigam (1998) with Laplace smoothing, for all labels in one product.
All that is learned are counts, so that blocks of documents can be counted separately and added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from labelkin.content.term_contributions import (
    ContributionsOfDocuments,
    check_columns,
    linear_contributions,
)
from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix, best_cells, read_labels
from labelkin.odds import constant_labels, count_log_odds
from labelkin.scaling.blocks import Engine, read_parts
from labelkin.scaling.distributed import using
from labelkin.scikit_learn import read_sample_weight

_Floats = NDArray[np.float64]

#: Share of terms × labels with a count above which weights are dense.
_MANY_COUNTS = 0.2
#: Number of terms × labels up to which weights are always dense.
_SMALL = 2**20
#: Number of counts for a block of left-out documents, whose arrays fit the cache.
_CELLS = 2**18
#: Number of words of the pairs (document, label of it) in a block.
_PAIRED = 2**20
#: Counts above this could overflow when they are added.
_LARGEST_COUNT = 1e290
#: A smaller sum of weights is rounding.
_ROUNDING = 1e-9


class NaiveBayes(LogOddsClassifier):
    """Multinomial naive Bayes, one label against the rest, for all labels at once.

    Log-odds are exact and not clipped: on long documents they reach hundreds, where probabilities
    would tie at 1. The posterior of a document without words is the prior.

    Parameters
    ----------
    alpha : float, default 1.0
        Added to every term count (1 = Laplace).
    top : int, optional
        Number of candidates per document: log-odds, probabilities and decisions are sparse, with
        the ``top`` best labels of each document, and memory does not grow with documents × labels.
        Default: all labels.

    Attributes
    ----------
    counts_ : TermCounts
        The term counts of all labels.

    Examples
    --------
    >>> nb = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> nb.label_sets(nb.predict([[5, 0]]))
    [('sea',)]
    """

    leaves_one_out = True
    counts_: TermCounts

    def __init__(self, alpha: float = 1.0, *, top: int | None = None) -> None:
        self.alpha = alpha
        self.top = top

    def __sklearn_tags__(self) -> Any:
        """Require counts of at least 0; scikit-learn's test data are not texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags

    # scikit-learn's checks would pass negative values to it; use log_odds.
    decision_function = property()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the terms in the documents of each label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_terms)
            Term counts, or other weights ≥ 0.
        y : any kind of labels
            Labels of the training documents.
        sample_weight : array of shape (n_documents,), optional
            Weights of the documents.

        Returns
        -------
        self
        """
        X, labels = self._read(X, y)
        self.counts_ = count_terms(X, labels, read_sample_weight(X, sample_weight))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the term counts of further documents; the result equals ``fit`` on all of them.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_terms)
            Term counts, or other weights ≥ 0.
        y : any kind of labels
            Matrices with the same columns in every call; label sets among ``classes``.
        classes : sequence, optional
            All labels, in the first call, if not every label occurs in ``y``.
        sample_weight : array of shape (n_documents,), optional
            Weights of the documents.

        Returns
        -------
        self
        """
        if not hasattr(self, "counts_"):
            named = y if classes is None else read_labels(y, names=classes)
            return self.fit(X, named, sample_weight)
        documents = self._read_documents(X, reset=False)
        labels = read_labels(y, names=self.classes_)
        check_consistent_length(documents, labels.positive)
        weight = read_sample_weight(documents, sample_weight)
        self.counts_ = self.counts_ + count_terms(documents, labels, weight)
        return self

    def fit_blocks(
        self,
        blocks: Iterable[Any],
        *,
        classes: Sequence[Any] | None = None,
        engine: Engine | None = None,
    ) -> Self:
        """Count the terms of blocks of documents; the result equals ``fit`` on all of them.

        Memory holds one block and the counts.

        Parameters
        ----------
        blocks : iterable of tuples
            Documents and their labels as in ``fit``, or paths of files
            (:func:`labelkin.scaling.blocks.read_block`); for Dask collections
            :func:`labelkin.scaling.distributed.partitions`.
        classes : sequence, optional
            All labels; required for blocks of label sets in which not every label occurs.
        engine : Local or OnDask, optional
            Where blocks are counted; default this process, or the engine in use
            (:func:`labelkin.scaling.distributed.using`).

        Returns
        -------
        self
        """
        with using(engine) as worker:
            total = worker.fold(_fit_block, _add_fitted, blocks, like=clone(self), classes=classes)
        for name in [name for name in vars(total) if name.endswith("_")]:
            setattr(self, name, getattr(total, name))
        return self

    def fit_out_of_fold(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit, and return exact leave-one-out log-odds, ``(n_documents, n_labels)``.

        A document is left out at most once, also if its ``sample_weight`` is above 1.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_terms)
            Term counts, or other weights ≥ 0.
        y : any kind of labels
            Labels of the training documents.
        sample_weight : array of shape (n_documents,), optional
            Weights of the documents.

        Returns
        -------
        array or CSR array of shape (n_documents, n_labels)
        """
        X, labels = self._read(X, y)
        weight = read_sample_weight(X, sample_weight)
        self.counts_ = count_terms(X, labels, weight)

        def of_rows(rows: slice) -> _Floats:
            times = None if weight is None else weight[rows]
            return leave_one_out(self.counts_, X[rows], labels.rows(rows), self.alpha, times)

        if self.top is not None:
            return best_cells(of_rows, *labels.shape, self.top)
        return of_rows(slice(None))

    def term_contributions(self, X: Any, columns: ArrayLike) -> ContributionsOfDocuments:
        """Return the contributions of terms to the log-odds of some labels, for a few documents.

        ``[i][k]`` is document i and label ``columns[k]``. The contribution of a term is its count ×
        log(p(term | label) / p(term | rest)), the constant is the log-odds of the prior.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_terms)
            Documents in the form used for :meth:`fit`.
        columns : array of int
            Columns of labels.

        Returns
        -------
        list of lists of ContentContributions
        """
        check_is_fitted(self)
        documents = self._read_documents(X, reset=False)
        counts = self.counts_.labels(check_columns(columns, len(self.counts_.positive)))
        n_terms = len(counts.total)
        prior = term_log_odds(counts, sparse.csr_array((1, n_terms)), self.alpha)[0]

        def weigh(terms: NDArray[np.int64]) -> _Floats:
            single = (np.ones(len(terms)), terms, np.arange(len(terms) + 1))
            words = sparse.csr_array(single, shape=(len(terms), n_terms))
            return term_log_odds(counts, words, self.alpha) - prior

        return linear_contributions(documents, weigh, prior)

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        self.counts_ = count_terms(X, labels)

    def _log_odds(self, X: Any) -> Any:
        if self.top is None:
            return term_log_odds(self.counts_, X, self.alpha)
        words = weigh_terms(self.counts_, np.arange(X.shape[1]), self.alpha)
        return best_cells(
            lambda rows: term_log_odds(self.counts_, X[rows], self.alpha, words),
            X.shape[0],
            len(self.counts_.positive),
            self.top,
        )

    def _read_documents(self, X: Any, reset: bool) -> Any:
        if not self.alpha > 0:
            raise ValueError(f"alpha must be positive, got {self.alpha!r}; 1 is Laplace smoothing.")
        X = super()._read_documents(X, reset)
        values = X.data if sparse.issparse(X) else X
        smallest, largest = values.min(initial=0), values.max(initial=0)
        if largest > _LARGEST_COUNT:
            raise ValueError(f"X must have counts up to {_LARGEST_COUNT:g}, got {largest:g}.")
        if smallest < 0:
            raise ValueError(
                f"Negative values in data passed to NaiveBayes: term counts must be at least 0, "
                f"got {smallest:g}. Use PlattSVM or PerLabel(GaussianNB()) for such features."
            )
        X = sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X


def _fit_block(block: Any, like: NaiveBayes, classes: Sequence[Any] | None) -> NaiveBayes:
    X, y = read_parts(block, "documents and their labels")
    return clone(like).fit(X, y if classes is None else read_labels(y, names=classes))


def _add_fitted(one: NaiveBayes, other: NaiveBayes) -> NaiveBayes:
    """Return naive Bayes of the documents of both."""
    is_same = np.array_equal(one.classes_, other.classes_)
    if one.n_features_in_ != other.n_features_in_ or not is_same:
        raise ValueError(
            f"Blocks must have the same terms and labels, got {one.n_features_in_} and "
            f"{other.n_features_in_} terms, {len(one.classes_)} and {len(other.classes_)} labels. "
            "Use one vectoriser, and classes=labels."
        )
    total = copy(one)
    total.counts_ = one.counts_ + other.counts_
    return total


def term_log_odds(
    counts: TermCounts, X: sparse.csr_array, alpha: float, weights: WordWeights | None = None
) -> _Floats:
    """Return Σ_t x_t log(p(t | label) / p(t | rest)) + log-odds of the prior.

    ``weights`` are those of all terms; default: computed for the terms of the documents.
    """
    length, n_terms, counted = _length(X)[:, None], X.shape[1], X
    if weights is None:
        terms = np.arange(n_terms) if X.nnz > n_terms else np.unique(X.indices)
        counted = X if len(terms) == n_terms else X[:, terms]
        weights = weigh_terms(counts, terms, alpha)
    words = weights.of(counted)
    documents = counts.positive, counts.known
    return _complete(words, length, counts.lengths, documents, alpha * X.shape[1])


def leave_one_out(
    counts: TermCounts,
    X: sparse.csr_array,
    labels: LabelMatrix,
    alpha: float,
    weight: _Floats | None = None,
) -> _Floats:
    """Return the log-odds of every document under the counts without it.

    Leaving out a document changes the counts of a label if it has the label, and those of the rest
    otherwise. If the label is unknown, it changes neither. The log-odds of the only document of a
    label are those of the prior.
    """
    own = np.ones(X.shape[0]) if weight is None else np.minimum(weight, 1.0)
    result = _left_out_of_rest(counts, X, alpha, own)
    result[labels.positive.nonzero()] = _left_out_of_label(counts, X, labels.positive, alpha, own)
    if labels.unknown is not None:
        cells = labels.unknown.nonzero()
        result[cells] = term_log_odds(counts, X, alpha)[cells]
    return result


def _left_out_of_rest(
    counts: TermCounts, X: sparse.csr_array, alpha: float, own: _Floats
) -> _Floats:
    """Return the log-odds of documents without any label, each left out ``own`` times.

    The weights of a term depend on its count in the document: they are computed once for each pair
    of a term and a count in a block of documents.
    """
    words = np.empty((X.shape[0], len(counts.positive)))
    seen = np.diff(counts.by_term.indptr)[X.indices]
    for rows in _slices(np.concatenate([[0], np.cumsum(seen)])[X.indptr], _CELLS):
        part = X[rows]
        taken = part.data * np.repeat(own[rows], np.diff(part.indptr))
        pairs, place = np.unique(part.indices + 1j * taken, return_inverse=True)
        weights = weigh_terms(counts, pairs.real.astype(np.intp), alpha, pairs.imag)
        stored = (part.data, place, part.indptr)
        words[rows] = weights.of(sparse.csr_array(stored, shape=(part.shape[0], len(pairs))))
    length, (inside, outside) = _length(X)[:, None], counts.lengths
    lengths = inside, outside - own[:, None] * length
    documents = counts.positive, counts.known - own[:, None]
    return _complete(words, length, lengths, documents, alpha * X.shape[1])


def _left_out_of_label(
    counts: TermCounts,
    X: sparse.csr_array,
    positive: sparse.csr_array,
    alpha: float,
    own: _Floats,
) -> _Floats:
    """Return the log-odds of the pairs (document, label of it), in the order of ``positive``."""
    row, column = positive.nonzero()
    words = np.empty(len(row))
    for pairs in _slices(np.concatenate([[0], np.cumsum(np.diff(X.indptr)[row])]), _PAIRED):
        documents = X[row[pairs]]
        lengths = np.diff(documents.indptr)
        pair = np.repeat(np.arange(len(lengths)), lengths)
        term, label, value = documents.indices, column[pairs][pair], documents.data
        inside = _at(counts.inside, term, label)
        outside = counts.total[term] - inside
        if counts.unknown is not None:
            outside = outside - _at(counts.unknown, term, label)
        left = np.maximum(inside - own[row[pairs]][pair] * value, 0.0)
        share = value * (np.log(left + alpha) - np.log(outside + alpha))
        words[pairs] = np.bincount(pair, weights=share, minlength=len(lengths))
    length, (inside, outside) = _length(X)[row], (part[column] for part in counts.lengths)
    lengths = inside - own[row] * length, outside
    kept = counts.positive[column] - own[row], counts.known[column] - own[row]
    return _complete(words, length, lengths, kept, alpha * X.shape[1])


def _complete(
    words: _Floats,
    length: _Floats,
    lengths: tuple[_Floats, _Floats],
    documents: tuple[_Floats, _Floats],
    smoothing: float,
) -> _Floats:
    """Add lengths and prior to the log-odds of words.

    For a label of no or all documents the result is the prior alone.
    """
    inside, outside = (np.log(np.maximum(part, 0.0) + smoothing) for part in lengths)
    words -= length * (inside - outside)
    positive, known = documents
    positive = np.where(positive < _ROUNDING, 0.0, positive)
    known = np.where(known - positive < _ROUNDING, positive, known)
    constant = constant_labels(positive, known)
    if constant.any():
        words = np.where(constant, 0.0, words)
    words += count_log_odds(positive, known)
    return words


def _length(X: sparse.csr_array) -> _Floats:
    return np.asarray(X.sum(axis=1)).ravel()


def _at(matrix: sparse.csc_array, row: Any, column: Any) -> _Floats:
    return np.asarray(matrix[row, column], dtype=np.float64).ravel() if len(row) else np.zeros(0)


def _slices(before: NDArray[np.int64], size: int) -> Iterator[slice]:
    """Return slices of about one size; ``before`` are cumulative sizes from 0 to the total."""
    edges = np.searchsorted(before, np.arange(size, before[-1], size))
    bounds = np.unique(np.concatenate([[0], edges, [len(before) - 1]]))
    return (slice(int(a), int(b)) for a, b in pairwise(bounds))


@dataclass(frozen=True)
class TermCounts:
    """Term counts of every label; ``a + b`` counts both blocks of documents.

    Attributes
    ----------
    inside
        Counts of each term in the documents of each label, CSC ``(n_terms, n_labels)``.
    unknown
        Counts in the documents for which the label is unknown; ``None``: no such document.
    total
        Counts in all documents, ``(n_terms,)``.
    positive, known
        Number of documents with the label, and for which it is known, ``(n_labels,)``.
    """

    inside: sparse.csc_array
    unknown: sparse.csc_array | None
    total: _Floats
    positive: _Floats
    known: _Floats

    def __add__(self, other: TermCounts) -> TermCounts:
        parts = [part for part in (self.unknown, other.unknown) if part is not None]
        return TermCounts(
            sparse.csc_array(self.inside + other.inside),
            sparse.csc_array(sum(parts[1:], parts[0])) if parts else None,
            self.total + other.total,
            self.positive + other.positive,
            self.known + other.known,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out cached properties."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def by_term(self) -> sparse.csr_array:
        """The counts as rows of terms; with unknown cells ``inside + 1j * unknown``.

        As complex numbers both counts are stored in the same cells.
        """
        if self.unknown is None:
            return sparse.csr_array(self.inside)
        return sparse.csr_array(self.inside + 1j * self.unknown)

    def labels(self, columns: NDArray[np.int64]) -> TermCounts:
        """Return the counts of some labels."""
        unknown = None if self.unknown is None else self.unknown[:, columns]
        positive, known = self.positive[columns], self.known[columns]
        return TermCounts(self.inside[:, columns], unknown, self.total, positive, known)

    @cached_property
    def lengths(self) -> tuple[_Floats, _Floats]:
        """The number of words inside and outside every label, ``(n_labels,)`` each."""
        inside = np.asarray(self.inside.sum(axis=0)).ravel()
        outside = self.total.sum() - inside
        if self.unknown is not None:
            outside = outside - np.asarray(self.unknown.sum(axis=0)).ravel()
        return inside, outside


class WordWeights(NamedTuple):
    """Contributions of terms to log-odds, Σ_t x_t log((inside_t + α) / (outside_t + α)).

    Attributes
    ----------
    own
        Weights for single labels, ``(n_terms, n_labels)``, dense or a CSR array.
    shared
        Weights for all labels, ``(n_terms,)``, in addition.
    """

    own: Any
    shared: _Floats

    def of(self, X: sparse.csr_array) -> _Floats:
        """Return the sums over the words of documents, ``(n_documents, n_labels)``."""
        product = X @ self.own
        result = np.asarray(product.toarray() if sparse.issparse(product) else product)
        return result + (X @ self.shared)[:, None]


def weigh_terms(
    counts: TermCounts, terms: NDArray[Any], alpha: float, less: Any = 0.0
) -> WordWeights:
    """Return the weights of some terms, with ``less`` of each subtracted outside every label.

    The weight of a term is the same for all labels without a document that contains it.
    """
    found, total = counts.by_term[terms], counts.total[terms]
    seen = np.diff(found.indptr)
    rest = np.log(np.maximum(total - less, 0.0) + alpha)
    outside = np.repeat(total, seen) - found.data.real
    if counts.unknown is not None:
        outside -= found.data.imag
    outside -= np.repeat(np.broadcast_to(less, total.shape), seen)
    outside = np.maximum(outside, 0.0, out=outside) + alpha
    own = np.log(found.data.real + alpha)
    own += np.repeat(rest - np.log(alpha), seen) - np.log(outside)
    weights = sparse.csr_array((own, found.indices, found.indptr), shape=found.shape)
    size = found.shape[0] * found.shape[1]
    is_dense = size <= _SMALL or found.nnz > _MANY_COUNTS * size
    return WordWeights(weights.toarray() if is_dense else weights, np.log(alpha) - rest)


def count_terms(X: Any, labels: LabelMatrix, weight: _Floats | None = None) -> TermCounts:
    """Count terms per label; ``weight`` are weights of documents, default 1."""
    weighted = sparse.csr_array(X if weight is None else sparse.diags_array(weight) @ X)
    total = np.asarray(weighted.sum(axis=0)).ravel()
    inside = _sum_terms(weighted, labels.positive)
    unknown = None if labels.unknown is None else _sum_terms(weighted, labels.unknown)
    return TermCounts(inside, unknown, total, *labels.counts(weight))


def _sum_terms(X: sparse.csr_array, cells: sparse.csr_array) -> sparse.csc_array:
    """Return Xᵀ · cells with sorted indices, so that single cells are found by bisection.

    Conversion from rows to columns sorts them, in a fraction of the time of sorting.
    """
    if max(X.nnz, *X.shape) < np.iinfo(np.int32).max:  # half the memory of larger indices
        indices, ends = (part.astype(np.int32, copy=False) for part in (X.indices, X.indptr))
        X = sparse.csr_array((X.data, indices, ends), shape=X.shape)
    product = sparse.csc_array(sparse.csr_array(X.T) @ cells)
    product.sum_duplicates()
    return product
