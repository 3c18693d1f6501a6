"""Known labels: laws of what an answer adds, and worlds in which the right answer is known."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelkin.learned.known_labels import (
    _PEOPLE,
    KnownWeights,
    _answer_some,
    _answers,
    _name_some,
    _places,
    _reject_wrong,
    _walk,
)
from scipy.special import expit, logit
from sklearn.tree import DecisionTreeClassifier

from labelkin import LabelDependenceClassifier, LabelRescorer, LearnedWeight, NaiveBayes, SVMLabels
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


def learned(Y, content, **options):
    options = {"evidence_weight": "auto", **options}
    weight = options.pop("sample_weight", None)
    return LabelRescorer(scale="log_odds", **options).fit(Y, scores=content, sample_weight=weight)


Y, CONTENT = coupled(0)
LABELS = {"blr": None, "svm": SVMLabels(), "tree": DecisionTreeClassifier(max_depth=3)}
MODELS = {
    **{name: learned(Y, CONTENT, labels=labels) for name, labels in LABELS.items()},
    "fixed": learned(Y, CONTENT, evidence_weight=0.4),
    "paper": learned(Y, CONTENT, evidence_weight=1.0),
    "hard": learned(Y, CONTENT, variant="hard"),
    "rules": learned(Y, CONTENT, rules=Rules(implies=[(1, 4)])),
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


@every_model
@given(st.integers(0, 1199), some_answers)
@settings(max_examples=15, deadline=None)
def test_parts_add_up_and_the_order_of_answers_does_not_matter(model, i, answers):
    if model is MODELS["rules"]:
        answers = [one for one in answers if one[0] not in (1, 4)]
    content, known = CONTENT[i : i + 1], known_of(answers)
    posterior = model.posterior(content, known)
    total = np.sum([part.log_odds for part in posterior.parts], axis=0)
    is_open = np.isfinite(posterior.log_odds)
    np.testing.assert_allclose(total[is_open], posterior.log_odds[is_open], rtol=0, atol=1e-9)
    for names in (answers, answers[::-1]):
        words = {
            word: [label for label, accepted in names if accepted == (word == "accepted")]
            for word in ("accepted", "rejected")
        }
        np.testing.assert_array_equal(model.rescore(content, words), posterior.log_odds)


@every_model
@given(st.integers(0, 1199), some_answers)
@settings(max_examples=10, deadline=None)
def test_taking_an_answer_back_gives_the_bytes_of_before(model, i, answers):
    if model is MODELS["rules"]:
        answers = [one for one in answers if one[0] not in (1, 4)]
    content = CONTENT[i : i + 1]
    before = model.rescore(content, known_of(answers[1:]))
    model.rescore(content, known_of(answers))
    assert model.rescore(content, known_of(answers[1:])).tobytes() == before.tobytes()
    nothing = model.rescore(content, np.full((1, 6), np.nan))
    assert nothing.tobytes() == model.rescore(content).tobytes()
    assert "known labels" not in [part.name for part in model.posterior(content).parts]


@every_model
def test_predicted_labels_say_what_they_said_before_the_answers(model):
    known = np.full(CONTENT.shape, np.nan)
    known[:, 0], known[::2, 3] = Y[:, 0], Y[::2, 3]
    before, after = (model.posterior(CONTENT, k).parts for k in (None, known))
    assert [part.name for part in after][2:4] == ["predicted labels", "known labels"]
    np.testing.assert_allclose(after[2].log_odds, before[2].log_odds, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["blr", "svm", "fixed", "paper"])
def test_an_answer_that_the_prediction_had_right_adds_nothing(name):
    model = MODELS[name]
    content = CONTENT[:50].copy()
    content[:, 0], content[:, 1] = 400.0, -400.0
    known = np.full(content.shape, np.nan)
    known[:, 0], known[:, 1] = 1, 0
    nothing, told = model.posterior(content), model.posterior(content, known)
    np.testing.assert_allclose(told.parts[3].log_odds, 0, atol=1e-12)
    if name in ("fixed", "paper"):
        np.testing.assert_allclose(told.log_odds[:, 2:], nothing.log_odds[:, 2:], atol=1e-9)


def test_the_rule_as_it_is_written_down():
    model = MODELS["blr"]
    rule = model.combination_
    known = np.where(np.random.default_rng(1).random(CONTENT.shape) < 0.4, Y, np.nan)
    filled, W = rule.variant(CONTENT), model.label_weights_
    (a_for, a_against), (r_for, r_against) = (
        rule.known_weights.accepted,
        rule.known_weights.rejected,
    )
    expected = CONTENT + rule.predicted.at(filled)
    for k, j in product(range(6), range(6)):
        accepted = (a_for if W[k, j] > 0 else a_against) * W[k, j] * (1 - filled[:, k])
        rejected = (r_for if W[k, j] > 0 else r_against) * W[k, j] * -filled[:, k]
        expected[:, j] += np.where(known[:, k] == 1, accepted, 0)
        expected[:, j] += np.where(known[:, k] == 0, rejected, 0)
    parts = model.posterior(CONTENT, known).parts
    without_first_place = np.sum([part.log_odds for part in parts[:4]], axis=0)
    np.testing.assert_allclose(without_first_place, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("labels", LABELS.values(), ids=list(LABELS))
def test_all_others_known_is_equation_2_with_a_fixed_weight(labels, weight):
    model = learned(Y, CONTENT, labels=labels, evidence_weight=weight)
    said = model.labels_.log_odds(Y) - model.combination_.prior_log_odds
    for j in range(6):
        known = Y.copy()
        known[:, j] = np.nan
        expected = CONTENT[:, j] + weight * said[:, j]
        np.testing.assert_allclose(model.rescore(CONTENT, known)[:, j], expected, rtol=0, atol=1e-9)


def test_numbers_of_1_put_answers_in_the_place_of_predictions():
    paper = MODELS["paper"].combination_
    known = np.where(np.random.default_rng(2).random(CONTENT.shape) < 0.4, Y, np.nan)
    filled = paper.variant(CONTENT)
    added = sum(KnownWeights((1.0, 1.0), (1.0, 1.0)).added(paper, filled, known))
    given = np.where(np.isnan(known), filled, known)
    expected = paper.beyond_prior(given) - paper.beyond_prior(filled)
    np.testing.assert_allclose(added, expected, rtol=0, atol=1e-9)


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
def test_in_a_world_that_can_be_enumerated_answers_move_towards_bayes_rule(strength):
    """The content knows each label's probability; what an answer adds to it can be enumerated."""
    truth, content, theta = pairwise_world(strength)
    half = len(truth) // 2
    model = learned(truth[:half], content[:half])
    known = np.column_stack([truth[half:, 0], np.full(half, np.nan)])
    exact = expit(theta[half:, 1] + strength * truth[half:, 0])
    nothing, told = (expit(model.rescore(content[half:], k)[:, 1]) for k in (None, known))
    paper = expit(
        learned(truth[:half], content[:half], evidence_weight=1.0).rescore(content[half:], known)[
            :, 1
        ]
    )
    errors = [np.abs(p - exact).mean() for p in (nothing, told, paper)]
    assert errors[1] < 0.6 * errors[0]
    if strength > 0:  # repulsion is held back: documents with nothing left to find count half
        assert errors[1] < errors[2]


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_answers_help_on_new_documents(seed, exclusive):
    truth, content = coupled(10 + seed, n=3000, exclusive=exclusive)
    model = learned(truth[:1500], content[:1500])
    new, Y_new = content[1500:], truth[1500:]
    known = np.full(Y_new.shape, np.nan)
    known[:, :3] = Y_new[:, :3]
    nothing, told = (expit(model.rescore(new, k)[:, 3:]) for k in (None, known))
    brier = [((p - Y_new[:, 3:]) ** 2).mean() for p in (nothing, told)]
    assert brier[1] < 0.95 * brier[0]


