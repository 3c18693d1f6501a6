"""Documents as files list them, one after the other, and the corpus they make together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus
from labelkin.label_matrix import LabelMatrix, read_labels

SPLITS = ("train", "test")
Item = TypeVar("Item")


class LabelledDocument(NamedTuple):
    """One document of a file.

    Attributes
    ----------
    text, labels
        Its text and its label set; both may be empty.
    id, split
        Its own name, and ``"train"`` or ``"test"``, where the file tells.
    place
        Where it stands, for messages: file and line.
    """

    text: str
    labels: tuple[str, ...]
    id: str | None = None
    split: str | None = None
    place: str = ""


def in_blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of ``size``, the last one maybe shorter."""
    if size < 1:
        raise ValueError(f"block must be at least 1, got {size!r}.")
    rest = iter(items)
    while block := list(islice(rest, size)):
        yield block


def read_split(value: Any, place: str) -> str | None:
    """Return a document's split; nothing at all or an empty value is no split."""
    if value in (None, ""):
        return None
    if value not in SPLITS:
        raise ValueError(f"{place}: split must be 'train' or 'test', got {value!r}.")
    return str(value)


def corpus_of(
    documents: Iterable[LabelledDocument], *, path: Path, name: str | None = None
) -> Corpus:
    """Gather the documents of a file or folder into a corpus.

    The labels are sorted by name. Documents without a split are for training, and the test part is
    empty, unless some of the documents have one: then all need one.
    """
    kept = list(documents)
    if not kept:
        raise ValueError(f"{path.name}: a corpus must have documents, got none.")
    if not any(document.labels for document in kept):
        raise ValueError(
            f"{path.name}: a corpus must have labels, got none in {len(kept)} documents."
        )
    _refuse_repeated_ids(kept)
    train, test = _parts(kept)
    return Corpus(
        name=name or stem_of(path),
        documents=_objects([document.text for document in kept]),
        Y=_label_matrix([set(document.labels) for document in kept]),
        train=train,
        test=test,
        ids=None if kept[0].id is None else _objects([document.id for document in kept]),
        source=str(path),
        licence="not stated in the file",
    )


def stem_of(path: Path) -> str:
    """Return a file's name without ``.gz`` and what comes before it, ``news`` of ``news.csv.gz``.

    Examples
    --------
    >>> stem_of(Path("corpora/news.csv.gz"))
    'news'
    """
    name = path.name.removesuffix(".gz")
    return Path(name).stem or name


def _refuse_repeated_ids(documents: Sequence[LabelledDocument]) -> None:
    first: dict[str, str] = {}
    for document in documents:
        if document.id is None:
            continue
        if document.id in first:
            raise ValueError(
                f"{document.place}: ids must be distinct, got {document.id!r} again, first in "
                f"{first[document.id]}."
            )
        first[document.id] = document.place


def _parts(
    documents: Sequence[LabelledDocument],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    without = [document.place for document in documents if document.split is None]
    if 0 < len(without) < len(documents):
        raise ValueError(
            f"{without[0]}: either every document must have a split or none, got {len(without)} of "
            f"{len(documents)} documents without. Give them 'train' or 'test', or leave them out."
        )
    is_test = np.array([document.split == "test" for document in documents])
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def _label_matrix(label_sets: Sequence[set[str]]) -> LabelMatrix:
    """Return what ``read_labels`` makes of the label sets, in one pass however many labels."""
    names = sorted(set().union(*label_sets))
    place = {name: j for j, name in enumerate(names)}
    columns = [place[name] for labels in label_sets for name in labels]
    rows = np.repeat(np.arange(len(label_sets)), [len(labels) for labels in label_sets])
    matrix = sparse.csr_array(
        (np.ones(len(columns)), (rows, columns)), shape=(len(label_sets), len(names))
    )
    return replace(read_labels(matrix, names=names), container="dense")


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    """Return values as an object array, which holds long and short texts alike."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
