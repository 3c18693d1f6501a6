"""Rules bound to the columns of a model, applied to known labels, log-odds and decisions.

Below :class:`BoundRules`: implications as a graph of labels, which are any hashable values.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix import read_known, read_scores
from labelkin.label_matrix.record import name_array

_Columns = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Bools = NDArray[np.bool_]
_Pairs = Iterable[tuple[Hashable, Hashable]]
_Graph = Mapping[Hashable, Sequence[Hashable]]
_Group = tuple[Hashable, ...]

_LOWEST = float(np.finfo(np.float64).min)
_CELLS = 1 << 22  # values of broader labels computed together


@dataclass(frozen=True, eq=False)
class BoundRules:
    """Rules for matrices (documents × labels); :meth:`Rules.bind` returns them.

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
    >>> from labelkin.vocabulary import Rules
    >>> bound = Rules(implies=[("poodle", "dog")]).bind(["dog", "poodle"])
    >>> bound.decisions([[-1.0, 2.0]], [[False, True]])
    array([[ True,  True]])
    """

    names: tuple[Hashable, ...]
    groups: tuple[tuple[int, ...], ...]
    implies: tuple[tuple[int, int], ...]

    def complete_known(self, known: Any) -> _Floats:
        """Return the known labels and those that follow from them.

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
        >>> from labelkin.vocabulary import Rules
        >>> rules = Rules(implies=[("poodle", "dog")]).bind(["dog", "poodle"])
        >>> rules.complete_known([[0, np.nan], [np.nan, 1], [1, np.nan]])
        array([[ 0.,  0.],
               [ 1.,  1.],
               [ 1., nan]])
        """
        return self._complete(read_known(known, None, name_array(self.names)), "known")

    def posterior(self, log_odds: ArrayLike) -> _Floats:
        """Return log-odds that follow the rules, ``(n_documents, n_labels)``.

        1. Known labels, ±inf, stay, and labels that follow from them become ±inf
           (:meth:`complete_known`). Clip estimates of exactly 0 or 1 first.
        2. Exclusive groups: independent labels, conditioned on "at most one of them",
           z_j − log(1 + Σ_{k≠j} e^z_k). That is exact for one group and for groups without common
           labels; groups that overlap are applied in their order, and a group that is part of
           another is skipped.
        3. Implications: a broader label is at least as likely as each label that implies it.

        No narrower label is above a broader one afterwards. Without implications, the
        probabilities of a group sum to at most 1. A second application changes nothing if there
        are only implications, but conditions again on exclusive groups.

        Parameters
        ----------
        log_odds : array or DataFrame of shape (n_documents, n_labels)
            Without NaN.

        Returns
        -------
        array of shape (n_documents, n_labels)

        Examples
        --------
        >>> from labelkin.vocabulary import Rules
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
        below = self._reach.tocsc()
        step = max(1, _CELLS // max(below.nnz, 1))
        for start in range(0, len(result) if self.implies else 0, step):
            rows = slice(start, start + step)
            narrower = result[rows][:, below.indices]
            result[rows] = np.maximum.reduceat(narrower, below.indptr[:-1], axis=1)
        return result

    def decisions(self, log_odds: ArrayLike, decided: ArrayLike) -> _Bools:
        """Return decisions that break no rule, ``(n_documents, n_labels)``.

        In each document the decided labels are accepted by descending log-odds (of equal ones the
        lowest column first), each with all its broader labels; a label that is rejected (−inf), or
        implies a rejected label, or excludes an accepted one, is left out. Decisions that break no
        rule and have no rejected label are returned unchanged.

        Parameters
        ----------
        log_odds : array or DataFrame of shape (n_documents, n_labels)
            Without NaN; or any other score of the labels.
        decided : array or sparse matrix of shape (n_documents, n_labels)
            True or 1 for decided labels.

        Returns
        -------
        bool array of shape (n_documents, n_labels)

        Examples
        --------
        >>> from labelkin.vocabulary import Rules
        >>> rules = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog")])
        >>> bound = rules.bind(["cat", "dog", "poodle"])
        >>> bound.decisions([[1.0, 0.5, 2.0]], [[True, False, True]])
        array([[False,  True,  True]])
        """
        scores = self._read_log_odds(log_odds)
        result = _read_decided(decided, scores.shape) & (scores != -np.inf)
        broken = self._documents_that_break(result)
        for i in broken.tolist():
            result[i] = self._accepted(scores[i], result[i])
        return result

    def _accepted(self, scores: _Floats, decided: _Bools) -> _Bools:
        """Return the decisions of a document, the best first, that break no rule."""
        inside, closed = np.zeros_like(decided), scores == -np.inf
        for j in sorted(np.flatnonzero(decided).tolist(), key=lambda j: (-scores[j], j)):
            broader = self._broader(j)
            if inside[j] or closed[broader].any():
                continue
            inside[broader] = True
            for group in self._member[broader].indices:
                closed[list(self.groups[group])] = True
            closed[broader] = False
        return inside

    def _read_log_odds(self, log_odds: Any) -> _Floats:
        return read_scores(log_odds, name_array(self.names), what="log_odds")

    def _with_known(self, log_odds: _Floats, documents: _Columns) -> _Floats:
        known = np.where(np.isinf(log_odds), (log_odds > 0).astype(np.float64), np.nan)
        complete = self._complete(known, "log_odds of ±inf", documents)
        follows = np.where(complete == 1, np.inf, -np.inf)
        return np.where(np.isnan(complete), log_odds, follows)

    def _complete(self, known: _Floats, what: str, documents: _Columns | None = None) -> _Floats:
        """Accept broader labels, reject exclusive ones, and reject narrower ones of these."""
        rejected = known == 0
        accepted = _reached(known == 1, self._reach)
        seats = sparse.csr_array(sparse.csr_array(accepted, dtype=np.int64) @ self._member)
        clash = (accepted & rejected).any(axis=1)
        clash[sparse.coo_array(seats).row[seats.data > 1]] = True
        if clash.any():
            first = int(np.flatnonzero(clash)[0])
            document = first if documents is None else int(documents[first])
            raise ValueError(
                f"{what} must keep the rules, but document {document} has "
                f"{', while '.join(self._clash(known[first]))} ({clash.sum()} such documents). "
                "Remove one of both."
            )
        rejected |= (seats @ self._member.T).toarray() > 0
        rejected = _reached(rejected & ~accepted, self._reach.T)
        return np.where(accepted, 1.0, np.where(rejected, 0.0, np.nan))

    def _documents_that_break(self, decided: _Bools) -> _Columns:
        """Return the documents whose decisions break a rule."""
        stored = sparse.csr_array(decided, dtype=np.int64)
        wanted = sparse.coo_array(stored @ self._reach)
        lacking = wanted.row[~decided[wanted.row, wanted.col]]
        seats = sparse.coo_array(stored @ self._member)
        return np.unique(np.concatenate([lacking, seats.row[seats.data > 1]]))

    def check_possible(self) -> None:
        """Raise for implications in a circle, and for labels that imply two exclusive labels."""
        try:
            TopologicalSorter(broader_labels(self.implies)).prepare()
        except CycleError as error:
            circle = " implies ".join(repr(self.names[j]) for j in error.args[1][::-1])
            raise ValueError(
                f"Implications must not run in a circle, got {circle}: these labels are always "
                "together. Merge them into one label, or drop one of the implications."
            ) from None
        seats = sparse.coo_array(self._reach @ self._member)
        for j in seats.row[seats.data > 1].tolist():
            alone = np.where(np.arange(len(self.names)) == j, 1.0, np.nan)
            raise ValueError(
                f"Rules must leave every label possible, but {self.names[j]!r} can never occur: "
                f"{self._clash(alone)[1]}. Drop one of these rules."
            )

    def _clash(self, known: _Floats) -> tuple[str, str]:
        """Return two known labels of a document that break a rule, and the rule, for a message."""
        names = self.names
        broader_of = {j: self._broader(j) for j in np.flatnonzero(known == 1).tolist()}
        for j, broader in broader_of.items():
            for k in broader:
                if known[k] == 0:
                    both = f"{names[j]!r} accepted and {names[k]!r} rejected"
                    return both, f"{names[j]!r} implies {names[k]!r}"
        for group in self.groups:
            ways = [(j, k) for k in group for j, broader in broader_of.items() if k in broader]
            if len({k for _, k in ways}) > 1:
                break
        two = ways[0], next(way for way in ways if way[1] != ways[0][1])
        reasons = [f"{names[j]!r} implies {names[k]!r}" for j, k in two if j != k]
        first, second = (names[k] for _, k in two)
        why = ", ".join([*reasons, f"{first!r} and {second!r} exclude each other"])
        return " and ".join(f"{names[j]!r} accepted" for j, _ in two), why

    def _broader(self, column: int) -> list[int]:
        """Return the columns of a label and its broader labels."""
        start, stop = self._reach.indptr[column : column + 2]
        return self._reach.indices[start:stop].tolist()

    @cached_property
    def _distinct_groups(self) -> list[list[int]]:
        """Groups that are not part of another."""
        both = sparse.coo_array(self._member.T @ self._member)
        sizes = np.array([len(group) for group in self.groups], dtype=np.int64)
        contained = {*both.row[(both.row != both.col) & (both.data == sizes[both.row])].tolist()}
        return [list(group) for i, group in enumerate(self.groups) if i not in contained]

    @cached_property
    def _reach(self) -> sparse.csr_array:
        """1 for each label's broader labels, near and far, and for itself."""
        every = np.arange(len(self.names))
        pairs = np.array(self.implies, dtype=np.int64).reshape(-1, 2)
        cells = np.concatenate([every, pairs[:, 0]]), np.concatenate([every, pairs[:, 1]])
        shape = (len(self.names), len(self.names))
        reach = sparse.csr_array((np.ones(len(cells[0]), dtype=np.bool_), cells), shape)
        while True:
            # Each product doubles the length of the chains.
            further = sparse.csr_array(reach @ reach)
            if further.nnz == reach.nnz:
                reach.sort_indices()
                return reach.astype(np.int64)
            reach = further

    @cached_property
    def _member(self) -> sparse.csr_array:
        """1 for the labels of each group, ``(n_labels, n_groups)``."""
        column = np.array([label for group in self.groups for label in group], dtype=np.int64)
        index = np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups])
        ones = np.ones(len(column), dtype=np.int64)
        return sparse.csr_array((ones, (column, index)), (len(self.names), len(self.groups)))


