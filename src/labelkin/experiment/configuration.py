"""The TOML file of an experiment → its record, checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from labelkin.experiment.controls import CONTROLS
from labelkin.experiment.features import WEIGHTS
from labelkin.experiment.plan import ALONE, Content, CorpusChoice, Documents, Experiment
from labelkin.experiment.systems import (
    AUTO,
    CONTENT,
    LABELS,
    PAPER_VARIANTS,
    VARIANTS,
    Classifier,
    Thresholds,
    additions,
    parameter_kinds,
)
from labelkin.experiment.threshold_rules import RULES, check_rule, rule_parameters
from labelkin.experiment.toml_table import Table, parse_toml
from labelkin.metrics import evaluate
from labelkin.text import TermSelection, WordCounts

#: What the paper reports, and how it tests differences.
METRICS = ("micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error")
TESTS = ("micro_sign_test", "macro_sign_test")
#: Names become parts of file names and of the systems' names.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
C = TypeVar("C", bound=Classifier | Thresholds)


def read_experiment(path: str | os.PathLike[str]) -> Experiment:
    """Read and check an experiment file.

    A relative ``path`` of a corpus counts from the folder of the file.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name}: the file must be UTF-8, and is not: {error}.") from None
    return parse_experiment(text, source=path.name, folder=path.parent)


def parse_experiment(
    text: str, *, source: str = "experiment", folder: str | os.PathLike[str] = "."
) -> Experiment:
    """Check the text of an experiment file called ``source`` that lies in ``folder``.

    Examples
    --------
    >>> experiment = parse_experiment('''
    ... name = "small"
    ... corpus.name = "newsroom"
    ... content.NB.classifier = "naive_bayes"
    ... labels.BLR.classifier = "logistic"
    ... ''')
    >>> [run.name for run in experiment.runs()]
    ['NB@seed0', 'NB+BLR+M1@seed0', 'NB+BLR+M2@seed0']
    """
    top = parse_toml(text, source)
    name = _read_name(top, "name")
    content = _named(top, "content", _read_content)
    words = top.table("words")
    experiment = Experiment(
        name=name,
        title=top.text("title", name),
        corpora=_read_corpora(top, content, Path(folder)),
        seeds=top.whole_numbers("seeds", [0]),
        words=_all_parameters(words, WordCounts) if words else {},
        threshold=top.share("threshold", 0.5),
        metrics=_read_metrics(top),
        tests=top.texts("tests", [*TESTS, "paired_bootstrap"], TESTS),
        text=text,
        controls=top.texts("controls", list(CONTROLS), []),
        **_read_systems(top),
    )
    top.finish()
    if not experiment.seeds:
        raise top.refuse("seeds must name at least one seed, got [].")
    return experiment


def _read_systems(top: Table) -> dict[str, Any]:
    """Read what is added to content classifiers, and what is tried on the outcome."""
    labels = _named(top, "labels", _read_labels)
    variants = top.texts("variants", list(VARIANTS), PAPER_VARIANTS)
    weights: Any = top.numbers_or(AUTO, "evidence_weights", [1.0])
    every = [addition.name for addition in additions(labels, variants, weights)]
    chosen = top.texts("additions", every, every)
    thresholds = _named(top, "thresholds", _read_thresholds)
    learnt = [a.name for a in additions(labels, variants, weights) if a.weight == AUTO]
    default = [ALONE, *(name for name in learnt if name in chosen)]
    systems = top.texts("threshold_systems", [ALONE, *chosen], default)
    if "threshold_systems" in top and not thresholds:
        raise top.refuse("threshold_systems are for rules, and there is no [thresholds.NAME].")
    return {
        "labels": labels,
        "variants": variants,
        "evidence_weights": weights,
        "additions": chosen if "additions" in top else None,
        "thresholds": thresholds,
        "threshold_systems": systems if thresholds else (),
    }


def _read_thresholds(name: str, table: Table) -> Thresholds:
    rule = table.choice("rule", list(RULES))
    parameters = table.parameters(rule_parameters(rule))
    table.finish()
    try:
        check_rule(rule, parameters)
    except ValueError as error:
        raise table.refuse(str(error)) from None
    return Thresholds(name, rule, parameters)


