"""Known corpora: what they are, where their homes are; and who reads a name or a path.

Its entries stand in ``known.toml``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.resources import files
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from labelkin.corpora.documents import ENDINGS, Format, format_of
from labelkin.corpora.lines import decoded_lines, ending_of
from labelkin.registry import did_you_mean

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
    size, sha256 : int and str, optional
        Of the complete file, where a source gives them, …
    vouched_by : str, default ""
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
    folder : str, default ""
        Where it lies under a data folder; empty for a corpus that is made, not read.
    signs : tuple of str, default ()
        Patterns of files: where one matches, the corpus is in a folder.
    files : tuple of RemoteFile, default ()
        What can be fetched; empty where there is no official home to fetch from.
    unpack : bool, default False
        Whether the files are archives to unpack beside themselves.
    by_hand : str, default ""
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
            "own is loaded by the path of its file or folder. "
            f"{did_you_mean(name, list(KNOWN))}".rstrip()
        )
    return KNOWN[name]


def lazy_reader(place: str) -> Reader:
    """Return a reader, ``"module.function"`` of this package, without importing its module yet.

    So the tables of readers are cheap, and one that cannot be imported breaks nothing but itself.

    Examples
    --------
    >>> lazy_reader("published.newsroom.newsroom")(60).Y.shape
    (60, 38)
    """
    module, _, function = place.rpartition(".")

    def read(*places: Any, **options: Any) -> Corpus:
        reader: Reader = getattr(import_module(f"labelkin.corpora.{module}"), function)
        return reader(*places, **options)

    return read


def _read_table() -> dict[str, KnownCorpus]:
    text = files("labelkin.corpora.published").joinpath("known.toml").read_text(encoding="utf-8")
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


class CorpusNotFound(FileNotFoundError):  # noqa: N818
    """A corpus is not where it was looked for; the message says where, and what fetches it.

    Examples
    --------
    >>> from labelkin import corpora
    >>> try:
    ...     corpora.load("reuters21578", "nowhere")
    ... except corpora.CorpusNotFound as error:
    ...     print(str(error).partition(". ")[0])
    reuters21578 must have reut2-*.sgm, and there is none in nowhere
    """


def load(
    name: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Corpus:
    """Return a corpus.

    Parameters
    ----------
    name : str, path or sequence of paths
        A known corpus (``labelkin.corpora.KNOWN``); or the path of a file or folder whose format is
        recognised, or several of texts: JSON, JSON lines, CSV and TSV, Annif's corpora, ARFF of
        MULAN and MEKA, the sparse text format of the extreme-classification repository, and the
        layouts of the known corpora.
    path : path, optional
        The folder or file of a known corpus. By default it is looked for in ``$LABELKIN_DATA``,
        then in ``$XDG_DATA_HOME/labelkin`` (``~/.local/share/labelkin``).
    **options
        What the format's reader takes: ``split="modlewis"`` for Reuters-21578, ``separator="|"``
        for a table.

    Returns
    -------
    Corpus
        Documents, label sets and a split.

    Raises
    ------
    CorpusNotFound
        It is not there.

    Examples
    --------
    >>> load("newsroom").Y.shape
    (3000, 38)
    """
    if not isinstance(name, str | os.PathLike):
        if len(name) != 1:
            return _load_several(name, options)
        name = name[0]
    if isinstance(name, str) and name in KNOWN:
        return _load_known(KNOWN[name], path, options)
    if path is not None:
        known_corpus(os.fspath(name))  # raises: only a known corpus can be elsewhere
    check_there(name)
    return _reader_of(Path(name))(Path(name), **options)


def _load_several(paths: Sequence[str | os.PathLike[str]], options: dict[str, Any]) -> Corpus:
    for path in paths:
        if path in KNOWN:
            raise ValueError(
                f"Several files are read as one corpus, and {path!r} is one by itself."
            )
        check_there(path)
        if (_folder_reader if Path(path).is_dir() else _file_reader)(Path(path)) != _TEXTS:
            raise ValueError(
                f"Several files are read as one corpus if they are texts, and {path} is not. Read "
                "it alone."
            )
    return lazy_reader(_TEXTS)(paths, **options)


def check_there(name: str | os.PathLike[str]) -> None:
    """Raise for what is neither a known corpus nor a path that is there.

    A path, which is no misspelt name, has folders or an ending.
    """
    if Path(name).exists():
        return
    if not isinstance(name, str) or os.sep in name or Path(name).suffix:
        raise CorpusNotFound(f"There is no file or folder {os.fspath(name)!r}.")
    known_corpus(name)


def find(name: str) -> Path | None:
    """Return the folder a known corpus is in, if it is in one.

    Parameters
    ----------
    name : str
        A known corpus, one of ``KNOWN``.

    Returns
    -------
    Path or None
        None where it is in none of the folders that are looked in.

    Examples
    --------
    >>> from labelkin import corpora
    >>> corpora.find("newsroom") is None  # made, not kept
    True
    """
    corpus = known_corpus(name)
    return next((place for place in corpus.places() if corpus.is_in(place)), None)


def _load_known(
    corpus: KnownCorpus, path: str | os.PathLike[str] | None, options: dict[str, Any]
) -> Corpus:
    if not corpus.folder:
        if path is not None:
            raise ValueError(f"{corpus.name} is made, not read: it takes no path, got {path!r}.")
        return corpus.read(**options)
    places = corpus.places() if path is None else [Path(path)]
    found = find(corpus.name) if path is None else places[0]
    if found is None or not (found.is_file() or corpus.is_in(found)):
        raise _not_found(corpus, places)
    return replace(corpus.read(found, **options), name=corpus.name)


def _not_found(corpus: KnownCorpus, places: Sequence[Path]) -> CorpusNotFound:
    signs = " or ".join(corpus.signs)
    looked = " and in ".join(str(place) for place in places)
    fetch_it = f"Fetch it with: labelkin corpus fetch {corpus.name}."
    return CorpusNotFound(
        f"{corpus.name} must have {signs}, and there is none in {looked}. "
        f"{fetch_it if corpus.files else corpus.by_hand} If it is elsewhere, name its folder "
        "as path."
    )


_FORMATS = (
    "JSON (.json, .jsonl), a table (.csv, .tsv), Annif's corpora (.tsv, .csv, .jsonl, a folder of "
    ".txt with .tsv or .key, or of .json), a folder of such files, ARFF of MULAN (a folder with "
    ".xml) or MEKA (.arff), LIBSVM's multilabel format (.svm), the extreme-classification "
    "repository's format (.txt that begins with three numbers), or a folder of Reuters-21578, "
    "Ohsumed or RCV1"
)
_TEXTS = "text_corpora.read_texts"
_FILE_READERS = {
    **dict.fromkeys(ENDINGS, _TEXTS),
    ".svm": "vectors.read_libsvm",
    ".libsvm": "vectors.read_libsvm",
}
_FOLDER_READERS = {
    "*.sgm": "published.reuters21578.read_reuters21578",
    "lyrl2004_*": "published.rcv1.read_rcv1",
    "*.arff": "arff.read_mulan",
    "training": "published.ohsumed.read_ohsumed",
    "*/training": "published.ohsumed.read_ohsumed",
}


def _reader_of(path: Path) -> Reader:
    """Return the function that reads a file or folder, by its name and its first lines."""
    reader = _folder_reader(path) if path.is_dir() else _file_reader(path)
    if reader is None:
        if path.is_file():
            next(decoded_lines(path, None), None)  # says so where it is no text at all
        raise ValueError(f"{path} must be a corpus in a known format, and is none: {_FORMATS}.")
    return lazy_reader(reader) if isinstance(reader, str) else reader


def text_format(path: Path) -> Format | None:
    """Return the format of texts with labels that a path is read in; ``None``: another one."""
    if path.is_dir():
        is_text = _folder_reader(path) == _TEXTS and not any(path.glob("**/*.json"))
        return "folder" if is_text and any(path.glob("**/*.txt")) else None
    return format_of(path) if _file_reader(path) == _TEXTS else None


def _file_reader(path: Path) -> Reader | str | None:
    name = path.name.lower()
    if name.endswith((".tar.gz", ".tgz")):
        return "published.ohsumed.read_ohsumed"
    match ending := ending_of(path):
        case ".arff":
            return _arff_reader(path)
        case ".txt":
            if _is_extreme(path):
                return "vectors.read_extreme"
            return None if format_of(path) == "text" else _TEXTS
    return _FILE_READERS.get(ending)


def _arff_reader(path: Path) -> Reader:
    """MEKA's files have ``-C`` in the relation, MULAN's an XML file beside them."""
    lines = islice(decoded_lines(path, "latin-1"), 100)
    relation = next((line for line in lines if line.strip().lower().startswith("@relation")), "")
    if "-C" in relation or not any(path.parent.glob("*.xml")):
        return lazy_reader("arff.read_meka")
    return lazy_reader("arff.read_mulan")


def _folder_reader(folder: Path) -> str | None:
    for sign, reader in _FOLDER_READERS.items():
        if any(folder.glob(sign)):
            return reader
    if any(_is_extreme(path) for path in folder.glob("*.txt*")):
        return "vectors.read_extreme_folder"
    has_texts = any(any(folder.glob(f"{at}*.txt")) for at in ("", "train/"))
    is_read = has_texts or any(ending_of(file) in ENDINGS for file in folder.glob("**/*"))
    return _TEXTS if is_read else None


def _is_extreme(path: Path) -> bool:
    from labelkin.corpora.vectors import is_extreme  # loads NumPy: the table is read without

    return is_extreme(path)
