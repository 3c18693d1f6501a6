"""Content evidence by multinomial naive Bayes, label against rest, all labels in one product.

McCallum & Nigam (1998), binary version: term counts, Laplace smoothing. All that is learned are
counts, so blocks of documents can be counted apart and added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
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

#: Share of terms × labels with a count from which a dense product is the faster one.
_MANY_COUNTS = 0.2
#: Terms × labels up to which a dense product is the faster one, however few the counts are.
_SMALL = 2**20
#: Counts of the terms of a block of documents that are left out: its arrays fit the cache.
_CELLS = 2**18
#: Words of the pairs (document, label it carries) that are looked up together.
_PAIRED = 2**20
#: A smaller sum of weights is rounding.
_NOTHING = 1e-9
#: Beyond it, sums over documents could leave the range of numbers.
_LARGEST_COUNT = 1e290


class NaiveBayes(LogOddsClassifier):
    """Multinomial naive Bayes, one label against the rest, for all labels at once.

    Its log-odds are exact and unclipped: on long documents they reach hundreds, where probabilities
    would tie at 1. A document without words has the prior.

    Parameters
    ----------
    alpha : float, default 1.0
        Added to every term count (1 = Laplace).
    top : int, optional
        Candidates per document: log-odds, probabilities and decisions are those of the ``top`` best
        labels of a document, sparse, and memory does not grow with documents × labels. ``None``:
        all labels.

    Attributes
    ----------
    counts_ : TermCounts
        All that was learned.

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
        """Say that counts are not negative, and that blobs are not text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags

    # A decision function would be fed negative values by scikit-learn's checks; log_odds is there.
    decision_function = property()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the terms of every label's documents.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_terms)
            Term counts, or other weights ≥ 0.
        y : any kind of labels
        sample_weight : array of shape (n_documents,), optional
            How many times each document counts.

        Returns
        -------
        self
        """
        X, labels = self._read(X, y)
        self.counts_ = count_terms(X, labels, read_sample_weight(X, sample_weight))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count the terms of further documents: exactly what ``fit`` on all of them counts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_terms)
            Term counts, or other weights ≥ 0.
        y : any kind of labels
            Matrices with the same columns in every call; label sets among ``classes``.
        classes : sequence, optional
            The labels, in the first call, where ``y`` need not show them all.
        sample_weight : array of shape (n_documents,), optional
            How many times each document counts.

        Returns
        -------
        self
        """
        if not hasattr(self, "counts_"):
            X, labels = self._read(X, y if classes is None else read_labels(y, names=classes))
            self._learn(X, labels, read_sample_weight(X, sample_weight))
            return self
        documents = self._read_documents(X, reset=False)
        labels = read_labels(y, names=self.classes_)
        if labels.shape[0] != documents.shape[0]:
            raise ValueError(
                f"X and y must have the same number of documents, got {documents.shape[0]} and y "
                f"of shape {labels.shape}."
            )
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
        """Count the terms of documents that come in blocks: what ``fit`` on all of them counts.

        Memory holds a block and the counts.

        Parameters
        ----------
        blocks : iterable of tuples
            Documents and their labels, as ``fit`` takes them, or paths of files
            (:func:`labelkin.scaling.blocks.read_block`); of Dask collections
            :func:`labelkin.scaling.distributed.partitions`.
        classes : sequence, optional
            The labels, where blocks hold label sets, which need not show them all.
        engine : Engine, optional
            Where blocks are counted; ``None``: here, or on the engine in use
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

        A document counted ``sample_weight`` times is left out once; one that counts less than once
        is left out as much as it counts.
        """
        X, labels = self._read(X, y)
        weight = read_sample_weight(X, sample_weight)
        self._learn(X, labels, weight)

        def of_rows(rows: slice) -> NDArray[np.float64]:
            times = None if weight is None else weight[rows]
            return leave_one_out(self.counts_, X[rows], labels.rows(rows), self.alpha, times)

        if self.top is not None:
            return best_cells(of_rows, *labels.shape, self.top)
        return of_rows(slice(None))

    def term_contributions(self, X: Any, columns: ArrayLike) -> ContributionsOfDocuments:
        """Return what each term adds to the log-odds of some label columns, for a few documents.

        ``[i][k]`` is document i and label ``columns[k]``; a term's contribution is its count ×
        log(p(term | label) / p(term | rest)), the constant is the prior's log-odds.
        """
        check_is_fitted(self)
        documents = self._read_documents(X, reset=False)
        counts = self.counts_.labels(check_columns(columns, len(self.counts_.positive)))
        prior = _add_prior(np.zeros(len(counts.positive)), counts.positive, counts.known)

        def weigh(terms: NDArray[np.int64]) -> NDArray[np.float64]:
            words = _one_word_each(terms, len(counts.total))
            return term_log_odds(counts, words, self.alpha) - prior

        return linear_contributions(documents, weigh, prior)

    def _learn(
        self, X: Any, labels: LabelMatrix, weight: NDArray[np.float64] | None = None
    ) -> None:
        self.counts_ = count_terms(X, labels, weight)

    def _log_odds(self, X: Any) -> Any:
        log_odds = scorer(self.counts_, X, self.alpha)
        if self.top is None:
            return log_odds(slice(None))
        return best_cells(log_odds, X.shape[0], len(self.counts_.positive), self.top)

    def _read_documents(self, X: Any, reset: bool) -> Any:
        if not self.alpha > 0:
            raise ValueError(f"alpha must be positive, got {self.alpha!r}; 1 is Laplace smoothing.")
        X = super()._read_documents(X, reset)
        smallest = X.data.min(initial=0) if sparse.issparse(X) else X.min(initial=0)
        if smallest < 0:
            raise ValueError(
                f"Negative values in data passed to NaiveBayes: term counts must be at least 0, "
                f"got {smallest:g}. Use PlattSVM or PerLabel(GaussianNB()) for such features."
            )
        largest = X.data.max(initial=0) if sparse.issparse(X) else X.max(initial=0)
        if largest > _LARGEST_COUNT:
            raise ValueError(
                f"X must hold term counts that can be added up, at most {_LARGEST_COUNT:g}, got "
                f"{largest:g}. Scale the features."
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
    if one.n_features_in_ != other.n_features_in_ or not np.array_equal(
        one.classes_, other.classes_
    ):
        raise ValueError(
            f"Blocks must have the same terms and labels, got {one.n_features_in_} and "
            f"{other.n_features_in_} terms, {len(one.classes_)} and {len(other.classes_)} labels, "
            "or other ones. Use one vectoriser, and name the labels: classes=labels."
        )
    total = copy(one)
    total.counts_ = one.counts_ + other.counts_
    return total


def term_log_odds(counts: TermCounts, X: sparse.csr_array, alpha: float) -> NDArray[np.float64]:
    """Return Σ_t x_t log(p(t | label) / p(t | rest)) + log-odds of the prior."""
    return scorer(counts, X, alpha)(slice(None))


def scorer(
    counts: TermCounts, X: sparse.csr_array, alpha: float
) -> Callable[[slice], NDArray[np.float64]]:
    """Return a function of some rows to their log-odds; what all share is computed now."""
    smoothing, length = alpha * X.shape[1], np.asarray(X.sum(axis=1)).ravel()
    if X.nnz > X.shape[1]:
        weights = counts.weights(alpha)
    else:  # of a few documents, the words that they have
        terms = np.unique(X.indices)
        X, weights = X[:, terms], weigh_terms(counts, terms, alpha)
    inside_length, outside_length = (np.log(part + smoothing) for part in counts.lengths)

    def of_rows(rows: slice) -> NDArray[np.float64]:
        result = weights.of(X[rows])
        result -= length[rows, None] * (inside_length - outside_length)
        return _add_prior(result, counts.positive, counts.known)

    return of_rows


def leave_one_out(
    counts: TermCounts,
    X: sparse.csr_array,
    labels: LabelMatrix,
    alpha: float,
    weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the log-odds of every document under the counts without it.

    A document outside a label leaves only the rest's counts, one inside only the label's. Cells
    whose label is unknown are in neither, so nothing is taken away. A label's only document has the
    prior.
    """
    own = np.ones(X.shape[0]) if weight is None else np.minimum(weight, 1.0)
    result = _left_out_of_rest(counts, X, alpha, own)
    result[labels.positive.nonzero()] = _left_out_of_label(counts, X, labels.positive, alpha, own)
    if labels.unknown is not None:
        cells = labels.unknown.nonzero()
        result[cells] = term_log_odds(counts, X, alpha)[cells]
    return result