def _read_corpora(
    top: Table, content: Mapping[str, Content], folder: Path
) -> tuple[CorpusChoice, ...]:
    corpora = tuple(_read_corpus(table, content, folder) for table in top.tables("corpus"))
    if not corpora:
        raise top.refuse('a corpus must be given: [corpus], with name = "…".')
    _refuse_alike(top, [corpus.name for corpus in corpora], "corpora")
    return corpora


def _corpus_name(table: Table, path: str | None) -> str:
    """Return the name given, or that of the file."""
    if path is None or "name" in table.values:
        return _read_name(table, "name")
    return Path(path).stem


def _read_corpus(table: Table, content: Mapping[str, Content], folder: Path) -> CorpusChoice:
    path = table.text("path", None)
    options = table.table("options")
    documents = table.table("documents") or Table({}, table.source, "corpus.documents")
    choice = CorpusChoice(
        name=_corpus_name(table, path),
        path=None if path is None else str(folder / Path(path).expanduser()),
        options=dict(options.values) if options else {},
        train=_read_part(documents, "train"),
        test=_read_part(documents, "test"),
        labels="in_both"
        if table.choice("labels", ["all", "in_both"], "all") == "in_both"
        else "all",
        test_share=table.share("test_share", None),
        split_seed=table.whole_number("split_seed", 0),
        content={**content, **_named(table, "content", _read_content)},
    )
    documents.finish()
    table.finish()
    if not choice.content:
        raise table.refuse(
            f"the corpus {choice.name} must have a content classifier: [content.NB]."
        )
    return choice


def _read_part(documents: Table, part: str) -> Documents:
    return "labelled" if documents.choice(part, ["all", "labelled"], "all") == "labelled" else "all"


def _read_content(name: str, table: Table) -> Content:
    classifier = table.choice("classifier", list(CONTENT))
    terms = table.table("terms")
    content = Content(
        name=name,
        classifier=classifier,
        parameters=table.parameters(parameter_kinds(CONTENT[classifier])),
        weights=table.choice("weights", WEIGHTS, "counts"),
        terms=_all_parameters(terms, TermSelection) if terms else None,
    )
    table.finish()
    return content


def _read_labels(name: str, table: Table) -> Classifier:
    classifier = table.choice("classifier", list(LABELS))
    parameters = table.parameters(parameter_kinds(LABELS[classifier]))
    table.finish()
    return Classifier(name, classifier, parameters)


def _named(table: Table, key: str, read: Callable[[str, Table], C]) -> dict[str, C]:
    """Read the tables ``[key.NAME]``, whose names become parts of file names."""
    found = table.named_tables(key)
    for name in found:
        _check_name(table, f"{key}.{name}", name)
    _refuse_alike(table, list(found), key)
    return {name: read(name, inner) for name, inner in found.items()}


def _all_parameters(table: Table, make: Callable[..., Any]) -> dict[str, Any]:
    """Return a table that has nothing but the parameters of a transformer."""
    parameters = table.parameters(parameter_kinds(make))
    table.finish()
    return parameters


def _read_metrics(top: Table) -> tuple[str, ...]:
    scores = evaluate([[1, 0], [0, 1]], [[1.0, -1.0], [-1.0, 1.0]]).scores()
    return top.texts("metrics", list(scores), METRICS)


def _read_name(table: Table, key: str) -> str:
    name = table.text(key)
    _check_name(table, key, name)
    return name


def _check_name(table: Table, key: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise table.refuse(
            f"{key} names files and must be of letters, digits, dots, '-' and '_', got {name!r}."
        )


def _refuse_alike(table: Table, names: list[str], what: str) -> None:
    """Refuse names that some file systems would not tell apart."""
    folded = [name.casefold() for name in names]
    alike = sorted({name for name in names if folded.count(name.casefold()) > 1})
    if alike:
        raise table.refuse(f"{what} must differ in more than upper and lower case, got {alike}.")