class TestSimulatedPeople:
    truth = np.where(np.random.default_rng(5).random((60, 9)) < 0.3, 1.0, 0.0)
    place = _places(np.random.default_rng(6).random((60, 9)))
    turn = np.arange(60)

    def test_places_are_ranks(self):
        assert _places(np.array([[3.0, 1.0, 2.0, 1.0]])).tolist() == [[3, 0, 2, 1]]

    def test_a_walk_answers_the_first_ones(self):
        asked = _walk(self.truth, self.place, self.turn)
        assert asked.sum(axis=1).tolist() == np.minimum(1 + self.turn % 5, 4).tolist()
        assert (asked == (self.place < asked.sum(axis=1)[:, None])).all()

    def test_who_names_labels_leaves_one(self):
        named = _name_some(self.truth, self.place, self.turn)
        n_own, n_named = (self.truth == 1).sum(axis=1), named.sum(axis=1)
        assert (self.truth[named] == 1).all()
        assert (n_named[n_own < 2] == 0).all()
        assert ((n_named[n_own > 1] > 0) & (n_named < n_own)[n_own > 1]).all()

    def test_who_rejects_passes_over_what_is_right(self):
        rejected = _reject_wrong(self.truth, self.place, self.turn)
        assert (self.truth[rejected] == 0).all()
        assert rejected.sum(axis=1).tolist() == (1 + self.turn % 3).tolist()

    def test_parts_of_all_sizes_are_answered(self):
        answered = _answer_some(self.truth, self.place, self.turn).mean(axis=1)
        assert answered.min() < 0.1 < 0.9 < answered.max()

    @pytest.mark.parametrize("person", _PEOPLE)
    def test_nobody_knows_missing_cells_and_answers_are_true(self, person):
        missing = self.truth.copy()
        missing[::3, ::2] = np.nan
        known = _answers(person, missing, self.place)
        answered = ~np.isnan(known)
        assert answered.any() and not answered[np.isnan(missing)].any()
        assert (known[answered] == missing[answered]).all()


