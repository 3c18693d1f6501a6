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
from labelkin.experiment.configuration import parse_experiment, read_experiment
from labelkin.experiment.plan import Experiment

_HERE = files("labelkin.experiment")
#: From so many training documents on, words must be in three of them, as in the paper.
_MANY = 200


def shipped_experiments() -> dict[str, str]:
    """Return the text of the experiments that come with labelkin, by name.

    Examples
    --------
    >>> "reuters21578" in shipped_experiments()
    True
    """
    found = (file for file in _HERE.joinpath("configurations").iterdir())
    return {
        file.name.removesuffix(".toml"): file.read_text(encoding="utf-8")
        for file in sorted(found, key=lambda file: file.name)
        if file.name.endswith(".toml")
    }


def find_experiment(name: str | os.PathLike[str]) -> Experiment:
    """Return an experiment by the path of its file, or one that comes with labelkin by its name.

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
    corpus: str | os.PathLike[str], file: str | os.PathLike[str], **options: Any
) -> str:
    """Return the text of an experiment on a corpus of one's own, to be written to ``file``.

    It compares the content alone, the paper's M2 and the learned weight; what else there is stands
    in it as comments. The corpus is read: a split, words and weights follow from what it holds.

    Parameters
    ----------
    corpus : str or path
        What :func:`labelkin.corpora.load` takes: a path, or the name of a known corpus.
    file : path
        Where the text goes; a relative path of the corpus counts from its folder.
    **options
        What the corpus' reader takes: ``separator="|"`` for a table.
    """
    loaded, file = load(corpus, **options), Path(file)
    n_documents, n_labels = loaded.Y.shape
    if n_documents < 2 or n_labels == 0:
        raise ValueError(
            f"An experiment must have at least 2 documents, one to train and one to test, and a "
            f"label; {corpus} has {n_documents} documents and {n_labels} labels."
        )
    is_known = os.fspath(corpus) in KNOWN
    name = re.sub(r"[^A-Za-z0-9]+", "-", Path(corpus).stem).strip("-") or "mine"
    place = {"name": f"my-{name}" if name in KNOWN and not is_known else name}
    if is_known:
        place = {"name": os.fspath(corpus)}
    else:
        path = Path(corpus)
        place["path"] = path if path.is_absolute() else Path(os.path.relpath(path, file.parent))
    lines = [f"{key} = {_toml(value)}" for key, value in place.items()]
    text = _HERE.joinpath("template.toml").read_text(encoding="utf-8")
    return Template(text).substitute(
        corpus=Path(corpus).name,
        file=file.name,
        name=_toml(name),
        title=_toml(f"{Path(corpus).name}: what the other labels add"),
        place="\n".join([*lines, *([f"options = {_toml(options)}"] if options else [])]),
        split=_split_lines(loaded),
        words=_word_lines(loaded),
        **_weights(loaded),
    )


def _split_lines(corpus: Corpus) -> str:
    if len(corpus.test):
        return f"# Its own split: {len(corpus.train):,} documents to train, {len(corpus.test):,} to test."
    return (
        "test_share = 0.3 # it has no split: three documents of ten are drawn for testing, "
        "stratified\nsplit_seed = 0"
    )


def _word_lines(corpus: Corpus) -> str:
    """Return how words are made of texts, so that it works here and with so few documents."""
    if corpus.features != "text":
        return ""
    stem = "true" if find_spec("Stemmer") else 'false # true needs pip install "labelkin[text]"'
    n_train = len(corpus.train) * (1 if len(corpus.test) else 0.7)
    return "\n".join(
        [
            "\n[words]",
            'language = "english" # of stop words and stems: "german", "french" …',
            f"stem = {stem}",
            f"min_documents = {3 if n_train >= _MANY else 1} # words of fewer are left out",
            "",
        ]
    )


def _weights(corpus: Corpus) -> dict[str, str]:
    """Return what the classifiers see of such documents."""
    weights, bayes, bayes_weights = "tfidf", "naive_bayes", "counts"
    if corpus.features == "weights" or sparse.issparse(corpus.documents):
        weights, bayes_weights = "as_is", "presence"
    if corpus.features in ("counts", "binary"):
        weights, bayes_weights = "tfidf", "counts"
    elif corpus.features == "numbers" and not sparse.issparse(corpus.documents):
        weights, bayes, bayes_weights = "standardised_unit", "gaussian_naive_bayes", "standardised"
    return {"weights": weights, "naive_bayes": bayes, "naive_bayes_weights": bayes_weights}


def _toml(value: Any) -> str:
    """Write a text, or a table of them, as TOML does in a line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    return json.dumps(os.fspath(value), ensure_ascii=False)
