"""Corpora known by name: their descriptions, places and downloads.

The entries are in ``known.toml``; each corpus has a reader in a module of this package or in
:mod:`labelkin.corpora.arff`. A downloaded file is complete or absent: it gets its name after all
checks. Python's own HTTP client does this in the lines below; pooch would add requests and its four
dependencies.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import socket
import tarfile
import tempfile
import time
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
from typing import TYPE_CHECKING, Any

from labelkin.files import atomic_replace

if TYPE_CHECKING:
    from labelkin.corpora.corpus import Corpus

#: Seconds before each further attempt at an address.
PAUSES = (1.0, 4.0)
TIMEOUT = 60.0
_CHUNK = 1 << 16
#: HTTP statuses after which the same request may succeed.
_TEMPORARY = {408, 425, 429, 500, 502, 503, 504}
#: Errors of the network. Other errors of the system, such as a full disk, are not among them.
_NETWORK = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)
#: First bytes of archives: a web page in their place has others.
_FIRST_BYTES = {".gz": b"\x1f\x8b", ".rar": b"Rar!", ".zip": b"PK"}

_Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A file of a corpus at its official site.

    Size and checksum are given only if a source that can be cited contains them.

    Attributes
    ----------
    name : str
        Its name here.
    urls : tuple of str
        Its addresses, the official one first; the others are tried in order.
    size, sha256 : int and str, optional
        Of the complete file.
    vouched_by : str, default ""
        The source of size and checksum.
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
        return any(next(folder.glob(sign), None) is not None for sign in self.signs)

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
    for name, entry in tomllib.loads(text).items():
        given = (_mulan(name) if entry.pop("collection", "") == "mulan" else {}) | entry
        remote = (RemoteFile(**{**f, "urls": tuple(f["urls"])}) for f in given.pop("files", ()))
        yield KnownCorpus(name=name, files=tuple(remote), **given)


def _mulan(name: str) -> dict[str, Any]:
    address = f"https://sourceforge.net/projects/mulan/files/datasets/{name}.rar/download"
    return {
        "read": "arff:read_arff",
        "home": "http://mulan.sourceforge.net/datasets-mlc.html",
        "licence": "none stated by MULAN; cite the authors whom its page names",
        "folder": f"mulan/{name}",
        "signs": ["*.arff"],
        "files": [{"name": f"{name}.rar", "urls": [address]}],
        "by_hand": f"Unpack {name}.rar there (unrar, 7z and bsdtar can, Python cannot), so that "
        f"the folder has {name}.xml, {name}-train.arff and {name}-test.arff.",
    }


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


@dataclass(frozen=True)
class Fetched:
    """The files of a fetched corpus, and the steps that are left.

    Attributes
    ----------
    folder : Path
        The folder in which :func:`labelkin.corpora.load` finds the corpus.
    files : tuple of Path
        The files, downloaded now or before.
    by_hand : str
        Steps that are left; empty if the corpus can be loaded.

    Examples
    --------
    >>> from pathlib import Path
    >>> from labelkin.corpora import Fetched
    >>> folder = Path("corpora", "emotions")
    >>> fetched = Fetched(folder, (folder / "emotions.rar",), by_hand="Unpack emotions.rar there.")
    >>> [file.name for file in fetched.files], fetched.by_hand
    (['emotions.rar'], 'Unpack emotions.rar there.')
    """

    folder: Path
    files: tuple[Path, ...]
    by_hand: str


def fetch(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    progress: _Progress | None = None,
    base_url: str | None = None,
) -> Fetched:
    """Download a known corpus from its official site.

    Files that exist are kept. Size and checksum are verified if a source that can be cited contains
    them.

    Parameters
    ----------
    name : str
        A known corpus.
    folder : path, optional
        Folder of its files; default: the first one that :func:`labelkin.corpora.load` searches.
    progress : callable, optional
        Called with a file's name, its bytes so far and its bytes in all (``None``: not known).
    base_url : str, optional
        The address of a copy of all files, instead of the official site.

    Returns
    -------
    Fetched
        The files, and the steps that are left.

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
        urls = file.urls if base_url is None else [f"{base_url.rstrip('/')}/{file.name}"]
        try:
            download(file, target, urls, progress or (lambda name, done, total: None))
        except FetchError as error:
            raise FetchError(
                f"{file.name} of {name} could not be fetched: {error}. "
                f"{_instructions(corpus, target)}"
            ) from None
        if corpus.unpack:
            _unpack(target / file.name, target)
    return Fetched(target, tuple(target / file.name for file in corpus.files), corpus.by_hand)


