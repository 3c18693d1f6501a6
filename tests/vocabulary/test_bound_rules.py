"""Rules applied to matrices: compared with enumerated worlds, and invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from small_worlds import NAMES, broader_and_self, keeps, possible_rules, worlds

from labelkin.vocabulary.bound_rules import at_most_one
from labelkin.vocabulary.rules import Rules

P = len(NAMES)
PETS = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog"), ("dog", "animal")])
ANIMALS = ["animal", "cat", "dog", "poodle"]
finite = st.floats(-700, 700)
statements = arrays(np.float64, (1, P), elements=st.sampled_from([np.nan, np.nan, np.nan, 0, 1]))
matrices = arrays(np.float64, (3, P), elements=finite)
any_scores = arrays(
    np.float64,
    (1, P),
    elements=st.one_of(
        st.floats(allow_nan=False, allow_infinity=False), st.just(np.inf), st.just(-np.inf), finite
    ),
)
decided_cells = arrays(np.bool_, (3, P))


@st.composite
def apart(draw):
    """Rules of exclusive groups without common labels."""
    order = draw(st.permutations(NAMES))
    cut = draw(st.integers(0, P))
    groups = [group for group in (order[:cut], order[cut:]) if len(group) > 1]
    return Rules(exclusive=groups)


def consistent(rules, facts):
    """The worlds in which the facts of one document hold."""
    possible = worlds(rules, NAMES)
    return possible[((possible == facts) | np.isnan(facts)).all(axis=1)]


def certain(possible):
    """1 where all worlds have the label, 0 where none has it, NaN elsewhere."""
    return np.where(possible.all(0), 1.0, np.where(possible.any(0), np.nan, 0.0))


def facts_of(log_odds):
    return np.where(np.isinf(log_odds), (log_odds > 0).astype(float), np.nan)


def entered_one_by_one(rules, names, log_odds, decided):
    """One document's decisions, read off the definition."""
    above = broader_and_self(rules, names)
    score = dict(zip(names, log_odds, strict=True))
    inside = set()
    for name in sorted(names, key=lambda n: (-score[n], names.index(n))):
        together = inside | above[name]
        refused = any(score[label] == -np.inf for label in above[name])
        if decided[names.index(name)] and not refused and keeps(together, rules):
            inside = together
    return [name in inside for name in names]


class TestKnown:
    @given(possible_rules(), statements)
    @settings(max_examples=80, deadline=None)
    def test_completed_labels_equal_those_of_all_possible_worlds(self, rules, known):
        bound, before = rules.bind(NAMES), known.copy()
        possible = consistent(rules, known[0])
        if len(possible):
            # Of statements nothing but the rules is known, so worlds agree on nothing else.
            np.testing.assert_array_equal(bound.complete_known(known)[0], certain(possible))
        else:
            with pytest.raises(ValueError, match="known must keep the rules"):
                bound.complete_known(known)
        np.testing.assert_array_equal(known, before)

    @given(possible_rules(), st.data())
    @settings(max_examples=40, deadline=None)
    def test_completing_again_changes_nothing_and_permuting_labels_permutes(self, rules, data):
        possible = worlds(rules, NAMES)
        world = possible[data.draw(st.integers(0, len(possible) - 1))].astype(float)
        known = np.where(data.draw(arrays(np.bool_, P)), world, np.nan)[np.newaxis]
        order = data.draw(st.permutations(range(P)))
        complete = rules.bind(NAMES).complete_known(known)
        np.testing.assert_array_equal(rules.bind(NAMES).complete_known(complete), complete)
        elsewhere = rules.bind([NAMES[j] for j in order]).complete_known(known[:, order])
        np.testing.assert_array_equal(elsewhere, complete[:, order])

    def test_known_labels_that_break_a_rule_are_errors(self):
        bound, nan = PETS.bind(ANIMALS), np.nan
        with pytest.raises(
            ValueError,
            match=r"document 1 has 'poodle' accepted and 'animal' rejected, while 'poodle' implies "
            r"'animal' \(2 such documents\)\. Remove one of",
        ):
            bound.complete_known([[nan, nan, 1, nan], [0, nan, nan, 1], [0, nan, 1, nan]])
        with pytest.raises(
            ValueError,
            match=r"document 0 has '(cat|poodle)' accepted and '(cat|poodle)' accepted, while "
            r"'poodle' implies "
            r"'dog', '(cat|dog)' and '(cat|dog)' exclude each other",
        ):
            bound.complete_known([[nan, 1, nan, 1]])


