"""Implications as a graph, and exclusive groups: paths, impossible labels, pairs gathered.

Labels are any hashable values here: names in :class:`Rules`, columns where they are bound.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import combinations

Pairs = Iterable[tuple[Hashable, Hashable]]
Graph = Mapping[Hashable, Sequence[Hashable]]


def broader_labels(implies: Pairs) -> dict[Hashable, list[Hashable]]:
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


def narrower_first(implies: Pairs) -> list[Hashable]:
    """Return the labels of the implications, each before its broader ones; a circle is an error.

    Examples
    --------
    >>> narrower_first([("dog", "animal"), ("poodle", "dog")])
    ['poodle', 'dog', 'animal']
    """
    narrower = broader_labels((broader, narrower) for narrower, broader in implies)
    try:
        return list(TopologicalSorter(narrower).static_order())
    except CycleError as error:
        cycle = error.args[1]
        raise ValueError(
            f"Implications must not run in a circle, got {chain(cycle)}: these labels are always "
            "together. Merge them into one label, or drop one of the implications."
        ) from None


def reachable(start: Hashable, graph: Graph) -> dict[Hashable, Hashable]:
    """Return every label on the ways from ``start``, itself first, with the label before it.

    Examples
    --------
    >>> reachable("a", {"a": ["b"], "b": ["c"]})
    {'a': None, 'b': 'a', 'c': 'b'}
    """
    came_from: dict[Hashable, Hashable] = {start: None}
    queue = [start]
    for label in queue:
        new = [following for following in graph.get(label, ()) if following not in came_from]
        came_from.update(dict.fromkeys(new, label))
        queue.extend(new)
    return came_from


def path(start: Hashable, end: Hashable, graph: Graph) -> list[Hashable]:
    """Return a shortest path between two labels, both included; the graph has one.

    Examples
    --------
    >>> path("a", "c", {"a": ["b"], "b": ["c"]})
    ['a', 'b', 'c']
    """
    came_from = reachable(start, graph)
    steps = [end]
    while steps[-1] != start:
        steps.append(came_from[steps[-1]])
    return steps[::-1]


def nearest(start: Hashable, graph: Graph, kept: Collection[Hashable]) -> list[Hashable]:
    """Return the kept labels first met on every way from ``start``, without ``start``.

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


def check_possible(
    groups: Sequence[Collection[Hashable]], implies: Collection[tuple[Hashable, Hashable]]
) -> None:
    """Raise where a label can never occur: it implies two that exclude each other."""
    graph = broader_labels(implies)
    # For each group that a label and its broader labels reach: the one of its labels reached.
    reached: dict[Hashable, dict[int, Hashable]] = {}
    for index, group in enumerate(groups):
        for label in group:
            reached.setdefault(label, {})[index] = label
    for label in reversed(narrower_first(implies)):
        mine = reached.setdefault(label, {})
        for broader in graph.get(label, ()):
            for index, member in reached.get(broader, {}).items():
                if mine.setdefault(index, member) != member:
                    raise ValueError(_impossible(label, (mine[index], member), graph))


def chain(labels: Iterable[Hashable]) -> str:
    """Return implications one after the other, for a message.

    Examples
    --------
    >>> chain(["poodle", "dog"])
    "'poodle' implies 'dog'"
    """
    return " implies ".join(repr(label) for label in labels)


def exclusion(first: Hashable, second: Hashable) -> str:
    """Return that two labels are exclusive, for a message."""
    return f"{first!r} and {second!r} exclude each other"


def _impossible(label: Hashable, members: tuple[Hashable, Hashable], graph: Graph) -> str:
    reasons = [chain(path(label, member, graph)) for member in members if member != label]
    return (
        f"Rules must leave every label possible, but {label!r} can never occur: "
        f"{' and '.join(reasons)}, while {exclusion(*members)}. Drop one of these rules."
    )


Group = tuple[Hashable, ...]


def groups_of(pairs: Iterable[tuple[Hashable, Hashable]]) -> list[Group]:
    """Gather exclusive pairs into groups in which every two labels were a pair.

    A group of k labels is conditioned on at once, which is exact; its pairs one after the other
    are not. So groups are grown greedily, in the order of the pairs, and no pair is in two.

    Examples
    --------
    >>> groups_of([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    [('a', 'b', 'c'), ('c', 'd')]
    """
    pairs = list(pairs)
    # Dictionaries, not sets: the answer follows the order given, in every process.
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


def without_contained(groups: Sequence[Collection[Hashable]]) -> list[Collection[Hashable]]:
    """Leave out groups all of whose labels are together in another group; the groups are distinct.

    Examples
    --------
    >>> without_contained([("a", "b"), ("b", "c", "a"), ("c", "d")])
    [('b', 'c', 'a'), ('c', 'd')]
    """
    holders: dict[Hashable, set[int]] = {}
    for index, group in enumerate(groups):
        for label in group:
            holders.setdefault(label, set()).add(index)
    return [
        group for group in groups if len(set.intersection(*map(holders.__getitem__, group))) == 1
    ]


def projected(slots: Sequence[Collection[Hashable]]) -> list[Group]:
    """Return the groups that remain where each label of a group is replaced by its heirs.

    Heirs of one label may go together; heirs of two labels may not.

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
