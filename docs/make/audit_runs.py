"""Audits of labels that were damaged on purpose: how many of the errors are found, and how soon.

An experiment is a TOML file that names corpora, recipes of errors, their rates and seeds. Each
combination is a run, kept as a JSON file, so that an interrupted experiment resumes where
it was.

>>> plan = parse_audits('''
... name = "small"
... corpus = [{name = "newsroom", weights = "tfidf", options = {n_documents = 200}}]
... noise = [{recipe = "random", rates = [[0.1, 0.05]], seeds = [0]}]
... ''')
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     run = run_audits(plan, folder)[0]
>>> run["n_missing"], run["scores"]["audit"]["joint"] > run["scores"]["content"]["joint"]
(30, True)
"""

from __future__ import annotations

import json
import os
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from docs.make.label_noise import RECIPES, Recipe, damage_labels
from numpy.typing import NDArray
from scipy import sparse

from labelkin.content.platt_svm import PlattSVM
from labelkin.curation.audit import LabelAudit
from labelkin.evaluation.metrics import evaluate
from labelkin.files import write_atomic
from labelkin.label_matrix import LabelMatrix
from labelkin.odds import to_probability
from labelkin.research.experiments.plan import ContentChoice, CorpusChoice
from labelkin.research.experiments.train import (
    WEIGHTS,
    PreparedCorpus,
    fit_features,
    prepare,
)

Matrix = NDArray[np.floating[Any]]
#: Given labels and content probabilities → how suspicious each cell is.
Peer = Callable[[LabelMatrix, Matrix], Matrix]

_SHIPPED = Path(__file__).with_name("audits")


@dataclass(frozen=True)
class AuditCorpus:
    """A corpus of an experiment: its name, and what classifiers see of it."""

    name: str
    weights: str
    labels: str = "all"
    documents: str = "all"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Noise:
    """How errors are made: see :func:`docs.make.label_noise.damage_labels`.

    Rates are pairs, missing and wrong, as shares of the given labels.
    """

    recipe: Recipe
    rates: Sequence[tuple[float, float]]
    seeds: Sequence[int]


@dataclass(frozen=True)
class AuditPlan:
    """An experiment with damaged labels.

    Attributes
    ----------
    name, title
        What it is called.
    corpora
        On what.
    noise
        With which errors.
    words
        Parameters of :class:`labelkin.text.WordCounts` for corpora of texts.
    """

    name: str
    corpora: tuple[AuditCorpus, ...]
    noise: tuple[Noise, ...]
    title: str = ""
    words: Mapping[str, Any] = field(default_factory=dict)


def parse_audits(text: str) -> AuditPlan:
    """Return the experiment that a TOML text describes."""
    said = tomllib.loads(text)
    corpora = tuple(AuditCorpus(**corpus) for corpus in said.pop("corpus"))
    noise = tuple(Noise(**one) for one in said.pop("noise"))
    for what, given, known in (
        ("recipe", [one.recipe for one in noise], RECIPES),
        ("weights", [corpus.weights for corpus in corpora], WEIGHTS),
    ):
        strange = [one for one in given if one not in known]
        if strange:
            raise ValueError(f"{what} must be among {', '.join(known)}, got {strange[0]!r}.")
    return AuditPlan(corpora=corpora, noise=noise, **said)


def find_audits(name: str | os.PathLike[str]) -> AuditPlan:
    """Return an experiment by the path of its file, or one of docs/make/audits by its name.

    Examples
    --------
    >>> find_audits("audit-reuters").title
    'Reuters-21578 (ModApte, 90 topics)'
    """
    if Path(name).is_file():
        return parse_audits(Path(name).read_text(encoding="utf-8"))
    shipped = {file.name.removesuffix(".toml"): file for file in _SHIPPED.iterdir()}
    if name not in shipped:
        raise FileNotFoundError(
            f"There is no file {os.fspath(name)!r}, and no audit of that name in docs/make/audits. "
            f"There are: {', '.join(sorted(shipped))}."
        )
    return parse_audits(shipped[str(name)].read_text(encoding="utf-8"))


