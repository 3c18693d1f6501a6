"""Terms of the posterior: laws of known labels, and worlds that can be enumerated."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.tree import DecisionTreeClassifier

from labelkin import LabelDependenceClassifier, LabelRescorer, NaiveBayes, SVMLabels
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
def test_parts_add_up_and_the_order_of_answers_does_not_matter(model, i, answers):
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


@every_model
@given(st.integers(0, 1199), some_answers)
@settings(max_examples=10, deadline=None)
def test_taking_an_answer_back_restores_the_bytes(model, i, answers):
    answers = allowed(model, answers)
    content = CONTENT[i : i + 1]
    before = model.rescore(content, known_of(answers[1:]))
    model.rescore(content, known_of(answers))
    assert model.rescore(content, known_of(answers[1:])).tobytes() == before.tobytes()
    nothing = model.rescore(content, np.full((1, 6), np.nan))
    assert nothing.tobytes() == model.rescore(content).tobytes()
    assert "known labels" not in [part.name for part in model.posterior(content).parts]


@every_model
def test_known_labels_do_not_change_the_part_of_predicted_labels(model):
    known = np.full(CONTENT.shape, np.nan)
    known[:, 0], known[::2, 3] = Y[:, 0], Y[::2, 3]
    before, after = (model.posterior(CONTENT, k).parts for k in (None, known))
    assert [part.name for part in after][:4] == [
        *("prior", "content", "predicted labels", "known labels")
    ]
    np.testing.assert_allclose(after[2].log_odds, before[2].log_odds, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["logistic", "svm", "fixed", "paper"])
def test_an_answer_that_was_predicted_for_certain_adds_nothing(name):
    content = CONTENT[:50].copy()
    content[:, 0], content[:, 1] = 400.0, -400.0
    known = np.full(content.shape, np.nan)
    known[:, 0], known[:, 1] = 1, 0
    told = MODELS[name].posterior(content, known)
    np.testing.assert_allclose(told.parts[3].log_odds, 0, atol=1e-12)
    nothing = MODELS[name].posterior(content)
    np.testing.assert_allclose(told.log_odds[:, 2:], nothing.log_odds[:, 2:], atol=1e-9)


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


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("labels", LABELS.values(), ids=list(LABELS))
def test_all_others_known_with_a_fixed_weight_is_equation_2(labels, weight):
    model = fitted(Y, CONTENT, labels=labels, evidence_weight=weight)
    evidence = model.labels_.log_odds(Y) - logit(Y.mean(axis=0))
    for j in range(6):
        known = Y.copy()
        known[:, j] = np.nan
        expected = CONTENT[:, j] + weight * evidence[:, j]
        np.testing.assert_allclose(model.rescore(CONTENT, known)[:, j], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("labels", LABELS.values(), ids=list(LABELS))
def test_known_weight_1_replaces_predictions_by_answers(labels):
    model = fitted(Y, CONTENT, labels=labels, known_weight=1)
    known = some_known(0.4, seed=2)
    filled = model.combination_.predicted.filled(CONTENT)
    given_labels = np.where(np.isnan(known), filled, known)
    expected = model.labels_.log_odds(given_labels) - model.labels_.log_odds(filled)
    part = model.posterior(CONTENT, known).parts[3]
    np.testing.assert_allclose(part.log_odds, expected, rtol=0, atol=1e-9)


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
def test_answers_move_the_posterior_towards_bayes_rule(strength):
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


def test_known_labels_do_not_move_constant_labels():
    one_sided = np.column_stack([Y, np.ones(len(Y)), np.zeros(len(Y))])
    content = np.column_stack([CONTENT, CONTENT[:, :2]])
    known = np.full(content.shape, np.nan)
    known[:, 0] = 1
    for labels in LABELS.values():
        model = fitted(one_sided, content, labels=labels)
        np.testing.assert_array_equal(model.rescore(content, known)[:, 6:], content[:, 6:])


def test_a_label_without_known_cells_keeps_its_content():
    unknown = np.column_stack([Y, np.full(len(Y), np.nan)])
    content = np.column_stack([CONTENT, CONTENT[:, 0]])
    known = np.where(np.arange(7) < 2, unknown, np.nan)
    model = fitted(unknown, content)
    found = model.rescore(content, known)
    np.testing.assert_array_equal(found[:, 6], content[:, 6])
    assert np.isfinite(found[:, 2:]).all()


def test_a_pickled_classifier_answers_alike():
    rng = np.random.default_rng(8)
    X = rng.poisson(0.5 + 2 * Y @ np.random.default_rng(9).random((6, 15)) ** 4)
    model = LabelDependenceClassifier(NaiveBayes()).fit(X, Y)
    known = {"accepted": [0], "rejected": [4]}
    copied = pickle.loads(pickle.dumps(model))
    assert copied.log_odds(X[:1], known).tobytes() == model.log_odds(X[:1], known).tobytes()


def test_rescoring_and_explaining_leave_the_pickle_unchanged():
    model = fitted(Y, CONTENT)
    before = pickle.dumps(model)
    model.rescore(CONTENT[:5])
    model.explain(CONTENT[:5], known=[{"accepted": [0]}] * 5)
    assert pickle.dumps(model) == before


def test_accepted_and_rejected_at_once_is_an_error():
    with pytest.raises(ValueError, match="accepted and rejected"):
        MODELS["logistic"].rescore(CONTENT[:1], {"accepted": [0], "rejected": [0]})


@pytest.mark.parametrize("value", [-1, True, "much", np.inf])
def test_an_impossible_known_weight_is_an_error(value):
    message = r"known_weight must be a number of at least 0 or None, got .*Use 1"
    with pytest.raises(ValueError, match=message):
        fitted(Y, CONTENT, known_weight=value)


def test_the_posterior_is_content_plus_the_two_lines_of_arithmetic():
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
