"""Rules by name: errors, equality and restriction to some labels."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from small_worlds import NAMES, possible_rules, worlds

from labelkin.vocabulary import Rules
from labelkin.vocabulary.bound_rules import groups_of

PETS = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog"), ("dog", "animal")])
pairs = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=8)


@given(possible_rules(), st.sets(st.sampled_from(NAMES)))
@settings(max_examples=150, deadline=None)
def test_only_keeps_the_rules_between_the_kept_labels(rules, kept):
    kept = sorted(kept)
    columns = [NAMES.index(name) for name in kept]
    seen = {tuple(world) for world in worlds(rules, NAMES)[:, columns].tolist()}
    left = rules.only(kept)
    assert set(left.labels) <= set(kept)
    assert {tuple(world) for world in worlds(left, kept).tolist()} == seen


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=5),
    st.lists(st.lists(st.sampled_from("abcd"), min_size=2, max_size=3, unique=True), max_size=3),
)
@settings(max_examples=300, deadline=None)
def test_contradictory_rules_are_errors(implies, exclusive):
    implies = [(a, b) for a, b in implies if a != b]
    stated = type("Stated", (), {"implies": implies, "exclusive": exclusive})
    possible = worlds(stated, "abcd")
    circle = any(_implied(b, a, implies) for a, b in implies)
    if possible.any(axis=0).all() and not circle:
        Rules(exclusive=exclusive, implies=implies)
    else:
        with pytest.raises(ValueError, match=r"can never occur|run in a circle"):
            Rules(exclusive=exclusive, implies=implies)


def _implied(start, end, implies):
    reached = {start}
    for _ in "abcd":
        reached |= {b for a, b in implies if a in reached}
    return end in reached


@given(pairs)
@settings(max_examples=100, deadline=None)
def test_groups_contain_each_pair_once(pairs):
    pairs = [(a, b) for a, b in pairs if a != b]
    groups = groups_of(pairs)
    said = [frozenset((a, b)) for group in groups for a in group for b in group if a < b]
    assert len(said) == len(set(said))
    assert set(said) == {frozenset(pair) for pair in pairs}


def test_a_circle_of_implications_is_named():
    with pytest.raises(
        ValueError, match=r"circle, got '.' implies '.' implies '.' implies '.'.*Merge them"
    ):
        Rules(implies=[("a", "b"), ("b", "c"), ("c", "a")])


def test_a_label_that_can_never_occur_is_an_error_with_the_rules():
    with pytest.raises(
        ValueError,
        match=r"'a' can never occur: 'a' implies '[bc]', 'a' implies '[bc]', "
        r"'[bc]' and '[bc]' exclude each other. Drop one",
    ):
        Rules(implies=[("a", "b"), ("a", "x"), ("x", "c")], exclusive=[("c", "b")])
    with pytest.raises(
        ValueError, match=r"'a' can never occur: 'a' implies 'b', 'a' and 'b' exclude"
    ):
        Rules(implies=[("a", "b")], exclusive=[("b", "a")])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"implies": [("a", "a")]}, ValueError, r"pairs of two labels .* got \('a', 'a'\)"),
        ({"implies": [("a", "b", "c")]}, ValueError, r"got \('a', 'b', 'c'\)"),
        ({"implies": ("a", "b")}, TypeError, r"list of rules, .* got 'a'"),
        ({"implies": "ab"}, TypeError, r"implies must be a list of rules, .* got 'ab'"),
        ({"exclusive": ("a", "b")}, TypeError, r"exclusive=\[.* got 'a'"),
        ({"exclusive": [("a", "a")]}, ValueError, r"two labels or more, got \('a',\)"),
    ],
)
def test_invalid_rules_are_errors(given, error, message):
    with pytest.raises(error, match=message):
        Rules(**given)


def test_rules_keep_the_order_of_groups():
    one, other = ("a", "b"), ("b", "c")
    assert Rules(exclusive=[one, other]) != Rules(exclusive=[other, one])
    assert Rules(exclusive=[one, other, one]).exclusive == (one, other)


def test_representations_of_rules():
    assert eval(repr(PETS)) == PETS
    assert repr(Rules()) == "Rules()"
    many = Rules(implies=[(f"n{i}", "all") for i in range(30)])
    assert repr(many) == "<Rules: 0 exclusive groups, 30 implications>"
    assert str(PETS).splitlines()[0] == "at most one of 'cat', 'dog'"
    assert str(many).splitlines()[-1] == "… 10 more"
    assert str(Rules()) == "no rules"


class Model(BaseEstimator):
    def __init__(self, rules=None):
        self.rules = rules


def test_labels_outside_the_model_are_errors_with_a_hint():
    with pytest.raises(
        ValueError, match=r"has no 'cat', 'poodle' among its 2 labels\. Use rules\.only\(names\)"
    ):
        PETS.bind(["animal", "dog"])
    many = Rules(implies=[(f"n{i}", "all") for i in range(9)])
    with pytest.raises(ValueError, match=r"'n0', 'n1', 'n2', 'n3', 'n4' … \(9 in all\)"):
        many.bind(["all"])
    assert PETS.only(["animal", "dog"]).bind(["animal", "dog"]).implies == ((1, 0),)


def test_implications_through_removed_labels_are_kept():
    line = Rules(implies=[("a", "x"), ("x", "y"), ("y", "z"), ("z", "b")], exclusive=[("z", "c")])
    assert line.only("abc") == Rules(implies=[("a", "b")], exclusive=[("a", "c")])
    assert line.only("bc") == Rules()