def run_audits(
    plan: AuditPlan, folder: str | os.PathLike[str], peer: Peer | None = None, verbose: int = 0
) -> list[dict[str, Any]]:
    """Run what is not there yet, and return all runs.

    Parameters
    ----------
    plan : AuditPlan
    folder : path
        Where runs are kept, a JSON file each.
    peer : callable, optional
        Another tool: from given labels and content probabilities to how suspicious each cell is.
    verbose : int, default 0
        1 prints a line for each run.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    runs = []
    for corpus in plan.corpora:
        prepared: PreparedCorpus | None = None
        seen: Any = None
        for recipe, rates, seed in _combinations(plan):
            file = (
                place / f"{corpus.name}-{corpus.weights}-{recipe}-{rates[0]}-{rates[1]}-{seed}.json"
            )
            if not file.is_file():
                if prepared is None:
                    prepared, seen = _prepare(corpus, plan.words)
                if recipe == "document" and not sparse.issparse(seen[0]):
                    continue  # numbers have no length
                run = _run(prepared, seen, recipe, rates, seed, peer)
                write_atomic(
                    file, json.dumps({"corpus": corpus.name, **run, "weights": corpus.weights})
                )
            runs.append(json.loads(file.read_text(encoding="utf-8")))
            if verbose:
                joint = {name: round(one["joint"], 3) for name, one in runs[-1]["scores"].items()}
                print(file.stem, joint, flush=True)
    return runs


def _combinations(plan: AuditPlan) -> Iterator[tuple[Recipe, tuple[float, float], int]]:
    for noise in plan.noise:
        for missing, wrong in noise.rates:
            yield from ((noise.recipe, (missing, wrong), seed) for seed in noise.seeds)


def _prepare(corpus: AuditCorpus, words: Mapping[str, Any]) -> tuple[PreparedCorpus, Any]:
    """Return a corpus, and its training and test documents as the classifier sees them."""
    choice = CorpusChoice(
        name=corpus.name,
        path=None,
        options=corpus.options,
        train=corpus.documents,  # type: ignore[arg-type]
        test=corpus.documents,  # type: ignore[arg-type]
        labels=corpus.labels,  # type: ignore[arg-type]
        test_share=None,
        split_seed=0,
        content={},
    )
    prepared = prepare(choice, words)
    content = ContentChoice("SVM", "svm", {}, weights=corpus.weights, terms=None)
    features, X = fit_features(content, prepared)
    test = [features.transform(block) for block in prepared.test_blocks()]
    return prepared, (X, sparse.vstack(test) if sparse.issparse(X) else np.concatenate(test))


def _run(
    corpus: PreparedCorpus,
    seen: Any,
    recipe: Recipe,
    rates: tuple[float, float],
    seed: int,
    peer: Peer | None,
) -> dict[str, Any]:
    X, X_test = seen
    lengths = np.diff(sparse.csr_array(X).indptr) if sparse.issparse(X) else None
    labels = damage_labels(corpus.Y_train, *rates, recipe, lengths, seed)
    start = time.process_time()
    content = PlattSVM(random_state=seed)
    log_odds = content.fit_out_of_fold(X, labels)
    middle = time.process_time()
    audit = LabelAudit(scale="log_odds")
    audit.fit(None, labels, scores=log_odds)
    end = time.process_time()
    given = labels.positive.toarray() > 0
    wrong = given != (corpus.Y_train.positive.toarray() > 0)
    sign = np.where(given, -1.0, 1.0)
    suspicion = {
        "content": sign * log_odds,
        "labels": sign * audit.evidence_.added,
        "equation 2": sign * (log_odds + audit.evidence_.added),
        "audit": audit.error_probability_,
    }
    if peer is not None:
        suspicion["cleanlab"] = peer(labels, to_probability(log_odds))
    trained = {"damaged": content}
    for name, target in (("cleaned", audit.cleaned()), ("right", corpus.Y_train)):
        trained[name] = PlattSVM(random_state=seed).fit(X, target)
    return {
        "recipe": recipe,
        "rates": rates,
        "seed": seed,
        "shape": labels.shape,
        "n_missing": int((wrong & ~given).sum()),
        "n_wrong": int((wrong & given).sum()),
        "expected": {
            "missing": float(sum(one.missing for one in audit.label_errors_)),
            "wrong": float(sum(one.wrong for one in audit.label_errors_)),
        },
        "list_end": audit.list_end_,
        "found_at_list_end": int(
            wrong.ravel()[_first(audit.error_probability_, audit.list_end_)].sum()
        ),
        "scores": {name: _scores(np.asarray(s), given, wrong) for name, s in suspicion.items()},
        "seconds": {"content": middle - start, "label part": end - middle},
        "test": {name: _test(model, X_test, corpus.Y_test) for name, model in trained.items()},
    }


def _scores(
    suspicion: Matrix, given: NDArray[np.bool_], wrong: NDArray[np.bool_]
) -> dict[str, float]:
    """Average precision of the lists, precision at the number of errors, recall at 1 % read."""
    flat, errors = suspicion.ravel(), wrong.ravel()
    in_order = errors[np.argsort(-flat, kind="stable")]
    n_errors = int(errors.sum())
    return {
        "missing": average_precision(suspicion[~given], wrong[~given]),
        "wrong": average_precision(suspicion[given], wrong[given]),
        "joint": average_precision(flat, errors),
        "precision at errors": float(in_order[:n_errors].mean()),
        "recall at 1 %": float(in_order[: len(flat) // 100].sum() / n_errors),
    }


def _first(suspicion: Matrix, most: int) -> NDArray[np.intp]:
    return np.argsort(-suspicion.ravel(), kind="stable")[:most]


def average_precision(suspicion: Matrix, wrong: NDArray[np.bool_]) -> float:
    """Return the mean precision at each error in the list, the most suspicious first.

    Examples
    --------
    >>> average_precision(np.array([0.9, 0.8, 0.1]), np.array([True, False, True]))
    0.8333333333333333
    """
    found = wrong[np.argsort(-suspicion, kind="stable")]
    places = np.flatnonzero(found) + 1
    return float(np.mean(np.arange(1, len(places) + 1) / places)) if len(places) else float("nan")


def _test(model: Any, X: Any, truth: LabelMatrix) -> dict[str, float]:
    scores = evaluate(truth, decisions=model.predict(X)).scores()
    return {name: scores[name] for name in ("micro_f1", "macro_f1")}
