"""The TOML file of an experiment → its record, checked.

Every error names the file and the table, states the rule and shows what came; an unknown key is an
error that lists the keys there are.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

import numpy as np

from labelkin import registry
from labelkin.evaluation.metrics import evaluate
from labelkin.research.experiments.plan import (
    ALONE,
    AUTO,
    CONTROLS,
    PAPER_VARIANTS,
    VARIANTS,
    Addition,
    Classifier,
    Content,
    CorpusChoice,
    Experiment,
    Rival,
    Thresholds,
)
from labelkin.research.experiments.prepared_corpus import WEIGHTS
from labelkin.research.experiments.train import (
    BASE_PARAMETERS,
    BINARY_RELEVANCE,
    check_rule,
    parameter_types,
    part_names,
)
from labelkin.text import TermSelection, WordCounts
from labelkin.vocabulary.files import PACKAGED

#: What the paper reports, and how it tests differences.
METRICS = ("micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error")
TESTS = ("micro_sign_test", "macro_sign_test")
#: Every score of :meth:`labelkin.evaluation.metrics.Evaluation.scores`.
_ALL_METRICS = tuple(evaluate(np.eye(2), np.eye(2) - 0.5).scores())
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
    name = top.take("name", _NAME)
    content = _named(top, "content", _read_content)
    rivals = top.table("rivals")
    experiment = Experiment(
        name=name,
        title=top.text("title", name),
        corpora=_read_corpora(top, content, rivals, Path(folder)),
        seeds=tuple(top.take("seeds", _SEEDS, [0])),
        words=_parameters(top.table("words"), WordCounts),
        threshold=top.take("threshold", _SHARE, 0.5),
        metrics=top.some("metrics", _ALL_METRICS, METRICS),
        tests=top.some("tests", [*TESTS, "paired_bootstrap"], TESTS),
        text=text,
        controls=top.some("controls", CONTROLS, ()),
        reveal=top.take("reveal", _FLAG, False),
        **_read_systems(top),
    )
    top.finish()
    if not experiment.seeds:
        raise top.error("seeds must name at least one seed, got [].")
    _check_candidates(top, experiment)
    return experiment


def _check_candidates(top: Table, experiment: Experiment) -> None:
    """Raise where what looks at all labels is asked about a document's candidates."""
    for corpus in experiment.corpora:
        chosen = [name for name, one in corpus.content.items() if _has_top(one)]
        asked = [f"rivals.{name}" for name, one in corpus.rivals.items() if _has_top(one.estimator)]
        if chosen:
            asked += ["controls"] * bool(experiment.controls) + ["reveal"] * experiment.reveal
        if asked:
            raise top.error(
                f"{_listed(asked)} must have the scores of all labels, and top makes "
                f"{_listed(chosen)} name candidates. Leave top out, or give candidates an "
                "experiment of their own."
            )


def _read_systems(top: Table) -> dict[str, Any]:
    """Read what is added to content classifiers, and what is tried on the outcome."""
    labels = _named(top, "labels", _read_labels)
    variants = top.some("variants", VARIANTS, PAPER_VARIANTS)
    weights = top.take("evidence_weights", _EVIDENCE_WEIGHTS, [1.0])
    every = {
        addition.name: addition
        for classifier in labels.values()
        for variant in variants
        for weight in weights
        for addition in [Addition(classifier, variant, weight if weight == AUTO else float(weight))]
    }
    chosen = top.some("additions", list(every), list(every))
    thresholds = _named(top, "thresholds", _read_thresholds)
    learned = [name for name in every if name in chosen and every[name].weight == AUTO]
    systems = top.some("threshold_systems", [ALONE, *chosen], [ALONE, *learned])
    if "threshold_systems" in top.values and not thresholds:
        raise top.error("threshold_systems are for rules, and there is no [thresholds.NAME].")
    return {
        "additions": tuple(every[name] for name in every if name in chosen),
        "thresholds": thresholds,
        "threshold_systems": systems if thresholds else (),
    }


def _read_corpora(
    top: Table, content: Mapping[str, Content], rivals: Table, folder: Path
) -> tuple[CorpusChoice, ...]:
    tables = top.tables("corpus")
    corpora = tuple(_read_corpus(table, content, rivals, folder) for table in tables)
    if not corpora:
        raise top.error('a corpus must be given: [corpus], with name = "…".')
    _check_distinct(top, [corpus.name for corpus in corpora], "corpora")
    return corpora


