"""Reuters-21578, Distribution 1.0, and Ohsumed-23, as texts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

import numpy as np

from labelkin.corpora.arff import read_arff
from labelkin.corpora.corpus import Corpus, label_fields, object_array
from labelkin.corpora.lines import line_of
from labelkin.label_matrix import read_labels
from labelkin.validation import check_choice

_Split = Literal["modapte", "modlewis", "modhayes"]
_TextField = Literal["text", "titled_text"]

#: Number of documents of Reuters-21578, in its 22 files.
N_DOCUMENTS = 21_578


def read_reuters21578(
    folder: str | PathLike[str],
    *,
    split: _Split = "modapte",
    field: _TextField = "text",
    complete: bool = True,
) -> Corpus:
    """Read Reuters-21578 from the folder of its ``*.sgm`` files.

    Documents are those of the split, in the order of the files; their ``ids`` are the ``NEWID``.
    Labels are the topics that occur in both parts (90 for ModApte), in alphabetical order;
    documents without any of them have an empty label set.

    Parameters
    ----------
    folder : path
        Where ``reut2-000.sgm`` to ``reut2-021.sgm`` are.
    split : {"modapte", "modlewis", "modhayes"}, default "modapte"
        Section VIII of the README: ``"modapte"`` (9,603 training and 3,299 test documents),
        ``"modlewis"`` (13,625 and 6,188) or ``"modhayes"`` (20,856 and 722).
    field : {"text", "titled_text"}, default "text"
        Title and body; or ``"titled_text"``: the title, which may be empty, as first line, as
        :class:`labelkin.text.TextView` takes it.
    complete : bool, default True
        Whether any number of documents but 21,578 is an error. ``False`` reads some of the files.
    """
    check_choice("split", split, _Split)
    check_choice("field", field, _TextField)
    used = [story for story in _all_stories(Path(folder), complete) if story.part(split)]
    is_train = np.array([story.part(split) == "train" for story in used], dtype=bool)
    topics = [story.topics for story in used]
    train, test = np.flatnonzero(is_train), np.flatnonzero(~is_train)
    in_train, in_test = (set[str]().union(*(topics[i] for i in part)) for part in (train, test))
    names = sorted(in_train & in_test)
    if not names:
        raise ValueError(
            f"The split {split!r} must have topics with both a training and a test document, got "
            f"none among {len(train)} training and {len(test)} test documents."
        )
    return Corpus(
        name="reuters21578",
        documents=object_array([getattr(story, field) for story in used]),
        **label_fields(read_labels([some & set(names) for some in topics], names=names)),
        train=train,
        test=test,
        ids=np.array([story.newid for story in used]),
        source="Reuters-21578, Distribution 1.0, "
        "http://www.daviddlewis.com/resources/testcollections/reuters21578/",
        licence="copyright of Reuters, for research use only: see the README of the corpus",
    )


def _all_stories(folder: Path, complete: bool) -> list[Story]:
    paths = sorted(folder.glob("*.sgm"))
    if not paths:
        raise FileNotFoundError(f"{folder} must have the files reut2-000.sgm …, and has no *.sgm.")
    stories = [story for path in paths for story in iter_stories(path)]
    if complete and len({story.newid for story in stories}) != N_DOCUMENTS:
        raise ValueError(
            f"Reuters-21578 has {N_DOCUMENTS} documents in 22 files, got {len(stories)} in "
            f"{len(paths)} files: {folder} is incomplete. complete=False reads the existing files."
        )
    return stories


class Story(NamedTuple):
    """One document of Reuters-21578, without mark-up.

    Attributes
    ----------
    newid
        Its number in the distribution, 1 to 21578.
    title, body
        The text; an unstructured story (``TYPE="UNPROC"``) is all body. The date line, the author
        and the placeholder of stories without a body ("Blah blah blah") are in neither.
    topics
        The names of its topics.
    attributes
        The attributes of the ``REUTERS`` tag: ``{"LEWISSPLIT": "TRAIN", …}``.
    """

    newid: int
    title: str
    body: str
    topics: frozenset[str]
    attributes: dict[str, str]

    @property
    def text(self) -> str:
        """Title and body."""
        return f"{self.title}\n{self.body}".strip()

    @property
    def titled_text(self) -> str:
        """The title in one line, which may be empty, and the body below it."""
        return f"{' '.join(self.title.split())}\n{self.body}"

    def part(self, split: _Split) -> str | None:
        """Return ``"train"`` or ``"test"``; ``None`` for a story that the split does not use."""
        if split == "modhayes":
            return "train" if self.attributes["CGISPLIT"] == "TRAINING-SET" else "test"
        topics = self.attributes["TOPICS"]
        is_used = topics == "YES" if split == "modapte" else topics != "BYPASS"
        parts = {"TRAIN": "train", "TEST": "test"}
        return parts.get(self.attributes["LEWISSPLIT"]) if is_used else None


#: The attributes of a ``REUTERS`` tag and the values that the README gives them.
ATTRIBUTES = {
    "TOPICS": "YES|NO|BYPASS",
    "LEWISSPLIT": "TRAIN|TEST|NOT-USED",
    "CGISPLIT": "TRAINING-SET|PUBLISHED-TESTSET",
    "NEWID": "[0-9]+",
}
_DOCUMENT = re.compile(r"<REUTERS\b([^>]*)>(.*)</REUTERS>\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="(.*?)"')


def iter_stories(path: Path) -> Iterator[Story]:
    """Yield every story of an SGML file, used by a split or not."""
    head, *pieces = re.split(r"(?=<REUTERS\b)", path.read_text(encoding="latin-1"))
    if not head.startswith("<!DOCTYPE lewis") or head.partition(">")[2].strip():
        raise ValueError(
            f"{line_of(path, 1)}: the file must begin with <!DOCTYPE lewis SYSTEM "
            f'"lewis.dtd"> and a document, got {head[:60]!r}. Is it a file of Reuters-21578?'
        )
    line = head.count("\n") + 1
    for piece in pieces:
        found = _DOCUMENT.fullmatch(piece)
        if not found:
            raise ValueError(
                f"{line_of(path, line)}: a document must be <REUTERS …> to </REUTERS>, got "
                f"{piece[:30]!r} to {piece[-30:]!r}. Is the file cut off?"
            )
        yield _read_story(line_of(path, line), found[1], found[2])
        line += piece.count("\n")


def _read_story(place: str, tag: str, content: str) -> Story:
    attributes = dict(_ATTRIBUTE.findall(tag))
    for name, allowed in ATTRIBUTES.items():
        if not re.fullmatch(allowed, attributes.get(name, "")):
            raise ValueError(
                f"{place}: a REUTERS tag must have {name}={allowed}, got {attributes.get(name)!r}."
            )
    _, topics = _only(place, "TOPICS", content)
    kind, text = _only(place, "TEXT", content)
    title, body = (
        _only(place, name, text)[1] if f"<{name}" in text else "" for name in ("TITLE", "BODY")
    )
    if "UNPROC" in kind:  # unstructured
        title, body = "", text
    return Story(
        newid=int(attributes["NEWID"]),
        title=_plain(title),
        body=_plain(body),
        topics=frozenset(re.findall(r"<D>(.*?)</D>", topics)),
        attributes=attributes,
    )


def _only(place: str, name: str, content: str) -> tuple[str, str]:
    """Return attributes and content of an element."""
    found: list[tuple[str, str]] = re.findall(
        rf"<{name}\b([^>]*)>(.*?)</{name}>", content, re.DOTALL
    )
    if len(found) != 1:
        raise ValueError(
            f"{place}: the document must have one <{name}>…</{name}>, got {len(found)}."
        )
    return found[0]


def _plain(text: str) -> str:
    """Return text without tags and control characters, with entities decoded."""
    return html.unescape(re.sub(r"<[^>]+>", " ", text)).strip()


_WORDS = "OHSUMED-F.arff"
#: ``OHSUMED-F.arff``: the documents of the training folder come first.
N_TRAIN_ARFF, N_DOCUMENTS_ARFF = 6_286, 13_929
_OHSUMED: dict[str, Any] = {
    "source": "Ohsumed-23, http://disi.unitn.it/moschitti/corpora.htm",
    "licence": "MEDLINE abstracts of the OHSUMED collection, for research, not for clinical use",
}


def read_ohsumed23(path: str | PathLike[str]) -> Corpus:
    """Read the abstracts in a folder, or the 1,002 binary words if it has only these."""
    path = Path(path)
    has_texts = path.suffix != ".arff" and any(path.glob("**/training"))
    return read_ohsumed(path) if has_texts else read_ohsumed_arff(path)


def read_ohsumed(path: str | PathLike[str]) -> Corpus:
    """Read Ohsumed in its original layout, ``training/C01/0000001`` and ``test/C01/0000001``.

    A file in several category folders of a part is one document with several labels. Training
    documents come first; ``ids`` are ``"training/0000001"`` and the like, in order.

    Parameters
    ----------
    path : path
        A folder with ``training`` and ``test``, or with one folder of these.
    """
    texts: dict[tuple[str, str], str] = {}
    categories: dict[tuple[str, str], set[str]] = {}
    tops: set[PurePath] = set()
    for file in sorted(Path(path).glob("**/*")):
        parts = file.relative_to(path).parts
        is_document = parts[-3:-2] in (("training",), ("test",)) and file.name[0] != "."
        if not is_document or not file.is_file():
            continue
        tops.add(PurePath(*parts[:-3]))
        key, category = (parts[-3], file.name), parts[-2]
        text = file.read_text(encoding="latin-1").strip()
        if texts.setdefault(key, text) != text:
            raise ValueError(
                f"{file}: a file in several categories must have the same text in all, and differs "
                f"from the one in {min(categories[key])}."
            )
        categories.setdefault(key, set()).add(category)
    if len(tops) > 1:
        shown = ", ".join(sorted(map(str, tops)))
        raise ValueError(f"{path} must contain one corpus, got training and test in {shown}.")
    keys = sorted(texts, key=lambda key: (key[0] != "training", key))
    is_train = np.array([part == "training" for part, _ in keys], dtype=bool)
    if not is_train.any() or is_train.all():
        raise ValueError(
            f"{path} must have files such as training/C01/0000001 and test/C01/0000001, got "
            f"{is_train.sum()} training and {(~is_train).sum()} test documents."
        )
    return Corpus(
        name="ohsumed",
        documents=object_array([texts[key] for key in keys]),
        **label_fields(read_labels([categories[key] for key in keys])),
        train=np.flatnonzero(is_train),
        test=np.flatnonzero(~is_train),
        ids=np.array(["/".join(key) for key in keys]),
        **_OHSUMED,
    )


def read_ohsumed_arff(path: str | PathLike[str]) -> Corpus:
    """Read ``OHSUMED-F.arff``: Ohsumed-23 as 1,002 words that occur (1) or do not (0).

    The first 6,286 documents are the published training set; the header has another number.

    Parameters
    ----------
    path : path
        The file, plain or packed.
    """
    path = Path(path)
    corpus = read_arff(path / _WORDS if path.is_dir() else path)
    n_documents = corpus.Y.shape[0]
    if n_documents != N_DOCUMENTS_ARFF:
        raise ValueError(
            f"Ohsumed-23 has {N_DOCUMENTS_ARFF} documents, got {n_documents} in "
            f"{path.name}. Is the file cut off?"
        )
    train, test = np.split(np.arange(n_documents), [N_TRAIN_ARFF])
    return replace(corpus, name="ohsumed-f", train=train, test=test, **_OHSUMED)
