"""JSON lines: one document per line, with ``id``, ``text``, ``labels`` and maybe ``split``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.decoded_lines import decoded_lines
from labelkin.corpora.labelled_documents import (
    LabelledDocument,
    corpus_of,
    in_blocks,
    read_split,
)

KEYS = ("id", "text", "labels")


def iter_jsonl(
    path: str | os.PathLike[str], *, block: int = 1000, encoding: str = "utf-8"
) -> Iterator[list[LabelledDocument]]:
    """Read documents from JSON lines, a block at a time, however large the file is.

    Every line is an object with ``"id"`` (text or whole number), ``"text"``, ``"labels"`` (a list
    of texts, which may be empty) and maybe ``"split"``, ``"train"`` or ``"test"``. Other keys and
    blank lines are passed over.

    Parameters
    ----------
    path
        The file; gzip is unpacked.
    block
        Documents per block. Repeated ids are found by :func:`read_jsonl` only, which sees them all.
    encoding
        Bytes that are not of it are an error that tells their offset.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "tea.jsonl"
    >>> _ = file.write_text('{"id": "1", "text": "Tea, please.", "labels": ["tea"]}')
    >>> [[document.text for document in block] for block in iter_jsonl(file)]
    [['Tea, please.']]
    >>> folder.cleanup()
    """
    return in_blocks(_documents(Path(path), encoding), block)


def read_jsonl(
    path: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read a corpus from JSON lines; :func:`iter_jsonl` tells the format.

    A file without ``"split"`` is all for training.
    """
    return corpus_of(_documents(Path(path), encoding), path=Path(path), name=name)


def _documents(path: Path, encoding: str) -> Iterator[LabelledDocument]:
    for number, line in enumerate(decoded_lines(path, encoding), start=1):
        if line.strip():
            place = f"{path.name}, line {number}"
            yield _document(_read_object(line, place), place)


def _read_object(line: str, place: str) -> dict[str, Any]:
    wanted = f"{place}: a line must be one JSON object"
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        start = line.strip()[:60]
        raise ValueError(
            f"{wanted}, got {start!r} … ({error.msg}, column {error.colno}). Is the file cut off?"
        ) from None
    if not isinstance(found, dict):
        raise ValueError(f"{wanted}, got {type(found).__name__} {line.strip()[:60]!r}.")
    missing = [key for key in KEYS if key not in found]
    if missing:
        raise ValueError(f"{wanted} with 'id', 'text' and 'labels', got no {_listed(missing)} "
                         f"among its keys {_listed(found) or '(none)'}.")  # fmt: skip
    return found


def _document(found: dict[str, Any], place: str) -> LabelledDocument:
    ident, text, labels = (found[key] for key in KEYS)
    if isinstance(ident, bool) or not isinstance(ident, str | int):
        raise ValueError(f"{place}: id must be text or a whole number, got {ident!r}.")
    if not isinstance(text, str):
        raise ValueError(f"{place}: text must be text, got {text!r}.")
    if not isinstance(labels, list) or not all(isinstance(x, str) and x for x in labels):
        raise ValueError(
            f"{place}: labels must be a list of texts that are not empty, got {labels!r}."
        )
    return LabelledDocument(
        text, tuple(labels), str(ident), read_split(found.get("split"), place), place
    )


def _listed(keys: Any) -> str:
    return ", ".join(repr(key) for key in keys)
