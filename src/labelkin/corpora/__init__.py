"""Corpora: documents, label sets and a fixed split, by name or from a file.

Names are imported when they are first used: who reads documents loads no generator, no downloader
and no readers of other formats.

>>> from labelkin import corpora
>>> corpora.load("newsroom").Y.shape
(3000, 38)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkin.corpora.corpus import Corpus
    from labelkin.corpora.documents import Document, Documents
    from labelkin.corpora.known import KNOWN, CorpusNotFound, KnownCorpus, find, load
    from labelkin.corpora.published import Fetched, FetchError, fetch
    from labelkin.corpora.published.newsroom import NewsroomTruth, newsroom, newsroom_truth

#: Where the names are. The module of the newsroom is not called ``newsroom``: importing it would
#: put the module in the place of the function.
_HOMES = {
    "corpus": ("Corpus",),
    "documents": ("Document", "Documents"),
    "published": ("FetchError", "Fetched", "fetch"),
    "known": ("CorpusNotFound", "find", "load", "KNOWN", "KnownCorpus"),
    "published.newsroom": ("NewsroomTruth", "newsroom", "newsroom_truth"),
}

__all__ = [
    "KNOWN",
    "Corpus",
    "CorpusNotFound",
    "Document",
    "Documents",
    "FetchError",
    "Fetched",
    "KnownCorpus",
    "NewsroomTruth",
    "fetch",
    "find",
    "load",
    "newsroom",
    "newsroom_truth",
]


def __getattr__(name: str) -> Any:
    """Import a public name; afterwards it is an attribute like any other."""
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"labelkin.corpora.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'labelkin.corpora' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
