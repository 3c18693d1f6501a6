"""Rules between labels, by name."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.label_matrix.record import check_distinct, name_array, some_of
from labelkin.vocabulary.rules.bound import BoundRules
from labelkin.vocabulary.rules.hierarchy import (
    broader_labels,
    check_possible,
    groups_of,
    nearest,
    projected,
)
from labelkin.vocabulary.rules.proposals import ProposedRule

_SHORT = 6
_LINES = 20


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Rules:
    """What is known about labels, whatever the documents say.

    Rules are equal when they say the same: neither the order of implications nor that of labels in
    a group counts. The order of groups does, because log-odds are conditioned group by group.

    Parameters
    ----------
    exclusive : collection of collections of labels, default ()
        Groups of two or more labels of which a document has at most one.
    implies : collection of pairs of labels, default ()
        Pairs (narrower, broader): a document that has the first has the second. Chains are
        followed; a circle is an error, and so are rules under which a label can never occur.

    Examples
    --------
    >>> rules = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog"), ("dog", "animal")])
    >>> print(rules)
    at most one of 'cat', 'dog'
    'poodle' implies 'dog'
    'dog' implies 'animal'
    >>> bound = rules.bind(["animal", "cat", "dog", "poodle"])
    >>> bound.complete_known([[np.nan, np.nan, np.nan, 1]])
    array([[1., 0., 1., 1.]])
    """

    exclusive: Collection[Collection[Hashable]] = ()
    implies: Collection[tuple[Hashable, Hashable]] = ()

    def __post_init__(self) -> None:
        groups = [_read_group(group) for group in _in_order(self.exclusive, "exclusive")]
        pairs = [_read_pair(pair) for pair in _in_order(self.implies, "implies")]
        distinct: dict[frozenset[Hashable], tuple[Hashable, ...]] = {}
        for group in groups:
            distinct.setdefault(frozenset(group), group)
        object.__setattr__(self, "exclusive", tuple(distinct.values()))
        object.__setattr__(self, "implies", tuple(dict.fromkeys(pairs)))
        check_possible(tuple(self.exclusive), self.implies)

    @classmethod
    def from_proposed(cls, proposals: Iterable[ProposedRule]) -> Rules:
        """Make rules of proposals, all or those a person has chosen.

        Of two labels that imply each other the implication that comes first is taken: both would
        be a circle. Exclusive pairs are gathered into groups where all their labels exclude each
        other.
        """
        proposals = list(proposals)
        implied: dict[tuple[Hashable, Hashable], None] = {}
        for kind, first, second, *_ in proposals:
            if kind == "implies" and (second, first) not in implied:
                implied[first, second] = None
        pairs = [(rule.first, rule.second) for rule in proposals if rule.kind == "exclusive"]
        return cls(exclusive=groups_of(pairs), implies=tuple(implied))

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """Every label a rule mentions, once, in the order of the rules."""
        mentioned = [label for rule in (*self.exclusive, *self.implies) for label in rule]
        return tuple(dict.fromkeys(mentioned))

    def bind(self, names: Sequence[Any] | NDArray[Any]) -> BoundRules:
        """Return the rules for matrices whose columns are ``names``; they have every label."""
        columns = name_array(names)
        check_distinct(columns.tolist(), "names")
        place = {name: column for column, name in enumerate(columns.tolist())}
        unknown = [str(label) for label in self.labels if label not in place]
        if unknown:
            raise ValueError(
                f"Rules must be about labels of the model, but it has no {some_of(unknown, 5)} "
                f"among its {len(place)} labels. Use rules.only(names) to keep what they say of "
                "the others."
            )
        return BoundRules(
            names=tuple(place),
            groups=tuple(tuple(sorted(place[label] for label in g)) for g in self.exclusive),
            implies=tuple((place[narrower], place[broader]) for narrower, broader in self.implies),
        )

    def only(self, names: Iterable[Hashable]) -> Rules:
        """Return all that the rules say about these labels alone.

        What follows through other labels is kept: of a → x → c without x, a → c remains; and where
        x excludes c, a excludes c.

        Examples
        --------
        >>> rules = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog")])
        >>> rules.only(["poodle", "cat"])
        Rules(exclusive=[('cat', 'poodle')])
        """
        kept = {_plain(name) for name in names}
        up = broader_labels(self.implies)
        down = broader_labels((broader, narrower) for narrower, broader in self.implies)

        def heirs(label: Hashable) -> Sequence[Hashable]:
            return [label] if label in kept else nearest(label, down, kept)

        return Rules(
            exclusive=[
                group
                for labels in self.exclusive
                for group in projected([heirs(label) for label in labels])
            ],
            implies=[
                (label, broader)
                for label in up
                if label in kept
                for broader in nearest(label, up, kept)
            ],
        )

    def __add__(self, other: object) -> Rules:
        if not isinstance(other, Rules):
            return NotImplemented
        return Rules(
            exclusive=(*self.exclusive, *other.exclusive), implies=(*self.implies, *other.implies)
        )

    def __len__(self) -> int:
        return len(self.exclusive) + len(self.implies)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rules) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash(self._said())

    def _said(self) -> tuple[tuple[frozenset[Hashable], ...], frozenset[Any]]:
        return tuple(frozenset(group) for group in self.exclusive), frozenset(self.implies)

    def __repr__(self) -> str:
        if len(self) > _SHORT:
            return (
                f"<Rules: {len(self.exclusive)} exclusive groups, {len(self.implies)} implications>"
            )
        parts = {"exclusive": self.exclusive, "implies": self.implies}
        return (
            f"Rules({', '.join(f'{name}={list(part)!r}' for name, part in parts.items() if part)})"
        )

    def __str__(self) -> str:
        lines = [f"at most one of {', '.join(map(repr, group))}" for group in self.exclusive]
        lines += [f"{narrower!r} implies {broader!r}" for narrower, broader in self.implies]
        more = [f"… {len(lines) - _LINES} more"] if len(lines) > _LINES else []
        return "\n".join([*lines[:_LINES], *more]) or "no rules"


def _in_order(rules: Any, what: str) -> list[Any]:
    """Return a collection as a list; sets by their text, so that every process has one order."""
    if isinstance(rules, str) or not isinstance(rules, Iterable):
        raise TypeError(f"{what} must be a list of rules, got {rules!r}.")
    return sorted(rules, key=repr) if isinstance(rules, Set) else list(rules)


def _read_group(group: Any) -> tuple[Hashable, ...]:
    if isinstance(group, str) or not isinstance(group, Iterable):
        raise TypeError(
            f"exclusive must be groups of labels, got {group!r} as a group. Write one group as "
            "exclusive=[('cat', 'dog')]."
        )
    labels = tuple(dict.fromkeys(_plain(label) for label in _in_order(group, "exclusive")))
    if len(labels) < 2:
        raise ValueError(
            f"An exclusive group must have two labels or more, got {labels!r}. Leave it out."
        )
    return labels


def _read_pair(pair: Any) -> tuple[Hashable, Hashable]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(
            f"implies must be pairs (narrower, broader), got {pair!r}. Write one pair as "
            "implies=[('poodle', 'dog')]."
        )
    narrower, broader = _plain(pair[0]), _plain(pair[1])
    if narrower == broader:
        raise ValueError(
            f"An implication must join two labels, got {narrower!r} twice. Leave it out."
        )
    return narrower, broader


def _plain(label: Any) -> Hashable:
    """Return a label as Python's own value, as names of a model are compared."""
    plain = label.item() if isinstance(label, np.generic) else label
    try:
        hash(plain)
    except TypeError:
        raise TypeError(
            f"A label must be hashable (text, a number, a tuple of these), got {plain!r}. Use its "
            "name."
        ) from None
    return plain


def bind_rules(rules: Rules | None, names: Sequence[Any] | NDArray[Any]) -> BoundRules | None:
    """Return the rules that a user gave for the labels of a model; ``None``: none.

    Parameters
    ----------
    rules : Rules or None
        What was given as ``rules=``.
    names : sequence of label names
        Those of the model, in the order of its columns.

    Returns
    -------
    BoundRules or None

    Examples
    --------
    >>> from labelkin.vocabulary.rules import Rules
    >>> bind_rules(None, ["grain", "wheat"]) is None
    True
    >>> type(bind_rules(Rules(implies=[("wheat", "grain")]), ["grain", "wheat"])).__name__
    'BoundRules'
    """
    if rules is None:
        return None
    if not isinstance(rules, Rules):
        raise TypeError(f"rules must be labelkin.Rules(...), got {rules!r:.60}.")
    return rules.bind(names)
