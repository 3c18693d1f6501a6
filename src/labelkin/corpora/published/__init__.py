"""Corpora known by name: their descriptions, places and downloads.

The entries are in ``known.toml``; each corpus has a reader in a module of this package or in
:mod:`labelkin.corpora.arff`. A downloaded file is complete or absent: it gets its name after all
checks. Python's own HTTP client does this in the lines below; pooch would add requests and its four
dependencies. A failed download is not repeated: the same command continues with the missing files.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import shutil
import tarfile
import tempfile
import tomllib
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from labelkin.files import atomic_replace

if TYPE_CHECKING:
    from labelkin.corpora.corpus import Corpus

TIMEOUT = 60.0
_CHUNK = 1 << 16
#: Errors of the network. Other errors of the system, such as a full disk, are not among them.
_NETWORK = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)
#: First bytes of archives: a web page in their place has others.
_FIRST_BYTES = {".gz": b"\x1f\x8b", ".rar": b"Rar!", ".zip": b"PK"}

_Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A file of a corpus at its official site.

    The checksum is given only if a source that can be cited contains it.

    Attributes
    ----------
    name : str
        Its name here.
    urls : tuple of str
        Its addresses, the official one first; the others are tried in order.
    sha256 : str, default ""
        Checksum of the complete file.
    sha256_source : str, default ""
        The source of the checksum.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str = ""
    sha256_source: str = ""


@dataclass(frozen=True, kw_only=True)
class KnownCorpus:
    """A corpus known by name.

    Attributes
    ----------
    name, title : str
        Its name for :func:`labelkin.corpora.load`, and a description.
    home, licence : str
        Its official site, and the terms of use.
    read : str
        The function that reads it from a folder, ``"module:function"`` in this package.
    options : mapping
        Parameters of that function.
    folder : str, default ""
        Folder in a data folder; empty for a synthetic corpus.
    signs : sequence of str, default ()
        Patterns of files: if one matches, the corpus is in a folder.
    files : tuple of RemoteFile, default ()
        The files to download; empty if there is no official address.
    unpack : bool, default False
        Whether the files are archives to unpack.
    by_hand : str, default ""
        Steps that are left after the download, or replace it.

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
    read: str
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""
    signs: Sequence[str] = ()
    files: tuple[RemoteFile, ...] = ()
    unpack: bool = False
    by_hand: str = ""

    def load(self, *place: Path, **options: Any) -> Corpus:
        """Read the corpus from a folder or file; a synthetic corpus from nothing."""
        read = resolve_name(f"labelkin.corpora.{self.read}")
        corpus: Corpus = read(*place, **{**self.options, **options})
        return corpus

    def is_in(self, folder: Path) -> bool:
        """Return whether the corpus, or a part of it, is in a folder."""
        return any(any(folder.glob(sign)) for sign in self.signs)

    def places(self) -> list[Path]:
        """Return the folders in which the corpus is searched: ``$LABELKIN_DATA``, user data."""
        shared = os.environ.get("LABELKIN_DATA")
        user = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        homes = [*([Path(shared)] if shared else []), Path(user) / "labelkin"]
        return [home / self.folder for home in homes]


def known_corpus(name: str) -> KnownCorpus:
    """Return the entry of a corpus."""
    if name not in KNOWN:
        from labelkin.validation import did_you_mean  # not above: it loads NumPy

        known = ", ".join(repr(known) for known in KNOWN)
        raise ValueError(
            f"name must be a known corpus, got {name!r}. Known corpora: {known}. A corpus of your "
            "own is loaded by the path of its file or folder. "
            f"{did_you_mean(name, list(KNOWN))}".rstrip()
        )
    return KNOWN[name]


def find(name: str) -> Path | None:
    """Return the folder of a known corpus.

    Parameters
    ----------
    name : str
        A known corpus, one of ``KNOWN``.

    Returns
    -------
    Path or None
        None if no searched folder contains it.

    Examples
    --------
    >>> from labelkin import corpora
    >>> corpora.find("newsroom") is None  # synthetic, without files
    True
    """
    corpus = known_corpus(name)
    return next((place for place in corpus.places() if corpus.is_in(place)), None)


