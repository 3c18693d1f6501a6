"""NoiseModel and GivenEvidence against enumerated distributions and injected errors."""

from itertools import product

import numpy as np
import pytest
from docs.make.label_noise import damage_labels
from scipy.special import expit, logit

from labelkin.curation.audit.noise import (
    GivenEvidence,
    NoiseModel,
    _objective,
    _training_cells,
)
from labelkin.label_matrix import read_labels
from labelkin.method.label_evidence import LogisticLabels

EQUATION_2 = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
#: p(first label, second label).
WORLD = np.array([[0.4, 0.1], [0.2, 0.3]])


def synthetic_corpus(n_documents=3000, seed=0, strength=1.5):
    """Return dependent labels and exact content evidence."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 4, n_documents)
    chance = np.array([[0.8, 0.7, 0.05, 0.05, 0.3], [0.05, 0.6, 0.7, 0.05, 0.3]])
    chance = np.vstack([chance, 1 - chance * 1.05, [0.1, 0.1, 0.1, 0.8, 0.1]])
    Y = rng.random((n_documents, 5)) < np.clip(chance, 0.02, 0.98)[topic]
    x = rng.normal(np.where(Y, strength, -strength), 1.5)
    content = logit(Y.mean(axis=0)) + 2 * strength * x / 1.5**2
    return Y.astype(int), content


def test_log_odds_of_an_error_equal_bayes_rule_on_an_enumerated_distribution():
    """Two labels and a word that depends on the first label, which is given with errors."""
    missing, wrong, word = 0.1, 0.02, np.array([0.2, 0.7])  # p(x | t₁ = 0), p(x | t₁ = 1)
    prior = WORLD.sum(axis=1)
    model = NoiseModel(EQUATION_2, missing, np.array([wrong]), 10.0)
    for other, has_word, given in product((0, 1), repeat=3):
        p_word = word if has_word else 1 - word
        p_given = np.array([wrong, 1 - missing]) if given else np.array([1 - wrong, missing])
        joint = WORLD[:, other] * p_word * p_given
        exact = np.log(joint[1 - given] / joint[given])
        content = np.log(prior[1] * p_word[1]) - np.log(prior[0] * p_word[0])
        added = np.log(WORLD[1, other] / WORLD[0, other]) - np.log(prior[1] / prior[0])
        found = model.error_log_odds(
            np.array([[content]]),
            np.array([[added]]),
            np.array([[other]]),
            np.array([[bool(given)]]),
        )
        assert found[0, 0] == pytest.approx(exact, abs=1e-12)


def test_label_evidence_equals_that_of_an_enumerated_distribution():
    sets = list(product((0, 1), repeat=2))
    Y = np.repeat(sets, [round(40_000 * WORLD[a, b]) for a, b in sets], axis=0)
    evidence = GivenEvidence.of(LogisticLabels(), read_labels(Y))
    prior = WORLD.sum(axis=1)
    for i in np.unique(Y, axis=0, return_index=True)[1]:
        b = Y[i, 1]
        exact = np.log(WORLD[1, b] / WORLD[0, b]) - np.log(prior[1] / prior[0])
        assert evidence.added[i, 0] == pytest.approx(exact, abs=1e-3)


def test_evidence_for_a_cell_does_not_depend_on_its_value():
    Y, _ = synthetic_corpus(400)
    flipped = Y.copy()
    evidence = GivenEvidence.of(LogisticLabels(), read_labels(Y))
    layer = evidence.layers[evidence.fold[7]]
    flipped[7, 2] = 1 - flipped[7, 2]
    again = layer.at(flipped[[7]].astype(float))
    assert again[0, 2] == pytest.approx(evidence.added[7, 2], abs=1e-5)
    assert abs(again[0, 1] - evidence.added[7, 1]) > 1e-3


@pytest.mark.parametrize(("missing", "wrong"), [(0.1, 0.05), (0.03, 0.1), (0.2, 0.02)])
def test_probabilities_sum_to_about_the_number_of_injected_errors(missing, wrong):
    Y, content = synthetic_corpus(strength=2.5)
    truth = read_labels(Y)
    given = damage_labels(truth, missing, wrong, random_state=1)
    evidence = GivenEvidence.of(LogisticLabels(), given)
    model = NoiseModel.fit(content, evidence.added, given)
    D = given.positive.toarray() > 0
    n_others = D.sum(axis=1, keepdims=True) - D
    p = expit(model.error_log_odds(content, evidence.added.astype(float), n_others, D))
    for kind in (D, ~D):
        assert p[kind].sum() == pytest.approx((D != Y)[kind].sum(), rel=0.3)
    assert p[D != Y].mean() > 5 * p[D == Y].mean()


def test_gradient_equals_finite_differences():
    Y, content = synthetic_corpus(200)
    labels = read_labels(damage_labels(read_labels(Y)))
    added = GivenEvidence.of(LogisticLabels(), labels).added
    cells = _training_cells(content, added, labels, 4.0)
    odds = np.linspace(0.2, 0.8, 5)
    place = np.array([0.9, 0.6, -0.1, 0.2, 0.1, -0.3, -2.0, -3.0])
    _, gradient = _objective(place, cells, odds, 70.0)
    for k in range(8):
        step = np.zeros(8)
        step[k] = 1e-5
        up, down = (_objective(place + s, cells, odds, 70.0)[0] for s in (step, -step))
        assert gradient[k] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-4)


def test_label_weight_is_limited_and_not_negative():
    model = NoiseModel(np.array([1, 0.5, -1.0, 0, 2.0, 0]), 0.1, np.array([0.01]), 4.0)
    assert model.label_weight(np.array([0, 1, 15])).tolist() == [0.5, 0.0, 0.0]
    assert model.parts(0.0, 0.0, 15)[2] == model.parts(0.0, 0.0, 4)[2]
