"""Rules between labels, by name: given, from a vocabulary, or proposed by the data.

:class:`Rules` contains implications and exclusive groups; :func:`rules_of` returns those of a
vocabulary, :func:`labelkin.vocabulary.read_relations` those of a table, and :func:`rules_from`
proposes rules without exceptions in a corpus. :meth:`Rules.bind` applies them to a model.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import hypergeom

from labelkin.label_matrix import read_labels
from labelkin.label_matrix.record import name_array
from labelkin.validation import abbreviate, check_distinct
from labelkin.vocabulary.bound_rules import (
    BoundRules,
    broader_labels,
    groups_of,
    nearest,
    projected,
)
from labelkin.vocabulary.record import Vocabulary

__all__ = [
    "BoundRules",
    "ProposedRule",
    "Rules",
    "bind_rules",
    "rules_from",
    "rules_of",
]

_SHORT = 6
_LINES = 20


@dataclass(frozen=True, kw_only=True, repr=False)
class Rules:  # numpydoc ignore=PR02
    """Implications between labels, and groups of labels that exclude each other.

    Implications, and the labels of a group, are sorted. The order of groups is kept, because
    log-odds are conditioned group by group.

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
    'dog' implies 'animal'
    'poodle' implies 'dog'
    >>> bound = rules.bind(["animal", "cat", "dog", "poodle"])
    >>> bound.complete_known([[np.nan, np.nan, np.nan, 1]])
    array([[1., 0., 1., 1.]])
    """

    exclusive: Collection[Collection[Hashable]] = ()
    implies: Collection[tuple[Hashable, Hashable]] = ()

    def __post_init__(self) -> None:
        groups = [_read_group(group) for group in _in_order(self.exclusive, "exclusive")]
        pairs = [_read_pair(pair) for pair in _in_order(self.implies, "implies")]
        object.__setattr__(self, "exclusive", tuple(dict.fromkeys(groups)))
        object.__setattr__(self, "implies", tuple(sorted(set(pairs), key=repr)))
        self._bound(self.labels).check_possible()

    @classmethod
    def from_proposed(cls, proposals: Iterable[ProposedRule]) -> Rules:
        """Return the rules of all or some proposals.

        Of two labels that imply each other only the first implication is taken. Exclusive pairs
        are gathered into groups.
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
        """The labels of the rules, each once, in their order."""
        mentioned = [label for rule in (*self.exclusive, *self.implies) for label in rule]
        return tuple(dict.fromkeys(mentioned))

    def bind(self, names: Sequence[Any] | NDArray[Any]) -> BoundRules:
        """Return the rules for matrices with the columns ``names``, which have every label."""
        columns = name_array(names)
        check_distinct(columns.tolist(), "names")
        known = set(columns.tolist())
        unknown = [str(label) for label in self.labels if label not in known]
        if unknown:
            raise ValueError(
                f"Rules must be about labels of the model, but it has no {abbreviate(unknown, 5)} "
                f"among its {len(known)} labels. Use rules.only(names) for the others."
            )
        return self._bound(columns.tolist())

    def _bound(self, names: Sequence[Hashable]) -> BoundRules:
        place = {name: column for column, name in enumerate(names)}
        return BoundRules(
            names=tuple(place),
            groups=tuple(tuple(sorted(place[label] for label in g)) for g in self.exclusive),
            implies=tuple((place[narrower], place[broader]) for narrower, broader in self.implies),
        )

    def only(self, names: Iterable[Hashable]) -> Rules:
        """Return the rules between these labels, also those that follow through other labels.

        Of a → x → c without x, a → c remains; and if x excludes c, a excludes c.

        Examples
        --------
        >>> rules = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog")])
        >>> rules.only(["poodle", "cat"])
        Rules(exclusive=[('cat', 'poodle')])
        """
        kept = {_plain(name) for name in names}
        up = broader_labels(self.implies)
        down = broader_labels((broader, narrower) for narrower, broader in self.implies)

        def kept_below(label: Hashable) -> Sequence[Hashable]:
            return [label] if label in kept else nearest(label, down, kept)

        return Rules(
            exclusive=[
                group
                for labels in self.exclusive
                for group in projected([kept_below(label) for label in labels])
            ],
            implies=[
                (label, broader)
                for label in up
                if label in kept
                for broader in nearest(label, up, kept)
            ],
        )

    def __len__(self) -> int:
        return len(self.exclusive) + len(self.implies)

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
    """Return a collection as a list; sets are sorted by text."""
    if isinstance(rules, str) or not isinstance(rules, Iterable):
        raise TypeError(f"{what} must be a list of rules, each of labels, got {rules!r}.")
    return sorted(rules, key=repr) if isinstance(rules, Set) else list(rules)


def _read_group(group: Any) -> tuple[Hashable, ...]:
    given = map(_plain, _in_order(group, "exclusive=[('cat', 'dog')]"))
    labels = tuple(sorted(set(given), key=repr))
    if len(labels) < 2:
        raise ValueError(
            f"An exclusive group must have two labels or more, got {labels!r}. Leave it out."
        )
    return labels


def _read_pair(pair: Any) -> tuple[Hashable, Hashable]:
    labels = [_plain(label) for label in _in_order(pair, "implies=[('poodle', 'dog')]")]
    if len(labels) != 2 or isinstance(pair, Set) or labels[0] == labels[1]:
        raise ValueError(
            f"implies must be pairs of two labels (narrower, broader), got {pair!r}. Write one "
            "pair as implies=[('poodle', 'dog')]."
        )
    return labels[0], labels[1]


