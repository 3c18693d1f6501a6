"""The paper's fifteen systems and the learned weight, trained and compared on the built-in corpus.

``labelkin demo`` runs the experiment ``demo`` that comes with labelkin, prints what came out, and
writes a page with figures and all scores as CSV.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from labelkin.files import write_atomic
from labelkin.research.experiments import parse_experiment, run_experiment, shipped_experiments
from labelkin.research.experiments.run import Progress
from labelkin.research.reports.documents import html_page, scores_csv
from labelkin.research.reports.paper import LEGEND, comparison_table
from labelkin.research.reports.results import Outcome, read_outcomes
from labelkin.research.reports.tables import text_table

_INTRODUCTION = """
Three content classifiers judge every label by the text alone: naive Bayes (NB), nearest neighbours
(kNN) and a linear support vector machine (SVM). To each is added what the other labels say, learned
by Bayesian logistic regression (BLR) or by a support vector machine (SMO), the other labels being
filled in with decisions (M1) or with probabilities (M2): the paper's fifteen systems. In three
more, how much predicted labels count is learned from the training documents (w=auto), the default
of LabelDependenceClassifier. The corpus is made: it shows how the method works, and is no evidence
for how well it works on yours."""
_LEARNED = "How much the other labels count is learned (w=auto), against the content alone:"
_PAPER = "The paper's fifteen systems, in which the other labels count fully:"


def run_demo(
    n_documents: int = 3000,
    random_state: int = 0,
    out: str | os.PathLike[str] = "labelkin-demo",
    *,
    progress: Progress | None = None,
    run_progress: Progress | None = None,
) -> str:
    """Run the demo, write ``report.html`` and ``scores.csv``; return the tables to be printed.

    Parameters
    ----------
    n_documents : int, default 3000
        How many documents to make.
    random_state : int, default 0
        Seed of the corpus and of the folds.
    out : path, default "labelkin-demo"
        Where the two files go; made if need be.
    progress, run_progress : callable, optional
        As :func:`labelkin.research.experiments.run_experiment` takes them.

    Returns
    -------
    str
        First the learned weight against the content alone, then the paper's systems.
    """
    for package, extra in (("jinja2", "cli"), ("matplotlib", "plot")):
        if find_spec(package) is None:  # do not start what could not be finished
            raise ImportError(f'The demo needs {package}: pip install "labelkin[{extra}]"')
    text = shipped_experiments()["demo"].replace("seeds = [0]", f"seeds = [{random_state}]")
    made = f"n_documents = {n_documents}, seed = {random_state}"
    experiment = parse_experiment(text.replace("n_documents = 3000, seed = 0", made))
    place = Path(out)
    place.mkdir(parents=True, exist_ok=True)
    # Log-odds stay mapped into memory, and some systems delete no file that is.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        run_experiment(experiment, folder, progress=progress, run_progress=run_progress)
        (outcome,) = read_outcomes(folder)
        write_atomic(place / "report.html", html_page([outcome], introduction=_INTRODUCTION))
        write_atomic(place / "scores.csv", scores_csv(outcome.scores))
        learned = _table(outcome, lambda addition: addition in ("", outcome.addition))
        paper = _table(outcome, lambda addition: addition != outcome.addition)
    legend = f"{textwrap.fill(LEGEND, 76)}\n\nReport: {(place / 'report.html').resolve()}\n"
    return "\n\n".join([_LEARNED, learned, _PAPER, paper, legend])


def _table(outcome: Outcome, shows: Callable[[str], bool]) -> str:
    """Return the systems with some additions as a table of plain text."""
    systems = [system for system in outcome.systems if shows(system.addition)]
    return text_table(comparison_table(replace(outcome, systems=systems, planned=())))
