"""Corpora: documents, label sets and a fixed split, by name or from a file.

>>> load("newsroom").Y.shape
(3000, 38)
"""

from __future__ import annotations

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.documents import iter_jsonl, iter_table
from labelkin.corpora.download import Fetched, FetchError, fetch
from labelkin.corpora.known import KNOWN, KnownCorpus
from labelkin.corpora.loading import CorpusNotFound, find, load
from labelkin.corpora.made_newsroom import NewsroomTruth, newsroom, newsroom_truth

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
