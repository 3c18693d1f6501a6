"""Packaged experiments on real corpora: one seed of Reuters-21578, three in `make test-long`."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.corpus import DATA

from labelkin.evaluation import metrics
from labelkin.research.experiments import find_experiment, run_experiment

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("experiments")]


def needs(folder):
    return pytest.mark.skipif(
        not (DATA / folder).exists(), reason=f"no {folder} in {DATA}: set LABELKIN_DATA"
    )


def run_shipped(name, folder, **changes):
    """Run a shipped experiment on our data; that an SVM does not converge is an error."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("LABELKIN_DATA", str(DATA))
        warnings.simplefilter("error")
        experiment = replace(find_experiment(name), **changes)
        return run_experiment(experiment, folder)


def scores(corpus):
    """Return micro and macro F1 of every system, the mean over its seeds."""
    found = {}
    for run in corpus.runs:
        judged = metrics.evaluate(corpus.Y, run.log_odds())
        found.setdefault(run.system, []).append([judged["micro_f1"], judged["macro_f1"]])
    return {system: np.mean(values, axis=0) for system, values in found.items()}


#: Micro and macro F1 in the paper's table on Reuters-21578.
PAPER = {
    "NB": (0.61766, 0.25145),
    "NB+BLR+M1": (0.65697, 0.29183),
    "NB+BLR+M2": (0.65830, 0.29293),
    "kNN": (0.78875, 0.27886),
    "kNN+BLR+M1": (0.65255, 0.34035),
    "kNN+BLR+M2": (0.78022, 0.40246),
    "SVM": (0.87102, 0.48529),
    "SVM+BLR+M1": (0.85032, 0.54401),
    "SVM+BLR+M2": (0.87970, 0.55982),
}


@pytest.fixture(scope="module")
def reuters(tmp_path_factory, long_proofs):
    seeds = (0, 1, 2) if long_proofs else (0,)
    return run_shipped("reuters21578", tmp_path_factory.mktemp("reuters"), seeds=seeds).corpora[0]


@needs("reuters21578")
def test_reuters_has_the_documents_and_labels_of_the_paper(reuters):
    facts = reuters.facts
    assert (facts["n_train"], facts["n_test"], facts["n_labels"]) == (9603, 3019, 90)
    assert len(reuters.runs) % 21 == 0


@needs("reuters21578")
@pytest.mark.parametrize(
    ("system", "micro", "macro"),
    # The SVM's macro F1 lies between 0.526 and 0.576 for seeds 0 to 5, the paper's at 0.485.
    [("NB", 0.06, 0.06), ("kNN", 0.03, 0.06), ("SVM", 0.03, 0.10)],
)
def test_baselines_on_reuters_lie_near_the_paper_s(reuters, system, micro, macro):
    ours = scores(reuters)[system]
    assert ours[0] == pytest.approx(PAPER[system][0], abs=micro)
    assert ours[1] == pytest.approx(PAPER[system][1], abs=macro)


@needs("reuters21578")
def test_logistic_label_evidence_moves_f1_on_reuters_as_in_the_paper(reuters):
    ours = scores(reuters)
    additions = [system for system in PAPER if "+" in system]
    agree = [
        (ours[system][k] > ours[content][k]) == (PAPER[system][k] > PAPER[content][k])
        for system in additions
        for content in [system.split("+", maxsplit=1)[0]]
        for k in (0, 1)
    ]
    assert len(agree) == 12
    assert sum(agree) >= 11


@needs("ohsumed")
def test_ohsumed_reaches_the_figures_of_an_independent_implementation(tmp_path):
    (corpus,) = run_shipped("ohsumed23", tmp_path).corpora
    assert (corpus.facts["n_train"], corpus.facts["n_test"]) == (6286, 7643)
    ours = scores(corpus)
    for system, figures in (
        ("SVM", (0.468, 0.321)),
        ("SVM+BLR+M1", (0.527, 0.390)),
        ("SVM+BLR+M2", (0.490, 0.346)),
    ):
        assert ours[system] == pytest.approx(figures, abs=0.01)
