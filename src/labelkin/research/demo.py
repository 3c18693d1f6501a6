"""The paper's fifteen systems and the learned weight, compared on the synthetic newsroom.

``labelkin demo`` runs the packaged experiment ``demo``, prints F1 of every system, and writes a
page with plots and all scores as CSV.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from labelkin.files import write_atomic
from labelkin.research.experiments import Run, find_experiment, run_experiment
from labelkin.research.experiments.runs import Progress
from labelkin.research.reports.results import Outcome, evaluate_results
from labelkin.research.reports.tables import Table, html_page, label_table, scores_csv

_INTRODUCTION = """
Three content classifiers predict every label from the text alone: naive Bayes (NB), nearest
neighbours (kNN) and a linear support vector machine (SVM). Label evidence is added to each by
Bayesian logistic regression (BLR) or a support vector machine (SMO); the other labels are decisions
(M1) or probabilities (M2): the paper's fifteen systems. In three more, the weight of label evidence
is learned from the training documents (w=auto), the default of LabelDependenceClassifier. The
corpus is synthetic: it shows how the method works, not how well it works on other corpora."""


def run_demo(
    n_documents: int = 3000,
    random_state: int = 0,
    out: str | os.PathLike[str] = "labelkin-demo",
    *,
    progress: Progress | None = None,
) -> list[Table]:
    """Run the demo, write ``report.html`` and ``scores.csv``; return the tables to be printed.

    Parameters
    ----------
    n_documents : int, default 3000
        Number of synthetic documents.
    random_state : int, default 0
        Seed of the corpus and of the folds.
    out : path, default "labelkin-demo"
        The folder for the two files, created if missing.
    progress : callable, optional
        See :func:`labelkin.research.experiments.run_experiment`.

    Returns
    -------
    list of Table
        First the learned weight against the content alone, then the paper's systems.
    """
    if find_spec("jinja2") is None:  # before the training
        raise ImportError('The demo needs jinja2: pip install "labelkin[cli]"')
    demo = find_experiment("demo")
    options = {"n_documents": n_documents, "seed": random_state}
    corpora = tuple(replace(corpus, options=options) for corpus in demo.corpora)
    experiment = replace(demo, corpora=corpora, seeds=(random_state,))
    place = Path(out)
    place.mkdir(parents=True, exist_ok=True)
    # Log-odds stay mapped into memory, and some systems delete no file that is.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        results = run_experiment(experiment, folder, progress=progress)
        (outcome,) = evaluate_results(results)
        write_atomic(place / "report.html", html_page([outcome], introduction=_INTRODUCTION))
        write_atomic(place / "scores.csv", scores_csv(outcome.scores))
        tables = {
            "The weight of label evidence is learned (w=auto), against the content alone": [
                plan for plan in outcome.planned if plan.addition in ("", outcome.addition)
            ],
            "The paper's fifteen systems, with weight 1": [
                plan for plan in outcome.planned if plan.addition != outcome.addition
            ],
        }
        return [
            replace(label_table(_only(outcome, planned)), title=title)
            for title, planned in tables.items()
        ]


def _only(outcome: Outcome, planned: Sequence[Run]) -> Outcome:
    """Return the outcome of some of the systems."""
    names = [run.name for run in planned]
    systems = [system for system in outcome.systems if system.run.name in names]
    return replace(outcome, planned=planned, systems=systems)
