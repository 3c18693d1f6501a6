"""A corpus by name, from where it lies, or by the path of a file or folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.formats import reader_of
from labelkin.corpora.registry import KNOWN, KnownCorpus, known_corpus


class CorpusNotFound(FileNotFoundError):  # noqa: N818
    """A corpus is not where it was looked for; the message says where, and what fetches it."""


def load(
    name: str | os.PathLike[str], path: str | os.PathLike[str] | None = None, **options: Any
) -> Corpus:
    """Return a corpus.

    Parameters
    ----------
    name
        A known corpus (``labelkin.corpora.KNOWN``); or the path of a file or folder whose format is
        recognised: JSON lines, CSV and TSV, Annif's corpora, ARFF of MULAN and MEKA, the sparse
        text format of the extreme-classification repository, and the layouts of the known corpora.
    path
        The folder or file of a known corpus. ``None``: it is looked for in ``$LABELKIN_DATA``, then
        in ``$XDG_DATA_HOME/labelkin`` (``~/.local/share/labelkin``).
    **options
        What the format's reader takes: ``split="modlewis"`` for Reuters-21578, ``separator="|"``
        for a table.

    Raises
    ------
    CorpusNotFound
        It is not there.

    Examples
    --------
    >>> load("newsroom").Y.shape
    (3000, 38)
    """
    if isinstance(name, str) and name in KNOWN:
        return _load_known(KNOWN[name], path, options)
    if path is None and Path(name).exists():
        return reader_of(Path(name))(Path(name), **options)
    if path is None and _is_path(name):
        raise CorpusNotFound(f"There is no file or folder {os.fspath(name)!r}.")
    return _load_known(known_corpus(os.fspath(name)), path, options)


def find(name: str) -> Path | None:
    """Return the folder a known corpus is in, if it is in one."""
    corpus = known_corpus(name)
    return next((place for place in corpus.places() if corpus.is_in(place)), None)


def _load_known(
    corpus: KnownCorpus, path: str | os.PathLike[str] | None, options: dict[str, Any]
) -> Corpus:
    if not corpus.folder:
        if path is not None:
            raise ValueError(f"{corpus.name} is made, not read: it takes no path, got {path!r}.")
        return corpus.read(**options)
    places = corpus.places() if path is None else [Path(path)]
    found = find(corpus.name) if path is None else _existing(corpus, Path(path))
    if found is None:
        raise _not_found(corpus, places)
    return replace(corpus.read(found, **options), name=corpus.name)


def _existing(corpus: KnownCorpus, path: Path) -> Path | None:
    return path if path.is_file() or corpus.is_in(path) else None


def _not_found(corpus: KnownCorpus, places: Sequence[Path]) -> CorpusNotFound:
    signs = " or ".join(corpus.signs)
    looked = " and in ".join(str(place) for place in places)
    fetch_it = f"Fetch it with: labelkin corpus fetch {corpus.name}."
    return CorpusNotFound(
        f"{corpus.name} must have {signs}, and there is none in {looked}. "
        f"{fetch_it if corpus.files else corpus.by_hand} If it is elsewhere, pass its folder as "
        "path=."
    )


def _is_path(name: str | os.PathLike[str]) -> bool:
    """Tell a path from a misspelt name: paths have folders or an ending."""
    return not isinstance(name, str) or os.sep in name or bool(Path(name).suffix)