def _read_corpus(
    table: Table, content: Mapping[str, Content], rivals: Table, folder: Path
) -> CorpusChoice:
    path, vocab = table.text("path", None), table.text("vocab", None)
    if vocab is not None and vocab not in PACKAGED:
        vocab = str(folder / Path(vocab).expanduser())
    documents = table.table("documents")
    which = _one_of(["all", "labelled"])
    named = path is None or "name" in table.values
    here = {**content, **_named(table, "content", _read_content)}
    choice = CorpusChoice(
        name=table.take("name", _NAME) if named else Path(path).stem,
        path=None if path is None else str(folder / Path(path).expanduser()),
        options=dict(table.table("options").values),
        train=documents.take("train", which, "all"),
        test=documents.take("test", which, "all"),
        labels=table.take("labels", _one_of(["all", "in_both"]), "all"),
        test_share=table.take("test_share", _SHARE, None),
        split_seed=table.take("split_seed", _WHOLE, 0),
        content=here,
        rivals=_read_rivals(rivals, here) | _read_rivals(table.table("rivals"), here),
        vocab=vocab,
        label_language=table.text("label_language", None),
    )
    documents.finish()
    table.finish()
    alike = {*choice.content} & {*choice.rivals}
    if alike:
        raise table.error(f"content classifiers and rivals must differ in name, got {alike}.")
    if not choice.content:
        raise table.error(f"the corpus {choice.name} must have a content classifier: [content.NB].")
    return choice


def _read_content(name: str, table: Table) -> Content:
    features = _read_features(table)
    content = Content(name, *_read_part(table, "content"), **features)
    if content.parameters.get("top") == 0:
        raise table.error(
            "top must be a whole number of at least 1 (candidates per document), got 0."
        )
    return content


def _has_top(content: Content | None) -> bool:
    return content is not None and "top" in content.parameters


def _read_rivals(table: Table, content: Mapping[str, Content]) -> dict[str, Rival]:
    """Read the tables ``[rivals.NAME]``; their ``estimator`` names a content classifier."""
    names = list(table.values)
    for name in names:
        table.check(f"rivals.{name}", name, _NAME)
    _check_distinct(table, names, "rivals")
    return {name: _read_rival(name, table.table(name), content) for name in names}


def _read_rival(name: str, table: Table, content: Mapping[str, Content]) -> Rival:
    classifier = table.take("classifier", _one_of(part_names("rivals")))
    types = parameter_types("rivals", classifier)
    named = None
    if classifier == BINARY_RELEVANCE:
        named = table.take("estimator", _one_of(list(content)))
    elif BASE_PARAMETERS & set(types):
        named = table.take("estimator", _one_of(list(content)), None)
    base = None if named is None else content[named]
    if base is None:
        features = _read_features(table)
    else:
        features = {"weights": base.weights, "terms": base.terms}
    plain = {key: kind for key, kind in types.items() if key not in BASE_PARAMETERS}
    rival = Rival(
        name=name,
        classifier=classifier,
        parameters=table.parameters(plain),
        **features,
        estimator=base,
        time_limit=table.take("time_limit", _SECONDS, None),
    )
    table.finish()
    return rival


def _read_features(table: Table) -> dict[str, Any]:
    """Read what a classifier sees of the documents."""
    weights = table.take("weights", _one_of(WEIGHTS), "counts")
    terms = _parameters(table.table("terms"), TermSelection)
    return {"weights": weights, "terms": terms if "terms" in table.values else None}


def _read_labels(name: str, table: Table) -> Classifier:
    return Classifier(name, *_read_part(table, "labels"))


def _read_thresholds(name: str, table: Table) -> Thresholds:
    thresholds = Thresholds(name, *_read_part(table, "thresholds", "rule"))
    try:
        check_rule(thresholds)
    except ValueError as error:
        raise table.error(str(error)) from None
    return thresholds


