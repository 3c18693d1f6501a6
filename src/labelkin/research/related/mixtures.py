"""Mixtures of words: a document of several labels draws each word from one of them.

The words of a document with the label set S are drawn from

    φ(S) = Σ_{l ∈ S} w_l(S) θ_l,        θ_l: the word distribution of label l,

and a document gets the label set with the largest p(S) Π_i φ_i(S)^{count of word i}. The models
differ in the weights w: McCallum (1999) learns them for every label set; Ueda & Saito (2003) give
all labels of a set the same (PMM1), or let each pair of labels settle its own (PMM2).

θ is learned by EM. The likelihood of a word depends on a document's label set alone, so words are
counted per label set first: an iteration costs the same for a hundred documents with one set as for
one. A document without labels draws from a separate distribution.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils.validation import check_non_negative

from labelkin.label_matrix import LabelMatrix
from labelkin.method.label_sets import group_equal_rows
from labelkin.odds import to_log_odds
from labelkin.research.related.whole_label_sets import (
    LabelSetClassifier,
    label_priors,
    whole_label_sets,
)

_Matrix = NDArray[np.float64]
_Columns = NDArray[np.int64]

#: Words × label sets held dense at a time: 2²³ numbers are 64 MB.
_CELLS = 2**23


class _SetWords(NamedTuple):
    """Words counted per label set, with a row for every label of the set.

    Attributes
    ----------
    member
        Number of the pair (label set, label) that may have drawn the word, ``(n_choices,)``.
    word, cell
        The word, and the count it is a choice for, ``(n_choices,)``.
    times
        How often the set has the word, ``(n_cells,)``.
    """

    member: _Columns
    word: _Columns
    cell: _Columns
    times: _Matrix


class _WordMixture(LabelSetClassifier):
    """EM and the search for the best label set."""

    smoothing: float
    max_iter: int
    tol: float
    clip: float

    def __sklearn_tags__(self) -> Any:
        """Say that counts are not negative, and that blobs are not text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags

    # A decision function would be fed negative values by scikit-learn's checks; log_odds is there.
    decision_function = property()

    @abstractmethod
    def _start(self) -> None:
        """Set the weights that EM begins with."""

    @abstractmethod
    def _update(self, drawn: _Matrix) -> None:
        """Learn weights from the words that each pair (set, label) has drawn, ``(n_members,)``."""

    @abstractmethod
    def _weights(self, labels: _Columns) -> _Matrix:
        """Return the weights of the labels of any set, ``(n_labels_of_set,)``, sum 1."""

    @abstractmethod
    def _log_prior(self, labels: _Columns) -> float:
        """Return log p(S), up to a constant."""

    def _best_sets(self, X: Any) -> NDArray[np.bool_]:
        return self._climb(X, self._set_scores(X))[0]

    def _learn(self, X: sparse.csr_array, labels: LabelMatrix) -> None:
        if not self.smoothing > 0:
            raise ValueError(f"smoothing must be positive, got {self.smoothing!r}; 1 is Laplace.")
        positive = whole_label_sets(labels, type(self).__name__)
        self.prior_ = label_priors(labels)
        first, group = group_equal_rows([positive])
        self.label_sets_ = positive[first].toarray() > 0
        self.set_counts_ = np.bincount(group, minlength=len(first)).astype(np.float64)
        # the last distribution is that of documents without labels
        is_empty = ~self.label_sets_.any(axis=1)
        pairs = np.argwhere(np.column_stack([self.label_sets_, is_empty]))
        self.member_set_, self.member_label_ = pairs.T.copy()
        self._run_em(self._count_words(X, group), labels.shape[1] + 1, X.shape[1])

    def _count_words(self, X: sparse.csr_array, group: _Columns) -> _SetWords:
        n_sets = len(self.set_counts_)
        member_of = sparse.csr_array(
            (np.ones(len(group)), (group, np.arange(len(group)))), shape=(n_sets, len(group))
        )
        counts = sparse.coo_array(sparse.csr_array(member_of @ X))
        size = np.bincount(self.member_set_, minlength=n_sets)
        begin = np.concatenate([[0], np.cumsum(size)[:-1]])
        n_choices = size[counts.row]
        cell = np.repeat(np.arange(len(counts.data)), n_choices)
        within = np.arange(len(cell)) - np.repeat(np.cumsum(n_choices) - n_choices, n_choices)
        member = begin[counts.row][cell] + within
        return _SetWords(member, counts.col[cell].astype(np.int64), cell, counts.data)

    def _run_em(self, words: _SetWords, n_distributions: int, n_words: int) -> None:
        """Share each word out among the labels of its set, count again, until that settles."""
        label, shape = self.member_label_[words.member], (n_distributions, n_words)
        place = label * n_words + words.word
        self._start()
        share = self._member_weights()[words.member]
        drawn = words.times[words.cell] * share  # at first by the weights alone
        previous = -np.inf
        for n_iter in range(1, self.max_iter + 1):
            self.n_iter_ = n_iter
            found = np.bincount(place, weights=drawn, minlength=shape[0] * shape[1])
            smoothed = found.reshape(shape) + self.smoothing
            self.theta_ = smoothed / smoothed.sum(axis=1, keepdims=True)
            if n_iter > 1:
                n_members = len(self.member_set_)
                by_member = np.bincount(words.member, weights=drawn, minlength=n_members)
                self._update(by_member.astype(np.float64))
            mixed = self._member_weights()[words.member] * self.theta_[label, words.word]
            total = np.bincount(words.cell, weights=mixed, minlength=len(words.times))
            drawn = words.times[words.cell] * mixed / total[words.cell]
            likelihood = float(words.times @ np.log(total)) if len(total) else 0.0
            if likelihood - previous <= self.tol * abs(likelihood):
                break
            previous = likelihood

    def _member_weights(self) -> _Matrix:
        """Return the weight of each label in each label set of the training documents."""
        return np.concatenate(
            [self._weights(labels) for labels in self._by_set(self.member_label_)]
        )

    def _by_set(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return values of the pairs (set, label), set by set."""
        return np.split(values, np.flatnonzero(np.diff(self.member_set_)) + 1)

    def _set_scores(self, X: sparse.csr_array) -> _Matrix:
        """Return log p(S) p(words | S) of every set of training, ``(n_documents, n_sets)``."""
        weights = sparse.csr_array(
            (self._member_weights(), (self.member_set_, self.member_label_)),
            shape=(len(self.label_sets_), len(self.theta_)),
        )
        scores = np.empty((X.shape[0], len(self.label_sets_)))
        step = max(1, _CELLS // max(X.shape[1], 1))
        for start in range(0, len(self.label_sets_), step):
            sets = slice(start, start + step)
            scores[:, sets] = X @ np.log(weights[sets] @ self.theta_).T
        nobody = len(self.theta_) - 1
        for s, members in enumerate(self.label_sets_):
            labels = np.flatnonzero(members)
            scores[:, s] += self._log_prior(labels if len(labels) else np.array([nobody]))
        return scores

    def _climb(self, X: sparse.csr_array, scores: _Matrix) -> tuple[NDArray[np.bool_], _Matrix]:
        """Start from the best set seen; add the label that helps most, as long as one does.

        Returns the label sets, ``(n_documents, n_labels)``, and their log p(S) p(words | S).
        """
        best, score = self.label_sets_[scores.argmax(axis=1)].copy(), scores.max(axis=1)
        can_grow = np.flatnonzero(np.isnan(self.prior_))  # no training document: nothing to draw
        for i in np.flatnonzero(best.any(axis=1)):
            row = slice(X.indptr[i], X.indptr[i + 1])
            words, counts = X.indices[row], X.data[row]
            while True:
                left = can_grow[~best[i, can_grow]]
                if not len(left):
                    break
                grown = self._grown_scores(np.flatnonzero(best[i]), left, words, counts)
                if not grown.max() > score[i] + 1e-9:
                    break
                score[i], best[i, left[grown.argmax()]] = grown.max(), True
        return best, score

    def _grown_scores(
        self, labels: _Columns, left: _Columns, words: _Columns, counts: _Matrix
    ) -> _Matrix:
        """Score a label set with each of some further labels, ``(n_left,)``."""
        sets = [np.append(labels, other) for other in left]
        weights = np.array([self._weights(one) for one in sets])
        prior = np.array([self._log_prior(one) for one in sets])
        mixed = weights[:, :-1] @ self.theta_[np.ix_(labels, words)]
        mixed += weights[:, [-1]] * self.theta_[np.ix_(left, words)]
        return prior + np.log(mixed) @ counts

    def _log_odds(self, X: sparse.csr_array) -> _Matrix:
        """Log-odds by the sets seen in training and the best set of all."""
        scores = self._set_scores(X)
        best, score = self._climb(X, scores)
        new = score > scores.max(axis=1)
        total = logsumexp(np.column_stack([scores, np.where(new, score, -np.inf)]), axis=1)
        share = np.exp(scores - total[:, None])
        probability = (
            share @ self.label_sets_ + np.where(new, np.exp(score - total), 0)[:, None] * best
        )
        log_odds = to_log_odds(np.clip(probability, 0.0, 1.0), clip=self.clip)
        return np.where(np.isnan(self.prior_), log_odds, self.prior_)

    def _read_documents(self, X: Any, reset: bool) -> Any:
        X = super()._read_documents(X, reset)
        check_non_negative(X, type(self).__name__)
        X = sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X


class MixtureModel(_WordMixture):
    """McCallum's mixture (1999): the weights of the labels are learned for every label set.

    p(S) is the share of training documents with the label set; sets that none has come last, with
    equal weights.

    Parameters
    ----------
    smoothing : float, default 1.0
        Added to every word count of a label (1 = Laplace), and to the words that each label of a
        set has drawn.
    max_iter : int, default 100
        Most iterations of EM.
    tol : float, default 1e-6
        EM ends when the log-likelihood gains no more than this share.
    clip : float, default 1e-6
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.

    Attributes
    ----------
    theta_ : array of shape (n_labels + 1, n_words)
        The word distribution of every label; the last is that of documents without labels.
    label_sets_ : bool array of shape (n_sets, n_labels)
    set_weights_ : list of arrays
        The weights of the labels of each set.
    n_iter_ : int

    Examples
    --------
    >>> X = [[4, 0, 1], [3, 0, 0], [0, 4, 1], [0, 3, 0], [2, 2, 1]]
    >>> model = MixtureModel().fit(X, [["sea"], ["sea"], ["town"], ["town"], ["sea", "town"]])
    >>> model.predict_labels([[5, 0, 1], [3, 4, 1]])
    [('sea',), ('sea', 'town')]
    """

    def __init__(
        self,
        smoothing: float = 1.0,
        *,
        max_iter: int = 100,
        tol: float = 1e-6,
        clip: float = 1e-6,
    ) -> None:
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.clip = clip

    def _start(self) -> None:
        sets = self._by_set(self.member_label_)
        self.set_weights_ = [np.full(len(labels), 1 / len(labels)) for labels in sets]
        self.set_numbers_ = {str(labels.tolist()): s for s, labels in enumerate(sets)}

    def _update(self, drawn: _Matrix) -> None:
        parts = self._by_set(drawn + self.smoothing)
        self.set_weights_ = [part / part.sum() for part in parts]

    def _weights(self, labels: _Columns) -> _Matrix:
        order = np.argsort(labels)
        s = self.set_numbers_.get(str(labels[order].tolist()))
        if s is None:
            return np.full(len(labels), 1 / len(labels))
        weights = np.empty(len(labels))
        weights[order] = self.set_weights_[s]
        return weights

    def _log_prior(self, labels: _Columns) -> float:
        s = self.set_numbers_.get(str(sorted(labels.tolist())))
        n_documents = self.set_counts_.sum() + 1  # one more for a new label set
        return float(np.log((1.0 if s is None else self.set_counts_[s]) / n_documents))


class ParametricMixture(_WordMixture):
    """Parametric mixtures of Ueda & Saito (2003), PMM1 and PMM2; all label sets are as likely.

    Parameters
    ----------
    order : 1 or 2, default 1
        1: the labels of a set have equal weights. 2: of every two labels one may draw more of the
        words; how much is learned from all sets that have both.
    smoothing : float, default 1.0
        Added to every word count of a label (1 = Laplace), and to what each of a pair has drawn.
    max_iter : int, default 100
        Most iterations of EM.
    tol : float, default 1e-6
        EM ends when the log-likelihood gains no more than this share.
    clip : float, default 1e-6
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.

    Attributes
    ----------
    theta_ : array of shape (n_labels + 1, n_words)
        The word distribution of every label; the last is that of documents without labels.
    pair_weights_ : array of shape (n_labels + 1, n_labels + 1), or None
        ``[l, m]``: how much of the words of labels l and m together l draws; ``[m, l]`` is the
        rest, ½ where nothing is known. ``None`` for order 1.
    label_sets_ : bool array of shape (n_sets, n_labels)
    n_iter_ : int

    Examples
    --------
    >>> X = [[4, 0, 1], [3, 0, 0], [0, 4, 1], [0, 3, 0], [2, 2, 1]]
    >>> model = ParametricMixture().fit(X, [["sea"], ["sea"], ["town"], ["town"], ["sea", "town"]])
    >>> model.predict_labels([[9, 0, 1], [3, 4, 1]])
    [('sea',), ('sea', 'town')]
    """

    def __init__(
        self,
        order: Literal[1, 2] = 1,
        *,
        smoothing: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-6,
        clip: float = 1e-6,
    ) -> None:
        self.order = order
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.clip = clip

    def _start(self) -> None:
        if self.order not in (1, 2):
            raise ValueError(f"order must be 1 (PMM1) or 2 (PMM2), got {self.order!r}.")
        n_labels = self.label_sets_.shape[1] + 1
        self.pair_weights_ = None if self.order == 1 else np.full((n_labels, n_labels), 0.5)

    def _weights(self, labels: _Columns) -> _Matrix:
        n = len(labels)
        if self.pair_weights_ is None:
            return np.full(n, 1 / n)
        # w_l = Σ_m 2 h_l h_m γ_lm with h = 1/n and γ_ll = ½: the weights sum to 1
        return self.pair_weights_[np.ix_(labels, labels)].sum(axis=1) * 2 / n**2

    def _update(self, drawn: _Matrix) -> None:
        if self.pair_weights_ is None:
            return
        old, by_pair = self.pair_weights_, np.full_like(self.pair_weights_, self.smoothing)
        sets = zip(self._by_set(self.member_label_), self._by_set(drawn), strict=True)
        for labels, words in sets:
            if len(labels) > 1:
                place = np.ix_(labels, labels)
                part = old[place] / old[place].sum(axis=1, keepdims=True)
                by_pair[place] += words[:, None] * part
        self.pair_weights_ = by_pair / (by_pair + by_pair.T)
        np.fill_diagonal(self.pair_weights_, 0.5)

    def _log_prior(self, labels: _Columns) -> float:
        return 0.0
