"""The table of known corpora: what they are, where their official homes are, who reads them.

Its entries stand in ``known.toml``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.resources import files
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


def _read_table() -> dict[str, KnownCorpus]:
    text = files("labelkin.corpora").joinpath("known.toml").read_text(encoding="utf-8")
    return {name: _corpus(name, **said) for name, said in tomllib.loads(text).items()}


def _corpus(
    name: str, *, collection: str = "", read: str = "", options: Any = None, **said: Any
) -> KnownCorpus:
    if collection == "mulan":
        read, said = "arff.read_mulan", _mulan(name) | said
    remote = tuple(RemoteFile(**{**f, "urls": tuple(f["urls"])}) for f in said.pop("files", ()))
    signs = tuple(said.pop("signs", ()))
    reader = partial(lazy_reader(read), **(options or {}))
    return KnownCorpus(name=name, read=reader, files=remote, signs=signs, **said)


def _mulan(name: str) -> dict[str, Any]:
    address = f"https://sourceforge.net/projects/mulan/files/datasets/{name}.rar/download"
    return {
        "home": "http://mulan.sourceforge.net/datasets-mlc.html",
        "licence": "none stated by MULAN; cite the authors whom its page names",
        "folder": f"mulan/{name}",
        "signs": ["*.arff"],
        "files": [{"name": f"{name}.rar", "urls": [address]}],
        "by_hand": f"Unpack {name}.rar there (unrar, 7z and bsdtar can, Python cannot), so that "
        f"the folder has {name}.xml, {name}-train.arff and {name}-test.arff.",
    }


KNOWN: Mapping[str, KnownCorpus] = MappingProxyType(_read_table())
"""The known corpora by name."""
