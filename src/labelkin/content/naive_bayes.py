"""Content evidence by multinomial naive Bayes, label against rest, all labels in one product.

McCallum & Nigam (1998), binary version: term counts, Laplace smoothing. All that is learned are
counts, so blocks of documents can be counted apart and added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelkin.content.term_contributions import (
    ContributionsOfDocuments,
    linear_contributions,
    read_columns,
)
from labelkin.content.term_counts import TermCounts, count_terms, label_blocks, weigh_terms
from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix, best_cells, read_labels
from labelkin.odds import constant_labels, count_log_odds
from labelkin.scaling.blocks import Engine, read_parts
from labelkin.scaling.distributed import using
from labelkin.scikit_learn import read_sample_weight

#: Entries × labels whose logarithms are taken together: what a processor has near at hand.
_CACHED = 2**18
#: Words of the pairs (document, label it carries) that are looked up together.
_PAIRED = 2**20
#: Term counts have few distinct values; tf-idf weights have as many as entries.
_FEW_VALUES = 256
#: Less than this is what rounding leaves of a sum of weights when all of them are taken away.
_NOBODY = 1e-9
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
        self._learn(X, labels, read_sample_weight(X, sample_weight))
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
        counts = self.counts_.labels(read_columns(columns, len(self.counts_.positive)))
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
        if self.top is None:
            return term_log_odds(self.counts_, X, self.alpha)
        shape = X.shape[0], len(self.counts_.positive)
        return best_cells(scorer(self.counts_, X, self.alpha), *shape, self.top)

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
    smoothing, length = alpha * X.shape[1], _length(X)
    if X.nnz > X.shape[1]:
        weights = counts.weights(alpha)
    else:  # of a few documents, the words that they have
        terms = np.unique(X.indices)
        X, weights = X[:, terms], weigh_terms(counts, terms, alpha)
    inside_length, outside_length = (np.log(part + smoothing) for part in counts.lengths())

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
    """Log-odds of every document as if it were outside every label, and counted ``own`` times."""
    smoothing = alpha * X.shape[1]
    by_value = (own == 1).all() and _has_few_values(X.data)
    if counts.are_few:
        if by_value:
            result = _few_by_value(counts, X, alpha)
        else:
            result = _few_by_entry(counts, X, alpha, own)
        return _with_lengths(result, counts, X, smoothing, own)
    X, used = _used_terms(X, counts)
    result = np.empty((X.shape[0], len(counts.positive)))
    for labels in label_blocks(used):
        inside, outside = used.sides(labels)
        if by_value:
            left_words = _words_by_value(X, outside, alpha)
        else:
            left_words = _words_by_entry(X, outside, alpha, own)
        result[:, labels] = X @ np.log(inside + alpha) - left_words
    return _with_lengths(result, counts, X, smoothing, own)


def _has_few_values(values: NDArray[np.float64]) -> bool:
    """Return whether values are like counts; a look at some says that most others are not."""
    return all(len(np.unique(some)) <= _FEW_VALUES for some in (values[: 4 * _FEW_VALUES], values))


def _with_lengths(
    result: NDArray[np.float64],
    counts: TermCounts,
    X: sparse.csr_array,
    smoothing: float,
    own: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Subtract what lengths say from what words say, without the documents, and add the prior."""
    length = _length(X)[:, None]
    inside_length, outside_length = counts.lengths()
    left = np.log(np.maximum(outside_length - own[:, None] * length, 0.0) + smoothing)
    result -= length * (np.log(inside_length + smoothing) - left)
    return _add_prior(result, counts.positive, counts.known - own[:, None])


def _words_by_value(
    X: sparse.csr_array, outside: NDArray[np.float64], alpha: float
) -> NDArray[np.float64]:
    """Σ_t x log(outside_t − x + α) for counts: one product for each distinct value x.

    The entries of ``X`` are only split among the products, so all of them cost as much as one.
    """
    result = np.zeros((X.shape[0], outside.shape[1]))
    for value in np.unique(X.data):
        entries = _entries_equal(X, value)
        terms = np.unique(entries.indices)
        left = np.log(np.maximum(outside[terms] - value, 0.0) + alpha)
        result += value * (entries[:, terms] @ left)
    return result


