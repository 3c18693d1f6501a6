"""The experiments that come with labelkin, by name, and a template for a corpus of one's own."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

from scipy import sparse

from labelkin.corpora import KNOWN, Corpus, load
from labelkin.research.experiments.configuration import parse_experiment, read_experiment
from labelkin.research.experiments.plan import Experiment

_HERE = files("labelkin.research.experiments")
_SHIPPED = _HERE.joinpath("configurations")
#: Number of documents from which words must occur in three of them, as in the paper.
_MANY = 200


def shipped_experiments() -> dict[str, str]:
    """Return the text of the experiments that come with labelkin, by name.

    Examples
    --------
    >>> "reuters21578" in shipped_experiments()
    True
    """
    found = {file.name.removesuffix(".toml"): file for file in _SHIPPED.iterdir()}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


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
    shipped = shipped_experiments()
    if Path(name).is_file() or Path(name).suffix:
        return read_experiment(name)
    if name not in shipped:
        raise FileNotFoundError(
            f"There is no file {os.fspath(name)!r}, and no experiment of that name comes with "
            f"labelkin. These do: {', '.join(shipped)}."
        )
    return parse_experiment(shipped[str(name)], source=f"{name}.toml")


def new_experiment(
    place: str | os.PathLike[str],
    file: str | os.PathLike[str],
    *,
    corpus: Corpus | None = None,
    **options: Any,
) -> str:
    """Return the text of an experiment on a corpus of one's own, to be written to ``file``.

    It compares the content alone, the paper's M2 and the learned weight; what else there is stands
    in it as comments. Split, words and weights follow from what the corpus holds.

    Parameters
    ----------
    place : str or path
        Where the corpus is, or the name of a known one: what :func:`labelkin.corpora.load` takes.
    file : path
        Where the text goes; a relative path of the corpus counts from its folder.
    corpus : Corpus, optional
        The corpus, if it is loaded already.
    **options
        What :func:`labelkin.corpora.load` is given besides: ``separator="|"`` for a table.

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
    return Template(_HERE.joinpath("template.toml").read_text(encoding="utf-8")).substitute(
        corpus=path.name,
        file=Path(file).name,
        name=_toml(name),
        title=_toml(f"{path.name}: what the other labels add"),
        place="\n".join([*lines, *_split_lines(corpus)]),
        words="\n".join(_word_lines(corpus)),
        **_weights(corpus),
    )


def _split_lines(corpus: Corpus) -> list[str]:
    n_train, n_test = len(corpus.train), len(corpus.test)
    if n_test:
        return [f"# It has a split: {n_train:,} documents to train, {n_test:,} to test."]
    return [
        "test_share = 0.3 # it has no split: three documents of ten are drawn for testing",
        "split_seed = 0",
    ]


def _word_lines(corpus: Corpus) -> list[str]:
    """Return how words are made of texts, so that it works here and with so few documents."""
    if corpus.features != "text":
        return []
    stem = "true" if find_spec("Stemmer") else 'false # true needs pip install "labelkin[text]"'
    fewest = 3 if len(corpus.train) >= _MANY else 1
    return [
        "[words]",
        'language = "english" # of stop words and stems: "german", "french" …',
        f"stem = {stem}",
        f"min_documents = {fewest} # words that fewer training documents have are left out",
        "",
        "",
    ]


def _weights(corpus: Corpus) -> dict[str, str]:
    """Return what the classifiers see of such documents."""
    seen = ("tfidf", "naive_bayes", "counts")
    if corpus.features == "numbers" and not sparse.issparse(corpus.documents):
        seen = ("standardised_unit", "gaussian_naive_bayes", "standardised")
    elif corpus.features in ("weights", "numbers"):
        seen = ("as_is", "naive_bayes", "presence")
    return dict(zip(("weights", "naive_bayes", "naive_bayes_weights"), seen, strict=True))


def _toml(value: Any) -> str:
    """Write a plain value as TOML does in one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    return json.dumps(plain, ensure_ascii=False)
