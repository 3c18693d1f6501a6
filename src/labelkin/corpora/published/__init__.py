"""Fetch a known corpus from its official home, or say what to do by hand.

A file from the network is resumed where it broke off, checked, and named only when it is whole. The
bytes go to ``NAME.part``, with a note in ``NAME.part.json`` of where they come from. A later
attempt asks for the rest, on the condition that the file has not changed since. When all is there
and has been checked, ``NAME.part`` becomes ``NAME``: a file called ``NAME`` is complete.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import shutil
import socket
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelkin.corpora.known import KnownCorpus, RemoteFile, known_corpus
from labelkin.files import names_to_disk, to_disk, write_atomic

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds between the attempts at one address: one attempt more than pauses."""
TIMEOUT = 60.0
_CHUNK = 1 << 16
#: Answers after which the same question may be asked again.
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_OUT_OF_RANGE = 416
#: What may pass by itself. Other errors of the system, such as a full disk, are not among them.
_NETWORK = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)
#: How files begin: a web page in their place does not.
_FIRST_BYTES = {".gz": b"\x1f\x8b", ".rar": b"Rar!", ".zip": b"PK"}

Progress = Callable[[str, int, int | None], None]
"""Is called with the file, the bytes that are there, and of how many if the server says so."""


class FetchError(OSError):
    """A corpus could not be fetched; the message says what to do by hand.

    Examples
    --------
    >>> from labelkin import corpora
    >>> try:
    ...     corpora.fetch("newsroom")
    ... except corpora.FetchError as error:
    ...     print(str(error).partition(". ")[0])
    newsroom cannot be fetched: no address of a file of it is known
    """


class DownloadError(OSError):
    """A file could not be had whole; what is there of it waits in ``NAME.part``."""


@dataclass(frozen=True)
class Fetched:
    """Where the files of a corpus are, and what is left to do.

    Attributes
    ----------
    folder : Path
        Where :func:`labelkin.corpora.load` finds the corpus.
    files : tuple of Path
        What was fetched, or was there already.
    by_hand : str
        What is left to do by hand; empty: the corpus can be loaded.

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
    progress: Progress | None = None,
    base_url: str | None = None,
) -> Fetched:
    """Download a known corpus from its official home.

    A download that broke off goes on where it ended, in the same call a few times, then in the next
    one. Files that are there are kept. Where a source that can be cited gives size and checksum,
    they are checked.

    Parameters
    ----------
    name : str
        A known corpus.
    folder : path, optional
        Where its files go; ``None``: where :func:`labelkin.corpora.load` looks first.
    progress : callable, optional
        Called with a file's name, its bytes so far and its bytes in all (``None``: not known).
    base_url : str, optional
        A copy of the files in one place, to use instead of the official home.

    Returns
    -------
    Fetched
        Where the files are, and what is left to do.

    Raises
    ------
    FetchError
        There is no official home to fetch from, or it gave no whole file. The message says what to
        do by hand.

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
            f"{name} cannot be fetched: no address of a file of it is known. "
            f"{_instructions(corpus, target)}"
        )
    target.mkdir(parents=True, exist_ok=True)
    files = []
    for file in corpus.files:
        urls = None if base_url is None else [f"{base_url.rstrip('/')}/{file.name}"]
        try:
            files.append(download(file, target, urls=urls, progress=progress))
        except DownloadError as error:
            raise FetchError(
                f"{file.name} of {name} could not be fetched: {error}. Fetching again goes on from "
                f"there. {_instructions(corpus, target)}"
            ) from None
        if corpus.unpack:
            _unpack(files[-1], target)
    return Fetched(target, tuple(files), corpus.by_hand)