def _instructions(corpus: KnownCorpus, folder: Path) -> str:
    """Return the steps to get a corpus into a folder by hand."""
    steps = [f"Download {' or '.join(file.urls)} as {folder / file.name}." for file in corpus.files]
    if corpus.unpack:
        steps += [f"Run tar -xzf {folder / file.name} -C {folder}." for file in corpus.files]
    return " ".join(["By hand:", *steps, corpus.by_hand]).strip()


def download(file: RemoteFile, folder: Path, urls: Sequence[str], progress: _Progress) -> None:
    """Download a file into a folder if it does not exist; addresses are tried in order."""
    if (folder / file.name).exists():
        return None
    reasons = []
    for url in urls:
        for pause in (*PAUSES, None):
            try:
                return _transfer(url, file, folder / file.name, progress)
            except FetchError as error:
                reasons.append(f"{url}: {error}")
                break
            except _NETWORK as error:
                cause = getattr(error, "reason", error)
                is_temporary = getattr(error, "code", None) in {None, *_TEMPORARY}
                if pause is None or not is_temporary or isinstance(cause, socket.gaierror):
                    reasons.append(f"{url}: {error}")
                    break
                time.sleep(pause)
    raise FetchError("; ".join(reasons))


def _transfer(url: str, file: RemoteFile, target: Path, progress: _Progress) -> None:
    """Write a file that passes all checks; a file that fails one is discarded."""
    request = urllib.request.Request(url, headers={"User-Agent": "labelkin"})
    digest, done = hashlib.sha256(), 0
    with (
        urllib.request.urlopen(request, timeout=TIMEOUT) as response,
        atomic_replace(target) as out,
    ):
        length = response.headers.get("Content-Length")
        total = file.size if length is None else int(length)
        progress(file.name, 0, total)
        while chunk := response.read(_CHUNK):
            if not done:
                _check_beginning(target, chunk)
            out.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            progress(file.name, done, total)
        if total is None and not getattr(response, "chunked", False):
            raise FetchError("the server does not declare the size of the file")
        if total is not None and length is not None and done < total:
            raise ConnectionError(f"the connection was cut after {done} of {total} bytes")
        if file.size not in (None, done):
            raise FetchError(
                f"the file must have {file.size} bytes ({file.vouched_by}), got {done}"
            )
        if file.sha256 not in (None, digest.hexdigest()):
            raise FetchError(
                f"its sha256 must be {file.sha256} ({file.vouched_by}), got {digest.hexdigest()}"
            )


def _check_beginning(target: Path, chunk: bytes) -> None:
    expected = _FIRST_BYTES.get(target.suffix, b"")
    if not chunk.startswith(expected):
        raise FetchError(f"the file must begin with {expected!r}, got {chunk[:16]!r}")


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive, each of the files at its top whole or not at all."""
    try:
        with (
            tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder) as work,
            tarfile.open(archive) as content,
        ):
            content.extractall(work, filter="data")
            for path in sorted(Path(work).iterdir()):
                if (folder / path.name).is_dir():
                    shutil.rmtree(folder / path.name)
                path.replace(folder / path.name)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise FetchError(
            f"{archive} cannot be unpacked ({error}). Delete it and fetch again."
        ) from None
