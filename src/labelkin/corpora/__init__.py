"""Corpora: documents, label sets and a fixed split, by name or from a file.

>>> load("newsroom").Y.shape
(3000, 38)
"""

from __future__ import annotations

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.fetch import Fetched, FetchError, fetch
from labelkin.corpora.jsonl import iter_jsonl
from labelkin.corpora.loading import CorpusNotFound, find, load
from labelkin.corpora.newsroom import newsroom
from labelkin.corpora.newsroom_truth import NewsroomTruth, newsroom_truth
from labelkin.corpora.registry import KNOWN, KnownCorpus
from labelkin.corpora.tables import iter_table

__all__ = [
    "KNOWN",
    "Corpus",
    "CorpusNotFound",
    "FetchError",
    "Fetched",
    "KnownCorpus",
    "NewsroomTruth",
    "fetch",
    "find",
    "iter_jsonl",
    "iter_table",
    "load",
    "newsroom",
    "newsroom_truth",
]
