"""The table of known corpora: what they are, where their official homes are, who reads them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkin.corpora.corpus import Corpus

Reader = Callable[..., "Corpus"]


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A file at an official home, and what is known of it.

    A size or a checksum stands here only if a source that can be cited gives it.

    Attributes
    ----------
    name : str
        What it is called here.
    urls : tuple of str
        Where it is, the official home first; the others are tried in order.
    size, sha256 : int or None, str or None, default=None
        Of the complete file, where a source gives them, …
    vouched_by : str, default=""
        … and that source.
    """

    name: str
    urls: tuple[str, ...]
    size: int | None = None
    sha256: str | None = None
    vouched_by: str = ""


@dataclass(frozen=True, kw_only=True)
class KnownCorpus:
    """A corpus known by name.

    Attributes
    ----------
    name, title : str
        What :func:`labelkin.corpora.load` knows it by, and what it is.
    home, licence : str
        Where it officially is, and what may be done with it.
    read : callable
        Makes the corpus of a folder (a made corpus: of nothing).
    folder : str, default=""
        Where it lies under a data folder; empty for a corpus that is made, not read.
    signs : tuple of str, default=()
        Patterns of files: where one matches, the corpus is in a folder.
    files : tuple of RemoteFile, default=()
        What can be fetched; empty where there is no official home to fetch from.
    unpack : bool, default=False
        Whether the files are archives to unpack beside themselves.
    by_hand : str, default=""
        What is left to do after the download, or to do in its place.

    Examples
    --------
    >>> from labelkin.corpora import KNOWN
    >>> KNOWN["emotions"].title
    'Emotions: 593 pieces of music, 72 features, 6 labels'
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
        """Return whether the corpus, or a part of it, is in a folder."""
        return any(next(folder.glob(sign), None) is not None for sign in self.signs)

    def places(self) -> list[Path]:
        """Return where the corpus is looked for, in this order.

        ``$LABELKIN_DATA`` if it is set, then the user's own data folder.
        """
        shared = os.environ.get("LABELKIN_DATA")
        user = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        homes = [*([Path(shared)] if shared else []), Path(user) / "labelkin"]
        return [home / self.folder for home in homes]


def known_corpus(name: str) -> KnownCorpus:
    """Return what is known of a corpus."""
    if name not in KNOWN:
        known = ", ".join(repr(known) for known in KNOWN)
        raise ValueError(
            f"name must be a known corpus, got {name!r}. Known corpora: {known}. A corpus of your "
            "own is loaded by the path of its file or folder."
        )
    return KNOWN[name]


def lazy_reader(place: str) -> Reader:
    """Return a reader, ``"module.function"`` of this package, without importing its module yet.

    So the tables of readers are cheap, and one that cannot be imported breaks nothing but itself.

    Examples
    --------
    >>> lazy_reader("made_newsroom.newsroom")(60).Y.shape
    (60, 38)
    """
    module, _, function = place.partition(".")

    def read(*places: Any, **options: Any) -> Corpus:
        corpus: Corpus = getattr(import_module(f"labelkin.corpora.{module}"), function)(
            *places, **options
        )
        return corpus

    return read


def _read_ohsumed23(path: Path, **options: Any) -> Corpus:
    """Read full texts where they are, else their 1,002 binary words."""
    texts, words = lazy_reader("ohsumed.read_ohsumed"), lazy_reader("ohsumed.read_ohsumed_arff")
    if path.suffix == ".arff":
        return words(path, **options)
    if (path / _OHSUMED_FILE.name).exists():
        return texts(path / _OHSUMED_FILE.name, **options)
    if (path / _OHSUMED_WORDS).exists() and not any(path.glob("**/training")):
        return words(path / _OHSUMED_WORDS, **options)
    return texts(path, **options)


def _read_genbase(folder: Path, **options: Any) -> Corpus:
    """Read genbase, whose attribute ``protein`` is the documents' name, whatever its folder."""
    return lazy_reader("arff.read_mulan")(folder, **{"ids": "protein", **options})


def _read_rcv1_sample(path: Path) -> Corpus:
    return lazy_reader("rcv1.read_rcv1_sample")(path if path.is_file() else path / _RCV1_SAMPLE)


def _rcv1_file(path: str, figshare: int, sha256: str) -> RemoteFile:
    """Describe a file of the article's online appendix; scikit-learn has a copy at figshare."""
    return RemoteFile(
        name=path.rsplit("/", maxsplit=1)[-1],
        urls=(
            f"http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/{path}",
            f"https://ndownloader.figshare.com/files/{figshare}",
        ),
        sha256=sha256,
        vouched_by="scikit-learn 1.9, sklearn/datasets/_rcv1.py, of its copy",
    )


