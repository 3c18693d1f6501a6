"""Experiment files: the packaged ones, the reader of TOML files, and new files from a template.

Errors name the file and the table, the rule and the value received; an unknown key is an error that
lists the valid keys.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from types import UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from scipy import sparse

from labelkin.corpora import KNOWN, Corpus, load
from labelkin.evaluation.metrics.inputs import SCORE_NAMES
from labelkin.research.experiments.plan import (
    AUTO,
    CONTROLS,
    METRICS,
    PAPER_VARIANTS,
    VARIANT_NAMES,
    Addition,
    Classifier,
    ContentChoice,
    CorpusChoice,
    Experiment,
    RelatedMethod,
    Thresholds,
)
from labelkin.research.experiments.prepared_corpus import WEIGHTS
from labelkin.research.experiments.train import (
    BASE_PARAMETERS,
    BINARY_RELEVANCE,
    PartKind,
    find_part,
    make_rule,
    part_names,
)
from labelkin.text import TermSelection, WordCounts
from labelkin.vocabulary.files import PACKAGED

_FILES = files("labelkin.research.experiments")
#: Number of documents from which on words must occur in three of them, as in the paper.
_MANY = 200
_NamedPart = TypeVar("_NamedPart", bound=Classifier | Thresholds)


class _Rule(NamedTuple):
    """The rule for a value in words, and whether a value follows it."""

    text: str
    accepts: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_weight(value: Any) -> bool:
    return value == AUTO or (_is_number(value) and 0 <= value < float("inf"))


def _is_list(value: Any, accepts: Callable[[Any], bool]) -> bool:
    """Return whether it is a list of distinct values that follow a rule."""
    return isinstance(value, list) and all(map(accepts, value)) and len(set(value)) == len(value)


def _one_of(choices: Iterable[Any]) -> _Rule:
    choices = tuple(choices)
    return _Rule(f"one of {_listed(choices)}", lambda value: value in choices)


def _some_of(choices: Iterable[str]) -> _Rule:
    choices = tuple(choices)
    text = f"a list of some of {_listed(choices)}, each once"
    return _Rule(text, lambda value: _is_list(value, choices.__contains__))


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(repr, names))


#: Parameters that are set by the program or do not change the results.
_NOT_SET = {"n_jobs", "random_state", "scale", "rule", "verbose", "keep_out_of_fold", "words"}
_ANYTHING = _Rule("a value", lambda value: True)
_TEXT = _Rule("a text that is not empty", lambda v: isinstance(v, str) and bool(v.strip()))
#: Names become parts of file names and of the systems' names.
_NAME = _Rule(
    "a text that names files, of letters, digits, dots, '-' and '_'",
    lambda v: isinstance(v, str) and bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", v)),
)
_TABLE = _Rule("a table", lambda v: isinstance(v, dict))
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
    "seeds": _Rule(
        "a list of at least one seed, of distinct whole numbers of at least 0",
        lambda v: _is_list(v, _OF_TYPE[int].accepts) and len(v) > 0,
    ),
    **dict.fromkeys(("words", "content", "related", "labels", "thresholds"), _TABLE),
    "variants": _some_of(VARIANT_NAMES),
    "evidence_weights": _Rule(
        f"a list of distinct numbers of at least 0, or {AUTO!r} among them",
        lambda v: _is_list(v, _is_weight),
    ),
    "additions": _ANYTHING,
    "controls": _some_of(CONTROLS),
    "metrics": _some_of(SCORE_NAMES),
}
_SHARE = _Rule("a number between 0 and 1", lambda v: _is_number(v) and 0 < v < 1)
_CORPUS = {**_rules_of(CorpusChoice), "name": _NAME, "test_share": _SHARE}
_FEATURES = {"weights": _one_of(WEIGHTS), "terms": _TABLE}


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
    place = _Place(source)
    place.check(top, _EXPERIMENT, ["name", "corpus"])
    corpora = top["corpus"] if isinstance(top["corpus"], list) else [top["corpus"]]
    choices = tuple(_read_corpus(one, top, place, Path(folder)) for one in corpora)
    place.check_distinct([choice.name for choice in choices], "corpora")
    words = top.get("words", {})
    place.inside("words").check(words, _rules_of(WordCounts))
    return Experiment(
        name=top["name"],
        title=top.get("title", top["name"]),
        corpora=choices,
        seeds=tuple(top.get("seeds", [0])),
        words=words,
        metrics=tuple(top.get("metrics", METRICS)),
        additions=_read_additions(top, place),
        text=text,
        controls=tuple(top.get("controls", ())),
        thresholds=_read_parts(top, "thresholds", _read_thresholds, place),
    )


def _read_additions(top: Mapping[str, Any], place: _Place) -> tuple[Addition, ...]:
    """Return the additions to content classifiers."""
    every = {
        addition.name: addition
        for classifier in _read_parts(top, "labels", _read_labels, place).values()
        for variant in top.get("variants", PAPER_VARIANTS)
        for weight in top.get("evidence_weights", [1.0])
        for addition in [Addition(classifier, variant, weight if weight == AUTO else float(weight))]
    }
    chosen = top.get("additions", list(every))
    place.check({"additions": chosen}, {"additions": _some_of(every)})
    return tuple(every[name] for name in every if name in chosen)


def _read_corpus(
    table: Mapping[str, Any], top: Mapping[str, Any], above: _Place, folder: Path
) -> CorpusChoice:
    place = above.inside("corpus")
    place.check(table, _CORPUS, () if "path" in table else ["name"])
    given = {"name": Path(table.get("path", "")).stem, **table}
    for key in ("path", "vocab"):
        if key in table and (key == "path" or table[key] not in PACKAGED):
            given[key] = str(folder / Path(table[key]).expanduser())
    content = _read_parts(top, "content", _read_content, above)
    content |= _read_parts(table, "content", _read_content, place)
    if not content:
        raise place.error(
            f"the corpus {given['name']} must have a content classifier: [content.NB]."
        )

    read_related = partial(_read_related, content)
    related = _read_parts(top, "related", read_related, above)
    related |= _read_parts(table, "related", read_related, place)
    place.check_distinct([*content, *related], "content classifiers and related methods")
    return CorpusChoice(**{**given, "content": content, "related": related})


def _read_content(name: str, table: Mapping[str, Any], place: _Place) -> ContentChoice:
    classifier, parameters = _read_part(table, "content", place, besides=_FEATURES)
    if "top" in parameters:
        raise place.error(
            f"an experiment must have the scores of all labels, got top = {parameters['top']!r}. "
            "Leave top out."
        )
    return ContentChoice(name, classifier, parameters, **_read_features(table, place))


def _read_related(
    content: Mapping[str, ContentChoice], name: str, table: Mapping[str, Any], place: _Place
) -> RelatedMethod:
    """Read a related method; ``estimator`` names a content classifier with its features."""
    kind, base = table.get("classifier"), content.get(table.get("estimator", ""))
    is_named = kind in part_names("related")
    taken = _rules_of(find_part("related", str(kind))) if is_named else {}
    is_positive = _Rule("a number of seconds above 0", lambda v: _is_number(v) and v > 0)
    besides = {"time_limit": is_positive, **({} if base else _FEATURES)}
    if kind == BINARY_RELEVANCE or BASE_PARAMETERS & set(taken):
        besides["estimator"] = _one_of(content)
    must = ["estimator"] if kind == BINARY_RELEVANCE else []
    classifier, parameters = _read_part(table, "related", place, besides=besides, must=must)
    features = _read_features(table, place)
    if base is not None:
        features = {"weights": base.weights, "terms": base.terms}
    limit = table.get("time_limit")
    return RelatedMethod(name, classifier, parameters, **features, estimator=base, time_limit=limit)


def _read_features(table: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    """Return the features of a classifier: weights, and a selection of terms."""
    terms = table.get("terms")
    if terms is not None:
        place.inside("terms").check(terms, _rules_of(TermSelection))
    return {"weights": table.get("weights", "counts"), "terms": terms}


def _read_labels(name: str, table: Mapping[str, Any], place: _Place) -> Classifier:
    return Classifier(name, *_read_part(table, "labels", place))


def _read_thresholds(name: str, table: Mapping[str, Any], place: _Place) -> Thresholds:
    thresholds = Thresholds(name, *_read_part(table, "thresholds", place, key="rule"))
    try:
        make_rule(thresholds).fit(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(2))
    except ValueError as error:
        raise place.error(str(error)) from None
    return thresholds


def _read_parts(
    table: Mapping[str, Any],
    key: str,
    read: Callable[[str, Mapping[str, Any], _Place], _NamedPart],
    above: _Place,
) -> dict[str, _NamedPart]:
    """Read the tables ``[key.NAME]``, whose names become parts of file names."""
    tables, place = table.get(key, {}), above.inside(key)
    above.check({f"{key}.{name}": name for name in tables}, {f"{key}.{n}": _NAME for n in tables})
    place.check(tables, dict.fromkeys(tables, _TABLE))
    above.check_distinct(list(tables), key)
    return {name: read(name, one, place.inside(name)) for name, one in tables.items()}


def _read_part(
    table: Mapping[str, Any],
    kind: PartKind,
    place: _Place,
    *,
    key: str = "classifier",
    besides: Mapping[str, _Rule] = {},
    must: Sequence[str] = (),
) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a part; other keys must be in ``besides``."""
    given = {name: value for name, value in table.items() if name == key}
    place.check(given, {key: _one_of(part_names(kind))}, [key])
    every = _rules_of(find_part(kind, table[key]))
    rules = {name: rule for name, rule in every.items() if name not in BASE_PARAMETERS}
    place.check(table, {**rules, **besides, key: _TEXT}, must)
    return table[key], {name: value for name, value in table.items() if name in rules}


