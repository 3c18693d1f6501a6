"""Readers that are imported when they are called, so that the table of them is cheap."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from labelkin.corpora.corpus import Corpus

Reader = Callable[..., Corpus]


def lazy_reader(module: str, function: str) -> Reader:
    """Return ``labelkin.corpora.<module>.<function>`` without importing the module yet.

    Examples
    --------
    >>> lazy_reader("newsroom", "newsroom")(60).Y.shape
    (60, 38)
    """

    def read(*places: Any, **options: Any) -> Corpus:
        corpus = getattr(import_module(f"labelkin.corpora.{module}"), function)(*places, **options)
        assert isinstance(corpus, Corpus)
        return corpus

    return read
