"""Representations of result records are short."""

import re

import numpy as np
import pytest

from labelkin import LabelAudit, LabelDependenceClassifier, NaiveBayes
from labelkin.evaluation.significance import paired_bootstrap
from labelkin.explain import explain_terms, label_graph
from labelkin.odds import to_probability
from labelkin.records import short

rng = np.random.default_rng(0)
X = rng.poisson(1.0, (80, 30)).astype(float)
Y = (X[:, :25] + rng.normal(0, 0.5, (80, 25)) > 1).astype(int)
NAMES = [f"<b>{j}</b>" for j in range(25)]
SETS = [[NAMES[j] for j in np.flatnonzero(row)] for row in Y]
MODEL = LabelDependenceClassifier(NaiveBayes(), calibrate=True, evidence_weight=1).fit(X, SETS)


def records():
    [[why, *_]] = MODEL.explain(X[:1])
    audit = LabelAudit(NaiveBayes(), random_state=0).fit(X, SETS)
    graph = label_graph(MODEL)
    [[terms, *_]] = explain_terms(MODEL, X[:1], NAMES[:1])
    yield from (why, why.labels[0], MODEL.suggest(X[:1])[0][0], MODEL.posterior(X[:1]), terms)
    yield from (audit.issues(1)[0], audit.label_errors_[0], audit.noise_, graph, graph.edges[0])
    yield from (MODEL.thresholds_.table()[0], MODEL.calibration_)
    yield paired_bootstrap(SETS, X[:, :25] > 0, X[:, :25] > 1, "micro_f1")


@pytest.mark.parametrize("record", list(records()), ids=lambda record: type(record).__name__)
def test_representation_of_records_is_short(record):
    shown = repr(record)
    assert len(shown.splitlines()) <= 12
    assert len(shown) < 1000
    assert not re.search(r"[1-9]\.?\d{5,}", shown)
    assert shown.startswith(type(record).__name__)


def test_long_sequences_are_abbreviated():
    assert short(list(range(40))) == "[0, 1, 2, … 37 more]"
    assert short((1 / 3, 12345.678)) == "(0.333, 12345.7)"
    graph = label_graph(MODEL)
    assert repr(graph).splitlines()[-1] == f"… {len(graph.edges) - 10} more"


def test_calibrated_probability_and_log_odds_agree_everywhere():
    probability, log_odds = MODEL.predict_proba(X[:3]), MODEL.log_odds(X[:3])
    np.testing.assert_array_equal(MODEL.decision_function(X[:3]), log_odds)
    assert not np.allclose(to_probability(log_odds), probability)
    column = {name: j for j, name in enumerate(MODEL.label_names_.tolist())}
    for found in (MODEL.suggest(X[:3], top=25), MODEL.explain(X[:3], top=25)):
        for i, row in enumerate(found):
            for one in row:
                j = column[one.label]
                assert one.probability == pytest.approx(probability[i, j], abs=1e-12)
                assert one.log_odds == pytest.approx(log_odds[i, j], abs=1e-9)
    [[why, *_]] = MODEL.explain(X[:1])
    before = f"(calibrated, {to_probability(why.log_odds):.3f} before, {why.log_odds:+.2f})"
    assert str(why).splitlines()[0] == f"{why.label}: {why.probability:.3f} {before}"
    plain = LabelDependenceClassifier(NaiveBayes(), evidence_weight=1).fit(X, SETS)
    assert "calibrated" not in str(plain.explain(X[:1])[0][0])
