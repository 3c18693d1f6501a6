"""Annif's corpora: short texts in TSV or CSV with subject URIs, full texts in a folder.

Formats: https://github.com/NatLibFi/Annif/wiki/Corpus-formats. The labels are the URIs (without the
angle brackets) or, in ``.key`` files, the names that the files hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.decoded_lines import decoded_lines
from labelkin.corpora.labelled_documents import LabelledDocument, corpus_of, in_blocks
from labelkin.corpora.tables import NEEDED, rows_of, table_documents

URI = re.compile(r"<([^<>\s]+)>|([^<>\s]+)")
CSV_COLUMNS = {"text": "text", "labels": "subject_uris", "id": "document_id"}
SUBJECT_FILES = (".tsv", ".key")


def iter_annif_tsv(
    path: str | os.PathLike[str], *, block: int = 1000, encoding: str = "utf-8"
) -> Iterator[list[LabelledDocument]]:
    """Read short texts, a block at a time: text, tab, URIs in angle brackets with blanks between.

    There is no header, and no ids. Gzip is unpacked; blank lines are passed over.
    """
    return in_blocks(_short_texts(Path(path), encoding, None), block)


def read_annif_tsv(
    path: str | os.PathLike[str],
    test: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    r"""Read a corpus of short texts; test documents may have a file of their own.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "drinks.tsv"
    >>> _ = file.write_text("Tea with sugar\t<http://example.org/tea> <http://example.org/sugar>")
    >>> read_annif_tsv(file).Y.names.tolist()
    ['http://example.org/sugar', 'http://example.org/tea']
    >>> folder.cleanup()
    """
    documents = _short_texts(Path(path), encoding, None if test is None else "train")
    if test is not None:
        documents = chain(documents, _short_texts(Path(test), encoding, "test"))
    return corpus_of(documents, path=Path(path), name=name)


def read_annif_csv(
    path: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read a corpus of short texts from CSV with ``text``, ``subject_uris``, maybe ``document_id``.

    The URIs stand in angle brackets with blanks between. Other columns are passed over. All
    documents are for training.
    """
    path = Path(path)
    rows = rows_of(path, encoding=encoding)
    documents = table_documents(path, rows, CSV_COLUMNS, needed=NEEDED, labels=_uris)
    return corpus_of(documents, path=path, name=name)


def read_annif_folder(
    folder: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read full texts: ``a.txt`` and beside it its labels, ``a.tsv`` or ``a.key``.

    A ``.tsv`` file has a URI in angle brackets and maybe a name per line, and the URI is the label;
    a ``.key`` file has a name per line. Where both are there ``.tsv`` counts, as in Annif. Folders
    ``train`` and ``test`` inside make the split; without them all documents are for training.
    """
    folder = Path(folder)
    parts = {split: folder / split for split in ("train", "test") if (folder / split).is_dir()}
    if not parts:
        return corpus_of(_full_texts(folder, encoding, None), path=folder, name=name)
    documents = (_full_texts(part, encoding, split) for split, part in parts.items())
    return corpus_of(chain.from_iterable(documents), path=folder, name=name)


def _short_texts(path: Path, encoding: str, split: str | None) -> Iterator[LabelledDocument]:
    for number, line in enumerate(decoded_lines(path, encoding), start=1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        text, tab, uris = line.rstrip("\r\n").partition("\t")
        if not tab:
            raise ValueError(
                f"{place}: a line must be a text, a tab and URIs, got no tab in {text[:60]!r}."
            )
        yield LabelledDocument(text, _uris(uris, place), None, split, place)


def _uris(cell: str, place: str) -> tuple[str, ...]:
    return tuple(_uri(word, place) for word in cell.split())


def _uri(word: str, place: str) -> str:
    match = URI.fullmatch(word)
    if not match:
        raise ValueError(
            f"{place}: labels must be URIs in angle brackets with blanks between, got {word!r}. "
            "Is the file cut off?"
        )
    return match[1] or match[2]


def _full_texts(folder: Path, encoding: str, split: str | None) -> Iterator[LabelledDocument]:
    texts = sorted(folder.glob("*.txt"))
    subjects = [_subject_file(text) for text in texts]
    _check_subject_files(folder, texts, subjects)
    for text, file in zip(texts, subjects, strict=True):
        assert file is not None
        # A document of either part may be called alike: the part is in the id.
        ident = text.stem if split is None else f"{split}/{text.stem}"
        content = "".join(decoded_lines(text, encoding))
        yield LabelledDocument(content, _subjects(file, encoding), ident, split, text.name)


def _subject_file(text: Path) -> Path | None:
    beside = (text.with_suffix(suffix) for suffix in SUBJECT_FILES)
    return next((file for file in beside if file.exists()), None)


def _check_subject_files(folder: Path, texts: list[Path], subjects: list[Path | None]) -> None:
    without = [text.name for text, file in zip(texts, subjects, strict=True) if file is None]
    if without:
        raise ValueError(
            f"{folder.name}: every text must have a .tsv or .key file beside it, got none for "
            f"{without[0]!r} ({len(without)} of {len(texts)} texts). A document without labels has "
            "an empty one."
        )
    kinds = {file.suffix for file in subjects if file is not None}
    if len(kinds) > 1:
        raise ValueError(
            f"{folder.name}: the labels must all be URIs (.tsv) or all be names (.key), got both: "
            "the same label would count as two."
        )


def _subjects(file: Path, encoding: str) -> tuple[str, ...]:
    lines = [line.strip() for line in decoded_lines(file, encoding)]
    if file.suffix == ".key":
        return tuple(line for line in lines if line)
    return tuple(
        _uri(line.split("\t")[0].strip(), f"{file.name}, line {number}")
        for number, line in enumerate(lines, start=1)
        if line
    )
