"""Evaluation with known labels: counted by hand and by scikit-learn."""

import numpy as np
import pytest
from docs.experiments.known_label_evaluation import (
    SYSTEMS,
    evaluate_known_labels,
    evaluate_runs,
    reveal_strategies,
)
from scipy.special import expit
from sklearn import metrics as sk

from labelkin import LabelRescorer
from labelkin.label_matrix import read_labels
from labelkin.research.experiments import parse_experiment, run_experiment

RNG = np.random.default_rng(0)
TRUTH = (RNG.random((80, 9)) < 0.35).astype(float)
CONTENT = RNG.normal(size=TRUTH.shape) + 2 * TRUTH - 1


def answering(content, known=None):
    """A model that moves all open labels of a document by what is known of it."""
    if known is None:
        return content + 0.25
    return content + 0.25 + 0.2 * np.nansum(2 * known - 1, axis=1, keepdims=True)


def strategies():
    posterior = answering(CONTENT)
    found = reveal_strategies(TRUTH, posterior, answering, CONTENT, seed=0)
    return {strategy.name: strategy for strategy in found}


def test_answers_are_true_and_of_the_kind_that_they_are_called():
    every = strategies()
    for name, strategy in every.items():
        if strategy.known is None:
            continue
        is_known = ~np.isnan(strategy.known)
        assert (strategy.known[is_known] == TRUTH[strategy.rows][is_known]).all(), name
    ranking = np.argsort(-CONTENT, axis=1)
    for n in (1, 2, 3):
        assert (np.nansum(every[f"true {n}"].known, axis=1) == n).all()
        assert (every[f"wrong {n}"].known == 0).sum(axis=1).tolist() == [n] * 80
        assert (TRUTH[every[f"further {n}"].rows].sum(axis=1) > n).all()
        walked = np.sort(ranking[:, :n], axis=1)
        asked = [np.flatnonzero(~np.isnan(row)) for row in every[f"walk {n}"].known]
        np.testing.assert_array_equal(asked, walked)
    wrong = every["wrong 1"].known == 0
    highest = np.where(TRUTH == 0, CONTENT, -np.inf).argmax(axis=1)
    assert wrong[np.arange(80), highest].all()
    assert "walk 5" not in every  # more than half of nine labels


@pytest.mark.parametrize("revealed", ["true 1", "wrong 2", "walk 3", "half", "further 1"])
def test_scores_are_scikit_learns_on_the_open_cells(revealed):
    record = {
        r["revealed"]: r for r in evaluate_known_labels(answering, CONTENT, read_labels(TRUTH))
    }[revealed]
    strategy = strategies()[revealed]
    content, truth, known = CONTENT[strategy.rows], TRUTH[strategy.rows], strategy.known
    is_open = np.isnan(known)
    posteriors = (content, answering(content), answering(content, known))
    for system, log_odds in zip(SYSTEMS, posteriors, strict=True):
        scores, decided = record[system], log_odds > 0
        y, z = truth[is_open], log_odds[is_open]
        assert scores["micro_f1"] == pytest.approx(sk.f1_score(y, z > 0))
        assert scores["hamming_loss"] == pytest.approx((y != (z > 0)).mean())
        assert scores["brier_score"] == pytest.approx(sk.brier_score_loss(y, expit(z)))
        log_loss = sk.log_loss(y, expit(z), normalize=False) / len(truth)
        assert scores["log_loss"] == pytest.approx(log_loss)
        columns = [is_open[:, j] for j in range(9)]
        macro = [
            sk.f1_score(truth[rows, j], decided[rows, j], zero_division=0)
            for j, rows in enumerate(columns)
            if rows.any()
        ]
        assert scores["macro_f1"] == pytest.approx(np.mean(macro))
        wrong = ((truth == 1) != decided) & is_open
        assert scores["subset_loss"] == pytest.approx(wrong.any(axis=1).mean())
        left = ((truth == 1) & is_open).any(axis=1)
        first = np.where(is_open, log_odds, -np.inf).argmax(axis=1)
        missed = truth[np.arange(len(truth)), first] == 0
        assert scores["one_error"] == pytest.approx(missed[left].mean())


def test_runs_are_evaluated_with_the_stored_evidence(tmp_path):
    text = """
name = "small"
variants = ["M2"]
evidence_weights = ["auto"]
corpus = { name = "newsroom", options = { n_documents = 200 } }
content.NB = { classifier = "naive_bayes" }
labels.BLR = { classifier = "logistic" }
"""
    results = run_experiment(parse_experiment(text), tmp_path)
    (corpus,) = results.corpora
    found = evaluate_runs(corpus, results.experiment)
    assert {(content, addition) for content, addition, _ in found} == {("NB", "BLR+M2 w=auto")}
    records = {record["revealed"]: record for _, _, record in found}
    assert {"true 1", "walk 3", "walk 3 updated", "all others"} <= set(records)
    rescorer = LabelRescorer(evidence_weight="auto", scale="log_odds")
    rescorer.fit(corpus.Y_train, scores=np.array(corpus.runs[0].out_of_fold()))
    by_hand = evaluate_known_labels(
        rescorer.rescore, np.array(corpus.runs[0].log_odds()), read_labels(corpus.Y)
    )
    expected = next(record for record in by_hand if record["revealed"] == "walk 3")
    assert records["walk 3"]["known"] == pytest.approx(expected["known"])