def _read_part(
    table: Table, kind: registry.Kind, key: str = "classifier"
) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a part; nothing else may be left in the table."""
    name = table.take(key, _one_of(part_names(kind)))
    parameters = table.parameters(parameter_types(kind, name))
    table.finish()
    return name, parameters


def _named(table: Table, key: str, read: Callable[[str, Table], C]) -> dict[str, C]:
    """Read the tables ``[key.NAME]``, whose names become parts of file names."""
    outer = table.table(key)
    names = list(outer.values)
    for name in names:
        table.check(f"{key}.{name}", name, _NAME)
    _check_distinct(table, names, key)
    return {name: read(name, outer.table(name)) for name in names}


def _parameters(table: Table, make: Callable[..., Any]) -> dict[str, Any]:
    """Return a table that has nothing but the parameters of a transformer."""
    parameters = table.parameters(parameter_types(make))
    table.finish()
    return parameters


def _check_distinct(table: Table, names: Sequence[str], what: str) -> None:
    """Raise for names that some file systems would not keep apart."""
    folded = [name.casefold() for name in names]
    alike = sorted({name for name in names if folded.count(name.casefold()) > 1})
    if alike:
        raise table.error(f"{what} must differ in more than upper and lower case, got {alike}.")


def parse_toml(text: str, source: str) -> Table:
    """Parse the text of a file called ``source``; return its top table."""
    try:
        return Table(tomllib.loads(text), source)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source}: the file must be TOML, and is not: {error}.") from None


class Kind(NamedTuple):
    """What a value must be, in words, and whether one is."""

    rule: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_weight(value: Any) -> bool:
    return value == AUTO or (_is_number(value) and 0 <= value < float("inf"))


def _is_list(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(fits, value)) and len(set(value)) == len(value)


_TEXT = Kind("a text that is not empty", lambda v: isinstance(v, str) and bool(v.strip()))
#: Names become parts of file names and of the systems' names.
_NAME = Kind(
    "a text that names files, of letters, digits, dots, '-' and '_'",
    lambda v: isinstance(v, str) and bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", v)),
)
_FLAG = Kind("true or false", lambda v: isinstance(v, bool))
_NUMBER = Kind("a number", _is_number)
_SECONDS = Kind("a number of seconds above 0", lambda v: _is_number(v) and v > 0)
_WHOLE = Kind("a whole number of at least 0", _is_whole)
_SHARE = Kind("a number between 0 and 1", lambda v: _is_number(v) and 0 < v < 1)
_SEEDS = Kind("a list of distinct whole numbers of at least 0", lambda v: _is_list(v, _is_whole))
_EVIDENCE_WEIGHTS = Kind(
    f"a list of distinct numbers of at least 0, or {AUTO!r} among them",
    lambda v: _is_list(v, _is_weight),
)
_ANYTHING = Kind("a value", lambda v: True)
_OF_TYPE: dict[Any, Kind] = {bool: _FLAG, int: _WHOLE, float: _NUMBER, str: _TEXT}


def _one_of(choices: Sequence[Any]) -> Kind:
    return Kind(f"one of {_listed(choices)}", lambda v: v in choices)


def _kind(annotation: Any) -> Kind:
    """Return what a parameter of a type may be; a type that is not plain lets every value pass."""
    if get_origin(annotation) is Literal:
        return _one_of(get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):  # TOML has no None
        others = [one for one in get_args(annotation) if one is not type(None)]
        return _kind(others[0]) if len(others) == 1 else _ANYTHING
    return _OF_TYPE.get(annotation, _ANYTHING)


def _listed(names: Sequence[Any]) -> str:
    return ", ".join(map(repr, names))


_MUST = object()


class Table:
    """The keys and values of one table, taken key by key; what is left over is an error.

    Every key that is asked for is remembered, so that the message on an unknown key can list the
    keys there are.

    Parameters
    ----------
    values : mapping
        What the table holds.
    source, place : str
        The file and the table's name in it, for messages.

    Examples
    --------
    >>> table = parse_toml("k = 'milk'", "tea.toml")
    >>> table.text("k")
    'milk'
    >>> parse_toml("n = 3", "tea.toml").finish()
    Traceback (most recent call last):
    ValueError: tea.toml: unknown key 'n'. There are no keys here.
    """

    def __init__(self, values: Mapping[str, Any], source: str, place: str = "") -> None:
        self.values = values
        self.source = source
        self.place = place
        self._asked: dict[str, None] = {}  # in order

    def take(self, key: str, kind: Kind, default: Any = _MUST) -> Any:
        """Return a value of a kind; without a default the key must be given."""
        self._asked[key] = None
        if key not in self.values:
            if default is _MUST:
                raise self.error(f"{key} must be given: {kind.rule}.")
            return default
        self.check(key, self.values[key], kind)
        return self.values[key]

    def check(self, key: str, value: Any, kind: Kind) -> None:
        """Raise for a value that is not of a kind."""
        if not kind.fits(value):
            raise self.error(f"{key} must be {kind.rule}, got {value!r}.")

    def text(self, key: str, default: Any = _MUST) -> Any:
        """Return a text that is not empty."""
        return self.take(key, _TEXT, default)

    def some(self, key: str, choices: Sequence[str], default: Sequence[str]) -> tuple[str, ...]:
        """Return a list of distinct texts, all among ``choices``."""
        rule = f"a list of some of {_listed(choices)}, each once"
        return tuple(
            self.take(key, Kind(rule, lambda v: _is_list(v, lambda one: one in choices)), default)
        )

    def table(self, key: str) -> Table:
        """Return a table; an empty one where there is none."""
        return self._inside(key, self.take(key, Kind("a table", lambda v: isinstance(v, dict)), {}))

    def tables(self, key: str) -> list[Table]:
        """Return a list of tables, ``[[key]]``, or a single one, ``[key]``."""
        several = Kind(
            f"a table [{key}] or several [[{key}]]",
            lambda v: all(isinstance(one, dict) for one in (v if isinstance(v, list) else [v])),
        )
        found = self.take(key, several, [])
        return [self._inside(key, one) for one in (found if isinstance(found, list) else [found])]

    def parameters(self, types: Mapping[str, Any]) -> dict[str, Any]:
        """Return those parameters that are given, each of its type."""
        found = {key: self.take(key, _kind(kind), None) for key, kind in types.items()}
        return {key: value for key, value in found.items() if value is not None}

    def finish(self) -> None:
        """Raise for keys that nobody asked for."""
        unknown = [key for key in self.values if key not in self._asked]
        if unknown:
            there_are = f"The keys are {_listed(sorted(self._asked))}"
            raise self.error(
                f"unknown key {_listed(unknown)}. "
                f"{there_are if self._asked else 'There are no keys here'}."
            )

    def error(self, message: str) -> ValueError:
        """Return an error that begins with file and table."""
        where = f"{self.source}, [{self.place}]" if self.place else self.source
        return ValueError(f"{where}: {message}")

    def _inside(self, key: str, values: Mapping[str, Any]) -> Table:
        return Table(values, self.source, f"{self.place}.{key}" if self.place else key)
