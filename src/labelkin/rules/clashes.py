"""Statements about a document that break a rule: which two, and which rule."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from labelkin.rules.hierarchy import Graph, broader_labels, chain, exclusion, path, reachable

Clash = tuple[int, int, str]


def clash_in(
    facts: NDArray[np.float64],
    names: Sequence[Hashable],
    groups: Sequence[Sequence[int]],
    implies: Sequence[tuple[int, int]],
) -> str:
    """Return the two statements of a document that clash and the rule, for a message.

    Parameters
    ----------
    facts
        1 accepted, 0 refused, NaN open, ``(n_labels,)``; they break a rule.
    names, groups, implies
        As in :class:`labelkin.rules.BoundRules`.

    Examples
    --------
    >>> clash_in(np.array([1, 1]), ["cat", "dog"], [(0, 1)], [])
    "'cat' accepted and 'dog' accepted, while 'cat' and 'dog' exclude each other"
    """
    graph = {
        names[narrower]: [names[int(column)] for column in broader]  # type: ignore[call-overload]
        for narrower, broader in broader_labels(implies).items()
    }
    accepted = [names[j] for j in np.flatnonzero(facts == 1).tolist()]
    refused = {names[j] for j in np.flatnonzero(facts == 0).tolist()}
    reached = {label: set(reachable(label, graph)) for label in accepted}
    for label in accepted:
        for broader in reached[label] & refused:
            why = chain(path(label, broader, graph))
            return f"{label!r} accepted and {broader!r} refused, while {why}"
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