def _read_table() -> Iterator[KnownCorpus]:
    text = files("labelkin.corpora.published").joinpath("known.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text)
    collections = entries.pop("collections")
    for name, entry in entries.items():
        common = collections.get(entry.pop("collection", ""), {})
        given = json.loads(json.dumps(common).replace("{name}", name)) | entry
        remote = (RemoteFile(**{**f, "urls": tuple(f["urls"])}) for f in given.pop("files", ()))
        yield KnownCorpus(name=name, files=tuple(remote), **given)


KNOWN: Mapping[str, KnownCorpus] = MappingProxyType({one.name: one for one in _read_table()})
"""The known corpora by name."""


class FetchError(OSError):
    """A corpus that could not be fetched; the message contains the steps by hand.

    Examples
    --------
    >>> from labelkin import corpora
    >>> try:
    ...     corpora.fetch("newsroom")
    ... except corpora.FetchError as error:
    ...     print(str(error).partition(". ")[0])
    newsroom cannot be fetched: no address of its files is known
    """


class Fetched(NamedTuple):
    """The folder of a fetched corpus, and the steps that are left.

    Attributes
    ----------
    folder : Path
        The folder in which :func:`labelkin.corpora.load` finds the corpus.
    by_hand : str
        Steps that are left; empty if the corpus can be loaded.

    Examples
    --------
    >>> from labelkin.corpora import Fetched
    >>> Fetched(Path("corpora"), by_hand="Unpack emotions.rar there.").by_hand
    'Unpack emotions.rar there.'
    """

    folder: Path
    by_hand: str


def fetch(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    progress: _Progress | None = None,
) -> Fetched:
    """Download a known corpus from its official site.

    Files that exist are kept. The checksum is verified if a source that can be cited contains it.

    Parameters
    ----------
    name : str
        A known corpus.
    folder : path, optional
        Folder of its files; default: the first one that :func:`labelkin.corpora.load` searches.
    progress : callable, optional
        Called with a file's name, its bytes so far and its bytes in all (``None``: not declared).

    Returns
    -------
    Fetched
        The folder, and the steps that are left.

    Raises
    ------
    FetchError
        If there is no official address, or no complete file at it. The message contains the steps
        by hand.

    Examples
    --------
    >>> from labelkin import corpora
    >>> corpora.fetch("reuters21578")  # doctest: +SKIP
    Fetched(...)
    """
    corpus = known_corpus(name)
    target = corpus.places()[0] if folder is None else Path(folder)
    if not corpus.files:
        raise FetchError(
            f"{name} cannot be fetched: no address of its files is known. "
            f"{_instructions(corpus, target)}"
        )
    target.mkdir(parents=True, exist_ok=True)
    for file in corpus.files:
        try:
            download(file, target, progress or (lambda name, done, total: None))
        except FetchError as error:
            raise FetchError(
                f"{file.name} of {name} could not be fetched: {error}. "
                f"{_instructions(corpus, target)}"
            ) from None
        if corpus.unpack:
            _unpack(target / file.name, target)
    return Fetched(target, corpus.by_hand)


def _instructions(corpus: KnownCorpus, folder: Path) -> str:
    """Return the steps to get a corpus into a folder by hand."""
    steps = []
    for file in corpus.files:
        steps.append(f"Download {' or '.join(file.urls)} as {folder / file.name}.")
        if corpus.unpack:
            steps.append(f"Run tar -xzf {folder / file.name} -C {folder}.")
    return " ".join(["By hand:", *steps, corpus.by_hand]).strip()


def download(file: RemoteFile, folder: Path, progress: _Progress) -> None:
    """Download a file into a folder if it does not exist; addresses are tried in order."""
    if (folder / file.name).exists():
        return None
    reasons = []
    for url in file.urls:
        try:
            return _transfer(url, file, folder / file.name, progress)
        except (FetchError, *_NETWORK) as error:
            reasons.append(f"{url}: {error}")
    raise FetchError("; ".join(reasons))


def _transfer(url: str, file: RemoteFile, target: Path, progress: _Progress) -> None:
    """Write a file that passes all checks; a file that fails one is discarded."""
    request = urllib.request.Request(url, headers={"User-Agent": "labelkin"})
    digest, done, expected = hashlib.sha256(), 0, _FIRST_BYTES.get(target.suffix, b"")
    with (
        urllib.request.urlopen(request, timeout=TIMEOUT) as response,
        atomic_replace(target) as out,
    ):
        length = response.headers.get("Content-Length")
        total = None if length is None else int(length)
        while chunk := response.read(_CHUNK):
            if not done and not chunk.startswith(expected):
                raise FetchError(f"the file must begin with {expected!r}, got {chunk[:16]!r}")
            out.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            progress(file.name, done, total)
        if done != total and not getattr(response, "chunked", False):
            raise FetchError(
                f"the file must have {total or 'a declared number of'} bytes, got {done}"
            )
        if file.sha256 not in ("", digest.hexdigest()):
            raise FetchError(
                f"its sha256 must be {file.sha256} ({file.sha256_source}), got {digest.hexdigest()}"
            )


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive, each of the files at its top whole or not at all."""
    try:
        with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder) as work:
            shutil.unpack_archive(archive, work, "gztar", filter="data")
            for path in Path(work).iterdir():
                if (folder / path.name).is_dir():
                    shutil.rmtree(folder / path.name)
                path.replace(folder / path.name)
    except (shutil.ReadError, tarfile.TarError, EOFError, zlib.error) as error:
        raise FetchError(
            f"{archive} cannot be unpacked ({error}). Delete it and fetch again."
        ) from None