def at_most_one(log_odds: _Floats) -> _Floats:
    """Condition independent labels on "at most one of them", exactly.

    Worlds with only label j have the weight e^z_j, the empty one 1; so label j has the log-odds
    z_j − log(1 + Σ_{k≠j} e^z_k).

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


def _log_one_plus_others(log_odds: _Floats) -> _Floats:
    """Return log(1 + Σ_{k≠j} e^z_k) from the sums left and right of j, without subtraction."""
    n = len(log_odds)
    left = np.hstack([np.zeros((n, 1)), log_odds[:, :-1]])
    right = np.hstack([np.full((n, 1), -np.inf), log_odds[:, :0:-1]])
    below = np.logaddexp.accumulate(left, axis=1)
    above = np.logaddexp.accumulate(right, axis=1)[:, ::-1]
    return np.asarray(np.logaddexp(below, above))


def _reached(marked: _Bools, reach: Any) -> _Bools:
    """Return the labels that are reached from the marked ones of each document."""
    return np.asarray((sparse.csr_array(marked, dtype=np.int64) @ reach).toarray() > 0)


def _read_decided(values: Any, shape: tuple[int, ...]) -> _Bools:
    decided = np.asarray(values.toarray() if sparse.issparse(values) else values)
    if decided.shape != shape or not np.isin(decided, (0, 1)).all():
        raise ValueError(
            f"decided must contain True and False (1 and 0) in the shape of log_odds, {shape}, got "
            f"{decided.dtype} values, shape {decided.shape}. Apply a threshold to scores first."
        )
    return decided == 1


def broader_labels(implies: _Pairs) -> dict[Hashable, list[Hashable]]:
    """Return the direct broader labels of every label that has some.

    Examples
    --------
    >>> broader_labels([("poodle", "dog"), ("poodle", "pet")])
    {'poodle': ['dog', 'pet']}
    """
    graph: dict[Hashable, list[Hashable]] = {}
    for narrower, broader in implies:
        graph.setdefault(narrower, []).append(broader)
    return graph


def nearest(start: Hashable, graph: _Graph, kept: Collection[Hashable]) -> list[Hashable]:
    """Return the first kept labels on every path from ``start``, without ``start``.

    Examples
    --------
    >>> nearest("a", {"a": ["x", "b"], "x": ["c"], "c": ["d"]}, {"a", "b", "c", "d"})
    ['b', 'c']
    """
    met = dict.fromkeys(graph.get(start, ()))
    queue = [label for label in met if label not in kept]
    for passed in queue:
        new = [label for label in graph.get(passed, ()) if label not in met]
        met.update(dict.fromkeys(new))
        queue.extend(label for label in new if label not in kept)
    return [label for label in met if label in kept]


def groups_of(pairs: Iterable[tuple[Hashable, Hashable]]) -> list[_Group]:
    """Gather exclusive pairs into groups in which every two labels were a pair.

    Conditioning on a group of k labels at once is exact; on its pairs one after the other it is
    not. Groups are grown greedily, in the order of the pairs, and no pair is in two groups.

    Examples
    --------
    >>> groups_of([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    [('a', 'b', 'c'), ('c', 'd')]
    """
    pairs = list(pairs)
    # Dictionaries keep the order of the pairs.
    free: dict[Hashable, dict[Hashable, None]] = {label: {} for pair in pairs for label in pair}
    for first, second in pairs:
        free[first][second] = free[second][first] = None
    groups = []
    for first, second in pairs:
        if second not in free[first]:
            continue
        group = [first, second]
        for label in free[first]:
            if all(label in free[member] for member in group):
                group.append(label)
        for one, other in combinations(group, 2):
            del free[one][other], free[other][one]
        groups.append(tuple(group))
    return groups


def projected(slots: Sequence[Collection[Hashable]]) -> list[_Group]:
    """Return the groups that remain if each label of a group is replaced by other labels.

    Replacements of one label may occur together; those of two labels may not.

    Examples
    --------
    >>> projected([["cat"], ["poodle", "terrier"], []])
    [('cat', 'poodle'), ('cat', 'terrier')]
    """
    filled = [slot for slot in slots if slot]
    if all(len(slot) == 1 for slot in filled):
        group = tuple(label for slot in filled for label in slot)
        return [group] if len(group) > 1 else []
    return groups_of(
        (one, other)
        for first, second in combinations(filled, 2)
        for one in first
        for other in second
    )
