"""A new experiment for a corpus, from a template with comments."""

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

#: Number of documents from which on words must occur in three of them, as in the paper.
_MANY = 200


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
    template = files("labelkin.research.experiments") / "template.toml"
    return Template(template.read_text(encoding="utf-8")).substitute(
        corpus=path.name,
        file=Path(file).name,
        name=_toml(name),
        title=_toml(f"{path.name}: what the other labels add"),
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
