"""Rules as they are given: what is an error, what is the same, and what is left of them."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from small_worlds import NAMES, possible_rules, worlds

from labelkin.vocabulary import ProposedRule, Rules
from labelkin.vocabulary.bound_rules import groups_of

PETS = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog"), ("dog", "animal")])
pairs = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=8)


@given(possible_rules(), st.sets(st.sampled_from(NAMES)))
@settings(max_examples=150, deadline=None)
def test_what_is_left_of_rules_allows_exactly_the_worlds_seen_through_the_kept_labels(rules, kept):
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
def test_rules_are_errors_exactly_when_a_label_can_never_occur_or_two_always_do_together(
    implies, exclusive
):
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
def test_pairs_are_gathered_into_groups_that_say_the_same_each_pair_once(pairs):
    pairs = [(a, b) for a, b in pairs if a != b]
    groups = groups_of(pairs)
    said = [frozenset((a, b)) for group in groups for a in group for b in group if a < b]
    assert len(said) == len(set(said))
    assert set(said) == {frozenset(pair) for pair in pairs}


@given(possible_rules(), possible_rules())
@settings(max_examples=60, deadline=None)
def test_a_sum_of_rules_allows_what_both_allow_or_names_why_nothing_is(one, other):
    both = {tuple(w) for w in worlds(one, NAMES)} & {tuple(w) for w in worlds(other, NAMES)}
    try:
        total = one + other
    except ValueError as error:
        assert "can never occur" in str(error) or "circle" in str(error)
    else:
        assert {tuple(w) for w in worlds(total, NAMES)} == both


def test_a_circle_of_implications_is_named():
    with pytest.raises(
        ValueError, match=r"circle, got 'b' implies 'c' implies 'a' implies 'b'.*Merge them"
    ):
        Rules(implies=[("a", "b"), ("b", "c"), ("c", "a")])


def test_a_label_that_can_never_occur_is_named_with_the_rules_that_clash():
    with pytest.raises(
        ValueError,
        match=r"'a' can never occur: 'a' implies 'b' and 'a' implies 'x' implies 'c', while "
        r"'b' and 'c' exclude each other. Drop one",
    ):
        Rules(implies=[("a", "b"), ("a", "x"), ("x", "c")], exclusive=[("c", "b")])
    with pytest.raises(
        ValueError, match=r"'a' can never occur: 'a' implies 'b', while 'a' and 'b' exclude"
    ):
        Rules(implies=[("a", "b")], exclusive=[("b", "a")])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"implies": [("a", "a")]}, ValueError, r"join two labels, got 'a' twice\. Leave it out"),
        ({"implies": ["ab"]}, TypeError, r"pairs \(narrower, broader\), got 'ab'"),
        ({"implies": ("a", "b")}, TypeError, r"got 'a'\. Write one pair as implies=\[\("),
        ({"implies": [("a", "b", "c")]}, TypeError, r"got \('a', 'b', 'c'\)"),
        ({"implies": "ab"}, TypeError, r"implies must be a list of rules, got 'ab'"),
        ({"implies": [("a", ["b"])]}, TypeError, r"must be hashable.*got \['b'\]"),
        ({"exclusive": [("a", ("b", []))]}, TypeError, r"must be hashable.*got \('b', \[\]\)"),
        ({"exclusive": ("a", "b")}, TypeError, r"got 'a' as a group\. Write one group as"),
        ({"exclusive": [7]}, TypeError, "groups of labels, got 7 as a group"),
        ({"exclusive": [("a", "a")]}, ValueError, r"two labels or more, got \('a',\)"),
    ],
)
def test_what_is_no_rule_is_an_error(given, error, message):
    with pytest.raises(error, match=message):
        Rules(**given)


def test_rules_that_say_the_same_are_equal():
    again = Rules(
        exclusive=[["dog", "cat"], ("cat", "dog")],
        implies=[("dog", "animal"), ["poodle", "dog"], ("poodle", "dog")],
    )
    assert again == PETS
    assert hash(again) == hash(PETS)
    assert len(again) == len(PETS) == 3
    assert again != Rules(exclusive=[("cat", "dog")])
    assert PETS != "rules"
    assert Rules() + PETS == PETS + PETS == PETS


def test_the_order_of_groups_counts_and_is_that_of_first_mention():
    one, other = ("a", "b"), ("b", "c")
    assert Rules(exclusive=[one, other]) != Rules(exclusive=[other, one])
    assert Rules(exclusive=[one, other, one]).exclusive == (one, other)


def test_only_rules_can_be_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        PETS + [("cat", "dog")]  # noqa: RUF005


def test_rules_are_written_as_they_are_made_and_told_as_sentences():
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


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_rules_survive_copying_and_are_a_parameter_of_an_estimator(copied):
    assert copied(PETS) == PETS
    bound = copied(PETS.bind(["animal", "cat", "dog", "poodle"]))
    assert bound.decisions([[0, 0, 0, 1]], [[0, 0, 0, 1]]).tolist() == [[True, False, True, True]]
    assert clone(Model(rules=PETS)).rules == PETS
    assert "'poodle'" in repr(Model(rules=PETS))


def test_rules_cannot_be_changed():
    with pytest.raises(AttributeError, match="cannot assign"):
        PETS.implies = ()


def test_names_of_numpy_are_those_of_python():
    rules = Rules(implies=[tuple(np.array(["poodle", "dog"]))], exclusive=[np.array([1, 2])])
    assert rules.implies == (("poodle", "dog"),)
    assert {type(label) for label in rules.labels} == {str, int}


def test_groups_given_as_sets_are_in_the_same_order_in_every_process():
    # The order of a set of texts changes from process to process.
    assert Rules(exclusive=[set("hgfedcba")]).exclusive == (tuple("abcdefgh"),)
    assert Rules(implies={("b", "c"), ("a", "c")}).implies == (("a", "c"), ("b", "c"))


def test_labels_a_model_does_not_have_are_listed_with_the_way_out():
    with pytest.raises(
        ValueError, match=r"has no 'cat', 'poodle' among its 2 labels\. Use rules\.only\(names\)"
    ):
        PETS.bind(["animal", "dog"])
    many = Rules(implies=[(f"n{i}", "all") for i in range(9)])
    with pytest.raises(ValueError, match=r"'n0', 'n1', 'n2', 'n3', 'n4' … \(9 in all\)"):
        many.bind(["all"])
    assert PETS.only(["animal", "dog"]).bind(["animal", "dog"]).implies == ((1, 0),)


def test_what_follows_through_several_labels_left_out_is_kept():
    line = Rules(implies=[("a", "x"), ("x", "y"), ("y", "z"), ("z", "b")], exclusive=[("z", "c")])
    assert line.only("abc") == Rules(implies=[("a", "b")], exclusive=[("a", "c")])
    assert line.only("bc") == Rules()


def test_names_to_bind_to_are_distinct():
    with pytest.raises(ValueError, match=r"names must be distinct labels, got 'dog' twice"):
        PETS.bind(["animal", "dog", "dog"])


def test_of_proposals_that_run_both_ways_the_first_is_taken():
    def proposed(kind, first, second):
        return ProposedRule(kind, first, second, 10, 10, 5.0, 3.0)

    rules = Rules.from_proposed(
        [proposed("implies", "a", "b"), proposed("implies", "b", "a")]
        + [proposed("exclusive", x, y) for x, y in ("cd", "de", "ce", "ca")]
    )
    assert rules == Rules(exclusive=[("c", "d", "e"), ("c", "a")], implies=[("a", "b")])
