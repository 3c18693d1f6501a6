"""Broken rules: cells and probabilities of errors."""

from itertools import product

import numpy as np
import pytest

from labelkin.curation.audit.issues import settle_rules
from labelkin.label_matrix import read_labels
from labelkin.vocabulary.rules import Rules


def enumerated(errors, allowed):
    """Return p(error) of independent errors, given that only some combinations are possible."""
    total, each = 0.0, np.zeros(len(errors))
    for wrong in product((0, 1), repeat=len(errors)):
        if allowed(wrong):
            p = np.prod([e if w else 1 - e for e, w in zip(errors, wrong, strict=True)])
            total += p
            each += p * np.array(wrong)
    return each / total


def test_broken_implication_conditions_on_at_least_one_error():
    rules = Rules(implies=[("poodle", "dog")]).bind(["dog", "poodle"])
    p = np.array([[0.2, 0.05], [0.1, 0.1]], dtype=np.float32)
    broken = settle_rules(read_labels([["poodle"], ["dog", "poodle"]]), rules, p)
    assert set(broken) == {(0, 0), (0, 1)}
    assert p[0] == pytest.approx(enumerated([0.2, 0.05], any), rel=1e-4)
    assert p[1].tolist() == pytest.approx([0.1, 0.1])
    assert {one.reason for one in broken.values()} == {"poodle implies dog"}


def test_at_most_one_of_exclusive_labels_is_right():
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
