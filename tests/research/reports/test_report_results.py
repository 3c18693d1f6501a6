"""Result folder → records: numbers against scikit-learn, means over seeds, missing runs."""

import math
import zlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score, hamming_loss, zero_one_loss
from stored_results import experiment_text, find, store_results

from labelkin.evaluation.metrics import evaluate
from labelkin.research.experiments.plan import Control, Run
from labelkin.research.reports.results import EvaluatedSystem, Outcome, read_outcomes
from labelkin.research.reports.tables import label_table

SEEDS = (3, 7)
LEFT_OUT = ("kNN@seed3", "SVM+SMO+M2@seed3", "SVM+SMO+M2@seed7", "NB+BLR+M1@seed7")
Y = (np.random.default_rng(1).random((60, 8)) < np.linspace(0.1, 0.5, 8)).astype(int)
Y[Y.sum(axis=1) == 0, 7] = 1


def log_odds(system, seed):
    noise = np.random.default_rng([zlib.crc32(system.encode()), seed]).normal(0, 2.5, Y.shape)
    return 2.0 * (2 * Y - 1) + noise


def read(folder, left_out=(), corpus="reuters21578", **options):
    text = experiment_text(corpus, **options)
    return read_outcomes(store_results(folder, text, Y, log_odds, left_out=left_out))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return read(tmp_path_factory.mktemp("seeds"), extra=f"seeds = {list(SEEDS)}")[0]


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    place = tmp_path_factory.mktemp("part")
    return read(place, LEFT_OUT, extra=f"seeds = {list(SEEDS)}")[0]


def sklearn_scores(system, seed):
    values = log_odds(system, seed)
    decided = (values > 0).astype(int)
    return {
        "micro_f1": f1_score(Y, decided, average="micro"),
        "macro_f1": f1_score(Y, decided, average="macro", zero_division=0),
        "hamming_loss": hamming_loss(Y, decided),
        "subset_loss": zero_one_loss(Y, decided),
        "one_error": 1 - Y[np.arange(len(Y)), values.argmax(axis=1)].mean(),
    }


@pytest.mark.parametrize("system", ["NB", "kNN+BLR+M2", "SVM+SMO+M1"])
def test_scores_are_means_of_scikit_learn_over_seeds(stored, system):
    expected = [sklearn_scores(system, seed) for seed in SEEDS]
    for metric in expected[0]:
        mean = np.mean([scores[metric] for scores in expected])
        assert find(stored, system, metric).value == pytest.approx(mean, abs=1e-12)


def test_missing_runs_are_named_and_have_nan_scores(unfinished):
    expected = [f"{run.replace('@', ' (').replace('seed', 'seed ')})" for run in LEFT_OUT]
    assert sorted(unfinished.missing) == sorted(expected)
    assert math.isnan(find(unfinished, "SVM+SMO+M2", "micro_f1").value)
    assert find(unfinished, "SVM+SMO+M2", "micro_f1").sign == ""
    score = find(unfinished, "NB+BLR+M1", "micro_f1")  # of one seed, as its baseline
    assert score.value == pytest.approx(sklearn_scores("NB+BLR+M1", 3)["micro_f1"])
    assert score.baseline == pytest.approx(sklearn_scores("NB", 3)["micro_f1"])


def evaluated(*systems):
    """Return an outcome of systems: addition, rule and log-odds, and the cut of the rule."""
    found = []
    for addition, rule, log_odds, cut in systems:
        scores = None if rule else log_odds
        run = Run("toy", 0, "NB", {}, Control(addition), addition, rule)
        found.append(EvaluatedSystem(run, evaluate(Y, scores, sparse.csr_array(log_odds > cut))))
    planned = [system.run for system in found if not system.run.thresholds]
    return Outcome("toy", "toy", found, planned)


def test_a_rule_is_compared_with_the_same_rule_on_the_content_alone():
    outcome = evaluated(
        *((addition, rule, log_odds(addition, 0), cut)
          for addition in ("", "M") for rule, cut in (("", 0.0), ("low", -1.0)))
    )  # fmt: skip
    low = {s.addition: s for s in outcome.scores if (s.rule, s.metric) == ("low", "micro_f1")}
    assert low["M"].baseline == low[""].value != find(outcome, "NB", "micro_f1").value
    assert len(label_table(outcome).rows) == 2 and len(outcome.pairs()) == 1
    assert not any(s.metric == "one_error" and s.rule for s in outcome.scores)
