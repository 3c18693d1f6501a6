"""Corpora: documents, label sets and a fixed split, by name.

>>> load("newsroom").Y.shape
(3000, 38)
"""

from __future__ import annotations

from collections.abc import Callable

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.newsroom import newsroom
from labelkin.corpora.newsroom_truth import NewsroomTruth, newsroom_truth

__all__ = ["Corpus", "NewsroomTruth", "load", "newsroom", "newsroom_truth"]

CORPORA: dict[str, Callable[[], Corpus]] = {"newsroom": newsroom}


def load(name: str) -> Corpus:
    """Return the corpus known by ``name``."""
    if name not in CORPORA:
        known = ", ".join(repr(known) for known in sorted(CORPORA))
        raise ValueError(f"name must be a known corpus, got {name!r}. Known corpora: {known}.")
    return CORPORA[name]()
