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
    rule_for,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, FixedCut(0.5, scale="log_odds")),
        (0.3, FixedCut(0.3, scale="log_odds")),
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
    ],
    ids=repr,
)
def test_rule_for_returns_rule_of_scale(given, expected):
    rule = rule_for(given)
    assert rule is not given
    assert repr(rule) == repr(expected)


def test_invalid_rules_raise():
    with pytest.raises(ValueError, match=r"metric \(hamming_loss, micro_f1, .*, got 'accuracy'"):
        rule_for("accuracy")
    with pytest.raises(ValueError, match="scale must be one of"):
        rule_for("micro_f1", "logit")
    for wrong in (True, [0.5], MCut):
        with pytest.raises(
            TypeError, match=r"must be None \(0.5\), a probability, the name of a m"
        ):
            rule_for(wrong)
    with pytest.raises(ValueError, match=r"strictly between 0 and 1, got 1\.5"):
        rule_for(1.5).fit(None, [[0, 1]])


def test_table_of_classifier_has_cuts_and_probabilities():
    X, Y = make_multilabel_classification(80, n_classes=3, random_state=0)
    for thresholds in (None, "micro_f1", "macro_f1"):
        model = LabelDependenceClassifier(NaiveBayes(), thresholds=thresholds).fit(X, Y)
        table = model.thresholds_.table()
        assert table[0]._fields == ("label", "cut", "probability", "f1", "positives", "decided")
        cuts = [line.cut for line in table]
        np.testing.assert_allclose([line.probability for line in table], to_probability(cuts))
    model = LabelDependenceClassifier(NaiveBayes(), thresholds="mcut").fit(X, Y)
    assert model.thresholds_.table()[0][1:3] == (None, None)


def test_retune_equals_fit_with_thresholds():
    rng = np.random.default_rng(0)
    X, Y = rng.poisson(1.0, (120, 6)).astype(float), (rng.random((120, 3)) < 0.3).astype(int)
    kept = LabelDependenceClassifier(NaiveBayes(), keep_out_of_fold=True).fit(X, Y)
    fitted = LabelDependenceClassifier(NaiveBayes(), thresholds="macro_f1").fit(X, Y)
    assert (kept.predict(X) != fitted.predict(X)).any()
    assert (kept.retune("macro_f1").predict(X) == fitted.predict(X)).all()
    assert kept.get_params()["thresholds"] == "macro_f1"
    assert (kept.retune(0.5).predict(X) == (kept.predict_proba(X) > 0.5)).all()


def test_retune_without_out_of_fold_evidence_raises():
    X, Y = np.eye(8), np.eye(8)[:, :2].astype(int)
    model = LabelDependenceClassifier(NaiveBayes()).fit(X, Y)
    with pytest.raises(ValueError, match="Fit with keep_out_of_fold=True"):
        model.retune("micro_f1")
