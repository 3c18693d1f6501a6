"""Train and compare the paper's fifteen systems, and the learnt weight, on the built-in corpus.

``python -m labelkin.demo`` prints a table, and writes a page with figures and all scores as CSV.
"""

from __future__ import annotations

import argparse
import io
import platform
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from labelkin.content.naive_bayes import NaiveBayes
from labelkin.content.nearest_neighbours import NearestNeighbours
from labelkin.content.platt_svm import PlattSVM
from labelkin.corpora import Corpus, newsroom
from labelkin.explain.label_graph import LabelEdge, label_graph
from labelkin.files import write_whole
from labelkin.label_matrix import LabelMatrix
from labelkin.method.label_evidence import LogisticLabels, SVMLabels
from labelkin.method.rescorer import LabelRescorer
from labelkin.report.documents import scores_csv
from labelkin.report.page import html_page
from labelkin.report.paper import LEGEND, comparison_table
from labelkin.report.results import Outcome, System, judge
from labelkin.report.tables import text_table

Announce = Callable[[str], None]

#: The addition that the figures look at.
ADDITION = "learnt"
N_NEIGHBOURS = 30
_N_SYSTEMS = 18
_INTRODUCTION = (
    "Three content classifiers judge every label by the text alone: naive Bayes (NB), nearest "
    "neighbours (kNN) and a linear support vector machine (SVM). To each is added what the other "
    "labels say, learnt by Bayesian logistic regression (BLR) or by a support vector machine "
    "(SMO), the other labels being filled in with decisions (M1) or with probabilities (M2): the "
    "paper's fifteen systems. In three more, what guessed labels count is learnt from the training "
    "documents (learnt), the default of LabelDependenceClassifier. The "
    "corpus is made: it shows how the method works, and is no evidence for how well it works on "
    "yours."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo as a command; return 0, or 2 when it cannot start."""
    options = _read_options(arguments)
    try:
        _need_extras()
        options.out.mkdir(parents=True, exist_ok=True)
        corpus = newsroom(options.documents, seed=options.seed)
    except (ImportError, OSError, ValueError) as error:
        sys.stderr.write(f"labelkin.demo: {error}\n")
        return 2
    with _progress(options.quiet) as announce:
        outcome, edges = run(corpus, options.seed, announce)
        announce("report")
        page = options.out / "report.html"
        write_whole(page, html_page([outcome], introduction=_INTRODUCTION, edges=edges))
        write_whole(options.out / "scores.csv", scores_csv(outcome.scores))
    _print_result(outcome, page)
    return 0


def run(
    corpus: Corpus, seed: int = 0, announce: Announce = lambda name: None
) -> tuple[Outcome, tuple[LabelEdge, ...]]:
    """Train and judge the eighteen systems, and name the strongest edges between labels.

    The content evidence of each content classifier is computed once and shared by its systems.
    """
    train, test = corpus.Y.rows(corpus.train), corpus.Y.rows(corpus.test)
    words = _count_words(corpus)
    announce("labels")
    additions = _learn_additions(train)
    systems: list[System] = []
    for name, (kind, classifier) in _content_classifiers(seed).items():
        announce(name)
        seen, unseen = words[kind]
        out_of_fold = classifier.fit_out_of_fold(seen, train)
        content = classifier.log_odds(unseen)
        learnt = LabelRescorer(evidence_weight="auto", scale="log_odds")
        additions[ADDITION] = learnt.fit(train, scores=out_of_fold)
        alone = judge(test, content, content=name, seed=seed)
        systems.append(alone)
        for addition, rescorer in additions.items():
            announce(f"{name}+{addition}")
            rescored = rescorer.rescore(content)
            which: Any = {"content": name, "addition": addition, "seed": seed}
            systems.append(judge(test, rescored, alone=alone, **which))
    facts = _facts(corpus, seed)
    outcome = Outcome(corpus.name, corpus.name, systems, labels=train, truth=test, facts=facts)
    return outcome, label_graph(additions[ADDITION]).edges


def _count_words(corpus: Corpus) -> dict[str, tuple[Any, Any]]:
    """Return training and test documents × words, as counts and as tf-idf."""
    counter = CountVectorizer().fit(corpus.documents[corpus.train])
    counts = [counter.transform(corpus.documents[part]) for part in (corpus.train, corpus.test)]
    weigher = TfidfTransformer().fit(counts[0])
    weights = [weigher.transform(part) for part in counts]
    return {"counts": (counts[0], counts[1]), "tf-idf": (weights[0], weights[1])}


def _learn_additions(train: LabelMatrix) -> dict[str, LabelRescorer]:
    """Return the label evidence of both label classifiers in both variants, named as the paper."""
    return {
        f"{labels_name}+{variant_name}": LabelRescorer(
            labels=labels, variant=variant, scale="log_odds"
        ).fit(train)
        for labels_name, labels in (("BLR", LogisticLabels()), ("SMO", SVMLabels()))
        for variant_name, variant in (("M1", "hard"), ("M2", "soft"))
    }


def _content_classifiers(seed: int) -> dict[str, tuple[str, Any]]:
    """Return by name which form of the documents a content classifier takes, and itself."""
    return {
        "NB": ("counts", NaiveBayes()),
        "kNN": ("tf-idf", NearestNeighbours(N_NEIGHBOURS)),
        "SVM": ("tf-idf", PlattSVM(random_state=seed)),
    }


def _facts(corpus: Corpus, seed: int) -> dict[str, str]:
    packages = ("labelkin", "numpy", "scipy", "scikit-learn")
    return {
        "Corpus": f"{corpus.source}, licence {corpus.licence}",
        "Documents": f"{len(corpus.train)} for training, {len(corpus.test)} for testing",
        "Labels": str(corpus.Y.shape[1]),
        "Words": f"counts for NB, tf-idf for kNN (k = {N_NEIGHBOURS}) and SVM",
        "Seed": str(seed),
        "Made with": ", ".join(
            [f"Python {platform.python_version()}", *(f"{p} {version(p)}" for p in packages)]
        ),
    }


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m labelkin.demo",
        description="Compare NB, kNN and SVM, alone and with what the other labels say.",
    )
    parser.add_argument("--documents", type=int, default=3000, metavar="N", help="default: 3000")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("labelkin-demo"),
        metavar="DIR",
        help="where report.html and scores.csv go; default: labelkin-demo",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser.parse_args(arguments)


def _need_extras() -> None:
    """Refuse to start what could not be finished."""
    if find_spec("rich") is None:
        raise ImportError('The demo needs rich: pip install "labelkin[cli]"')
    if find_spec("matplotlib") is None:
        raise ImportError('The demo needs matplotlib: pip install "labelkin[plot]"')


@contextmanager
def _progress(quiet: bool) -> Iterator[Announce]:
    """Show on stderr how far the whole is and what is being done; yield what to tell it by."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = ("{task.description:<11}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
        n_steps = _N_SYSTEMS + 2  # label evidence before them, the report after them
        task, done = progress.add_task("start", total=n_steps), count()
        yield lambda name: progress.update(task, description=name, completed=next(done))
        progress.update(task, description="done", completed=n_steps)


def _print_result(outcome: Outcome, page: Path) -> None:
    from rich.console import Console
    from rich.text import Text

    if isinstance(sys.stdout, io.TextIOWrapper):  # a sign it cannot show becomes its number
        sys.stdout.reconfigure(errors="backslashreplace")
    table = Text(text_table(comparison_table(outcome)))
    table.highlight_regex(r"(?<= )[≪<](?= |$)", "green")
    table.highlight_regex(r"(?<= )[≫>](?= |$)", "red")
    console = Console(soft_wrap=True)
    for block in (table, Text(textwrap.fill(LEGEND, 76)), Text(f"Report: {page.resolve()}")):
        console.print(block)
        console.print()


if __name__ == "__main__":
    sys.exit(main())
