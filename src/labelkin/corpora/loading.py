"""A corpus by name, from where it lies, or by the path of a file or folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.documents import format_of
from labelkin.corpora.known import KNOWN, KnownCorpus, Reader, known_corpus, lazy_reader
from labelkin.corpora.lines import decoded_lines
from labelkin.corpora.sparse_text import is_extreme


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
        return _reader_of(Path(name))(Path(name), **options)
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
    """Return whether a name is a path, no misspelt name: paths have folders or an ending."""
    return not isinstance(name, str) or os.sep in name or bool(Path(name).suffix)


_FORMATS = (
    "JSON lines (.jsonl), a table (.csv, .tsv), Annif's corpora (.tsv, .csv, a folder of .txt with "
    ".tsv or .key), ARFF of MULAN (a folder with .xml) or MEKA (.arff), LIBSVM's multilabel "
    "format (.svm), the extreme-classification repository's format (.txt that begins with three "
    "numbers), or a folder of Reuters-21578, Ohsumed or RCV1"
)
_TABLE_READERS = {"annif_tsv": "read_annif_tsv", "annif_csv": "read_annif_csv"}
_FILE_READERS = {
    ".jsonl": "text_corpora.read_jsonl",
    ".ndjson": "text_corpora.read_jsonl",
    ".svm": "sparse_text.read_libsvm",
    ".libsvm": "sparse_text.read_libsvm",
}
_FOLDER_READERS = {
    "*.sgm": "reuters21578.read_reuters21578",
    "lyrl2004_*": "rcv1.read_rcv1",
    "*.arff": "arff.read_mulan",
    "training": "ohsumed.read_ohsumed",
    "*/training": "ohsumed.read_ohsumed",
}


def _reader_of(path: Path) -> Reader:
    """Return the function that reads a file or folder, by its name and its first lines."""
    reader = _folder_reader(path) if path.is_dir() else _file_reader(path)
    if reader is None:
        raise ValueError(f"{path} must be a corpus in a known format, and is none: {_FORMATS}.")
    return reader


def _file_reader(path: Path) -> Reader | None:
    name = path.name.lower()
    if name.endswith((".tar.gz", ".tgz")):
        return lazy_reader("ohsumed.read_ohsumed")
    match ending := Path(name.removesuffix(".gz")).suffix:
        case ".csv" | ".tsv" | ".tab":
            return lazy_reader(f"text_corpora.{_TABLE_READERS.get(format_of(path), 'read_table')}")
        case ".arff":
            return _arff_reader(path)
        case ".txt":
            return lazy_reader("sparse_text.read_extreme") if is_extreme(path) else None
    return lazy_reader(_FILE_READERS[ending]) if ending in _FILE_READERS else None


def _arff_reader(path: Path) -> Reader:
    """MEKA's files have ``-C`` in the relation, MULAN's an XML file beside them."""
    lines = islice(decoded_lines(path, "latin-1"), 100)
    relation = next((line for line in lines if line.strip().lower().startswith("@relation")), "")
    if "-C" in relation or not any(path.parent.glob("*.xml")):
        return lazy_reader("arff.read_meka")
    return lambda file, **options: lazy_reader("arff.read_mulan")(file.parent, **options)


def _folder_reader(folder: Path) -> Reader | None:
    for sign, reader in _FOLDER_READERS.items():
        if any(folder.glob(sign)):
            return lazy_reader(reader)
    if any(is_extreme(path) for path in folder.glob("*.txt*")):
        return lazy_reader("sparse_text.read_extreme_folder")
    has_texts = any(folder.glob("*.txt")) or any(folder.glob("train/*.txt"))
    return lazy_reader("text_corpora.read_annif_folder") if has_texts else None
