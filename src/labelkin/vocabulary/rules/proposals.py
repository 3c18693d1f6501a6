"""Rules that the label sets of a corpus never break, for a person to judge."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from labelkin.label_matrix import LabelMatrix, read_labels

Columns = NDArray[np.int64]
Counts = NDArray[np.float64]


class ProposedRule(NamedTuple):
    """A rule the data never breaks; documents in which either label is unknown do not count.

    Attributes
    ----------
    kind : "implies" or "exclusive"
        ``"implies"``: every document with the first label has the second. ``"exclusive"``: none.
    first, second : hashable
        Names of the labels; of an exclusive pair the first is the one of the lower column.
    documents : int
        Number of documents with the first label.
    with_second : int
        How many of them have the second: all, or 0.
    expected : float
        How many would have it if the labels were independent.
    surprise : float
        −log of the probability that independent labels of the same frequencies look like this, by
        Fisher's exact test, in nats; what proposals are sorted by.

    Examples
    --------
    >>> from labelkin.vocabulary.rules import rules_from
    >>> [rule] = rules_from([["dog", "poodle"], ["dog"], [], [], []] * 10, min_expected=4)
    >>> rule.kind, rule.first, rule.second, rule.documents, rule.with_second
    ('implies', 'poodle', 'dog', 10, 10)
    >>> print(rule)
    'poodle' implies 'dog': 10 of 10 (4.0 expected)
    """

    kind: Literal["implies", "exclusive"]
    first: Hashable
    second: Hashable
    documents: int
    with_second: int
    expected: float
    surprise: float

    def __str__(self) -> str:
        rule = {
            "implies": f"{self.first!r} implies {self.second!r}",
            "exclusive": f"at most one of {self.first!r}, {self.second!r}",
        }[self.kind]
        return f"{rule}: {self.with_second} of {self.documents} ({self.expected:.1f} expected)"


def rules_from(Y: Any, *, min_documents: int = 10, min_expected: float = 5.0) -> list[ProposedRule]:
    """Return the rules that ``Y`` never breaks, the most surprising first.

    A rule without exceptions so far may have one in the next document: these are proposals.
    :meth:`labelkin.Rules.from_proposed` makes rules of those that are right.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        Any kind of labels, as :class:`labelkin.LabelDependenceClassifier` takes them.
    min_documents : int, default 10
        An implication needs so many documents with the first label; and one without the second.
    min_expected : float, default 5.0
        An exclusion needs so many documents with both labels expected, if they were independent.

    Returns
    -------
    list of ProposedRule

    Examples
    --------
    >>> Y = [["dog", "poodle"], ["dog"], ["cat"], ["cat"], []] * 10
    >>> for rule in rules_from(Y, min_expected=4):
    ...     print(rule)
    at most one of 'cat', 'dog': 0 of 20 (8.0 expected)
    'poodle' implies 'dog': 10 of 10 (4.0 expected)
    at most one of 'cat', 'poodle': 0 of 20 (4.0 expected)
    """
    if min_documents < 1:
        raise ValueError(f"min_documents must be at least 1, got {min_documents!r}.")
    if not min_expected > 0:
        raise ValueError(f"min_expected must be above 0, got {min_expected!r}.")
    labels = read_labels(Y)
    counts = _count(labels)
    found = [*_implications(counts, min_documents), *_exclusions(counts, min_expected)]
    # Columns break ties: where columns are equal, implications run from left to right first.
    found.sort(key=lambda pair: (-pair.surprise, pair.first, pair.second))
    names = labels.names.tolist()
    return [pair._replace(first=names[pair.first], second=names[pair.second]) for pair in found]


@dataclass(frozen=True)
class _Pairs:
    """Numbers of documents in which both labels of each pair are known, ``(n_pairs,)``.

    All such documents; those with the first, the second and both labels.
    """

    first: Columns
    second: Columns
    total: Counts
    with_first: Counts
    with_second: Counts
    with_both: Counts

    def where(self, keep: NDArray[np.bool_]) -> _Pairs:
        return _Pairs(*(values[keep] for values in vars(self).values()))

    def expected(self) -> Counts:
        """Documents with both labels if they were independent; 0 of none."""
        product = self.with_first * self.with_second
        return np.divide(product, self.total, out=np.zeros(len(product)), where=self.total > 0)

    def proposals(self, kind: Literal["implies", "exclusive"]) -> Iterator[ProposedRule]:
        possible = self.with_second if kind == "implies" else self.total - self.with_second
        surprise = _log_choose(self.total, self.with_first) - _log_choose(possible, self.with_first)
        columns = (self.first, self.second, self.with_first.astype(int), self.with_both.astype(int))
        for row in zip(*(c.tolist() for c in (*columns, self.expected(), surprise)), strict=True):
            yield ProposedRule(kind, *row)


@dataclass(frozen=True)
class _PairCounts:
    """Sparse counts over documents; ``[j, k]`` speaks of labels j and k.

    Documents with both labels; with j where k is unknown; where both are unknown.
    """

    n_documents: int
    positive: Counts
    known: Counts
    both: sparse.csr_matrix
    positive_unknown: sparse.csr_matrix
    both_unknown: sparse.csr_matrix

    def pairs(self, first: Columns, second: Columns) -> _Pairs:
        known = self.known[first] + self.known[second] - self.n_documents
        return _Pairs(
            first,
            second,
            known + _at(self.both_unknown, first, second),
            self.positive[first] - _at(self.positive_unknown, first, second),
            self.positive[second] - _at(self.positive_unknown, second, first),
            _at(self.both, first, second),
        )


def _count(labels: LabelMatrix) -> _PairCounts:
    positive = labels.positive
    unknown = sparse.csr_array(labels.shape) if labels.unknown is None else labels.unknown
    n_positive, n_known = labels.counts()
    return _PairCounts(
        labels.shape[0],
        n_positive,
        n_known,
        *map(_sorted, (positive.T @ positive, positive.T @ unknown, unknown.T @ unknown)),
    )


def _sorted(matrix: Any) -> sparse.csr_matrix:
    """Return a matrix of which single cells are asked for: they are found by halving."""
    cells = sparse.csr_matrix(matrix)
    cells.sort_indices()
    return cells


def _at(cells: sparse.csr_matrix, row: Columns, column: Columns) -> Counts:
    return np.asarray(cells[row, column]).ravel() if len(row) else np.zeros(0)


def _implications(counts: _PairCounts, min_documents: int) -> Iterator[ProposedRule]:
    both = counts.both.tocoo()
    # All documents with the first label have both, so those must be as many.
    enough = (both.row != both.col) & (both.data >= min_documents)
    pairs = counts.pairs(both.row[enough], both.col[enough])
    always = (pairs.with_both == pairs.with_first) & (pairs.with_second < pairs.total)
    return pairs.where(always).proposals("implies")


def _exclusions(counts: _PairCounts, min_expected: float) -> Iterator[ProposedRule]:
    """Look at pairs that may reach ``min_expected``: the frequent labels, most frequent first.

    expected = with_first × with_second ÷ total is at most the smaller of the two, and total at
    least the known documents of the first, less those unknown for the label known least.
    """
    order = np.argsort(-counts.positive, kind="stable")
    falling = -counts.positive[order]
    least_known = counts.known.min(initial=counts.n_documents)
    for rank, label in enumerate(order.tolist()):
        if counts.positive[label] < min_expected:
            return
        total = max(counts.known[label] + least_known - counts.n_documents, 0.0)
        fewest = min_expected * max(1.0, total / counts.positive[label]) * (1 - 1e-9)
        rivals = order[rank + 1 : np.searchsorted(falling, -fewest, side="right")]
        first, second = np.minimum(label, rivals), np.maximum(label, rivals)
        pairs = counts.pairs(first, second)
        never = (pairs.with_both == 0) & (pairs.expected() >= min_expected)
        yield from pairs.where(never).proposals("exclusive")


def _log_choose(n: Counts, k: Counts) -> Counts:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