def _words_by_entry(
    X: sparse.csr_array, outside: NDArray[np.float64], alpha: float, own: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the same for real values and weights: a logarithm for every entry and label."""
    result = np.empty((X.shape[0], outside.shape[1]))
    smoothed, taken = outside + alpha, X.data * np.repeat(own, np.diff(X.indptr))
    step = max(1, int(_CACHED * X.shape[0] / max(X.nnz * outside.shape[1], 1)))
    for start in range(0, X.shape[0], step):
        ends = X.indptr[start : start + step + 1]
        entries, n_entries = slice(ends[0], ends[-1]), int(ends[-1] - ends[0])
        left = smoothed[X.indices[entries]]
        left -= taken[entries, None]
        np.log(np.maximum(left, alpha, out=left), out=left)
        words = (X.data[entries], np.arange(n_entries), ends - ends[0])
        result[start : start + step] = (
            sparse.csr_array(words, shape=(len(ends) - 1, n_entries)) @ left
        )
    return result


def _few_by_value(counts: TermCounts, X: sparse.csr_array, alpha: float) -> NDArray[np.float64]:
    """Σ_t x log((inside_t + α) / (outside_t − x + α)) where counts are few: value by value."""
    result = np.zeros((X.shape[0], len(counts.positive)))
    for value in np.unique(X.data):
        entries = _entries_equal(X, value)
        terms = np.unique(entries.indices)
        weights = weigh_terms(counts, terms, alpha, float(value))
        result += weights.of(value * entries[:, terms])
    return result


def _few_by_entry(
    counts: TermCounts, X: sparse.csr_array, alpha: float, own: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the same for real values and weights.

    To labels that have not seen its term an entry adds the same: logarithms are taken for the
    others alone.
    """
    found, n_labels = counts.by_term, len(counts.positive)
    seen = np.diff(found.indptr)
    inside = found.data.real
    outside = np.repeat(counts.total + alpha, seen) - inside
    if counts.unknown is not None:
        outside -= found.data.imag
    inside = np.log(inside + alpha) - np.log(alpha)
    taken = X.data * np.repeat(own, np.diff(X.indptr))
    rest = np.log(np.maximum(counts.total[X.indices] + alpha - taken, alpha))
    unseen = X.copy()
    unseen.data = X.data * (np.log(alpha) - rest)
    result = np.repeat(_length(unseen)[:, None], n_labels, axis=1)
    cells = np.concatenate([[0], np.cumsum(seen[X.indices])])
    for rows in _slices(cells[X.indptr], _CACHED):
        ends = X.indptr[rows.start : rows.stop + 1]
        entries = slice(ends[0], ends[-1])
        times = seen[X.indices[entries]]
        first = found.indptr[X.indices[entries]] - (cells[entries] - cells[entries.start])
        cell = np.repeat(first, times) + np.arange(times.sum())
        left = outside[cell] - np.repeat(taken[entries], times)
        np.log(np.maximum(left, alpha, out=left), out=left)
        share = inside[cell] + np.repeat(rest[entries], times)
        share -= left
        share *= np.repeat(X.data[entries], times)
        document = np.repeat(np.arange(len(ends) - 1) * n_labels, np.diff(ends))
        where = np.repeat(document, times) + found.indices[cell]
        sums = np.bincount(where, weights=share, minlength=(len(ends) - 1) * n_labels)
        result[rows] += sums.reshape(-1, n_labels)
    return result


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
    inside_length, outside_length = (part[column] for part in counts.lengths())
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
    positive = np.where(positive < _NOBODY, 0.0, positive)
    known = np.where(known - positive < _NOBODY, positive, known)
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


def _used_terms(X: sparse.csr_array, counts: TermCounts) -> tuple[sparse.csr_array, TermCounts]:
    """Drop the terms that no document of ``X`` has: one document needs its own words only."""
    terms = np.unique(X.indices)
    return X[:, terms], counts.terms(terms)


def _slices(before: NDArray[np.int64], size: int) -> Iterator[slice]:
    """Slices of about one size; ``before`` says how much comes before each, and how much is all."""
    edges = np.searchsorted(before, np.arange(size, before[-1], size))
    bounds = np.unique(np.concatenate([[0], edges, [len(before) - 1]]))
    return (slice(int(a), int(b)) for a, b in pairwise(bounds))


def _entries_equal(X: sparse.csr_array, value: float) -> sparse.csr_array:
    """1.0 where ``X`` has this value."""
    where = X.data == value
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[where]
    return sparse.csr_array((np.ones(where.sum()), (row, X.indices[where])), shape=X.shape)
