"""Experiments and the public classifier have the same scores, metric by metric.

The classifier is given the same words, weights of words, labels and seed; nothing of the experiment
but its stored log-odds and decisions is looked at.
"""

import numpy as np
import pytest

from labelkin import (
    LabelDependenceClassifier,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PlattSVM,
    SVMLabels,
    corpora,
)
from labelkin.corpora.corpus import labels_of
from labelkin.evaluation import metrics
from labelkin.research.experiments import parse_experiment, run_experiment
from labelkin.text import TermWeights, WordCounts
from labelkin.thresholds import GlobalCut, PCut, SCutFBR

SEED = 5
PAPER = f"""
name = "paper"
seeds = [{SEED}]
[corpus]
name = "newsroom"
options = {{ n_documents = 150, seed = 2 }}
[content.NB]
classifier = "naive_bayes"
[content.kNN]
classifier = "nearest_neighbours"
weights = "tfidf"
[content.SVM]
classifier = "svm"
weights = "ltc"
[labels.BLR]
classifier = "logistic"
[labels.SMO]
classifier = "svm"
"""
LEARNED = (
    'evidence_weights = ["auto", 0.35]\nvariants = ["M1", "M2", "M1cut"]'
    + PAPER.replace('[labels.SMO]\nclassifier = "svm"\n', "").replace('"paper"', '"learned"')
    + """
[thresholds.Global]
rule = "global_cut"
[thresholds.SCutFBR]
rule = "scut_fbr"
[thresholds.Shares]
rule = "pcut"
"""
)
CONTENT = {"NB": NaiveBayes(), "kNN": NearestNeighbours(), "SVM": PlattSVM(random_state=SEED)}
SCHEMES = {"NB": "counts", "kNN": "tfidf", "SVM": "ltc"}
LABELS = {"BLR": LogisticLabels(), "SMO": SVMLabels()}
VARIANTS = {"M1": "hard", "M2": "soft", "M1cut": SCutFBR()}
RULES = {"": None, "Global": GlobalCut(), "SCutFBR": SCutFBR(), "Shares": PCut()}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Run both experiments; return every run by its system's name, and the truth."""
    runs = {}
    for text in (PAPER, LEARNED):
        experiment = parse_experiment(text)
        (found,) = run_experiment(experiment, tmp_path_factory.mktemp(experiment.name)).corpora
        runs |= {run.system: run for run in (*found.runs, *found.threshold_runs)}
    return runs


@pytest.fixture(scope="module")
def newsroom():
    """Return vectors of training and test documents by content classifier, and both truths."""
    corpus = corpora.newsroom(150, seed=2)
    parts = corpus.train, corpus.test
    words = WordCounts().fit(corpus.documents[corpus.train])
    counts = [words.transform(corpus.documents[part]) for part in parts]
    vectors = {
        name: [TermWeights(scheme).fit(counts[0]).transform(part) for part in counts]
        for name, scheme in SCHEMES.items()
    }
    return vectors, *(labels_of(corpus).rows(part) for part in parts)


def systems():
    """Yield the names of all systems of the experiments above."""
    for content in CONTENT:
        yield content
        for labels in LABELS:
            yield from (f"{content}+{labels}+{variant}" for variant in ("M1", "M2"))
        for variant in VARIANTS:
            yield from (f"{content}+BLR+{variant} w={weight}" for weight in ("auto", "0.35"))
        for rule in ("Global", "SCutFBR", "Shares"):
            yield f"{content} | {rule}"
            yield from (f"{content}+BLR+{variant} w=auto | {rule}" for variant in VARIANTS)


SYSTEMS = list(systems())


def classifier(system):
    """Return the public classifier that a system's name describes."""
    scored, _, rule = system.partition(" | ")
    evidence, _, weight = scored.partition(" w=")
    content, labels, variant = [*evidence.split("+"), "BLR", "M2"][:3]
    if "+" not in evidence:
        weight = "0"
    return LabelDependenceClassifier(
        CONTENT[content],
        labels=LABELS[labels],
        variant=VARIANTS[variant],
        evidence_weight="auto" if weight == "auto" else float(weight or 1),
        thresholds=RULES[rule],
    )


def test_every_system_is_compared(results):
    assert sorted(results) == sorted(SYSTEMS)


@pytest.mark.parametrize("system", SYSTEMS)
def test_classifier_and_experiment_have_the_same_scores(results, newsroom, system):
    vectors, Y_train, Y_test = newsroom
    train, test = vectors[system.partition("+")[0].partition(" ")[0]]
    model = classifier(system).fit(train, Y_train)
    log_odds, decisions = model.log_odds(test), model.predict(test)
    run = results[system]
    np.testing.assert_allclose(run.log_odds(), log_odds, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(run.decisions(), decisions == 1)
    stored = metrics.evaluate(Y_test, run.log_odds(), run.decisions()).scores()
    ours = metrics.evaluate(Y_test, log_odds, decisions).scores()
    assert ours == pytest.approx(stored, rel=1e-12, abs=1e-12, nan_ok=True)
