"""Broken rules and near-duplicates: which cells, and the probability of an error."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit

from labelkin.curation.audit.contradictions import (
    NearDuplicate,
    NearDuplicates,
    as_rows,
    differing_cells,
    find_near_duplicates,
    one_of_two,
    settle_rules,
)
from labelkin.label_matrix import read_labels
from labelkin.vocabulary.rules import Rules


def enumerated(errors, allowed):
    """p(error) of independent errors, given that only some combinations are possible."""
    total, each = 0.0, np.zeros(len(errors))
    for wrong in product((0, 1), repeat=len(errors)):
        if allowed(wrong):
            p = np.prod([e if w else 1 - e for e, w in zip(errors, wrong, strict=True)])
            total += p
            each += p * np.array(wrong)
    return each / total


def test_one_of_two_is_conditioning_by_enumeration():
    exact = enumerated([0.2, 0.05], any)
    a, b = logit(0.2), logit(0.05)
    assert expit([one_of_two(a, b), one_of_two(b, a)]) == pytest.approx(exact)


def test_a_broken_implication_makes_one_of_its_cells_wrong():
    rules = Rules(implies=[("poodle", "dog")]).bind(["dog", "poodle"])
    p = np.array([[0.2, 0.05], [0.1, 0.1]], dtype=np.float32)
    labels = read_labels([["poodle"], ["dog", "poodle"]])
    broken = settle_rules(labels, rules, p)
    assert set(broken) == {(0, 0), (0, 1)}
    assert p[0] == pytest.approx(enumerated([0.2, 0.05], any), rel=1e-4)
    assert p[1].tolist() == pytest.approx([0.1, 0.1])
    assert {one.reason for one in broken.values()} == {"poodle implies dog"}


def test_of_exclusive_labels_at_most_one_is_right():
    rules = Rules(exclusive=[("cat", "cow", "dog")]).bind(["cat", "cow", "dog"])
    p = np.full((2, 3), 0.1, dtype=np.float32)
    p[0, 2] = 0.4
    broken = settle_rules(read_labels([["cat", "cow", "dog"], ["cow"]]), rules, p)
    exact = enumerated([0.1, 0.1, 0.4], lambda wrong: sum(wrong) >= 2)
    assert p[0] == pytest.approx(exact, rel=1e-4)
    assert {cell[0] for cell in broken} == {0}
    assert broken[0, 0].reason == "cat and cow exclude each other"


def test_unknown_cells_break_no_rule():
    rules = Rules(implies=[(1, 0)]).bind([0, 1])
    Y = np.array([[np.nan, 1.0], [0.0, np.nan], [0.0, 1.0]])
    p = np.full((3, 2), 0.1, dtype=np.float32)
    assert {i for i, _ in settle_rules(read_labels(Y), rules, p)} == {2}


def test_equal_and_nearly_equal_documents_are_near_duplicates():
    rng = np.random.default_rng(0)
    X = sparse.random(300, 2000, density=0.02, random_state=rng, format="lil")
    X[7] = X[3]
    X[200] = X[3]
    X[200, 11] = 0.01
    pairs = find_near_duplicates(as_rows(sparse.csr_array(X)), 0.95)
    assert set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == {
        (3, 7),
        (3, 200),
        (7, 200),
    }
    assert pairs.similarity.max() <= 1
    dense = find_near_duplicates(as_rows(X.toarray()), 0.95)
    assert (3, 7) in set(zip(dense.first.tolist(), dense.second.tolist(), strict=True))


def test_texts_have_near_duplicates_and_empty_documents_have_none():
    texts = ["wheat harvest in spring", "gold", "", "", "wheat harvest in spring"]
    pairs = find_near_duplicates(as_rows(texts), 0.95)
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([0], [4])
    assert len(find_near_duplicates(None, 0.95).first) == 0


def test_thousands_of_copies_are_not_compared_with_each_other():
    copies = sparse.csr_array(np.ones((5000, 3)))
    assert len(find_near_duplicates(as_rows(copies), 0.95).first) <= 4 * 5000


def test_near_duplicates_differ_where_one_has_the_label_and_the_other_lacks_it():
    Y = np.array([[1, 0, 0], [0, 0, np.nan], [0, 1, 1], [0, 1, 1], [1, 0, 1]])
    pairs = NearDuplicates(np.array([0, 2, 1]), np.array([1, 3, 4]), np.array([0.97, 1.0, 0.99]))
    found = differing_cells(read_labels(Y), pairs)
    assert found == {
        (0, 0): NearDuplicate(1, 0.97),
        (1, 0): NearDuplicate(4, 0.99),
        (4, 0): NearDuplicate(1, 0.99),
    }
    assert not differing_cells(read_labels(Y), find_near_duplicates(None, 0.95))
