"""Reuters-21578, Distribution 1.0: the three splits that its README defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.reuters_sgml import Story, iter_stories
from labelkin.label_matrix import read_labels

Split = Literal["modapte", "modlewis", "modhayes"]
Field = Literal["text", "title", "body"]

#: How many documents the distribution has, in its 22 files.
N_DOCUMENTS = 21_578


def read_reuters21578(
    folder: str | PathLike[str],
    *,
    split: Split = "modapte",
    field: Field = "text",
    complete: bool = True,
) -> Corpus:
    """Read Reuters-21578 from the folder of its ``*.sgm`` files.

    Documents are those of the split, in the order of the files; their ``ids`` are the ``NEWID``.
    Labels are the topics that occur in both parts (90 for ModApte), in alphabetical order;
    documents that carry none of them stay, with an empty label set.

    Parameters
    ----------
    folder
        Where ``reut2-000.sgm`` to ``reut2-021.sgm`` are.
    split
        Section VIII of the README: ``"modapte"`` (9,603 training and 3,299 test documents),
        ``"modlewis"`` (13,625 and 6,188) or ``"modhayes"`` (20,856 and 722).
    field
        What the documents are: title and body, or one of the two. The same documents in the same
        order whichever it is, so that titles can be features of their own.
    complete
        Whether any number of documents but 21,578 is an error. ``False`` reads some of the files.
    """
    _check_choice("split", split, tuple(_PARTS))
    _check_choice("field", field, ("text", "title", "body"))
    paths = sorted(Path(folder).glob("*.sgm"))
    if not paths:
        raise FileNotFoundError(f"{folder} must have the files reut2-000.sgm …, and has no *.sgm.")
    stories = list(iter_stories(paths))
    if complete and len(stories) != N_DOCUMENTS:
        raise ValueError(
            f"Reuters-21578 has {N_DOCUMENTS} documents in 22 files, got {len(stories)} in "
            f"{len(paths)} files: {folder} is incomplete. complete=False reads what is there."
        )
    return _corpus(stories, split, field)


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def _corpus(stories: Sequence[Story], split: Split, field: Field) -> Corpus:
    parts = [_PARTS[split](story.attributes) for story in stories]
    used = [story for story, part in zip(stories, parts, strict=True) if part]
    is_train = np.array([part == "train" for part in parts if part], dtype=bool)
    names = sorted(_topics(used, is_train) & _topics(used, ~is_train))
    if not names:
        raise ValueError(
            f"The split {split!r} must have topics with both a training and a test document, got "
            f"none among {is_train.sum()} training and {(~is_train).sum()} test documents."
        )
    documents = np.empty(len(used), dtype=object)
    documents[:] = [getattr(story, field) for story in used]
    return Corpus(
        name="reuters21578",
        documents=documents,
        Y=read_labels([story.topics & set(names) for story in used], names=names),
        train=np.flatnonzero(is_train),
        test=np.flatnonzero(~is_train),
        ids=np.array([story.newid for story in used]),
        source="Reuters-21578, Distribution 1.0, "
        "http://www.daviddlewis.com/resources/testcollections/reuters21578/",
        licence="copyright of Reuters, for research use only: see the README of the corpus",
    )


def _topics(stories: Sequence[Story], chosen: NDArray[np.bool_]) -> set[str]:
    return {
        topic for story, its in zip(stories, chosen, strict=True) if its for topic in story.topics
    }


def _modapte(attributes: Mapping[str, str]) -> str | None:
    return _LEWIS.get(attributes["LEWISSPLIT"]) if attributes["TOPICS"] == "YES" else None


def _modlewis(attributes: Mapping[str, str]) -> str | None:
    return _LEWIS.get(attributes["LEWISSPLIT"]) if attributes["TOPICS"] != "BYPASS" else None


def _modhayes(attributes: Mapping[str, str]) -> str | None:
    return "train" if attributes["CGISPLIT"] == "TRAINING-SET" else "test"


#: ``LEWISSPLIT`` → part; documents that are ``NOT-USED`` belong to none.
_LEWIS = {"TRAIN": "train", "TEST": "test"}
_PARTS: dict[str, Callable[[Mapping[str, str]], str | None]] = {
    "modapte": _modapte,
    "modlewis": _modlewis,
    "modhayes": _modhayes,
}
