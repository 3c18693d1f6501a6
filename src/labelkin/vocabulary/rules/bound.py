"""Rules bound to columns: what they make of known labels, of log-odds and of decisions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix import best_labels, read_known, read_scores
from labelkin.label_matrix.record import check_cells, name_array
from labelkin.vocabulary.rules.hierarchy import (
    Graph,
    broader_labels,
    chain,
    exclusion,
    path,
    reachable,
    without_contained,
)

Columns = NDArray[np.int64]
Floats = NDArray[np.float64]
Decisions = NDArray[np.bool_]

_LOWEST = float(np.finfo(np.float64).min)
_CELLS = 1 << 23  # of the tables of labels and groups that are filled at once


@dataclass(frozen=True, eq=False)
class BoundRules:
    """Rules for matrices (documents × labels) with these columns; :meth:`Rules.bind` makes them.

    Attributes
    ----------
    names : tuple
        The labels, in column order.
    groups : tuple of tuples of int
        Columns of each exclusive group, ascending, in the order of the rules.
    implies : tuple of pairs of int
        Columns (narrower, broader), as given; chains are followed.

    Examples
    --------
    >>> from labelkin.vocabulary.rules import Rules
    >>> bound = Rules(implies=[("poodle", "dog")]).bind(["dog", "poodle"])
    >>> bound.decisions([[-1.0, 2.0]], [[False, True]])
    array([[ True,  True]])
    """

    names: tuple[Hashable, ...]
    groups: tuple[tuple[int, ...], ...]
    implies: tuple[tuple[int, int], ...]

    def complete_known(self, known: Any) -> Floats:
        """Return all that follows from the known labels.

        An accepted label has its broader labels accepted and those exclusive with any of them
        rejected; a rejected label has its narrower labels rejected. Nothing else follows.

        Parameters
        ----------
        known : array, sparse matrix, DataFrame or mappings
            The known labels of each document, as :func:`labelkin.label_matrix.read_known` reads
            them. Known labels that break a rule are an error that names two of them and the rule.

        Returns
        -------
        array of shape (n_documents, n_labels)
            1 accepted, 0 rejected, NaN open.

        Examples
        --------
        >>> from labelkin.vocabulary.rules import Rules
        >>> rules = Rules(implies=[("poodle", "dog")]).bind(["dog", "poodle"])
        >>> rules.complete_known([[0, np.nan], [np.nan, 1], [1, np.nan]])
        array([[ 0.,  0.],
               [ 1.,  1.],
               [ 1., nan]])
        """
        return self._complete(read_known(known, None, self._labels), "known")

    def posterior(self, log_odds: ArrayLike) -> Floats:
        """Return log-odds that know the rules, ``(n_documents, n_labels)``.

        1. What is known, ±inf, stays, and what follows from it becomes ±inf
           (:meth:`complete_known`). An estimate of exactly 0 or 1 counts as known: clip it first.
        2. Exclusive groups: independent labels, conditioned on "at most one of them",
           z_j − log(1 + Σ_{k≠j} e^z_k). That is exact for one group and for groups without common
           labels; groups that overlap follow each other in the order given, and a group that is
           part of another is passed over.
        3. Implications: a broader label is at least as likely as each label that implies it.

        No narrower label is above a broader one afterwards. Without implications, the
        probabilities of a group sum to at most 1. Applying it again changes nothing where there
        are only implications, but conditions once more on exclusive groups.

        Parameters
        ----------
        log_odds : array or DataFrame of shape (n_documents, n_labels)
            Without NaN.

        Returns
        -------
        array of shape (n_documents, n_labels)

        Examples
        --------
        >>> from labelkin.vocabulary.rules import Rules
        >>> rules = Rules(exclusive=[("cat", "dog")]).bind(["cat", "dog"])
        >>> rules.posterior([[0.0, 0.0], [np.inf, 2.0]]).round(3)
        array([[-0.693, -0.693],
               [   inf,   -inf]])
        """
        result = self._read_log_odds(log_odds).copy()
        known = np.isinf(result).any(axis=1)
        if known.any():
            result[known] = self._with_known(result[known], np.flatnonzero(known))
        for group in self._distinct_groups:
            result[:, group] = at_most_one(result[:, group])
        _raise_along(result, self._upward)
        return result

    def decisions(self, log_odds: ArrayLike, decided: ArrayLike) -> Decisions:
        """Return decisions that break no rule, ``(n_documents, n_labels)``.

        In each document the decided labels enter by descending log-odds (of equal ones the lowest
        column first), each with all its broader labels; one that is rejected (−inf), or implies a
        rejected label, or is exclusive with what has entered, is left out. Decisions that break no
        rule and decide no rejected label come back as they are.

        Parameters
        ----------
        log_odds : array or DataFrame of shape (n_documents, n_labels)
            Without NaN; any score that orders the labels will do.
        decided : array or sparse matrix of shape (n_documents, n_labels)
            True or 1 where a threshold has decided for the label.

        Returns
        -------
        bool array of shape (n_documents, n_labels)

        Examples
        --------
        >>> from labelkin.vocabulary.rules import Rules
        >>> rules = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog")])
        >>> bound = rules.bind(["cat", "dog", "poodle"])
        >>> bound.decisions([[1.0, 0.5, 2.0]], [[True, False, True]])
        array([[False,  True,  True]])
        """
        scores = self._read_log_odds(log_odds)
        result = _read_decided(decided, scores.shape) & (scores != -np.inf)
        broken = self._documents_that_break(result)
        result[broken] = _enter_in_order(scores[broken], result[broken], self._reach, self._seats)
        return result

    def _read_log_odds(self, log_odds: Any) -> Floats:
        return read_scores(log_odds, self._labels, what="log_odds")

    def _with_known(self, log_odds: Floats, documents: Columns) -> Floats:
        known = np.where(np.isinf(log_odds), (log_odds > 0).astype(np.float64), np.nan)
        complete = self._complete(known, "log_odds of ±inf", documents)
        follows = np.where(complete == 1, np.inf, -np.inf)
        return np.where(np.isnan(complete), log_odds, follows)

    def _complete(self, known: Floats, what: str, documents: Columns | None = None) -> Floats:
        """Accept upwards, reject across groups, reject downwards: nothing follows from the last."""
        accepted, rejected = known == 1, known == 0
        _raise_along(accepted, self._upward)
        clash = (accepted & rejected).any(axis=1)
        seats = sparse.csr_array(sparse.csr_array(accepted, dtype=np.int64) @ self._member)
        clash[sparse.coo_array(seats).row[seats.data > 1]] = True
        if clash.any():
            first = int(np.flatnonzero(clash)[0])
            document = first if documents is None else int(documents[first])
            both = clash_in(known[first], self.names, self.groups, self.implies)
            raise ValueError(
                f"{what} must keep the rules, but document {document} has {both} "
                f"({clash.sum()} such documents). Take back one of the two."
            )
        rivals = sparse.coo_array(seats @ self._member.T)
        rejected[rivals.row, rivals.col] = True
        rejected &= ~accepted
        _raise_along(rejected, self._downward)
        return np.where(accepted, 1.0, np.where(rejected, 0.0, np.nan))

    def _documents_that_break(self, decided: Decisions) -> Columns:
        """Return the documents whose decisions break a rule."""
        stored = sparse.csr_array(decided, dtype=np.int64)
        wanted = sparse.coo_array(stored @ self._implied)
        lacking = wanted.row[~decided[wanted.row, wanted.col]]
        seats = sparse.coo_array(stored @ self._member)
        return np.unique(np.concatenate([lacking, seats.row[seats.data > 1]]))

    @cached_property
    def _labels(self) -> NDArray[Any]:
        return name_array(self.names)

    @cached_property
    def _arrows(self) -> tuple[Columns, Columns]:
        pairs = np.array(self.implies, dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    @cached_property
    def _upward(self) -> tuple[_Level, ...]:
        return _levels(*self._arrows, len(self.names))

    @cached_property
    def _downward(self) -> tuple[_Level, ...]:
        return _levels(*self._arrows[::-1], len(self.names))

    @cached_property
    def _distinct_groups(self) -> list[list[int]]:
        """Groups that are not part of another: a rule given twice is one rule."""
        return [list(group) for group in without_contained(self.groups)]  # type: ignore[arg-type]

    @cached_property
    def _implied(self) -> sparse.csr_array:
        ones = np.ones(len(self.implies), dtype=np.int64)
        return sparse.csr_array((ones, self._arrows), 2 * (len(self.names),))

    @cached_property
    def _reach(self) -> sparse.csr_array:
        return _closure(*self._arrows, len(self.names))

    @cached_property
    def _member(self) -> sparse.csr_array:
        column = np.array([label for group in self.groups for label in group], dtype=np.int64)
        index = np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups])
        ones = np.ones(len(column), dtype=np.int64)
        return sparse.csr_array((ones, (column, index)), (len(self.names), len(self.groups)))

    @cached_property
    def _seats(self) -> sparse.csr_array:
        """1 + the column by which a label and its broader labels are in a group.

        A sum would mix two of them, but a label that reaches two of a group can never occur, and
        such rules are an error.
        """
        numbered = sparse.csr_array(self._member * np.arange(1, len(self.names) + 1)[:, np.newaxis])
        return sparse.csr_array(self._reach.astype(np.int64) @ numbered)


def at_most_one(log_odds: Floats) -> Floats:
    """Condition independent labels on "at most one of them", exactly.

    Of the worlds with at most one label, those with label j weigh e^z_j, the empty one 1, and the
    others e^z_k; so label j has the log-odds z_j − log(1 + Σ_{k≠j} e^z_k).

    Parameters
    ----------
    log_odds
        ``(n_documents, n_labels)``, at most one +inf per document: it makes the others −inf. No
        finite value becomes infinite beside finite ones.

    Examples
    --------
    Two labels of probability ½ leave three equally likely worlds:

    >>> bool(np.allclose(at_most_one(np.zeros((1, 2))), np.log(1 / 2)))
    True
    """
    others = _log_one_plus_others(log_odds)
    with np.errstate(over="ignore"):
        conditioned = log_odds - others
    finite = np.isfinite(log_odds) & np.isfinite(others)
    return np.where(finite, np.maximum(conditioned, _LOWEST), conditioned)


def _log_one_plus_others(log_odds: Floats) -> Floats:
    """log(1 + Σ_{k≠j} e^z_k): what is left of j and what is right of it, nothing subtracted."""
    n = len(log_odds)
    left = np.hstack([np.zeros((n, 1)), log_odds[:, :-1]])
    right = np.hstack([np.full((n, 1), -np.inf), log_odds[:, :0:-1]])
    below = np.logaddexp.accumulate(left, axis=1)
    above = np.logaddexp.accumulate(right, axis=1)[:, ::-1]
    return np.asarray(np.logaddexp(below, above))


def _read_decided(values: Any, shape: tuple[int, ...]) -> Decisions:
    decided = np.asarray(values.toarray() if sparse.issparse(values) else values)
    if decided.shape != shape:
        raise ValueError(
            f"decided must have the shape of log_odds, {shape}, got {decided.shape}. Hand over the "
            "decisions of the same documents."
        )
    wrong = (decided != 0) & (decided != 1)
    rule = "decided must hold True and False (1 and 0)"
    way_out = "Turn scores into decisions by a threshold first."
    check_cells(rule, decided[wrong], np.nonzero(wrong), way_out)
    return decided == 1


def _enter_in_order(
    log_odds: Floats, decided: Decisions, reach: sparse.csr_array, seats: sparse.csr_array
) -> Decisions:
    """Return decisions that break no rule: the best-scored labels first, each with all it implies.

    Every exclusive group has one seat. A label that enters takes the seats of its own groups and
    of those of its broader labels; where another label sits, it cannot enter.

    Parameters
    ----------
    log_odds, decided
        ``(n_documents, n_labels)``; the highest enter first, of equal ones the lowest column. A
        label that is −inf, or that implies one, does not enter.
    reach
        Marks each label's broader labels and itself, ``(n_labels, n_labels)``.
    seats
        1 + the column that takes the seat of a group when a label enters,
        ``(n_labels, n_groups)``.
    """
    block = max(1, _CELLS // (sum(seats.shape) + 1))
    parts = [
        _enter(log_odds[start : start + block], decided[start : start + block], reach, seats)
        for start in range(0, len(decided), block)
    ]
    return np.concatenate(parts) if parts else decided.copy()


def _enter(
    log_odds: Floats, decided: Decisions, reach: sparse.csr_array, seats: sparse.csr_array
) -> Decisions:
    count = decided.sum(axis=1)
    # Narrower than all labels: most documents have few.
    ranked = np.zeros((len(decided), count.max()), dtype=np.int64)
    ranked[np.arange(ranked.shape[1]) < count[:, None]] = np.concatenate(
        best_labels(log_odds, is_open=decided)
    )
    inside = np.zeros_like(decided)
    seated = np.zeros((len(decided), seats.shape[1]), dtype=np.int64)
    for rank in range(ranked.shape[1]):
        document = np.flatnonzero(count > rank)
        label = ranked[document, rank]
        outside = ~inside[document, label]
        document, label = document[outside], label[outside]
        company, taken = reach[label], seats[label]
        rejected = log_odds[_repeat(document, company), company.indices] == -np.inf
        sits = seated[_repeat(document, taken), taken.indices]
        blocked = _any_in_row(rejected, company)
        blocked |= _any_in_row((sits != 0) & (sits != taken.data), taken)
        _mark(inside, document, company, ~blocked)
        _mark(seated, document, taken, ~blocked)
    return inside


def _mark(
    table: NDArray[np.generic], document: Columns, rows: sparse.csr_array, keep: Decisions
) -> None:
    """Write the stored values of the rows to keep into the rows of their documents."""
    kept = _repeat(keep, rows)
    table[_repeat(document, rows)[kept], rows.indices[kept]] = rows.data[kept]


def _repeat(values: NDArray[np.generic], rows: sparse.csr_array) -> NDArray[np.generic]:
    """Return the value of each row, once per stored cell."""
    return np.repeat(values, np.diff(rows.indptr))


def _any_in_row(marks: Decisions, rows: sparse.csr_array) -> Decisions:
    place = _repeat(np.arange(rows.shape[0]), rows)
    return np.bincount(place[marks], minlength=rows.shape[0]) > 0


class _Level(NamedTuple):
    """Arrows whose targets are at one height; those of one target follow each other.

    Attributes
    ----------
    sources
        Column each arrow comes from.
    starts
        Where the arrows of each target begin.
    targets
        Column of each target, once.
    """

    sources: Columns
    starts: Columns
    targets: Columns


def _levels(sources: Columns, targets: Columns, n_labels: int) -> tuple[_Level, ...]:
    """Sort arrows into levels such that every source is finished before it is used.

    Examples
    --------
    >>> steps = _levels(np.array([0, 1]), np.array([1, 2]), 3)
    >>> [step.targets.tolist() for step in steps]
    [[1], [2]]
    """
    height = _heights(sources, targets, n_labels)[targets]
    order = np.lexsort((sources, targets, height))
    cuts = np.flatnonzero(np.diff(height[order])) + 1
    parts = [part for part in np.split(order, cuts) if len(part)]
    ends = [np.unique(targets[part], return_index=True) for part in parts]
    return tuple(
        _Level(sources[part], starts, distinct)
        for part, (distinct, starts) in zip(parts, ends, strict=True)
    )


def _raise_along(values: NDArray[Any], arrows: Sequence[_Level]) -> None:
    """Give each target the largest value of itself and its sources; in place, along axis 1."""
    for sources, starts, targets in arrows:
        highest = np.maximum.reduceat(values[:, sources], starts, axis=1)
        values[:, targets] = np.maximum(values[:, targets], highest)


def _closure(narrower: Columns, broader: Columns, n_labels: int) -> sparse.csr_array:
    """Return a sparse matrix that marks each label's broader labels near and far, and itself.

    Examples
    --------
    >>> _closure(np.array([0, 1]), np.array([1, 2]), 3).toarray().astype(int)
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    """
    every = np.arange(n_labels)
    cells = np.concatenate([every, narrower]), np.concatenate([every, broader])
    reach = sparse.csr_array((np.ones(len(cells[0]), dtype=bool), cells), (n_labels, n_labels))
    while True:
        # Each product doubles the length of the chains that are followed.
        further = sparse.csr_array(reach @ reach)
        if further.nnz == reach.nnz:
            reach.sort_indices()
            return reach
        reach = further


def _heights(sources: Columns, targets: Columns, n_labels: int) -> Columns:
    """Length of the longest chain of arrows that ends at each label."""
    height = np.zeros(n_labels, dtype=np.int64)
    while True:
        higher = height.copy()
        np.maximum.at(higher, targets, height[sources] + 1)
        if np.array_equal(higher, height):
            return height
        height = higher


def clash_in(
    known: Floats,
    names: Sequence[Hashable],
    groups: Sequence[Sequence[int]],
    implies: Sequence[tuple[int, int]],
) -> str:
    """Return two known labels of a document that clash and the rule, for a message.

    Parameters
    ----------
    known
        1 accepted, 0 rejected, NaN open, ``(n_labels,)``; they break a rule.
    names, groups, implies
        As in :class:`labelkin.vocabulary.rules.BoundRules`.

    Examples
    --------
    >>> clash_in(np.array([1, 1]), ["cat", "dog"], [(0, 1)], [])
    "'cat' accepted and 'dog' accepted, while 'cat' and 'dog' exclude each other"
    """
    graph = {
        names[narrower]: [names[int(column)] for column in broader]  # type: ignore[call-overload]
        for narrower, broader in broader_labels(implies).items()
    }
    accepted = [names[j] for j in np.flatnonzero(known == 1).tolist()]
    rejected = {names[j] for j in np.flatnonzero(known == 0).tolist()}
    reached = {label: set(reachable(label, graph)) for label in accepted}
    for label in accepted:
        for broader in reached[label] & rejected:
            why = chain(path(label, broader, graph))
            return f"{label!r} accepted and {broader!r} rejected, while {why}"
    return _two_in_a_group([[names[j] for j in group] for group in groups], reached, graph)


def _two_in_a_group(
    groups: Sequence[Sequence[Hashable]], reached: dict[Hashable, set[Hashable]], graph: Graph
) -> str:
    for group in groups:
        ways = [
            (label, member)
            for member in group
            for label in [next((x for x in reached if member in reached[x]), None)]
            if label is not None
        ]
        if len(ways) > 1:
            break
    (one, first), (other, second) = ways[:2]
    chains = [chain(path(*way, graph)) for way in ways[:2] if way[0] != way[1]]
    why = ", ".join([*chains, exclusion(first, second)])
    return f"{one!r} accepted and {other!r} accepted, while {why}"
