"""Splits in which every label is spread evenly: iterative stratification.

The algorithm is that of Sechidis, Tsoumakas & Vlahavas (2011), *On the stratification of
multi-label data*: take the label with the fewest documents left, hand each of them to the part
that wants this label most, and continue. Three things differ from the paper:

- a part is never filled beyond its size, so sizes are exact;
- among parts that want the label equally, the one that wants all labels of the document most comes
  first, which keeps the frequent labels even as well;
- what a part wants is its share of the documents handed out so far, not of all, and wishes less
  than one document apart are equal. Equal folds are not changed by this; in unequal ones the
  larger part is no longer served first.

An unknown cell of ``Y`` (NaN) counts neither for nor against its label. Documents without labels
fill what is left.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from labelkin.label_matrix import LabelMatrix, read_labels

__all__ = [
    "MultilabelStratifiedKFold",
    "stratified_folds",
    "stratified_split",
]

Indices = NDArray[np.int64]
_RandomState = int | np.random.RandomState | None
#: A number of folds, a splitter, or splits: what scikit-learn accepts as ``cv``.
CrossValidation = int | BaseCrossValidator | Iterable[Any] | None


def stratified_folds(Y: Any, n_folds: int = 5, random_state: _RandomState = None) -> Indices:
    """Return the fold of each document, 0 … n_folds − 1, shape ``(n_documents,)``.

    Fold sizes differ by at most one, the larger folds come first. Documents of a label that shares
    none with other labels are spread evenly (counts differ by at most one); otherwise nearly so,
    and no bound is promised: a label may even miss a fold although it has documents enough.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        Any kind of labels, as :class:`labelkin.LabelDependenceClassifier` takes them.
    n_folds : int, default 5
        From 2 to the number of documents.
    random_state : int, RandomState or None, default None
        As in scikit-learn: a seed gives the same folds again, ``None`` others at each call.

    Returns
    -------
    int array of shape (n_documents,)

    Examples
    --------
    >>> fold = stratified_folds([["tea"], ["tea"], ["milk"], ["milk"]], 2, random_state=0)
    >>> bool(fold[0] != fold[1]), bool(fold[2] != fold[3])
    (True, True)
    """
    return _folds(read_labels(Y), n_folds, check_random_state(random_state))


def stratified_split(
    Y: Any, test_size: float = 0.25, random_state: _RandomState = None
) -> tuple[Indices, Indices]:
    """Return the indices of training and test documents, each in ascending order.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        Any kind of labels, as :class:`labelkin.LabelDependenceClassifier` takes them.
    test_size : float or int, default 0.25
        A share between 0 and 1: exactly ``round(test_size * n_documents)`` documents are test
        documents. Or, as an integer, their number.
    random_state : int, RandomState or None, default None
        As in scikit-learn: a seed gives the same split again, ``None`` another at each call.

    Returns
    -------
    train : array of int
        Indices of the training documents.
    test : array of int
        Indices of the test documents.

    Examples
    --------
    >>> Y = [["tea"], ["tea"], ["milk"], ["milk"], []]
    >>> train, test = stratified_split(Y, test_size=0.4, random_state=0)
    >>> sorted(Y[i] for i in test)
    [['milk'], ['tea']]
    """
    matrix = read_labels(Y)
    n_test = _test_documents(matrix.shape[0], test_size)
    sizes = np.array([matrix.shape[0] - n_test, n_test])
    part = _stratify(matrix, sizes, sizes, check_random_state(random_state))
    return np.flatnonzero(part == 0), np.flatnonzero(part == 1)


class MultilabelStratifiedKFold(BaseCrossValidator):
    """K folds by iterative stratification, as a scikit-learn splitter (``cv=``).

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds, at least 2.
    shuffle : bool, default True
        ``False`` takes the documents in the given order and draws nothing at random: equal choices
        go to the first fold.
    random_state : int, RandomState or None, default None
        A seed makes every call of ``split`` return the same folds. Only with ``shuffle=True``.

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    >>> for train, test in MultilabelStratifiedKFold(2, shuffle=False).split(None, Y):
    ...     print(Y[test].sum(axis=0))
    [1 1]
    [1 1]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: _RandomState = None
    ):
        if not shuffle and random_state is not None:
            raise ValueError(
                "random_state has an effect only with shuffle=True, got shuffle=False and "
                f"random_state={random_state!r}. Leave random_state out, or shuffle."
            )
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield training and test indices; ``X`` (also ``None``) and ``groups`` are not used."""
        rng = check_random_state(self.random_state) if self.shuffle else None
        fold = _folds(read_labels(y), self.n_splits, rng)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits


def _folds(matrix: LabelMatrix, n_folds: Any, rng: np.random.RandomState | None) -> Indices:
    n = matrix.shape[0]
    if not isinstance(n_folds, Integral) or not 2 <= int(n_folds) <= n:
        raise ValueError(
            "The number of folds must be an integer from 2 to the number of documents, got "
            f"{n_folds!r} folds and n_samples={n}. Use fewer folds or more documents."
        )
    sizes = np.full(n_folds, n // n_folds)
    sizes[: n % n_folds] += 1
    # Every fold wants the same share: were the larger ones to want more, all labels of a single
    # document would end up there.
    return _stratify(matrix, sizes, np.ones(n_folds, dtype=np.int64), rng)


def _test_documents(n: int, test_size: Any) -> int:
    n_test = int(test_size) if isinstance(test_size, Integral) else round(test_size * n)
    if not 0 < n_test < n:
        raise ValueError(
            "Training and test part need at least one document each, got "
            f"test_size={test_size!r} and n_samples={n}: {n_test} test documents. Choose a share "
            "between 0 and 1, or an integer number of documents."
        )
    return n_test


def _stratify(
    matrix: LabelMatrix, sizes: Indices, share: Indices, rng: np.random.RandomState | None
) -> Indices:
    """Part of each document; part k takes ``sizes[k]``, and of each label ``share[k]`` parts."""
    n = matrix.shape[0]
    order = np.arange(n) if rng is None else rng.permutation(n)
    luck = np.zeros(n) if rng is None else rng.random_sample(n)
    part = np.empty(n, dtype=np.int64)
    part[order] = _distribute(matrix.positive[order], sizes, share, luck)
    return part


def _distribute(
    Y: sparse.csr_array, sizes: Indices, share: Indices, luck: NDArray[np.float64]
) -> Indices:
    """Hand out the documents in row order, those of the rarest label first."""
    by_label = Y.tocsc()
    by_label.sort_indices()
    part = np.full(Y.shape[0], -1, dtype=np.int64)
    left = np.diff(by_label.indptr).astype(np.int64)
    wishes = _Wishes(Y.shape[1], sizes, share)
    queue = [(count, label) for label, count in enumerate(left.tolist())]
    heapq.heapify(queue)
    while queue:
        _, label = heapq.heappop(queue)
        if left[label] == 0:
            continue  # it had a newer entry, with fewer documents, which came first
        documents = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        documents = documents[part[documents] < 0]
        for i in documents.tolist():
            labels = Y.indices[Y.indptr[i] : Y.indptr[i + 1]]
            part[i] = wishes.grant(label, labels, luck[i])
        others, gone = np.unique(Y[documents].indices, return_counts=True)
        left[others] -= gone
        for other in others.tolist():
            heapq.heappush(queue, (int(left[other]), other))
    part[part < 0] = np.repeat(np.arange(len(sizes)), wishes.free)
    return part


class _Wishes:
    """What each part wants: its share of each label (``wanted``) and of all documents (``behind``).

    A wish is the number of documents the part should have once the next one is handed out, less
    those it has; in integers (times the sum of the shares), so that ties are exact.
    """

    def __init__(self, n_labels: int, sizes: Indices, share: Indices):
        self.sizes = sizes
        self.share = share
        self.n_shares = int(share.sum())
        self.n_documents = int(sizes.sum())
        self.free = sizes.copy()
        self.behind = sizes.copy()
        self.wanted = np.tile(share, (n_labels, 1))

    def grant(self, label: int, labels: Indices, luck: float) -> int:
        """Give a document with ``labels`` to the part that wants ``label`` most; return the part.

        Ties go to the part that wants all its labels most, then to the one that is furthest behind
        its size, then to luck in [0, 1); 0 is the first.
        """
        best = np.flatnonzero(self.free)
        best = _largest(best, self.wanted[label, best], less_than=self.n_shares)
        if len(best) > 1 and len(labels) > 1:
            best = _largest(best, self.wanted[labels[:, np.newaxis], best].sum(axis=0))
        if len(best) > 1:
            best = _largest(best, self.behind[best])
        winner = int(best[int(luck * len(best))])
        self._hand_over(labels, winner)
        return winner

    def _hand_over(self, labels: Indices, winner: int) -> None:
        self.wanted[labels] += self.share
        self.wanted[labels, winner] -= self.n_shares
        self.behind += self.sizes
        self.behind[winner] -= self.n_documents
        self.free[winner] -= 1


def _largest(parts: Indices, wish: Indices, less_than: int = 1) -> Indices:
    """Return the parts whose wish is less than ``less_than`` below the largest."""
    return parts[wish > wish.max() - less_than]


def round_robin_folds(labels: LabelMatrix, n_folds: int = 4) -> NDArray[np.int64]:
    """Return the fold of each document, ``(n_documents,)``.

    Documents are sorted by their rarest label and assigned to the folds in turn, so that every
    label is spread evenly. The result is not random and does not depend on the order of labels.
    """
    n_documents, n_labels = labels.shape
    positive = labels.positive
    place = _places_by_rarity(positive)
    rarest = np.full(n_documents, n_labels)
    has_some = np.flatnonzero(np.diff(positive.indptr))
    starts = positive.indptr[has_some]
    if len(starts):
        rarest[has_some] = np.minimum.reduceat(place[positive.indices], starts)
    fold = np.empty(n_documents, dtype=np.int64)
    fold[np.argsort(rarest, kind="stable")] = np.arange(n_documents) % n_folds
    return fold


def _places_by_rarity(positive: sparse.csr_array) -> NDArray[np.int64]:
    """Return the place of each label, 0 for the rarest; of equals, that with earlier documents."""
    numbers = np.arange(1.0, positive.shape[0] + 1)
    keys = [positive.T @ numbers**power for power in (2, 1, 0)]
    place = np.empty(positive.shape[1], dtype=np.int64)
    place[np.lexsort(keys)] = np.arange(positive.shape[1])
    return place
