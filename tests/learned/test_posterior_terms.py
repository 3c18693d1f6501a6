"""Terms of the posterior: laws of known labels, and worlds that can be enumerated."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.tree import DecisionTreeClassifier

from labelkin import LabelRescorer, SVMLabels
from labelkin.vocabulary.rules import Rules


def coupled(seed, n=1200, p=6, noise=1.0, exclusive=False):
    """Pairs of labels that attract each other (or exclude each other), and noisy content."""
    rng = np.random.default_rng(seed)
    first = rng.random((n, p // 2)) < 0.3
    again = rng.random((n, p // 2)) < 0.3
    second = again & ~first if exclusive else np.where(rng.random(first.shape) < 0.9, first, again)
    Y = np.hstack([first, second]).astype(float)
    evidence = 2 * Y - 1 + noise * rng.normal(size=Y.shape)
    return Y, 2 * evidence / noise**2 + logit(Y.mean(axis=0))


def fitted(Y, content, **options):
    return LabelRescorer(scale="log_odds", **options).fit(Y, scores=content)


def some_known(share, seed=1):
    """Return known labels of the documents, true ones, NaN where open."""
    return np.where(np.random.default_rng(seed).random(Y.shape) < share, Y, np.nan)


Y, CONTENT = coupled(0)
LABELS = {"logistic": None, "svm": SVMLabels(), "tree": DecisionTreeClassifier(max_depth=3)}
MODELS = {
    **{name: fitted(Y, CONTENT, labels=labels) for name, labels in LABELS.items()},
    "fixed": fitted(Y, CONTENT, evidence_weight=0.4),
    "paper": fitted(Y, CONTENT, evidence_weight=1),
    "hard": fitted(Y, CONTENT, variant="hard"),
    "rules": fitted(Y, CONTENT, rules=Rules(implies=[(1, 4)])),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
some_answers = st.lists(
    st.tuples(st.integers(0, 5), st.booleans()), max_size=5, unique_by=lambda answer: answer[0]
)


def known_of(answers):
    known = np.full((1, 6), np.nan)
    for label, accepted in answers:
        known[0, label] = accepted
    return known


def allowed(model, answers):
    """Leave out answers that could contradict the rule of one model."""
    return [one for one in answers if model is not MODELS["rules"] or one[0] not in (1, 4)]


@every_model
@given(st.integers(0, 1199), some_answers)
@settings(max_examples=15, deadline=None)
def test_parts_add_up_in_any_order_of_known_labels(model, i, answers):
    answers = allowed(model, answers)
    content = CONTENT[i : i + 1]
    posterior = model.posterior(content, known_of(answers))
    total = np.sum([part.log_odds for part in posterior.parts], axis=0)
    is_open = np.isfinite(posterior.log_odds)
    np.testing.assert_allclose(total[is_open], posterior.log_odds[is_open], rtol=0, atol=1e-9)
    for names in (answers, answers[::-1]):
        known = {
            word: [label for label, accepted in names if accepted == (word == "accepted")]
            for word in ("accepted", "rejected")
        }
        np.testing.assert_allclose(model.rescore(content, known), posterior.log_odds, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "weight"),
    [
        ({}, 0.75),
        ({"known_weight": 0.3}, 0.3),
        ({"known_weight": 0}, 0.0),
        ({"evidence_weight": 0.4}, 0.4),
        ({"evidence_weight": 0.4, "known_weight": 1}, 1.0),
    ],
    ids=str,
)
def test_known_labels_add_known_minus_predicted_times_the_weights_of_the_paper(options, weight):
    model, known = fitted(Y, CONTENT, **options), some_known(0.4)
    filled = model.combination_.predicted.filled(CONTENT)
    W = model.label_weights_
    expected = model.rescore(CONTENT)
    for k, j in product(range(6), range(6)):
        news = np.where(np.isnan(known[:, k]), 0.0, known[:, k] - filled[:, k])
        expected[:, j] += weight * W[k, j] * news
    is_open = np.isnan(known)
    found = model.rescore(CONTENT, known)
    np.testing.assert_allclose(found[is_open], expected[is_open], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found[~is_open], np.where(known[~is_open] == 1, np.inf, -np.inf))


def pairwise_world(strength):
    """Two labels, content on each, by enumeration: p(y | x) ∝ exp(Σ θ_j y_j + J y₁ y₂)."""
    rng = np.random.default_rng(4)
    sets = np.array(list(product((0, 1), repeat=2)))
    theta = rng.normal(0, 1.5, (4000, 2))
    logs = theta @ sets.T + strength * sets.prod(axis=1)
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    drawn = (p.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    marginal = np.stack([p[:, sets[:, j] == 1].sum(axis=1) for j in (0, 1)], axis=1)
    return sets[drawn].astype(float), logit(marginal), theta


@pytest.mark.parametrize("strength", [2.0, -2.0])
def test_known_labels_move_the_posterior_towards_bayes_rule(strength):
    """The content knows the probability of each label, and the posterior can be enumerated."""
    truth, content, theta = pairwise_world(strength)
    half = len(truth) // 2
    model = fitted(truth[:half], content[:half])
    known = np.column_stack([truth[half:, 0], np.full(half, np.nan)])
    exact = expit(theta[half:, 1] + strength * truth[half:, 0])
    without, informed = (expit(model.rescore(content[half:], k)[:, 1]) for k in (None, known))
    assert np.abs(informed - exact).mean() < 0.6 * np.abs(without - exact).mean()


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_known_labels_help_on_new_documents(seed, exclusive):
    truth, content = coupled(10 + seed, n=3000, exclusive=exclusive)
    model = fitted(truth[:1500], content[:1500])
    new, Y_new = content[1500:], truth[1500:]
    known = np.full(Y_new.shape, np.nan)
    known[:, :3] = Y_new[:, :3]
    without, informed = (expit(model.rescore(new, k)[:, 3:]) for k in (None, known))
    brier = [((p - Y_new[:, 3:]) ** 2).mean() for p in (without, informed)]
    assert brier[1] < 0.95 * brier[0]


@pytest.mark.parametrize("value", [-1, True, "much", np.inf])
def test_invalid_known_weight_raises(value):
    message = r"known_weight must be a number of at least 0 or None, got .*Use 1"
    with pytest.raises(ValueError, match=message):
        fitted(Y, CONTENT, known_weight=value)


def test_posterior_equals_two_lines_of_arithmetic():
    """posterior = content + L @ W + b, with L = sigmoid(slope · content + shift)."""
    model = MODELS["logistic"]
    predicted = model.combination_.predicted
    calibration = predicted.fill_in.calibration
    L = expit(calibration.slope * CONTENT + calibration.shift)
    W = predicted.weight * model.label_weights_ + predicted.correction.weights
    bias = predicted.weight * (model.labels_.bias_ - logit(Y.mean(axis=0)))
    expected = CONTENT + L @ W + bias + predicted.correction.bias
    np.testing.assert_allclose(model.rescore(CONTENT), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.combination_.predicted.linear.weights, W, rtol=0, atol=1e-12)
    assert not np.diag(W).any()
