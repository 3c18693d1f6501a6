import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification

from labelkin import LabelDependenceClassifier, NaiveBayes
from labelkin.odds import to_probability
from labelkin.thresholds import (
    ExpectedF1,
    FixedCut,
    GlobalCut,
    LabelLimits,
    MCut,
    SCutFBR,
    as_rule,
    rule_for,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, FixedCut(0.5, scale="log_odds")),
        (0.3, FixedCut(0.3, scale="log_odds")),
        (np.float32(0.25), FixedCut(0.25, scale="log_odds")),
        ("hamming_loss", FixedCut(0.5, scale="log_odds")),
        ("micro_f1", GlobalCut("micro_f1")),
        ("macro_f1", SCutFBR()),
        ("subset_loss", MCut(scale="log_odds")),
        ("document_f1", ExpectedF1(scale="log_odds")),
        (MCut(), MCut(scale="log_odds")),
        (FixedCut(0.2), FixedCut(0.2, scale="log_odds")),
        (SCutFBR(fbr=0.2), SCutFBR(fbr=0.2)),
        (LabelLimits(), LabelLimits(FixedCut(scale="log_odds"))),
        (
            LabelLimits(MCut(), at_least=1, at_most=4),
            LabelLimits(MCut(scale="log_odds"), at_least=1, at_most=4),
        ),
        (
            LabelLimits(LabelLimits(None, at_least=1)),
            LabelLimits(LabelLimits(as_rule(None, "log_odds"), at_least=1)),
        ),
    ],
    ids=repr,
)
def test_what_a_user_gives_becomes_a_rule_for_the_scale(given, expected):
    rule = as_rule(given, "log_odds")
    assert rule is not given
    assert repr(rule) == repr(expected)


def test_the_rule_that_was_given_is_left_alone():
    given = LabelLimits(MCut())
    as_rule(given, "log_odds")
    assert given.rule.scale == "probability"


@pytest.mark.parametrize("scale", ["probability", "log_odds"])
@pytest.mark.parametrize(
    "metric", ["hamming_loss", "micro_f1", "macro_f1", "subset_loss", "document_f1"]
)
def test_every_metric_has_a_rule_that_works_on_the_scale(metric, scale):
    rng = np.random.default_rng(0)
    Y = rng.random((30, 4)) < 0.4
    log_odds = rng.normal(size=Y.shape) + 3 * Y - 1.5
    scores = log_odds if scale == "log_odds" else 1 / (1 + np.exp(-log_odds))
    decided = rule_for(metric, scale).fit(scores, Y).decide(scores)
    assert (decided == Y).mean() > 0.7


def test_what_is_no_rule_is_refused():
    with pytest.raises(ValueError, match=r"metric \(hamming_loss, micro_f1, .*, got 'accuracy'"):
        as_rule("accuracy", "log_odds")
    with pytest.raises(ValueError, match="scale must be one of"):
        rule_for("micro_f1", "logit")
    for wrong in (True, [0.5], MCut):
        with pytest.raises(
            TypeError, match=r"must be None \(0.5\), a probability, the name of a m"
        ):
            as_rule(wrong, "log_odds")
    with pytest.raises(ValueError, match=r"strictly between 0 and 1, got 1\.5"):
        as_rule(1.5, "log_odds").fit(None, [[0, 1]])


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("f1_micro", "micro_f1"), ("f1_macro", "macro_f1"), ("f1_samples", "document_f1")],
)
def test_names_of_scikit_learn_are_accepted_as_thresholds(theirs, ours):
    for scale in ("probability", "log_odds"):
        assert repr(as_rule(theirs, scale)) == repr(as_rule(ours, scale))


def test_the_table_of_a_classifier_has_cuts_in_log_odds_and_as_probabilities():
    X, Y = make_multilabel_classification(80, n_classes=3, random_state=0)
    for thresholds in (None, "micro_f1", "macro_f1"):
        model = LabelDependenceClassifier(NaiveBayes(), thresholds=thresholds).fit(X, Y)
        table = model.thresholds_.table()
        assert table[0]._fields == ("label", "cut", "probability", "f1", "positives", "decided")
        cuts = [line.cut for line in table]
        np.testing.assert_allclose([line.probability for line in table], to_probability(cuts))
    model = LabelDependenceClassifier(NaiveBayes(), thresholds="mcut").fit(X, Y)
    assert model.thresholds_.table()[0][1:3] == (None, None)


def test_retune_equals_fitting_with_the_thresholds():
    rng = np.random.default_rng(0)
    X, Y = rng.poisson(1.0, (120, 6)).astype(float), (rng.random((120, 3)) < 0.3).astype(int)
    kept = LabelDependenceClassifier(NaiveBayes(), keep_out_of_fold=True).fit(X, Y)
    fitted = LabelDependenceClassifier(NaiveBayes(), thresholds="macro_f1").fit(X, Y)
    assert (kept.predict(X) != fitted.predict(X)).any()
    assert (kept.retune("macro_f1").predict(X) == fitted.predict(X)).all()
    assert kept.get_params()["thresholds"] == "macro_f1"
    assert (kept.retune(0.5).predict(X) == (kept.predict_proba(X) > 0.5)).all()


def test_retune_without_out_of_fold_evidence_is_an_error():
    X, Y = np.eye(8), np.eye(8)[:, :2].astype(int)
    model = LabelDependenceClassifier(NaiveBayes()).fit(X, Y)
    with pytest.raises(ValueError, match="Fit with keep_out_of_fold=True"):
        model.retune("micro_f1")
