"""Fetch a known corpus from its official home, or say what to do by hand."""

from __future__ import annotations

import os
import tarfile
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from labelkin.corpora.download import DownloadError, Progress, download
from labelkin.corpora.registry import KnownCorpus, known_corpus


class FetchError(OSError):
    """A corpus could not be fetched; the message says what to do by hand."""


@dataclass(frozen=True)
class Fetched:
    """Where the files of a corpus are, and what is left to do.

    Attributes
    ----------
    folder
        Where :func:`labelkin.corpora.load` finds the corpus.
    files
        What was fetched, or was there already.
    by_hand
        What is left to do by hand; empty: the corpus can be loaded.
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
    name
        A known corpus.
    folder
        Where its files go; ``None``: where :func:`labelkin.corpora.load` looks first.
    progress
        Called with a file's name, its bytes so far and its bytes in all (``None``: not known).
    base_url
        A copy of the files in one place, to use instead of the official home.

    Raises
    ------
    FetchError
        There is no official home to fetch from, or it gave no whole file. The message says what to
        do by hand.
    """
    corpus = known_corpus(name)
    target = corpus.places()[0] if folder is None else Path(folder)
    if not corpus.files:
        raise FetchError(
            f"{name} cannot be fetched: no address of a file of it is known. "
            f"{instructions(corpus, target)}"
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
                f"there. {instructions(corpus, target)}"
            ) from None
    if corpus.unpack:
        for path in files:
            _unpack(path, target)
    return Fetched(target, tuple(files), corpus.by_hand)


def instructions(corpus: KnownCorpus, folder: Path) -> str:
    """Say how to get a corpus into a folder by hand."""
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
            content.extraction_filter = getattr(tarfile, "data_filter", None)
            content.extractall(work)
            for path in sorted(Path(work).iterdir()):
                path.replace(folder / path.name)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise FetchError(
            f"{archive} cannot be unpacked ({error}). Delete it and fetch again."
        ) from None
