"""Corpora: documents, label sets and a fixed split, by name or from a file.

=============  =====================================================================
``documents``  ``Documents``: records of any file of texts, in blocks
``tables``     Names of columns, delimiters and separators of CSV and TSV files
``lines``      Lines of files, packed or not, in any encoding
``corpus``     ``Corpus``, and corpora from files of texts
``vectors``    LIBSVM, the extreme-classification repository, scores as text
``arff``       ARFF of MULAN and MEKA
``published``  Corpora known by name, and the synthetic newsroom
=============  =====================================================================

Names and readers are imported when they are first used.

>>> from labelkin import corpora
>>> corpora.load("newsroom").Y.shape
(3000, 38)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from labelkin.corpora.documents import ENDINGS, Format, format_of
from labelkin.corpora.lines import decoded_lines, ending_of
from labelkin.corpora.published import KNOWN, KnownCorpus, find, known_corpus
from labelkin.registry import lazy_names

if TYPE_CHECKING:
    from labelkin.corpora.corpus import Corpus
    from labelkin.corpora.documents import Document, Documents
    from labelkin.corpora.published import Fetched, FetchError, fetch
    from labelkin.corpora.published.newsroom import NewsroomTruth, newsroom, newsroom_truth

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

__getattr__, __dir__, _ = lazy_names(
    __name__,
    {
        "corpus": "Corpus",
        "documents": "Document Documents",
        "published": "FetchError Fetched fetch",
        "published.newsroom": "NewsroomTruth newsroom newsroom_truth",
    },
)


class CorpusNotFound(FileNotFoundError):  # noqa: N818
    """A corpus outside the searched folders; the message names them, and how to get the corpus.

    Examples
    --------
    >>> from labelkin import corpora
    >>> try:
    ...     corpora.load("reuters21578", "nowhere")
    ... except corpora.CorpusNotFound as error:
    ...     print(str(error).partition(". ")[0])
    reuters21578 must have reut2-*.sgm, and nowhere does not contain it
    """


def load(
    name: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Corpus:
    """Return a corpus.

    Parameters
    ----------
    name : str, path or sequence of paths
        A known corpus (``labelkin.corpora.KNOWN``); or the path of a file or folder whose format is
        recognised, or several of texts: JSON, JSON lines, CSV and TSV, Annif's corpora, ARFF of
        MULAN and MEKA, LIBSVM, the sparse text format of the extreme-classification repository, and
        the layouts of the known corpora.
    path : path, optional
        The folder or file of a known corpus. By default it is searched in ``$LABELKIN_DATA``, then
        in ``$XDG_DATA_HOME/labelkin`` (``~/.local/share/labelkin``).
    **options
        Parameters of the format's reader: ``split="modlewis"`` for Reuters-21578,
        ``separator="|"`` for a table.

    Returns
    -------
    Corpus
        Documents, label sets and a split.

    Raises
    ------
    CorpusNotFound
        If the file or folder does not exist.

    Examples
    --------
    >>> load("newsroom").Y.shape
    (3000, 38)
    """
    names = [name] if isinstance(name, str | os.PathLike) else name
    if len(names) == 1 and names[0] in KNOWN:
        return _load_known(KNOWN[str(names[0])], path, options)
    if path is not None:
        known_corpus(os.fspath(names[0]))  # raises: only a known corpus has a path
    readers = [_reader_of(one, alone=len(names) == 1) for one in names]
    source = Path(names[0]) if len(names) == 1 else names
    corpus: Corpus = resolve_name(f"labelkin.corpora.{readers[0]}")(source, **options)
    return corpus


def check_there(name: str | os.PathLike[str]) -> None:
    """Raise for names that are neither a known corpus nor an existing path.

    A name with folders or an ending is a path, not a misspelt name.
    """
    if Path(name).exists():
        return
    if not isinstance(name, str) or os.sep in name or Path(name).suffix:
        raise CorpusNotFound(f"There is no file or folder {os.fspath(name)!r}.")
    known_corpus(name)


def _load_known(
    corpus: KnownCorpus, path: str | os.PathLike[str] | None, options: dict[str, Any]
) -> Corpus:
    if not corpus.folder:
        if path is not None:
            raise ValueError(f"{corpus.name} is synthetic and takes no path, got {path!r}.")
        return corpus.load(**options)
    places = corpus.places() if path is None else [Path(path)]
    found = find(corpus.name) if path is None else places[0]
    if found is None or not (found.is_file() or corpus.is_in(found)):
        how = f"Fetch it with: labelkin corpus fetch {corpus.name}."
        raise CorpusNotFound(
            f"{corpus.name} must have {' or '.join(corpus.signs)}, and "
            f"{' and '.join(map(str, places))} does not contain it. "
            f"{how if corpus.files else corpus.by_hand} If it is elsewhere, pass its folder as "
            "path."
        )
    return replace(corpus.load(found, **options), name=corpus.name)


_FORMATS = (
    "JSON (.json, .jsonl), a table (.csv, .tsv), Annif's corpora, a folder of such files, ARFF of "
    "MULAN (a folder with .xml) or MEKA, LIBSVM's multilabel format (.svm), the format of the "
    "extreme-classification repository (.txt), or a folder of Reuters-21578, Ohsumed or RCV1"
)
_TEXTS = "corpus:read_texts"
_FILE_READERS = {
    **dict.fromkeys(ENDINGS, _TEXTS),
    ".arff": "arff:read_arff",
    ".svm": "vectors:read_libsvm",
    ".libsvm": "vectors:read_libsvm",
}
_FOLDER_READERS = {
    "*.sgm": "published.texts:read_reuters21578",
    "lyrl2004_*": "published.rcv1:read_rcv1",
    "*.arff": "arff:read_arff",
    "training": "published.texts:read_ohsumed",
    "*/training": "published.texts:read_ohsumed",
}


def text_format(path: Path) -> Format | None:
    """Return the format of texts with labels at a path; ``None``: another format."""
    if _recognised(path) != _TEXTS:
        return None
    return format_of(path) if path.is_file() else None


def _reader_of(name: str | os.PathLike[str], *, alone: bool) -> str:
    """Return the function that reads a file or folder, alone or together with others."""
    if not alone and name in KNOWN:
        raise ValueError(f"Several files are read as one corpus, and {name!r} is one by itself.")
    check_there(name)
    path = Path(name)
    reader = _recognised(path)
    if reader is None:
        next(decoded_lines(path, None), None) if path.is_file() else None  # raises if binary
        raise ValueError(f"{path} must be a corpus in a known format: {_FORMATS}.")
    if reader != _TEXTS and not alone:
        raise ValueError(
            f"Several files are read as one corpus if they are texts, and {path} is not. Read it "
            "alone."
        )
    return reader


def _recognised(path: Path) -> str | None:
    """Return the reader of a path by its name, its files or its first line."""
    if path.is_dir():
        found = (reader for sign, reader in _FOLDER_READERS.items() if any(path.glob(sign)))
        has_texts = any(any(path.glob(sign)) for sign in ("*.txt", "train/*.txt"))
        is_read = has_texts or any(ending_of(file) in ENDINGS for file in path.glob("**/*"))
        return next(found, _TEXTS if is_read else None)
    if ending_of(path) != ".txt":
        return _FILE_READERS.get(ending_of(path))
    if resolve_name("labelkin.corpora.vectors:is_extreme")(path):
        return "vectors:read_extreme"
    return None if format_of(path) == "text" else _TEXTS
