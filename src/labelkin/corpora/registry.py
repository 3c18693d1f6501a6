"""The table of known corpora: what they are, where their official homes are, who reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.download import RemoteFile
from labelkin.corpora.lazy_reader import Reader, lazy_reader
from labelkin.corpora.official_files import (
    MULAN_HOME,
    OHSUMED_FILE,
    OHSUMED_HOME,
    RCV1_FILES,
    RCV1_HOME,
    REUTERS_FILE,
    REUTERS_HOME,
    mulan_file,
)

OHSUMED_WORDS = "OHSUMED-F.arff"
RCV1_SAMPLE = "rcv1-sample-30000.svm.gz"


@dataclass(frozen=True, kw_only=True)
class KnownCorpus:
    """A corpus known by name.

    Attributes
    ----------
    name, title
        What :func:`labelkin.corpora.load` knows it by, and what it is.
    home, licence
        Where it officially is, and what may be done with it.
    read
        Makes the corpus of a folder (a made corpus: of nothing).
    folder
        Where it lies under a data folder; empty for a corpus that is made, not read.
    signs
        Patterns of files: one that matches tells that the corpus is in a folder.
    files
        What can be fetched; empty where there is no official home to fetch from.
    unpack
        Whether the files are archives to unpack beside themselves.
    by_hand
        What is left to do after the download, or to do in its place.
    """

    name: str
    title: str
    home: str
    licence: str
    read: Reader
    folder: str = ""
    signs: tuple[str, ...] = ()
    files: tuple[RemoteFile, ...] = ()
    unpack: bool = False
    by_hand: str = ""

    def is_in(self, folder: Path) -> bool:
        """Tell whether the corpus, or a part of it, is in a folder."""
        return any(next(folder.glob(sign), None) is not None for sign in self.signs)

    def places(self) -> list[Path]:
        """Return where the corpus is looked for, in this order."""
        return [home / self.folder for home in data_homes()]


def data_homes() -> list[Path]:
    """Return the data folders: ``$LABELKIN_DATA`` if it is set, then the user's own."""
    shared = os.environ.get("LABELKIN_DATA")
    user = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return [*([Path(shared)] if shared else []), Path(user) / "labelkin"]


def known_corpus(name: str) -> KnownCorpus:
    """Return what is known of a corpus."""
    if name not in KNOWN:
        known = ", ".join(repr(known) for known in KNOWN)
        raise ValueError(
            f"name must be a known corpus, got {name!r}. Known corpora: {known}. A corpus of your "
            "own is loaded by the path of its file or folder."
        )
    return KNOWN[name]


def _read_ohsumed23(path: Path, **options: Any) -> Corpus:
    """Read full texts where they are, else their 1,002 binary words."""
    texts = lazy_reader("ohsumed", "read_ohsumed")
    words = lazy_reader("ohsumed", "read_ohsumed_arff")
    if path.suffix == ".arff":
        return words(path, **options)
    if (path / OHSUMED_FILE.name).exists():
        return texts(path / OHSUMED_FILE.name, **options)
    if (path / OHSUMED_WORDS).exists() and not any(path.glob("**/training")):
        return words(path / OHSUMED_WORDS, **options)
    return texts(path, **options)


def _read_genbase(folder: Path, **options: Any) -> Corpus:
    """Read genbase, whose attribute ``protein`` is the documents' name, whatever its folder."""
    return lazy_reader("arff", "read_mulan")(folder, **{"ids": "protein", **options})


def _read_rcv1_sample(path: Path) -> Corpus:
    file = path if path.is_file() else path / RCV1_SAMPLE
    return lazy_reader("rcv1", "read_rcv1_sample")(file)


def _mulan(name: str, title: str, read: Reader | None = None) -> KnownCorpus:
    """Describe a corpus of MULAN's collection, which packs each with rar."""
    return KnownCorpus(
        name=name,
        title=title,
        home=MULAN_HOME,
        licence="none stated by MULAN; cite the authors whom its page names",
        read=read or lazy_reader("arff", "read_mulan"),
        folder=f"mulan/{name}",
        signs=("*.arff",),
        files=(mulan_file(name),),
        by_hand=f"Unpack {name}.rar there (unrar, 7z and bsdtar can, Python cannot), so that the "
        f"folder has {name}.xml, {name}-train.arff and {name}-test.arff.",
    )