def _instructions(corpus: KnownCorpus, folder: Path) -> str:
    """Return how to get a corpus into a folder by hand."""
    steps = [f"Download {' or '.join(file.urls)} as {folder / file.name}." for file in corpus.files]
    if corpus.unpack:
        steps += [f"Run tar -xzf {folder / file.name} -C {folder}." for file in corpus.files]
    return " ".join(["By hand:", *steps, corpus.by_hand]).strip()


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack the files at the top of an archive, each of them whole or not at all."""
    try:
        with (
            tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder) as work,
            tarfile.open(archive) as content,
        ):
            for member in content:
                _extract(content, member, Path(work))
            for path in sorted(Path(work).iterdir()):
                path.replace(folder / path.name)
        names_to_disk(folder)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise FetchError(
            f"{archive} cannot be unpacked ({error}). Delete it and fetch again."
        ) from None


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write an ordinary file of an archive; links, devices, owners and modes are left out."""
    content = archive.extractfile(member) if member.isfile() else None
    if content is None:
        return
    path = (folder / member.name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise tarfile.TarError(f"{member.name!r:.100} lies outside its folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)


def download(
    file: RemoteFile,
    folder: Path,
    *,
    urls: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Path:
    """Bring a file into a folder, if it is not there, and return its path.

    Parameters
    ----------
    file : RemoteFile
        What it is called, and what is known of it.
    folder : Path
        Where it goes.
    urls : sequence of str, optional
        Where it is, instead of ``file.urls``.
    progress : callable, optional
        Called with the file's name, bytes so far and bytes in all (``None``: not known).
    """
    target = folder / file.name
    if target.exists():
        return target
    part = folder / f"{file.name}.part"
    reasons = []
    for url in urls or file.urls:
        try:
            _persist(url, part, progress or (lambda name, done, total: None))
            _verify(part, file)
        except DownloadError as failure:
            reasons.append(f"{url}: {failure}")
        else:
            part.replace(target)
            names_to_disk(folder)
            _discard(part)
            return target
    raise DownloadError("; ".join(reasons))


def _persist(url: str, part: Path, progress: Progress) -> None:
    """Try until the file is whole, a bounded number of times."""
    for pause in (*PAUSES, None):
        try:
            return _transfer(url, part, progress)
        except urllib.error.HTTPError as error:
            reason = f"HTTP {error.code} {error.reason}"
            if error.code == _OUT_OF_RANGE:
                _discard(part)
            elif error.code not in _PASSING:
                raise DownloadError(reason) from None
        except _NETWORK as error:
            cause = getattr(error, "reason", error)
            if isinstance(cause, socket.gaierror):
                raise DownloadError(f"no such host, or no network ({cause.strerror})") from None
            reason = str(cause) or type(cause).__name__
        if pause is not None:
            time.sleep(pause)
    raise DownloadError(f"{reason}, at the last of {len(PAUSES) + 1} attempts")


def _transfer(url: str, part: Path, progress: Progress) -> None:
    """Ask for what is missing and append it."""
    there, headers = _resumption(url, part)
    request = urllib.request.Request(url, headers={"User-Agent": "labelkin", **headers})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        start, total = _extent(response, there, part)
        with part.open("r+b" if start else "wb") as file:
            done = file.seek(start)
            # After the old bytes are gone: a note must never vouch for those of another version.
            _write_note(part, url, response.headers)
            progress(part.stem, done, total)
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                done += len(chunk)
                progress(part.stem, done, total)
            to_disk(file)
    if total is not None and done < total:
        raise ConnectionError(f"the connection was cut after {done} of {total} bytes")


def _resumption(url: str, part: Path) -> tuple[int, dict[str, str]]:
    """Return how many bytes are there and may be kept, and the headers that ask for the others."""
    try:
        note = json.loads(_note(part).read_text(encoding="utf-8"))
        there = part.stat().st_size
    except (OSError, ValueError):
        return 0, {}
    if not there or note.get("url") != url or not note.get("version"):
        return 0, {}
    return there, {"Range": f"bytes={there}-", "If-Range": note["version"]}


def _extent(response: Any, there: int, part: Path) -> tuple[int, int | None]:
    """Return where the answer begins and how long the file is as a whole."""
    if response.status != http.client.PARTIAL_CONTENT:
        length = response.headers.get("Content-Length")
        if length is None and not getattr(response, "chunked", False):
            raise DownloadError("the server does not say where the file ends")
        return 0, None if length is None else int(length)
    extent = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", extent)
    if not match or int(match[1]) != there:
        _discard(part)
        raise ConnectionError(f"asked for the bytes from {there} on, got {extent!r}")
    return there, int(match[2])


def _write_note(part: Path, url: str, headers: Any) -> None:
    etag = headers.get("ETag", "")
    # A weak ETag does not promise the same bytes.
    version = headers.get("Last-Modified", "") if etag.startswith("W/") or not etag else etag
    write_atomic(_note(part), json.dumps({"url": url, "version": version}))


def _verify(part: Path, file: RemoteFile) -> None:
    """Check beginning, size and checksum; a file that fails is thrown away."""
    with part.open("rb") as content:
        beginning = content.read(16)
        content.seek(0)
        sha256 = hashlib.file_digest(content, "sha256").hexdigest() if file.sha256 else None
    expected = _FIRST_BYTES.get(Path(file.name).suffix, b"")
    size = part.stat().st_size
    if not beginning.startswith(expected):
        wrong = f"the file must begin with {expected!r}, got {beginning!r}"
    elif file.size is not None and size != file.size:
        wrong = f"the file must have {file.size} bytes ({file.vouched_by}), got {size}"
    elif sha256 != file.sha256:
        wrong = f"the file's sha256 must be {file.sha256} ({file.vouched_by}), got {sha256}"
    else:
        return
    _discard(part)
    raise DownloadError(wrong)


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _note(part).unlink(missing_ok=True)


def _note(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")