def _plain(label: Any) -> Hashable:
    """Return a label as a Python value, as in the names of a model."""
    plain: Hashable = label.item() if isinstance(label, np.generic) else label
    return plain


def bind_rules(rules: Rules | None, names: Sequence[Any] | NDArray[Any]) -> BoundRules | None:
    """Return the rules of a user for the labels of a model; ``None`` without rules.

    Parameters
    ----------
    rules : Rules or None
        The parameter ``rules=`` of a user.
    names : sequence of label names
        The labels of the model, in the order of its columns.

    Returns
    -------
    BoundRules or None

    Examples
    --------
    >>> from labelkin.vocabulary import Rules
    >>> bind_rules(None, ["grain", "wheat"]) is None
    True
    >>> type(bind_rules(Rules(implies=[("wheat", "grain")]), ["grain", "wheat"])).__name__
    'BoundRules'
    """
    if rules is None:
        return None
    if not isinstance(rules, Rules):
        raise TypeError(f"rules must be labelkin.vocabulary.Rules(...), got {rules!r:.60}.")
    return rules.bind(names)


def rules_of(vocabulary: Vocabulary, label_names: Sequence[Any] | None = None) -> Rules:
    """Return the rules of a vocabulary: broader concepts are implied, disjoint ones exclude.

    Labels are matched by URI, notation, or name in one language, whichever fits most labels. Rules
    that follow through concepts outside the labels are kept.

    Parameters
    ----------
    vocabulary : Vocabulary
        Of :func:`labelkin.vocabulary.read_vocabulary`.
    label_names : sequence, optional
        Labels of a model or a corpus; ``None``: all concepts, by URI.

    Returns
    -------
    Rules

    Examples
    --------
    >>> from labelkin.vocabulary import read_vocabulary
    >>> rules_of(read_vocabulary("newsroom"), ["Weizen", "Getreide", "Tennis"])
    Rules(implies=[('Weizen', 'Getreide')])
    """
    found: dict[Any, Any] = dict(enumerate(vocabulary.uris))
    if label_names is not None:
        places = vocabulary.match([str(label) for label in label_names])
        found = {p: label for p, label in zip(places, label_names, strict=True) if p is not None}
    implied = [(below, above) for below, above in vocabulary.broader.tolist()]
    rules = Rules(exclusive=groups_of(vocabulary.disjoint.tolist()), implies=implied).only(found)
    return Rules(
        exclusive=[[found[place] for place in group] for group in rules.exclusive],
        implies=[(found[below], found[above]) for below, above in rules.implies],
    )


class ProposedRule(NamedTuple):
    """A rule without exceptions in the data.

    Attributes
    ----------
    kind : "implies" or "exclusive"
        ``"implies"``: every document with the first label has the second. ``"exclusive"``: none.
    first, second : hashable
        Names of the labels; of an exclusive pair the first is the one of the lower column.
    documents : int
        Number of documents with the first label.
    with_second : int
        Number of them with the second: all, or 0.
    expected : float
        Expected number if the labels were independent.
    surprise : float
        −log P of these counts if the labels were independent, by Fisher's exact test, in nats.

    Examples
    --------
    >>> from labelkin.vocabulary import rules_from
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
    """Return the rules without exceptions in ``Y``, the most surprising first.

    The next document may be an exception: :meth:`Rules.from_proposed` makes rules of those that
    are right. Documents with unknown cells are left out.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        Any kind of labels, as :class:`labelkin.LabelDependenceClassifier` takes them.
    min_documents : int, default 10
        Minimum number of documents with the first label of an implication; at least one document
        lacks the second.
    min_expected : float, default 5.0
        Minimum expected number of documents with both labels of an exclusion, if they were
        independent.

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
    if labels.unknown is not None:
        labels = labels.rows(np.flatnonzero(np.diff(labels.unknown.indptr) == 0))
    positive, n_documents = labels.positive, labels.shape[0]
    count, both = labels.counts()[0], sparse.csr_array(positive.T @ positive)
    both.sort_indices()
    cells = both.tocoo()
    implied = (cells.row != cells.col) & (cells.data >= min_documents)
    implied &= (cells.data == count[cells.row]) & (count[cells.col] < n_documents)
    pairs = zip(cells.row[implied].tolist(), cells.col[implied].tolist(), strict=True)
    found: list[tuple[Any, int, int]] = [("implies", *pair) for pair in pairs]
    order = np.argsort(-count, kind="stable")  # the most frequent labels first
    for rank, j in enumerate(order[count[order] >= min_expected].tolist()):
        fewest = min_expected * n_documents / max(count[j], 1)
        others = order[rank + 1 :][count[order[rank + 1 :]] >= fewest * (1 - 1e-9)]
        if not len(others):
            break
        together = both.indices[both.indptr[j] : both.indptr[j + 1]]
        expected = count[j] * count[others] / n_documents
        apart = others[(expected >= min_expected) & ~np.isin(others, together)]
        found += [("exclusive", min(j, k), max(j, k)) for k in apart.tolist()]
    rules = []
    for kind, first, second in found:
        n_first, n_second = count[first], count[second]
        with_second = int(n_first) if kind == "implies" else 0
        surprise = -hypergeom.logpmf(with_second, n_documents, n_second, n_first)
        expected = n_first * n_second / n_documents
        rules.append((-float(surprise), int(first), int(second), kind, with_second, expected))
    names = labels.names.tolist()
    return [
        ProposedRule(kind, names[j], names[k], int(count[j]), n, float(expected), -negative)
        for negative, j, k, kind, n, expected in sorted(rules)
    ]
