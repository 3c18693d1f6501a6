"""A corpus by name, from where it lies, or by the path of a file or folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.known import KNOWN, KnownCorpus, Reader, known_corpus, lazy_reader
from labelkin.corpora.lines import decoded_lines
from labelkin.corpora.sparse_text import HEADER, read_extreme


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


FORMATS = (
    "JSON lines (.jsonl), a table (.csv, .tsv), Annif's corpora (.tsv, .csv, a folder of .txt with "
    ".tsv or .key), ARFF of MULAN (a folder with .xml) or MEKA (.arff), LIBSVM's multilabel "
    "format (.svm), the extreme-classification repository's format (.txt that begins with three "
    "numbers), or a folder of Reuters-21578, Ohsumed or RCV1"
)


def reader_of(path: Path) -> Reader:
    """Return the function that reads a file or folder, by its name and its first lines."""
    reader = _folder_reader(path) if path.is_dir() else _file_reader(path)
    if reader is None:
        raise ValueError(f"{path} must be a corpus in a known format, and is none: {FORMATS}.")
    return reader


def _file_reader(path: Path) -> Reader | None:
    name = path.name.lower()
    if name.endswith((".tar.gz", ".tgz")):
        return lazy_reader("ohsumed.read_ohsumed")
    suffix = Path(name.removesuffix(".gz")).suffix
    choose = FILE_READERS.get(suffix)
    return choose(path) if choose else None


def _folder_reader(folder: Path) -> Reader | None:
    for sign, reader in FOLDER_READERS:
        if any(folder.glob(sign)):
            return reader
    if _extreme_files(folder):
        return _read_extreme_folder
    has_texts = any(folder.glob("*.txt")) or any(folder.glob("train/*.txt"))
    return lazy_reader("documents.read_annif_folder") if has_texts else None


def _table_reader(path: Path) -> Reader:
    """Tell Annif's tables, which have URIs in angle brackets, from others."""
    first = _first_line(path)
    if re.search(r"\t\s*<[^<>\s]+>", first):
        return lazy_reader("documents.read_annif_tsv")
    if re.search(r"\bsubject_uris\b", first):
        return lazy_reader("documents.read_annif_csv")
    return lazy_reader("documents.read_table")


def _arff_reader(path: Path) -> Reader:
    """Tell MEKA's files, with ``-C`` in the relation, from MULAN's, with an XML file beside."""
    lines = islice(decoded_lines(path, "latin-1"), 100)
    relation = next((line for line in lines if line.strip().lower().startswith("@relation")), "")
    if "-C" in relation or not any(path.parent.glob("*.xml")):
        return lazy_reader("arff.read_meka")
    return lambda file, **options: lazy_reader("arff.read_mulan")(file.parent, **options)


def _extreme_reader(path: Path) -> Reader | None:
    return read_extreme if HEADER.fullmatch(_first_line(path)) else None


def _extreme_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.txt*")) if _extreme_reader(path)]


def _read_extreme_folder(folder: Path, **options: Any) -> Corpus:
    files = _extreme_files(folder)
    train = [path for path in files if re.search("train|trn", path.name.lower())]
    test = [path for path in files if re.search("test|tst", path.name.lower())]
    if len(train) != 1 or len(test) > 1:
        raise ValueError(
            f"{folder.name} must have one file of training documents and at most one of test "
            f"documents, called so, got {', '.join(path.name for path in files)}. Name them: "
            "labelkin.corpora.sparse_text.read_extreme(train, test)."
        )
    return read_extreme(train[0], *test, **{"name": folder.name, **options})


def _first_line(path: Path) -> str:
    # Whatever the encoding is, the signs looked for are ASCII, and latin-1 takes every byte.
    return next(decoded_lines(path, "latin-1"), "")


FILE_READERS: dict[str, Callable[[Path], Reader | None]] = {
    ".jsonl": lambda _: lazy_reader("documents.read_jsonl"),
    ".ndjson": lambda _: lazy_reader("documents.read_jsonl"),
    ".csv": _table_reader,
    ".tsv": _table_reader,
    ".tab": _table_reader,
    ".arff": _arff_reader,
    ".svm": lambda _: lazy_reader("sparse_text.read_libsvm"),
    ".libsvm": lambda _: lazy_reader("sparse_text.read_libsvm"),
    ".txt": _extreme_reader,
}
FOLDER_READERS: tuple[tuple[str, Reader], ...] = (
    ("*.sgm", lazy_reader("reuters21578.read_reuters21578")),
    ("lyrl2004_*", lazy_reader("rcv1.read_rcv1")),
    ("*.arff", lazy_reader("arff.read_mulan")),
    ("training", lazy_reader("ohsumed.read_ohsumed")),
    ("*/training", lazy_reader("ohsumed.read_ohsumed")),
)