_CORPORA = (
    KnownCorpus(
        name="newsroom",
        title="Newsroom: 3,000 made news texts with 38 labels, whose true probabilities are known",
        home="labelkin.corpora.newsroom",
        licence="BSD-3-Clause",
        read=lazy_reader("newsroom", "newsroom"),
        by_hand="Nothing: it is made when it is loaded.",
    ),
    KnownCorpus(
        name="reuters21578",
        title="Reuters-21578, Distribution 1.0: newswire of 1987, 90 labels in the ModApte split",
        home=REUTERS_HOME,
        licence="copyright of Reuters Ltd.; free for research purposes only",
        read=lazy_reader("reuters21578", "read_reuters21578"),
        folder="reuters21578",
        signs=("reut2-*.sgm",),
        files=(REUTERS_FILE,),
        unpack=True,
    ),
    KnownCorpus(
        name="ohsumed23",
        title="Ohsumed-23: 13,929 MEDLINE abstracts of 1991 with 23 disease categories",
        home=OHSUMED_HOME,
        licence="of the National Library of Medicine, for experiments only: not for clinical use, "
        "and users must be told that the data is incomplete and out of date",
        read=_read_ohsumed23,
        folder="ohsumed",
        signs=(OHSUMED_FILE.name, "training", "*/training", OHSUMED_WORDS),
        files=(OHSUMED_FILE,),
    ),
    KnownCorpus(
        name="rcv1",
        title="RCV1-v2, LYRL2004: 804,414 newswire stories of 1996 and 1997 with 103 topics",
        home=RCV1_HOME,
        licence="term vectors of texts that are copyright of Reuters Ltd., for research",
        read=lazy_reader("rcv1", "read_rcv1"),
        folder="rcv1",
        signs=("lyrl2004_*_train.dat*",),
        files=RCV1_FILES,
    ),
    KnownCorpus(
        name="rcv1-sample",
        title="RCV1 sample: 30,000 stories as vectors with 102 topics, the labels repaired",
        home="https://github.com/fcharte/mldr.datasets",
        licence="LGPL-3.0-or-later, as its source; texts are copyright of Reuters Ltd.",
        read=_read_rcv1_sample,
        folder="rcv1",
        signs=(RCV1_SAMPLE,),
        by_hand=f"It has no official home. Put {RCV1_SAMPLE} into the folder rcv1 of "
        "$LABELKIN_DATA, or use rcv1.",
    ),
    _mulan("emotions", "Emotions: 593 pieces of music, 72 features, 6 labels"),
    _mulan("scene", "Scene: 2,407 pictures, 294 features, 6 labels"),
    _mulan("yeast", "Yeast: 2,417 genes, 103 features, 14 functions"),
    _mulan("genbase", "Genbase: 662 proteins, 1,185 features, 27 families", _read_genbase),
    _mulan("medical", "Medical: 978 radiology reports, 1,449 words, 45 codes"),
    _mulan("enron", "Enron: 1,702 e-mails, 1,001 words, 53 labels"),
    _mulan("bibtex", "Bibtex: 7,395 publications, 1,836 words, 159 tags"),
    replace(
        _mulan("tmc2007-500", "TMC2007-500: 28,596 flight reports, 500 words, 22 problems"),
        files=(),
        by_hand="Put tmc2007-500.xml, tmc2007-500-train.arff and tmc2007-500-test.arff into the "
        f"folder mulan/tmc2007-500 of $LABELKIN_DATA. See tmc2007 at {MULAN_HOME}.",
    ),
    _mulan("delicious", "Delicious: 16,105 web pages, 500 words, 983 tags"),
)
KNOWN: Mapping[str, KnownCorpus] = MappingProxyType({corpus.name: corpus for corpus in _CORPORA})
"""The known corpora by name."""