def test_learning_draws_nothing_and_counts_documents_by_weight():
    first, again = (learned(Y, CONTENT).combination_.known_weights for _ in range(2))
    assert (
        first
        == again
        == learned(Y, CONTENT, sample_weight=np.ones(len(Y))).combination_.known_weights
    )
    weight = np.where(np.arange(len(Y)) < 800, 1.0, 0.0)
    some = learned(Y, CONTENT, sample_weight=weight).combination_.known_weights
    assert some == learned(Y[:800], CONTENT[:800]).combination_.known_weights


def test_missing_cells_teach_nothing_and_are_taken():
    missing = Y.copy()
    missing[np.random.default_rng(7).random(Y.shape) < 0.3] = np.nan
    model = learned(missing, CONTENT, sample_weight=np.linspace(0.5, 2, len(Y)))
    known = np.where(np.arange(6) < 2, Y, np.nan)
    assert np.isfinite(model.rescore(CONTENT, known)[:, 2:]).all()
    nobody_knows = np.full(Y.shape, np.nan)
    nobody_knows[:, :2] = Y[:, :2]
    assert np.isfinite(learned(nobody_knows, CONTENT).rescore(CONTENT, known)[:, 2:]).all()


def test_constant_labels_are_moved_by_no_answer():
    one_sided = np.column_stack([Y, np.ones(len(Y)), np.zeros(len(Y))])
    content = np.column_stack([CONTENT, CONTENT[:, :2]])
    model = learned(one_sided, content)
    known = np.full(content.shape, np.nan)
    known[:, 0] = 1
    np.testing.assert_array_equal(model.rescore(content, known)[:, 6:], content[:, 6:])


def test_a_classifier_keeps_its_answers_when_it_is_copied():
    X = np.random.default_rng(8).poisson(
        0.5 + 2 * Y @ np.random.default_rng(9).random((6, 15)) ** 4
    )
    model = LabelDependenceClassifier(NaiveBayes()).fit(X, Y)
    known = {"accepted": [0], "rejected": [4]}
    copied = pickle.loads(pickle.dumps(model))
    assert copied.log_odds(X[:1], known).tobytes() == model.log_odds(X[:1], known).tobytes()


def test_without_a_contest_answers_decide_the_first_place_with_everything_else():
    model = learned(Y, CONTENT, evidence_weight=LearnedWeight(first_place=False))
    assert model.combination_.known_weights.first_place == (1.0, 1.0)
    known = np.where(np.arange(6) == 0, Y, np.nan)
    assert "first place" not in [part.name for part in model.posterior(CONTENT, known).parts]


def test_accepted_and_rejected_at_once_is_an_error():
    with pytest.raises(ValueError, match="accepted and rejected"):
        MODELS["blr"].rescore(CONTENT[:1], {"accepted": [0], "rejected": [0]})
