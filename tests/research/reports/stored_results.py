"""Tiny result folders, as an experiment leaves them, without training anything."""

from functools import partial

import numpy as np

from labelkin.label_matrix import read_labels
from labelkin.research.experiments import parse_experiment
from labelkin.research.experiments.runs import (
    FACTS,
    store_run,
    write_json,
    write_log_odds,
    write_truth,
)

CONTENT = {
    "NB": '{classifier = "naive_bayes"}',
    "kNN": '{classifier = "nearest_neighbours", n_neighbors = 30, weights = "tfidf"}',
    "SVM": '{classifier = "svm", weights = "tfidf"}',
}


def experiment_text(
    corpus="reuters21578", *, title="Reuters-21578", contents=("NB", "kNN", "SVM"), extra=""
):
    """Return the file of an experiment with the paper's five systems per content classifier."""
    lines = [f"content.{name} = {CONTENT[name]}" for name in contents]
    return "\n".join(
        [
            'name = "toy"',
            f"title = '''{title}'''",
            extra,
            *lines,
            'labels.BLR = {classifier = "logistic"}',
            'labels.SMO = {classifier = "svm"}',
            *(f'[[corpus]]\nname = "{name}"' for name in corpus.split()),
        ]
    )


def store_results(folder, text, Y, log_odds, names=None, left_out=()):
    """Write runs with given log-odds, ``log_odds(system, seed) -> (n_documents, n_labels)``.

    Training and test documents are the same. ``left_out`` are runs, ``"NB@seed0"``, not to write.
    """
    experiment = parse_experiment(text)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "experiment.toml").write_text(text, encoding="utf-8")
    labels = read_labels(Y, names=names)
    for corpus in experiment.corpora:
        place = folder / corpus.name
        (place / "runs").mkdir(parents=True)
        write_truth(place, labels, labels, None)
        write_json(place / FACTS, {"source": "synthetic", "licence": "none", "n_test": len(Y)})
    for run in experiment.runs():
        if run.name not in left_out:
            block = np.asarray(log_odds(run.system, run.seed), dtype=np.float64)
            store_run(folder, run, partial(write_block, block))
    return folder


def write_block(block, part):
    write_log_odds(part, [block], block.shape)
    return {"versions": {"labelkin": "0"}, "seconds": {}}


def find(outcome, system, metric):
    """Return the mean score of a system over the seeds."""
    return next(s for s in outcome.scores if (s.system, s.metric, s.rule) == (system, metric, ""))


def system_of(outcome, name):
    """Return a system of the first seed."""
    return next(s for s in outcome.systems if s.run.system == name)
