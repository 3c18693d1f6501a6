"""Rules bound to columns: what they make of statements, of log-odds and of decisions."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.rules.clashes import clash_in
from labelkin.rules.conditioning import at_most_one
from labelkin.rules.greedy_decisions import documents_that_break, enter_in_order
from labelkin.rules.groups import without_contained
from labelkin.rules.implication_levels import Columns, Level, closure, levels, raise_along
from labelkin.rules.matrices import read_decided, read_known, read_log_odds


@dataclass(frozen=True, eq=False)
class BoundRules:
    """Rules for matrices (documents × labels) with these columns; :meth:`Rules.bind` makes them.

    Attributes
    ----------
    names
        The labels, in column order.
    groups
        Columns of each exclusive group, ascending, in the order of the rules.
    implies
        Pairs of columns (narrower, broader), as stated; chains are followed.
    """

    names: tuple[Hashable, ...]
    groups: tuple[tuple[int, ...], ...]
    implies: tuple[tuple[int, int], ...]

    def complete_known(self, known: Any) -> NDArray[np.float64]:
        """Return all that follows from what a person has stated.

        An accepted label has its broader labels accepted and those exclusive with any of them
        refused; a refused label has its narrower labels refused. Nothing else follows.

        Parameters
        ----------
        known
            1 accepted, 0 refused, NaN open, ``(n_documents, n_labels)``. Statements that break a
            rule are an error that names both and the rule.

        Examples
        --------
        >>> from labelkin.rules import Rules
        >>> rules = Rules(implies=[("poodle", "dog")]).bind(["dog", "poodle"])
        >>> rules.complete_known([[0, np.nan], [np.nan, 1], [1, np.nan]])
        array([[ 0.,  0.],
               [ 1.,  1.],
               [ 1., nan]])
        """
        facts = read_known(known, len(self.names))
        return self._complete(facts, "known")

    def posterior(self, log_odds: Any) -> NDArray[np.float64]:
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
        log_odds
            ``(n_documents, n_labels)``, without NaN.

        Examples
        --------
        >>> from labelkin.rules import Rules
        >>> rules = Rules(exclusive=[("cat", "dog")]).bind(["cat", "dog"])
        >>> rules.posterior([[0.0, 0.0], [np.inf, 2.0]]).round(3)
        array([[-0.693, -0.693],
               [   inf,   -inf]])
        """
        result = read_log_odds(log_odds, len(self.names))
        known = np.isinf(result).any(axis=1)
        if known.any():
            result[known] = self._with_known(result[known], np.flatnonzero(known))
        for group in self._distinct_groups:
            result[:, group] = at_most_one(result[:, group])
        raise_along(result, self._upward)
        return result

    def decisions(self, log_odds: Any, decided: Any) -> NDArray[np.bool_]:
        """Return decisions that break no rule, ``(n_documents, n_labels)``.

        In each document the decided labels enter by descending log-odds (of equal ones the lowest
        column first), each with all its broader labels; one that is refused (−inf), or implies a
        refused label, or is exclusive with what has entered, is left out. Decisions that break no
        rule and decide no refused label come back as they are.

        Parameters
        ----------
        log_odds
            ``(n_documents, n_labels)``, without NaN; any score that orders the labels will do.
        decided
            True or 1 where a threshold has decided for the label, same shape.

        Examples
        --------
        >>> from labelkin.rules import Rules
        >>> rules = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog")])
        >>> bound = rules.bind(["cat", "dog", "poodle"])
        >>> bound.decisions([[1.0, 0.5, 2.0]], [[True, False, True]])
        array([[False,  True,  True]])
        """
        scores = read_log_odds(log_odds, len(self.names))
        result = read_decided(decided, scores.shape) & (scores != -np.inf)
        broken = documents_that_break(result, self._implied, self._member)
        result[broken] = enter_in_order(scores[broken], result[broken], self._reach, self._seats)
        return result

    def _with_known(self, log_odds: NDArray[np.float64], documents: Columns) -> NDArray[np.float64]:
        facts = np.where(np.isinf(log_odds), (log_odds > 0).astype(np.float64), np.nan)
        complete = self._complete(facts, "log_odds of ±inf", documents)
        follows = np.where(complete == 1, np.inf, -np.inf)
        return np.where(np.isnan(complete), log_odds, follows)

    def _complete(
        self, facts: NDArray[np.float64], what: str, documents: Columns | None = None
    ) -> NDArray[np.float64]:
        """Accept upwards, refuse across groups, refuse downwards: nothing follows from the last."""
        accepted, refused = facts == 1, facts == 0
        raise_along(accepted, self._upward)
        clash = (accepted & refused).any(axis=1)
        seats = sparse.csr_array(sparse.csr_array(accepted, dtype=np.int64) @ self._member)
        clash[sparse.coo_array(seats).row[seats.data > 1]] = True
        if clash.any():
            self._refuse_clash(facts, np.flatnonzero(clash), what, documents)
        rivals = sparse.coo_array(seats @ self._member.T)
        refused[rivals.row, rivals.col] = True
        refused &= ~accepted
        raise_along(refused, self._downward)
        return np.where(accepted, 1.0, np.where(refused, 0.0, np.nan))

    def _refuse_clash(
        self, facts: NDArray[np.float64], clash: Columns, what: str, documents: Columns | None
    ) -> NoReturn:
        first = int(clash[0])
        document = first if documents is None else int(documents[first])
        statements = clash_in(facts[first], self.names, self.groups, self.implies)
        raise ValueError(
            f"{what} must keep the rules, but document {document} has {statements} "
            f"({len(clash)} such documents). Take back one of the two."
        )

    @cached_property
    def _arrows(self) -> tuple[Columns, Columns]:
        pairs = np.array(self.implies, dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    @cached_property
    def _upward(self) -> tuple[Level, ...]:
        narrower, broader = self._arrows
        return levels(narrower, broader, len(self.names))

    @cached_property
    def _downward(self) -> tuple[Level, ...]:
        narrower, broader = self._arrows
        return levels(broader, narrower, len(self.names))

    @cached_property
    def _distinct_groups(self) -> list[list[int]]:
        """Groups that are not part of another: a rule stated twice is one rule."""
        return [list(group) for group in without_contained(self.groups)]  # type: ignore[arg-type]

    @cached_property
    def _implied(self) -> sparse.csr_array:
        narrower, broader = self._arrows
        ones = np.ones(len(narrower), dtype=np.int64)
        return sparse.csr_array((ones, (narrower, broader)), 2 * (len(self.names),))

    @cached_property
    def _reach(self) -> sparse.csr_array:
        return closure(*self._arrows, len(self.names))

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
        such rules are refused.
        """
        numbered = sparse.csr_array(self._member * np.arange(1, len(self.names) + 1)[:, np.newaxis])
        return sparse.csr_array(self._reach.astype(np.int64) @ numbered)