class _Place(NamedTuple):
    """A file and a table in it, for messages."""

    source: str
    table: str = ""

    def inside(self, key: str) -> _Place:
        """Return the place of a table in this one."""
        return _Place(self.source, f"{self.table}.{key}" if self.table else key)

    def error(self, message: str) -> ValueError:
        """Return an error that begins with file and table."""
        where = f"{self.source}, [{self.table}]" if self.table else self.source
        return ValueError(f"{where}: {message}")

    def check(
        self, table: Mapping[str, Any], rules: Mapping[str, _Rule], must: Iterable[str] = ()
    ) -> None:
        """Raise for a missing key, an unknown key and a value that does not follow its rule."""
        for key in must:
            if key not in table:
                raise self.error(f"{key} must be given: {rules[key].text}.")
        unknown = [key for key in table if key not in rules]
        if unknown:
            raise self.error(
                f"unknown key {_listed(unknown)}. The keys are {_listed(sorted(rules))}."
            )
        for key, value in table.items():
            if not rules[key].accepts(value):
                raise self.error(f"{key} must be {rules[key].text}, got {value!r}.")

    def check_distinct(self, names: Sequence[str], what: str) -> None:
        """Raise for names that some file systems do not distinguish."""
        folded = [name.casefold() for name in names]
        alike = sorted({name for name in names if folded.count(name.casefold()) > 1})
        if alike:
            raise self.error(f"{what} must differ in more than upper and lower case, got {alike}.")


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
    lines = [f"name = {_toml(name)}"]
    lines += [f"path = {_toml(options.pop('path'))}"] if "path" in options else []
    lines += [f"options = {_toml(options)}"] if options else []
    template = _FILES / "template.toml"
    return Template(template.read_text(encoding="utf-8")).substitute(
        corpus=path.name,
        file=Path(file).name,
        name=_toml(name),
        title=_toml(f"{path.name}: effect of label evidence"),
        place="\n".join([*lines, _split_lines(corpus)]),
        words=_word_lines(corpus) if corpus.features == "text" else "",
        **_weights(corpus),
    )


