"""Systems beyond the paper: a learned weight, learned cut-offs, controls and threshold rules."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from labelkin.label_matrix import read_labels
from labelkin.learned.calibration import fit_calibration
from labelkin.method.label_evidence import prior_scale
from labelkin.method.label_sets import count_label_sets
from labelkin.research.experiments import (
    parse_experiment,
    run_experiment,
    train,
)
from labelkin.research.experiments.train import fit_offset

BEYOND = """
name = "beyond"
seeds = [2]
variants = ["M1", "M2", "M1cut"]
evidence_weights = [1, "auto"]
additions = ["BLR+M2", "BLR+M2 w=auto", "BLR+M1cut", "BLR+M1cut w=auto"]
controls = ["offset", "calibration"]
[corpus]
name = "newsroom"
options = { n_documents = 300, seed = 1 }
[content.NB]
classifier = "naive_bayes"
[content.SVM]
classifier = "svm"
weights = "tfidf"
[labels.BLR]
classifier = "logistic"
[thresholds.Cut]
rule = "global_cut"
metric = "macro_f1"
[thresholds.FBR]
rule = "scut_fbr"
fbr = 0.2
[thresholds.Shares]
rule = "pcut"
[thresholds.Some]
rule = "not_empty"
"""


@pytest.fixture(scope="module")
def beyond(tmp_path_factory):
    return run_experiment(parse_experiment(BEYOND), tmp_path_factory.mktemp("beyond"))


@pytest.mark.parametrize("content", ["NB", "SVM"])
def test_controls_are_fitted_on_out_of_fold_content(beyond, content):
    (results,) = beyond.corpora
    alone, labels = results.run(content), read_labels(results.Y_train, names=results.label_names)
    fitted = {
        "offset": fit_offset(alone.out_of_fold(), labels),
        "calibration": fit_calibration(alone.out_of_fold(), labels, monotone=False),
    }
    for control, line in fitted.items():
        expected = line.slope * alone.log_odds() + line.shift
        run = results.run(f"{content}+{control}")
        np.testing.assert_allclose(run.log_odds(), expected, rtol=1e-9)


def test_the_offset_is_the_optimum_of_its_objective_label_by_label():
    rng = np.random.default_rng(0)
    Y = (rng.random((80, 4)) < [0.5, 0.2, 0.05, 0.0]).astype(float)
    Z = 2 * (2 * Y - 1) + rng.normal(1.0, 2.0, Y.shape)
    labels = read_labels(Y)
    penalty = 30 * 2 / prior_scale(count_label_sets(labels))
    offset = fit_offset(Z, labels).shift
    for j in range(3):

        def loss(v, j=j):
            log_odds = Z[:, j] + v
            fit = np.logaddexp(0, log_odds) - Y[:, j] * log_odds
            return fit.sum() + penalty[j] / 2 * v**2

        assert offset[j] == pytest.approx(minimize_scalar(loss, tol=1e-12).x, abs=1e-5)
    assert offset[3] == 0


def outputs(results):
    """Return every byte that a model or a decision is made of."""
    runs = [*results.runs, *results.threshold_runs]
    found = {f"{r.corpus} {r.system}": (r.log_odds(), r.decisions(), r.learned) for r in runs}
    for path in results.folder.rglob("out_of_fold.npy"):
        found[f"{path.parent.name} out of fold"] = (np.load(path), np.load(path), {})
    return {
        name: (scores.tobytes(), decided.tobytes(), dict(learned))
        for name, (scores, decided, learned) in found.items()
    }


@pytest.fixture
def run_shuffled(monkeypatch, tmp_path):
    """Run an experiment whose test documents have each other's labels."""
    load = train.load

    def shuffled(*place, **options):
        corpus = load(*place, **options)
        order = np.arange(len(corpus.documents))
        order[corpus.test] = np.random.default_rng(0).permutation(corpus.test)
        return train.replace(corpus, Y=corpus.Y[order])

    def run(text):
        monkeypatch.setattr(train, "load", shuffled)
        return run_experiment(parse_experiment(text), tmp_path / "shuffled")

    return run


def test_shuffled_test_labels_change_no_byte(beyond, run_shuffled):
    other = run_shuffled(BEYOND)
    truth = [results.corpora[0].Y for results in (beyond, other)]
    assert not np.array_equal(*truth)
    assert outputs(other) == outputs(beyond)
    assert len(outputs(other)) == 14 + 24 + 6


PAPER = (
    BEYOND.split("[thresholds.Cut]", maxsplit=1)[0]
    .replace('controls = ["offset", "calibration"]\n', "")
    .replace('additions = ["BLR+M2", "BLR+M2 w=auto", "BLR+M1cut", "BLR+M1cut w=auto"]', "")
    .replace('evidence_weights = [1, "auto"]', "")
    .replace('["M1", "M2", "M1cut"]', '["M2"]')
)


def test_an_experiment_of_the_paper_grows_beyond_it(beyond, tmp_path):
    before = run_experiment(parse_experiment(PAPER), tmp_path)
    assert not list(tmp_path.rglob("out_of_fold.npy"))
    assert len(before.runs) == 4
    grown = run_experiment(parse_experiment(BEYOND), tmp_path)
    assert outputs(grown) == outputs(beyond)