def _left_out_of_rest(
    counts: TermCounts, X: sparse.csr_array, alpha: float, own: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log-odds of every document if it were outside every label, and counted ``own`` times.

    A term's weights depend on how often the document has it: they are computed once for each pair
    of a term and a count in a block of documents.
    """
    result = np.empty((X.shape[0], len(counts.positive)))
    seen = np.diff(counts.by_term.indptr)[X.indices]
    for rows in _slices(np.concatenate([[0], np.cumsum(seen)])[X.indptr], _CELLS):
        part = X[rows]
        taken = part.data * np.repeat(own[rows], np.diff(part.indptr))
        pairs, place = np.unique(part.indices + 1j * taken, return_inverse=True)
        words = (part.data, place, part.indptr)
        weights = weigh_terms(counts, pairs.real.astype(np.intp), alpha, pairs.imag)
        result[rows] = weights.of(sparse.csr_array(words, shape=(part.shape[0], len(pairs))))
    return _with_lengths(result, counts, X, alpha * X.shape[1], own)


def _with_lengths(
    result: NDArray[np.float64],
    counts: TermCounts,
    X: sparse.csr_array,
    smoothing: float,
    own: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Subtract what lengths say from what words say, without the documents, and add the prior."""
    length = _length(X)[:, None]
    inside_length, outside_length = counts.lengths
    left = np.log(np.maximum(outside_length - own[:, None] * length, 0.0) + smoothing)
    result -= length * (np.log(inside_length + smoothing) - left)
    return _add_prior(result, counts.positive, counts.known - own[:, None])


def _left_out_of_label(
    counts: TermCounts,
    X: sparse.csr_array,
    positive: sparse.csr_array,
    alpha: float,
    own: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Log-odds of the pairs (document, label it carries), in the order of ``positive``."""
    smoothing = alpha * X.shape[1]
    row, column = positive.nonzero()
    words = np.empty(len(row))
    lengths = np.diff(X.indptr)[row]
    for pairs in _slices(np.concatenate([[0], np.cumsum(lengths)]), _PAIRED):
        words[pairs] = _inside_words(counts, X, row[pairs], column[pairs], alpha, own)
    inside_length, outside_length = (part[column] for part in counts.lengths)
    length = _length(X)[row]
    left = np.log(np.maximum(inside_length - own[row] * length, 0.0) + smoothing)
    words -= length * (left - np.log(outside_length + smoothing))
    return _add_prior(words, counts.positive[column] - own[row], counts.known[column] - own[row])


def _inside_words(
    counts: TermCounts,
    X: sparse.csr_array,
    row: Any,
    column: Any,
    alpha: float,
    own: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Σ_t x_t log((inside − x + α) / (outside + α)) for some pairs."""
    documents = X[row]
    pair = np.repeat(np.arange(len(row)), np.diff(documents.indptr))
    term, label, value = documents.indices, column[pair], documents.data
    inside = _at(counts.inside, term, label)
    outside = counts.total[term] - inside
    if counts.unknown is not None:
        outside = outside - _at(counts.unknown, term, label)
    left = np.maximum(inside - own[row][pair] * value, 0.0)
    share = value * (np.log(left + alpha) - np.log(outside + alpha))
    return np.asarray(np.bincount(pair, weights=share, minlength=len(row)), dtype=np.float64)


def _add_prior(
    words: NDArray[np.float64], positive: NDArray[np.float64], known: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Words plus prior; the prior alone where no document, or every one, has the label."""
    positive = np.where(positive < _NOTHING, 0.0, positive)
    known = np.where(known - positive < _NOTHING, positive, known)
    constant = constant_labels(positive, known)
    if constant.any():
        words = np.where(constant, 0.0, words)
    words += count_log_odds(positive, known)
    return words


def _one_word_each(terms: NDArray[np.int64], n_terms: int) -> sparse.csr_array:
    """Return documents of one word, one for each of some terms."""
    parts = (np.ones(len(terms)), terms, np.arange(len(terms) + 1))
    return sparse.csr_array(parts, shape=(len(terms), n_terms))


def _length(X: sparse.csr_array) -> NDArray[np.float64]:
    return np.asarray(X.sum(axis=1)).ravel()


def _at(matrix: sparse.csc_array, row: Any, column: Any) -> NDArray[np.float64]:
    return np.asarray(matrix[row, column], dtype=np.float64).ravel() if len(row) else np.zeros(0)


def _slices(before: NDArray[np.int64], size: int) -> Iterator[slice]:
    """Slices of about one size; ``before`` says how much comes before each, and how much is all."""
    edges = np.searchsorted(before, np.arange(size, before[-1], size))
    bounds = np.unique(np.concatenate([[0], edges, [len(before) - 1]]))
    return (slice(int(a), int(b)) for a, b in pairwise(bounds))


@dataclass(frozen=True)
class TermCounts:
    """Term counts of every label; ``a + b`` counts both blocks of documents.

    Attributes
    ----------
    inside
        How often a term occurs in the documents of a label, CSC ``(n_terms, n_labels)``.
    unknown
        How often it occurs in documents for which the label is unknown; ``None``: no such document.
    total
        How often it occurs at all, ``(n_terms,)``.
    positive, known
        Documents with the label, and documents for which it is known, ``(n_labels,)``.
    """

    inside: sparse.csc_array
    unknown: sparse.csc_array | None
    total: NDArray[np.float64]
    positive: NDArray[np.float64]
    known: NDArray[np.float64]

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
        """Leave out what follows from the counts."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def by_term(self) -> sparse.csr_array:
        """Both kinds of counts by terms: a document is scored from the rows of its words.

        Complex numbers, where there is something unknown: ``inside`` is real, ``unknown``
        imaginary, so that each is there, if only as 0, where the other is.
        """
        if self.unknown is None:
            return sparse.csr_array(self.inside)
        return sparse.csr_array(self.inside + 1j * self.unknown)

    def weights(self, alpha: float) -> WordWeights:
        """Return what every term adds; kept, for block after block of documents asks for it."""
        found = self._weights.get(alpha)
        if found is None:
            found = weigh_terms(self, np.arange(len(self.total)), alpha)
            self._weights[alpha] = found
        return found

    @cached_property
    def _weights(self) -> dict[float, WordWeights]:
        return {}

    def labels(self, columns: NDArray[np.int64]) -> TermCounts:
        """Return the counts of some labels only."""
        unknown = None if self.unknown is None else self.unknown[:, columns]
        positive, known = self.positive[columns], self.known[columns]
        return TermCounts(self.inside[:, columns], unknown, self.total, positive, known)

    @cached_property
    def lengths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The number of words inside and outside every label, ``(n_labels,)`` each."""
        inside = np.asarray(self.inside.sum(axis=0)).ravel()
        outside = self.total.sum() - inside
        if self.unknown is not None:
            outside = outside - np.asarray(self.unknown.sum(axis=0)).ravel()
        return inside, outside


class WordWeights(NamedTuple):
    """What terms add to log-odds, Σ_t x_t log((inside_t + α) / (outside_t + α)).

    Attributes
    ----------
    own
        What is added to each label alone, ``(n_terms, n_labels)``, dense or a CSR array.
    shared
        What a term adds to all labels besides, ``(n_terms,)``.
    """

    own: Any
    shared: NDArray[np.float64]

    def of(self, X: sparse.csr_array) -> NDArray[np.float64]:
        """Return the sums over the words of documents, ``(n_documents, n_labels)``."""
        product = X @ self.own
        result = np.asarray(product.toarray() if sparse.issparse(product) else product)
        return result + (X @ self.shared)[:, None]


def weigh_terms(
    counts: TermCounts, terms: NDArray[Any], alpha: float, less: Any = 0.0
) -> WordWeights:
    """Return what some terms add, with ``less`` of each outside every label.

    A term adds the same to all labels that have not seen it; the others differ from that.
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


def count_terms(
    X: Any, labels: LabelMatrix, weight: NDArray[np.float64] | None = None
) -> TermCounts:
    """Count terms per label; ``weight`` says how many times each document counts."""
    weighted = sparse.csr_array(X if weight is None else sparse.diags_array(weight) @ X)
    total = np.asarray(weighted.sum(axis=0)).ravel()
    inside = _sum_terms(weighted, labels.positive)
    unknown = None if labels.unknown is None else _sum_terms(weighted, labels.unknown)
    return TermCounts(inside, unknown, total, *labels.counts(weight))


def _sum_terms(X: sparse.csr_array, cells: sparse.csr_array) -> sparse.csc_array:
    """Xᵀ · cells, with sorted indices: single cells are looked up by bisection then.

    From rows to columns the product is sorted on the way, in a fraction of the time of sorting.
    """
    if max(X.nnz, *X.shape) < np.iinfo(np.int32).max:  # half the memory of larger indices
        indices, ends = (part.astype(np.int32, copy=False) for part in (X.indices, X.indptr))
        X = sparse.csr_array((X.data, indices, ends), shape=X.shape)
    product = sparse.csc_array(sparse.csr_array(X.T) @ cells)
    product.sum_duplicates()
    return product
