"""Proposed rules: counted pair by pair as the oracle, and never broken by the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.stats import hypergeom

from labelkin.vocabulary.rules import Rules, rules_from

shapes = st.tuples(st.integers(1, 30), st.integers(2, 5))
complete = shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0, 1])))
partly = shapes.flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0, 0, 1, 1, np.nan]))
)


def counted(Y, a, b):
    """Documents without unknown cells: all, with a, with b, with both."""
    rows = [(row[a], row[b]) for row in Y if not np.isnan(row).any()]
    return (
        len(rows),
        sum(x == 1 for x, _ in rows),
        sum(y == 1 for _, y in rows),
        sum(x == y == 1 for x, y in rows),
    )


def pair_by_pair(Y, min_documents, min_expected):
    found = {}
    for a in range(Y.shape[1]):
        for b in range(Y.shape[1]):
            total, with_a, with_b, both = counted(Y, a, b)
            expected = with_a * with_b / total if total else 0.0
            row = (with_a, both, expected, -hypergeom.logpmf(both, total, with_b, with_a))
            if a != b and both == with_a >= min_documents and with_b < total:
                found["implies", a, b] = row
            if a < b and both == 0 and expected >= min_expected:
                found["exclusive", a, b] = row
    return found


@given(partly, st.integers(1, 4), st.sampled_from([0.3, 1.0, 2.5]))
@settings(max_examples=200, deadline=None)
def test_proposals_are_those_counted_pair_by_pair(Y, min_documents, min_expected):
    before = Y.copy()
    proposals = rules_from(Y, min_documents=min_documents, min_expected=min_expected)
    wanted = pair_by_pair(Y, min_documents, min_expected)
    assert {rule[:3] for rule in proposals} == set(wanted)
    assert len(proposals) == len(wanted)
    for rule in proposals:
        documents, with_second, expected, surprise = wanted[rule[:3]]
        assert rule[3:6] == (documents, with_second, expected)
        assert rule.surprise == pytest.approx(surprise, abs=1e-9)
    surprises = [rule.surprise for rule in proposals]
    assert surprises == sorted(surprises, reverse=True)
    np.testing.assert_array_equal(Y, before)


@given(complete)
@settings(max_examples=100, deadline=None)
def test_the_data_break_no_proposed_rule(Y):
    rules = Rules.from_proposed(rules_from(Y, min_documents=1, min_expected=0.2))
    bound = rules.bind(range(Y.shape[1]))
    np.testing.assert_array_equal(bound.decisions(np.zeros(Y.shape), Y), Y == 1)


def labels_of_pets():
    return [["dog", "poodle"], ["dog"], ["cat"], ["cat", "old"], ["dog", "old"]] * 12


def test_a_proposal_reads_as_a_sentence_with_its_counts():
    printed = [str(rule) for rule in rules_from(labels_of_pets())]
    assert "'poodle' implies 'dog': 12 of 12 (7.2 expected)" in printed
    assert "at most one of 'cat', 'dog': 0 of 24 (14.4 expected)" in printed


def test_a_label_that_every_document_has_follows_from_nothing():
    Y = np.array([[1, 1], [0, 1]] * 20)
    assert rules_from(Y) == []
    assert [r[:3] for r in rules_from(np.vstack([Y, [[0, 0]]]))] == [("implies", 0, 1)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_documents": 0}, "min_documents must be at least 1, got 0"),
        ({"min_expected": 0}, "min_expected must be above 0, got 0"),
        ({"min_expected": float("nan")}, "min_expected must be above 0, got nan"),
    ],
)
def test_bounds_that_bound_nothing_are_errors(given, message):
    with pytest.raises(ValueError, match=message):
        rules_from(np.eye(3), **given)


def test_many_labels_are_counted_without_the_square_of_their_number():
    rng = np.random.default_rng(0)
    n, p = 3000, 30_000
    rows = np.repeat(np.arange(n), 4)
    columns = rng.integers(100, p, size=4 * n)
    first = np.arange(n) % 100  # a hundred labels of 30 documents that are never together
    Y = sparse.csr_array(
        (np.ones(5 * n), (np.append(rows, np.arange(n)), np.append(columns, first))), shape=(n, p)
    )
    Y.data[:] = 1
    proposals = rules_from(Y, min_expected=0.25)
    pairs = {rule[1:3] for rule in proposals if rule.kind == "exclusive"}
    assert {(a, b) for a in range(100) for b in range(a + 1, 100)} <= pairs
