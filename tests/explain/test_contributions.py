"""The parts of a posterior, and that they add up."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from labelkin.content.any_classifier import cross_val_log_odds
from labelkin.content.naive_bayes import NaiveBayes
from labelkin.explain.contributions import Explanation, LabelContribution
from labelkin.label_matrix import read_labels
from labelkin.method.label_evidence import LogisticLabels, SVMLabels
from labelkin.models.rescorer import LabelRescorer
from labelkin.thresholds import SCutFBR
from labelkin.vocabulary.rules import Rules

NAMES = ["corn", "gold", "grain", "oil", "wheat"]
LABELS = [LogisticLabels(), SVMLabels(), LogisticRegression()]
RULES = Rules(exclusive=[("gold", "oil")], implies=[("corn", "grain")])


def documents(seed, n_documents):
    """Return word counts and label sets: grain with corn or wheat, gold and oil rarely together."""
    rng = np.random.default_rng(seed)
    fields = rng.random(n_documents) < 0.5
    p = np.where(fields[:, None], [0.6, 0.05, 0.8, 0.1, 0.6], [0.05, 0.6, 0.1, 0.4, 0.1])
    Y = (rng.random((n_documents, 5)) < p).astype(int)
    X = rng.poisson(0.3 + 1.2 * Y @ rng.random((5, 12)) ** 4)
    return X, Y


X, Y = documents(0, 120)
PRIOR = Y.mean(axis=0)
OUT_OF_FOLD = cross_val_log_odds(NaiveBayes(), X, Y)
CONTENT = NaiveBayes().fit(X, Y).log_odds(documents(1, 12)[0])
KNOWN = np.full(CONTENT.shape, np.nan)
KNOWN[1, 2], KNOWN[2, [0, 1]], KNOWN[3] = 1, [1, 0], [0, np.nan, 1, 0, np.nan]


def fitted(**parameters):
    labels = read_labels(parameters.pop("Y", Y), names=parameters.pop("names", NAMES))
    return LabelRescorer(scale="log_odds", **parameters).fit(labels, scores=OUT_OF_FOLD)


def assert_adds_up(explanation, tolerance=1e-9):
    parts = explanation.parts
    added = sum(one.log_odds for one in explanation.labels) + explanation.constant
    others = [parts.get(name, 0) for name in ("prior", "content", "rules")]
    assert sum([added, *others]) == pytest.approx(explanation.log_odds, rel=0, abs=tolerance)
    assert sum(parts.values()) == pytest.approx(explanation.log_odds, rel=0, abs=tolerance)


def assert_explains(rescorer, content, known=None):
    """Assert that each open label is explained and adds up to the result of ``rescore``."""
    posterior = rescorer.rescore(content, known)
    explained = rescorer.explain(content, top=99, known=known)
    n_explained = 0
    for i, row in enumerate(explained):
        for explanation in row:
            j = rescorer.label_names_.tolist().index(explanation.label)
            assert explanation.log_odds == posterior[i, j]
            assert explanation.probability == pytest.approx(1 / (1 + np.exp(-posterior[i, j])))
            assert explanation.label not in [share.label for share in explanation.labels]
            assert_adds_up(explanation)
            n_explained += 1
    assert n_explained == np.isfinite(posterior).sum()
    return explained


@pytest.mark.parametrize("weight", [0, 0.3, "auto"])
@pytest.mark.parametrize("variant", ["soft", "hard", SCutFBR()], ids=["soft", "hard", "cut"])
@pytest.mark.parametrize("labels", LABELS, ids=["blr", "svm", "other"])
def test_parts_add_up_to_the_posterior(labels, variant, weight):
    rescorer = fitted(labels=labels, variant=variant, evidence_weight=weight)
    is_linear = not isinstance(labels, LogisticRegression)
    for known in (None, KNOWN):
        explained = [e for row in assert_explains(rescorer, CONTENT, known) for e in row]
        assert any(e.labels for e in explained) == (is_linear and weight != 0)
        assert any(e.label_evidence for e in explained) == (weight != 0)
        assert any(e.parts.get("known labels") for e in explained) == (
            weight != 0 and known is not None
        )
        assert not any(e.parts.get("rules") for e in explained)


@pytest.mark.parametrize("weight", [0.3, "auto"])
@pytest.mark.parametrize("labels", LABELS, ids=["blr", "svm", "other"])
def test_parts_add_up_with_rules(labels, weight):
    rescorer = fitted(labels=labels, evidence_weight=weight, rules=RULES)
    for known in (None, KNOWN):
        explained = [e for row in assert_explains(rescorer, CONTENT, known) for e in row]
        assert any(e.parts["rules"] > 0 for e in explained)
        assert any(e.parts["rules"] < 0 for e in explained)


@pytest.mark.parametrize("weight", [0, 0.3, "auto"])
@pytest.mark.parametrize("labels", LABELS[:2], ids=["blr", "svm"])
def test_contribution_of_a_known_label_is_its_effect_on_the_posterior(labels, weight):
    rescorer = fitted(labels=labels, evidence_weight=weight)
    after = rescorer.rescore(CONTENT, KNOWN)
    explained = rescorer.explain(CONTENT, top=99, known=KNOWN)
    for i, k in np.argwhere(~np.isnan(KNOWN)):
        without = KNOWN.copy()
        without[i, k] = np.nan
        before = rescorer.rescore(CONTENT, without)
        for e in explained[i]:
            j = NAMES.index(e.label)
            shares = {s.label: s for s in e.labels if s.known}
            moved = after[i, j] - before[i, j]
            assert (NAMES[k] in shares) == (moved != 0)
            if moved:
                assert shares[NAMES[k]].value == KNOWN[i, k]
                assert shares[NAMES[k]].log_odds == pytest.approx(moved, abs=1e-9)


@pytest.mark.parametrize("weight", [0.3, "auto"])
@pytest.mark.parametrize("labels", [LogisticLabels(), SVMLabels()], ids=["blr", "svm"])
def test_contribution_is_weight_times_deviation(labels, weight):
    """Predicted labels deviate from their priors, known ones from their predictions."""
    rescorer = fitted(labels=labels, evidence_weight=weight)
    rule, alone = rescorer.combination_, labels.fit(Y).weights_
    predicted = weight * alone if weight == 0.3 else rescorer.combination_.predicted.linear.weights
    known = (0.75 if weight == "auto" else weight) * alone
    filled = rule.predicted.filled(CONTENT)
    for i, row in enumerate(rescorer.explain(CONTENT, top=99, known=KNOWN)):
        for e in row:
            j = NAMES.index(e.label)
            for s in e.labels:
                k = NAMES.index(s.label)
                if s.known:
                    expected = known[k, j] * (s.value - filled[i, k])
                else:
                    expected = predicted[k, j] * (s.value - PRIOR[k])
                assert s.log_odds == pytest.approx(expected, abs=1e-9)


def test_most_probable_open_labels_and_strongest_contributions_come_first():
    model = fitted()
    posterior = np.where(np.isnan(KNOWN), model.rescore(CONTENT), -np.inf)
    assert [e.label for e in model.explain(CONTENT, top=2)[0]] == [
        NAMES[j] for j in np.argsort(-posterior[0])[:2]
    ]
    for row in model.explain(CONTENT, top=3, known=KNOWN):
        assert [e.log_odds for e in row] == sorted((e.log_odds for e in row), reverse=True)
        for e in row:
            strengths = [abs(s.log_odds) for s in e.labels]
            assert strengths == sorted(strengths, reverse=True)
            assert 0 not in strengths


def test_labels_are_chosen_by_name_and_known_ones_left_out():
    rows = fitted().explain(CONTENT[:3], label_names=["wheat", "grain"], known=KNOWN[:3])
    both = ["wheat", "grain"]
    assert [[e.label for e in row] for row in rows] == [both, ["wheat"], both]


@pytest.mark.parametrize("names", [NAMES, None, np.arange(5, dtype=np.int32) * 7], ids=str)
def test_to_dict_is_json(names):
    rescorer = fitted(names=names)
    (row,) = rescorer.explain(CONTENT[2:3], known=KNOWN[2:3])
    for e in row:
        read = json.loads(json.dumps(e.to_dict()))
        assert read["label"] == e.label
        assert type(e.label) in (str, int)
        assert read["labels"] == [s._asdict() for s in e.labels]
        assert read["log_odds"] == e.log_odds
        assert read.pop("constant") == e.constant
        again = [LabelContribution(**one) for one in read.pop("labels")]
        assert Explanation(**read, labels=tuple(again)) == e


def test_text_lists_the_strongest_parts_first():
    shares = [
        LabelContribution("wheat", 2.0, 1.0, True),
        LabelContribution("a label with quite a long name", -1.5, 0.0, True),
        LabelContribution("corn", 0.25, 0.4, False),
        LabelContribution("rye", 0.004, 0.2, False),
    ]
    parts = {"prior": -1.5, "content": 1.75, "predicted labels": 0.75, "rules": 0.0}
    explanation = Explanation("grain", 0.731, 1.0, parts, tuple(shares))
    assert str(explanation).splitlines() == [
        "grain: 0.731 (+1.00)",
        "  wheat (accepted)                            +2.00",
        "  content                                     +1.75",
        "  prior                                       -1.50",
        "  a label with quite a long name (rejected)   -1.50",
        "  corn                                        +0.25",
        "  all other labels                            +0.00",
        "  labels at their priors                      -0.00",
    ]
    whole = replace(explanation, labels=(), parts=parts | {"rules": -0.5})
    assert str(whole).splitlines()[1:] == [
        "  content                    +1.75",
        "  prior                      -1.50",
        "  other labels               +0.75",
        "  rules                      -0.50",
    ]
