"""Ohsumed-23: abstracts under 23 disease categories, as folders of files or as MEKA's ARFF."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path, PurePath

import numpy as np

from labelkin.corpora.arff import read_arff
from labelkin.corpora.corpus import Corpus, label_fields, object_array
from labelkin.label_matrix import read_labels

_SOURCE = "Ohsumed-23, http://disi.unitn.it/moschitti/corpora.htm"
_LICENCE = "MEDLINE abstracts of the OHSUMED collection, for research use, not for clinical use"

_WORDS = "OHSUMED-F.arff"
#: ``OHSUMED-F.arff``: the documents of the training folder come first.
N_TRAIN_ARFF, N_DOCUMENTS_ARFF = 6_286, 13_929


def read_ohsumed23(path: str | PathLike[str]) -> Corpus:
    """Read the full texts in a folder, else the 1,002 binary words."""
    path = Path(path)
    if (path / _WORDS).exists() and not any(path.glob("**/training")):
        path = path / _WORDS
    return read_ohsumed_arff(path) if path.suffix == ".arff" else read_ohsumed(path)


def read_ohsumed(path: str | PathLike[str]) -> Corpus:
    """Read Ohsumed in its original layout, ``training/C01/0000001`` and ``test/C01/0000001``.

    A file that stands in several category folders of a part is one document with several labels.
    Training documents come first; ``ids`` are ``"training/0000001"`` and the like, in order.

    Parameters
    ----------
    path : path
        A folder with ``training`` and ``test``, or with one folder of these.
    """
    texts, categories = _collect(Path(path))
    keys = sorted(texts, key=lambda key: (key[0] != "training", key))
    parts = np.array([part for part, _ in keys])
    if set(parts.tolist()) != {"training", "test"}:
        raise ValueError(
            f"{path} must have files such as training/C01/0000001 and test/C01/0000001, got "
            f"{(parts == 'training').sum()} training and {(parts == 'test').sum()} test documents."
        )
    return Corpus(
        name="ohsumed",
        documents=object_array([texts[key] for key in keys]),
        **label_fields(read_labels([categories[key] for key in keys])),
        train=np.flatnonzero(parts == "training"),
        test=np.flatnonzero(parts == "test"),
        ids=np.array([f"{part}/{name}" for part, name in keys]),
        source=_SOURCE,
        licence=_LICENCE,
    )


def read_ohsumed_arff(path: str | PathLike[str]) -> Corpus:
    """Read ``OHSUMED-F.arff``: Ohsumed-23 as 1,002 words that occur (1) or do not (0).

    The first 6,286 documents are the published training set, in spite of the header of the file.

    Parameters
    ----------
    path : path
        The file, maybe packed.
    """
    corpus = read_arff(path)
    n_documents = corpus.Y.shape[0]
    if n_documents != N_DOCUMENTS_ARFF:
        raise ValueError(
            f"Ohsumed-23 has {N_DOCUMENTS_ARFF} documents, got {n_documents} in "
            f"{Path(path).name}. Is the file cut off?"
        )
    positions = np.arange(n_documents)
    return replace(
        corpus,
        name="ohsumed-f",
        train=positions[:N_TRAIN_ARFF],
        test=positions[N_TRAIN_ARFF:],
        source=f"{_SOURCE}; as 1,002 words in MEKA's format",
        licence=_LICENCE,
    )


_Key = tuple[str, str]


def _collect(path: Path) -> tuple[dict[_Key, str], dict[_Key, set[str]]]:
    """Return texts and categories of the documents, by part and file name."""
    texts: dict[_Key, str] = {}
    categories: dict[_Key, set[str]] = {}
    tops: set[str] = set()
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path)
        if not _is_document(name) or not file.is_file():
            continue
        *top, part, category, number = name.parts
        tops.add("/".join(top) or ".")
        text = file.read_text(encoding="latin-1").strip()
        if texts.setdefault((part, number), text) != text:
            raise ValueError(
                f"{name}: a file that stands in several categories must have the same text in "
                f"all, and differs from the one in {min(categories[part, number])}."
            )
        categories.setdefault((part, number), set()).add(category)
    if len(tops) > 1:
        shown = ", ".join(sorted(tops))
        raise ValueError(f"{path} must hold one corpus, got training and test in {shown}.")
    return texts, categories


def _is_document(name: PurePath) -> bool:
    """Return whether a file is a document, no hidden file and nothing else that lies about."""
    in_part = len(name.parts) >= 3 and name.parts[-3] in ("training", "test")
    return in_part and not name.name.startswith(".")
