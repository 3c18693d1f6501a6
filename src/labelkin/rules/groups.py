"""Exclusive groups: pairs gathered into groups, and groups that say nothing new left out."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import combinations

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