def _mulan(name: str, title: str, read: Reader | None = None) -> KnownCorpus:
    """Describe a corpus of MULAN's collection, which packs each with rar."""
    address = f"https://sourceforge.net/projects/mulan/files/datasets/{name}.rar/download"
    return KnownCorpus(
        name=name,
        title=title,
        home=_MULAN_HOME,
        licence="none stated by MULAN; cite the authors whom its page names",
        read=read or lazy_reader("arff.read_mulan"),
        folder=f"mulan/{name}",
        signs=("*.arff",),
        files=(RemoteFile(name=f"{name}.rar", urls=(address,)),),
        by_hand=f"Unpack {name}.rar there (unrar, 7z and bsdtar can, Python cannot), so that the "
        f"folder has {name}.xml, {name}-train.arff and {name}-test.arff.",
    )


_MULAN_HOME = "http://mulan.sourceforge.net/datasets-mlc.html"
_REUTERS_HOME = "http://www.daviddlewis.com/resources/testcollections/reuters21578/"
_OHSUMED_WORDS = "OHSUMED-F.arff"
_OHSUMED_FILE = RemoteFile(
    name="ohsumed-first-20000-docs.tar.gz",
    urls=("http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",),
)
_RCV1_SAMPLE = "rcv1-sample-30000.svm.gz"

_CORPORA = (
    KnownCorpus(
        name="newsroom",
        title="Newsroom: 3,000 made news texts with 38 labels, whose true probabilities are known",
        home="labelkin.corpora.newsroom",
        licence="BSD-3-Clause",
        read=lazy_reader("made_newsroom.newsroom"),
        by_hand="Nothing: it is made when it is loaded.",
    ),
    KnownCorpus(
        name="reuters21578",
        title="Reuters-21578, Distribution 1.0: newswire of 1987, 90 labels in the ModApte split",
        home=_REUTERS_HOME,
        licence="copyright of Reuters Ltd.; free for research purposes only",
        read=lazy_reader("reuters21578.read_reuters21578"),
        folder="reuters21578",
        signs=("reut2-*.sgm",),
        files=(
            RemoteFile(
                name="reuters21578.tar.gz",
                # Lewis' page calls the copies at UCI identical and asks to take those.
                urls=(
                    "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
                    "https://archive.ics.uci.edu/ml/machine-learning-databases/reuters21578-mld/"
                    "reuters21578.tar.gz",
                    f"{_REUTERS_HOME}reuters21578.tar.gz",
                ),
                size=8_150_596,
                sha256="3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
                vouched_by="github.com/huggingface/datasets, "
                "datasets/reuters21578/dataset_infos.json",
            ),
        ),
        unpack=True,
    ),
    KnownCorpus(
        name="ohsumed23",
        title="Ohsumed-23: 13,929 MEDLINE abstracts of 1991 with 23 disease categories",
        home="http://disi.unitn.it/moschitti/corpora.htm",
        licence="of the National Library of Medicine, for experiments only: not for clinical use, "
        "and users must be told that the data is incomplete and out of date",
        read=_read_ohsumed23,
        folder="ohsumed",
        signs=(_OHSUMED_FILE.name, "training", "*/training", _OHSUMED_WORDS),
        files=(_OHSUMED_FILE,),
    ),
    KnownCorpus(
        name="rcv1",
        title="RCV1-v2, LYRL2004: 804,414 newswire stories of 1996 and 1997 with 103 topics",
        home="http://www.jmlr.org/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm",
        licence="term vectors of texts that are copyright of Reuters Ltd., for research",
        read=lazy_reader("rcv1.read_rcv1"),
        folder="rcv1",
        signs=("lyrl2004_*_train.dat*",),
        files=(
            _rcv1_file(
                "a13-vector-files/lyrl2004_vectors_train.dat.gz",
                5976057,
                "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
            ),
            _rcv1_file(
                "a13-vector-files/lyrl2004_vectors_test_pt0.dat.gz",
                5976069,
                "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374",
            ),
            _rcv1_file(
                "a13-vector-files/lyrl2004_vectors_test_pt1.dat.gz",
                5976066,
                "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6",
            ),
            _rcv1_file(
                "a13-vector-files/lyrl2004_vectors_test_pt2.dat.gz",
                5976063,
                "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5",
            ),
            _rcv1_file(
                "a13-vector-files/lyrl2004_vectors_test_pt3.dat.gz",
                5976060,
                "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39",
            ),
            _rcv1_file(
                "a08-topic-qrels/rcv1-v2.topics.qrels.gz",
                5976048,
                "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
            ),
        ),
    ),
    KnownCorpus(
        name="rcv1-sample",
        title="RCV1 sample: 30,000 stories as vectors with 102 topics, the labels repaired",
        home="https://github.com/fcharte/mldr.datasets",
        licence="LGPL-3.0-or-later, as its source; texts are copyright of Reuters Ltd.",
        read=_read_rcv1_sample,
        folder="rcv1",
        signs=(_RCV1_SAMPLE,),
        by_hand=f"It has no official home. Put {_RCV1_SAMPLE} into the folder rcv1 of "
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
        f"folder mulan/tmc2007-500 of $LABELKIN_DATA. See tmc2007 at {_MULAN_HOME}.",
    ),
    _mulan("delicious", "Delicious: 16,105 web pages, 500 words, 983 tags"),
)
KNOWN: Mapping[str, KnownCorpus] = MappingProxyType({corpus.name: corpus for corpus in _CORPORA})
"""The known corpora by name."""