def _split_lines(corpus: Corpus) -> str:
    n_train, n_test = len(corpus.train), len(corpus.test)
    if n_test:
        return f"# The corpus has a split: {n_train:,} training and {n_test:,} test documents."
    return (
        "test_share = 0.3 # the corpus has no split: 30 % of the documents are drawn for testing\n"
        "split_seed = 0"
    )


def _word_lines(corpus: Corpus) -> str:
    """Return how words are counted, with values that fit the corpus and what is installed."""
    stem = "true" if find_spec("Stemmer") else 'false # true needs pip install "labelkin[text]"'
    fewest = 3 if len(corpus.train) >= _MANY else 1
    return (
        '[words]\nlanguage = "english" # of stop words and stems: "german", "french" …\n'
        f"stem = {stem}\n"
        f"min_documents = {fewest} # rarer words, by training documents, are left out\n\n"
    )


def _weights(corpus: Corpus) -> dict[str, str]:
    """Return the feature weights for the SVM, and naive Bayes with its feature weights."""
    svm, naive_bayes, counts = "tfidf", "naive_bayes", "counts"
    if corpus.features == "numbers" and not sparse.issparse(corpus.documents):
        svm, naive_bayes, counts = "standardised_unit", "gaussian_naive_bayes", "standardised"
    elif corpus.features in ("weights", "numbers"):
        svm, counts = "as_is", "presence"
    return {"weights": svm, "naive_bayes": naive_bayes, "naive_bayes_weights": counts}


def _toml(value: Any) -> str:
    """Return a plain value as TOML on one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    return json.dumps(plain, ensure_ascii=False)
