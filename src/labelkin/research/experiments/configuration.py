"""Experiment files: the packaged ones, the reader of TOML files, and new files from a template.

Rules for values follow from the type hints of the records and classes that take them. Errors name
the file and the table, the rule and the value received; an unknown key is an error that lists the
valid keys.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from scipy import sparse

from labelkin.corpora import KNOWN, Corpus, load
from labelkin.evaluation.metrics.inputs import SCORE_NAMES
from labelkin.research.experiments.plan import (
    AUTO,
    CONTROLS,
    PAPER_VARIANTS,
    VARIANT_NAMES,
    Addition,
    Classifier,
    ContentChoice,
    CorpusChoice,
    Experiment,
    PartKind,
    RelatedMethod,
    Thresholds,
    find_part,
    part_names,
)
from labelkin.research.experiments.train import WEIGHTS, make_rule
from labelkin.text import TermSelection, WordCounts

_FILES = files("labelkin.research.experiments")
#: Parameters that the program sets, that do not change the results, or that leave out labels.
_NOT_SET = (
    "n_jobs", "random_state", "scale", "rule", "verbose", "keep_out_of_fold", "words", "top",
)  # fmt: skip


class _Rule(NamedTuple):
    """The rule for a value in words, and whether a value follows it."""

    text: str
    accepts: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_of(choices: Iterable[Any]) -> _Rule:
    choices = tuple(choices)
    return _Rule(f"one of {', '.join(map(repr, choices))}", lambda value: value in choices)


def _list_of(text: str, accepts: Callable[[Any], bool], fewest: int = 0) -> _Rule:
    """Return the rule for lists of distinct values."""

    def is_list(value: Any) -> bool:
        is_each = isinstance(value, list) and all(map(accepts, value))
        return is_each and len(set(value)) == len(value) >= fewest

    return _Rule(f"a list of {text}, each once", is_list)


def _some_of(choices: Iterable[str]) -> _Rule:
    one = _one_of(choices)
    return _list_of(one.text.replace("one of", "some of", 1), one.accepts)


_ANYTHING = _Rule("a value", lambda value: True)
_TEXT = _Rule("a text that is not empty", lambda v: isinstance(v, str) and bool(v.strip()))
_NAME = _Rule(
    "a text that names files, of letters, digits, dots, '-' and '_'",
    lambda v: isinstance(v, str) and bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", v)),
)
_TABLE = _Rule("a table", lambda v: isinstance(v, dict))
_SECONDS = _Rule("a number of seconds above 0", lambda v: _is_number(v) and v > 0)
_OF_TYPE: dict[Any, _Rule] = {
    bool: _Rule("true or false", lambda v: isinstance(v, bool)),
    int: _Rule("a whole number of at least 0", lambda v: type(v) is int and v >= 0),
    float: _Rule("a number", _is_number),
    str: _TEXT,
    Mapping: _TABLE,
}


def _rule_of(annotation: Any) -> _Rule:
    """Return the rule for a value of a type; a type that is not plain accepts every value."""
    if get_origin(annotation) is Literal:
        return _one_of(get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):  # TOML has no None
        others = [one for one in get_args(annotation) if one is not type(None)]
        return _rule_of(others[0]) if len(others) == 1 else _ANYTHING
    return _OF_TYPE.get(get_origin(annotation) or annotation, _ANYTHING)


def _rules_of(make: Callable[..., Any]) -> dict[str, _Rule]:
    """Return the rules for the parameters of a class or function that an experiment may set."""
    hints = get_type_hints(make.__init__) if inspect.isclass(make) else {}
    return {
        name: _rule_of(hints.get(name, type(parameter.default)))
        for name, parameter in inspect.signature(make).parameters.items()
        if name not in _NOT_SET
    }


_EXPERIMENT = {
    "name": _NAME,
    "title": _TEXT,
    "corpus": _Rule(
        "a table [corpus] or several [[corpus]]",
        lambda v: all(isinstance(one, dict) for one in (v if isinstance(v, list) else [v])),
    ),
    "seeds": _list_of("one or more whole numbers of at least 0", _OF_TYPE[int].accepts, fewest=1),
    **dict.fromkeys(("words", "content", "related", "labels", "thresholds"), _TABLE),
    "variants": _some_of(VARIANT_NAMES),
    "evidence_weights": _list_of(
        f"numbers of at least 0 or {AUTO!r}",
        lambda v: v == AUTO or (_is_number(v) and 0 <= v < float("inf")),
    ),
    "additions": _ANYTHING,
    "controls": _some_of(CONTROLS),
    "metrics": _some_of(SCORE_NAMES),
}
_SHARE = _Rule("a number between 0 and 1", lambda v: _is_number(v) and 0 < v < 1)
_CORPUS = {**_rules_of(CorpusChoice), "name": _NAME, "test_share": _SHARE}
_FEATURES = {"weights": _one_of(WEIGHTS), "terms": _TABLE}


@dataclass(frozen=True)
class _Table:
    """A table of an experiment file: file and place for messages, and the values."""

    source: str
    place: str
    values: Mapping[str, Any]

    def inside(self, key: str) -> _Table:
        """Return a table in this one; empty if it is not there."""
        values = self.values.get(key, {})
        return _Table(self.source, f"{self.place}.{key}" if self.place else key, values)

    def error(self, message: str) -> ValueError:
        """Return an error that begins with file and table."""
        where = f"{self.source}, [{self.place}]" if self.place else self.source
        return ValueError(f"{where}: {message}")

    def value(self, key: str, rule: _Rule) -> Any:
        """Return a value that must be given and follow a rule."""
        if key not in self.values:
            raise self.error(f"{key} must be given: {rule.text}.")
        value = self.values[key]
        if not rule.accepts(value):
            raise self.error(f"{key} must be {rule.text}, got {value!r}.")
        return value

    def check(self, rules: Mapping[str, _Rule]) -> Mapping[str, Any]:
        """Return the values; raise for an unknown key and a value that does not follow its rule."""
        unknown = ", ".join(repr(key) for key in self.values if key not in rules)
        if unknown:
            keys = ", ".join(map(repr, sorted(rules)))
            raise self.error(f"unknown key {unknown}. The keys are {keys}.")
        return {key: self.value(key, rules[key]) for key in self.values}

    def check_distinct(self, names: Sequence[str], what: str) -> None:
        """Raise for names that some file systems do not distinguish."""
        folded = [name.casefold() for name in names]
        alike = sorted({name for name in names if folded.count(name.casefold()) > 1})
        if alike:
            raise self.error(f"{what} must differ in more than upper and lower case, got {alike}.")


def shipped_experiments() -> dict[str, str]:
    """Return the text of the experiments that come with labelkin, by name.

    Examples
    --------
    >>> "reuters21578" in shipped_experiments()
    True
    """
    packaged = sorted((_FILES / "configurations").iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): file.read_text("utf-8") for file in packaged}


def find_experiment(name: str | os.PathLike[str]) -> Experiment:
    """Return an experiment by the path of its file, or one that comes with labelkin by its name.

    Parameters
    ----------
    name : str or path
        The path of a TOML file, or a name of :func:`shipped_experiments`.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> find_experiment("reuters21578").title
    'Reuters-21578 (ModApte, 90 topics)'
    """
    if Path(name).is_file() or Path(name).suffix:
        return read_experiment(name)
    shipped = shipped_experiments()
    if name not in shipped:
        raise FileNotFoundError(
            f"There is no file {os.fspath(name)!r}, and no experiment of that name comes with "
            f"labelkin. These do: {', '.join(shipped)}."
        )
    return parse_experiment(shipped[str(name)], source=f"{name}.toml")


def read_experiment(path: str | os.PathLike[str]) -> Experiment:
    """Read and validate an experiment file.

    A relative ``path`` of a corpus is relative to the folder of the file.
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
    """Validate the text of an experiment file called ``source`` in ``folder``.

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
    try:
        top = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source}: the file must be TOML, and is not: {error}.") from None
    file = _Table(source, "", top)
    name, tables = (file.value(key, _EXPERIMENT[key]) for key in ("name", "corpus"))
    file.check(_EXPERIMENT)
    corpora = tuple(
        _read_corpus(file, _Table(source, "corpus", one), Path(folder))
        for one in (tables if isinstance(tables, list) else [tables])
    )
    file.check_distinct([corpus.name for corpus in corpora], "corpora")
    lists = {key: tuple(top[key]) for key in ("seeds", "metrics", "controls") if key in top}
    return Experiment(
        name=name,
        title=top.get("title", name),
        corpora=corpora,
        words=file.inside("words").check(_rules_of(WordCounts)),
        additions=_read_additions(file),
        thresholds=_read_parts(file, "thresholds"),
        text=text,
        **lists,
    )


def _read_additions(file: _Table) -> tuple[Addition, ...]:
    """Return the additions to content classifiers."""
    every = {
        addition.name: addition
        for classifier in _read_parts(file, "labels").values()
        for variant in file.values.get("variants", PAPER_VARIANTS)
        for weight in file.values.get("evidence_weights", [1.0])
        for addition in [Addition(classifier, variant, weight if weight == AUTO else float(weight))]
    }
    if "additions" not in file.values:
        return tuple(every.values())
    chosen = file.value("additions", _some_of(every))
    return tuple(addition for name, addition in every.items() if name in chosen)


def _read_corpus(file: _Table, table: _Table, folder: Path) -> CorpusChoice:
    if "path" not in table.values:
        table.value("name", _NAME)
    given = {"name": Path(table.values.get("path", "")).stem, **table.check(_CORPUS)}
    if "path" in given:
        given["path"] = str(folder / Path(given["path"]).expanduser())
    content = _read_parts(file, "content") | _read_parts(table, "content")
    if not content:
        raise table.error(
            f"the corpus {given['name']} must have a content classifier: [content.NB]."
        )
    related = _read_parts(file, "related", content) | _read_parts(table, "related", content)
    table.check_distinct([*content, *related], "content classifiers and related methods")
    return CorpusChoice(**{**given, "content": content, "related": related})


def _read_parts(
    above: _Table, kind: PartKind, content: Mapping[str, ContentChoice] = {}
) -> dict[str, Any]:
    """Read the tables ``[kind.NAME]``, whose names become parts of file names."""
    tables, found = above.inside(kind), {}
    for name in tables.values:
        if not _NAME.accepts(name):
            raise above.error(f"{kind}.{name} must be {_NAME.text}, got {name!r}.")
        tables.value(name, _TABLE)
        found[name] = _read_part(tables.inside(name), kind, name, content)
    tables.check_distinct(list(found), kind)
    return found


def _read_part(
    table: _Table, kind: PartKind, name: str, content: Mapping[str, ContentChoice]
) -> Classifier | Thresholds:
    """Read a part: its name in the library, its parameters, and the keys of its record."""
    key = "rule" if kind == "thresholds" else "classifier"
    made_by = table.value(key, _one_of(part_names(kind)))
    rules = _rules_of(find_part(kind, made_by))
    of_record: dict[str, _Rule] = {key: _TEXT}
    if kind == "related":
        of_record["time_limit"] = _SECONDS
        if rules.pop("estimator", None):
            of_record["estimator"] = _one_of(content)
        if made_by == "binary_relevance":
            table.value("estimator", of_record["estimator"])
    base = content.get(table.values.get("estimator", ""))
    if kind in ("content", "related") and base is None:
        of_record |= _FEATURES
    given = table.check({**rules, **of_record})
    part = (name, made_by, {key: value for key, value in given.items() if key in rules})
    if kind == "labels":
        return Classifier(*part)
    if kind == "thresholds":
        return _check_rule(table, Thresholds(*part))
    features = {key: given[key] for key in _FEATURES if key in given}
    if "terms" in features:
        table.inside("terms").check(_rules_of(TermSelection))
    if kind == "content":
        return ContentChoice(*part, **features)
    if base is not None:
        features = {"weights": base.weights, "terms": base.terms}
    return RelatedMethod(*part, **features, estimator=base, time_limit=given.get("time_limit"))


def _check_rule(table: _Table, thresholds: Thresholds) -> Thresholds:
    """Return a threshold rule that accepts its parameters."""
    try:
        make_rule(thresholds).fit(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(2))
    except ValueError as error:
        raise table.error(str(error)) from None
    return thresholds


def new_experiment(
    place: str | os.PathLike[str],
    file: str | os.PathLike[str],
    *,
    corpus: Corpus | None = None,
    **options: Any,
) -> str:
    """Return the text of an experiment on a corpus, to be written to ``file``.

    It compares the content alone, the paper's M2 and the learned weight; the other options are
    comments. Split, words and weights are chosen by the features of the corpus.

    Parameters
    ----------
    place : str or path
        The path or the name of the corpus, as for :func:`labelkin.corpora.load`.
    file : path
        The path of the new file; a relative path of the corpus is relative to its folder.
    corpus : Corpus, optional
        The corpus, if it is already loaded.
    **options
        Further arguments of :func:`labelkin.corpora.load`: ``separator="|"`` for a table.

    Returns
    -------
    str

    Examples
    --------
    >>> from labelkin import corpora
    >>> text = new_experiment("newsroom", "newsroom.toml", corpus=corpora.newsroom(100))
    >>> "[corpus]" in text
    True
    """
    from jinja2 import Template

    corpus = load(place, **options) if corpus is None else corpus
    if corpus.Y.shape[0] < 2:
        raise ValueError(
            "An experiment must have at least 2 documents, one to train and one to test, and "
            f"{os.fspath(place)} has {corpus.Y.shape[0]}."
        )
    path, name = Path(place), os.fspath(place)
    if name not in KNOWN:
        name = re.sub(r"[^A-Za-z0-9]+", "-", path.stem).strip("-") or "mine"
        name = f"my-{name}" if name in KNOWN else name
        options["path"] = path
    if "path" in options and not Path(options["path"]).is_absolute():
        options["path"] = os.path.relpath(options["path"], Path(file).parent)
    template = Template(
        (_FILES / "template.toml").read_text(encoding="utf-8"),
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return template.render(
        file_name=path.name,
        file=Path(file).name,
        name=name,
        path=options.pop("path", None),
        options=options,
        corpus=corpus,
        is_dense=not sparse.issparse(corpus.documents),
        has_stemmer=find_spec("Stemmer") is not None,
        toml=_toml,
    )


def _toml(value: Any) -> str:
    """Return a plain value as TOML on one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    return json.dumps(plain, ensure_ascii=False)
