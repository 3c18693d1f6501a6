"""Small worlds, enumerated: every label set that keeps the rules as they are stated."""

from itertools import combinations, product

import numpy as np
from hypothesis import strategies as st

from labelkin.vocabulary.rules import Rules

NAMES = ["a", "b", "c", "d", "e", "f"]


def keeps(labels, rules):
    """Return whether a label set breaks no rule, one rule at a time."""
    one_of_each = all(len(labels & set(group)) <= 1 for group in rules.exclusive)
    return one_of_each and all(b in labels for a, b in rules.implies if a in labels)


def worlds(rules, names):
    """All label sets over the names that keep the rules, as a 0/1 matrix."""
    cells = np.array(list(product([0, 1], repeat=len(names))))
    sets = [{name for name, has in zip(names, row, strict=True) if has} for row in cells]
    return cells[[keeps(labels, rules) for labels in sets]]


def broader_and_self(rules, names):
    """Warshall's closure of the implications, name by name."""
    above = {name: {name} for name in names}
    above_direct = list(rules.implies)
    for _ in names:
        for narrower, broader in above_direct:
            above[narrower] |= above[broader]
    return above


@st.composite
def possible_rules(draw, names=NAMES, groups=3):
    """Rules without circles and impossible labels, in any order."""
    order = draw(st.permutations(names))
    implies = draw(st.lists(st.sampled_from(list(combinations(order, 2))), max_size=6))
    members = st.lists(st.sampled_from(names), min_size=2, max_size=4, unique=True)
    rules = Rules(implies=implies)
    for group in draw(st.lists(members, max_size=groups)):
        rules = with_group(rules, group, names)
    return rules


def with_group(rules, group, names):
    """The rules and the group, unless a label would then be in no world."""
    above = broader_and_self(rules, names)
    if any(len(above[name] & set(group)) > 1 for name in names):
        return rules
    return Rules(exclusive=[*rules.exclusive, group], implies=rules.implies)