class TestPosterior:
    @given(arrays(np.float64, (2, 4), elements=st.floats(-8, 8)))
    @settings(max_examples=40, deadline=None)
    def test_at_most_one_is_the_sum_over_all_worlds_with_at_most_one(self, z):
        possible = worlds(Rules(exclusive=[tuple("abcd")]), "abcd")
        weight = np.exp(z @ possible.T)
        exact = np.log(weight @ possible) - np.log(weight @ (1 - possible))
        np.testing.assert_allclose(at_most_one(z), exact, rtol=1e-9, atol=1e-9)

    @given(apart(), arrays(np.float64, (2, P), elements=st.floats(-8, 8)))
    @settings(max_examples=40, deadline=None)
    def test_groups_without_common_labels_are_conditioned_on_together_exactly(self, rules, z):
        possible = worlds(rules, NAMES)
        weight = np.exp(z @ possible.T)
        exact = np.log(weight @ possible) - np.log(weight @ (1 - possible))
        np.testing.assert_allclose(rules.bind(NAMES).posterior(z), exact, rtol=1e-9, atol=1e-9)

    @given(possible_rules(), matrices)
    @settings(max_examples=80, deadline=None)
    def test_no_narrower_label_is_above_a_broader_one(self, rules, z):
        posterior = rules.bind(NAMES).posterior(z)
        for narrower, broaders in broader_and_self(rules, NAMES).items():
            for broader in broaders:
                j, k = NAMES.index(narrower), NAMES.index(broader)
                assert (posterior[:, j] <= posterior[:, k]).all()

    @given(possible_rules(), matrices)
    @settings(max_examples=40, deadline=None)
    def test_implications_raise_to_the_highest_narrower_label_and_once_is_enough(self, rules, z):
        chains = Rules(implies=rules.implies)
        posterior = chains.bind(NAMES).posterior(z)
        above = broader_and_self(chains, NAMES)
        highest = [
            max(z[i, NAMES.index(n)] for n in NAMES if name in above[n])
            for i in range(len(z))
            for name in NAMES
        ]
        assert posterior.ravel().tolist() == highest
        np.testing.assert_array_equal(chains.bind(NAMES).posterior(posterior), posterior)

    @given(possible_rules(), matrices, st.permutations(range(P)))
    @settings(max_examples=40, deadline=None)
    def test_permuting_labels_permutes_and_documents_are_alone(self, rules, z, order):
        posterior = rules.bind(NAMES).posterior(z)
        elsewhere = rules.bind([NAMES[j] for j in order]).posterior(z[:, order])
        np.testing.assert_allclose(elsewhere, posterior[:, order], rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(rules.bind(NAMES).posterior(z[1:2])[0], posterior[1])

    @given(arrays(np.float64, (2, 3), elements=finite))
    @settings(max_examples=40, deadline=None)
    def test_groups_that_overlap_follow_each_other_in_the_order_given(self, z):
        step = z.copy()
        step[:, [0, 1]] = at_most_one(step[:, [0, 1]])
        step[:, [1, 2]] = at_most_one(step[:, [1, 2]])
        rules = Rules(exclusive=[("b", "a"), ("b", "c")])
        np.testing.assert_array_equal(rules.bind(["a", "b", "c"]).posterior(z), step)

    @given(arrays(np.float64, (2, 3), elements=finite))
    @settings(max_examples=40, deadline=None)
    def test_a_group_that_is_part_of_another_is_not_counted_twice(self, z):
        whole = Rules(exclusive=[("a", "b", "c")])
        twice = Rules(exclusive=[("a", "c"), ("c", "b", "a"), ("b", "c")])
        names = ["a", "b", "c"]
        np.testing.assert_array_equal(
            twice.bind(names).posterior(z), whole.bind(names).posterior(z)
        )

    def test_known_labels_condition_the_other_labels(self):
        bound = PETS.bind(ANIMALS)
        posterior = bound.posterior([[0.0, np.inf, 3.0, 2.0], [-np.inf, 1.0, 3.0, 2.0]])
        inf = np.inf
        assert posterior.tolist() == [[0.0, inf, -inf, -inf], [-inf, 1.0, -inf, -inf]]


class TestDecisions:
    @given(
        possible_rules(),
        arrays(
            np.float64, (3, P), elements=st.sampled_from([-np.inf, -1.0, 0.0, 1.0, 2.0, np.inf])
        ),
        decided_cells,
    )
    @settings(max_examples=80, deadline=None)
    def test_decided_labels_are_accepted_by_descending_score(self, rules, z, decided):
        bound, before = rules.bind(NAMES), decided.copy()
        result = bound.decisions(z, decided)
        for i in range(len(z)):
            alone = entered_one_by_one(rules, NAMES, z[i], decided[i])
            assert result[i].tolist() == alone
            assert keeps({name for name, has in zip(NAMES, alone, strict=True) if has}, rules)
        np.testing.assert_array_equal(bound.decisions(z, result), result)
        np.testing.assert_array_equal(decided, before)

    @given(possible_rules(), matrices, st.data())
    @settings(max_examples=40, deadline=None)
    def test_decisions_that_break_no_rule_are_unchanged(self, rules, z, data):
        possible = worlds(rules, NAMES)
        rows = data.draw(st.lists(st.integers(0, len(possible) - 1), min_size=3, max_size=3))
        decided = possible[rows].astype(bool)
        np.testing.assert_array_equal(rules.bind(NAMES).decisions(z, decided), decided)

    def test_of_equal_scores_the_lowest_column_is_accepted(self):
        rng = np.random.default_rng(0)
        z, decided = rng.integers(0, 2, (20, 300)), rng.random((20, 300)) < 0.8
        result = Rules(exclusive=[range(300)]).bind(range(300)).decisions(z, decided)
        best = [int(np.flatnonzero(decided[i] & (z[i] == 1))[0]) for i in range(20)]
        assert np.argwhere(result).tolist() == [[i, j] for i, j in enumerate(best)]

    def test_invalid_decisions_are_errors(self):
        bound = PETS.bind(ANIMALS)
        with pytest.raises(ValueError, match=r"shape of log_odds, \(2, 4\), got .* shape \(1, 4\)"):
            bound.decisions(np.zeros((2, 4)), np.zeros((1, 4)))
        with pytest.raises(ValueError, match=r"must contain True and False .* Apply a threshold"):
            bound.decisions(np.zeros((1, 4)), [[0, 0.3, 1, 0]])


@pytest.mark.parametrize("method", ["posterior", "complete_known"])
def test_no_documents_and_no_rules_are_legal(method):
    assert getattr(PETS.bind(ANIMALS), method)(np.zeros((0, 4))).shape == (0, 4)
    values = np.array([[1.0, 0.0]])
    np.testing.assert_array_equal(getattr(Rules().bind(["x", "y"]), method)(values), values)


def test_memory_is_linear_in_the_number_of_labels():
    names = list(range(20_000))
    tree = Rules(implies=[(j, j // 10) for j in names[1:]], exclusive=[(1, 2, 3), (15, 16)])
    bound = tree.bind(names)
    decided = np.zeros((2, len(names)), dtype=bool)
    decided[0, [12_345, 15_000, 16_000]] = True
    z = np.where(decided, 1.0, -1.0)
    z[0, 16_000] = 2.0
    kept = [0, 1, 12, 16, 123, 160, 1234, 1600, 12_345, 16_000]
    assert np.flatnonzero(bound.decisions(z, decided)[0]).tolist() == kept
    known = np.full((1, len(names)), np.nan)
    known[0, 2] = 0
    refused = bound.complete_known(known)[0] == 0
    assert refused.tolist() == [str(j).startswith("2") for j in names]
