"""Reuters-21578, Distribution 1.0: the three splits that its README defines."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from labelkin.corpora.corpus import Corpus, label_fields, object_array
from labelkin.corpora.lines import line_of
from labelkin.label_matrix import read_labels

_Split = Literal["modapte", "modlewis", "modhayes"]
_TextField = Literal["text", "titled_text"]

#: How many documents the distribution has, in its 22 files.
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
    documents that carry none of them stay, with an empty label set.

    Parameters
    ----------
    folder : path
        Where ``reut2-000.sgm`` to ``reut2-021.sgm`` are.
    split : {"modapte", "modlewis", "modhayes"}, default "modapte"
        Section VIII of the README: ``"modapte"`` (9,603 training and 3,299 test documents),
        ``"modlewis"`` (13,625 and 6,188) or ``"modhayes"`` (20,856 and 722).
    field : {"text", "titled_text"}, default "text"
        Title and body; or ``"titled_text"``: the title, maybe empty, as first line, as
        :class:`labelkin.text.TextView` takes it.
    complete : bool, default True
        Whether any number of documents but 21,578 is an error. ``False`` reads some of the files.
    """
    for name, value, choices in (("split", split, _Split), ("field", field, _TextField)):
        if value not in get_args(choices):
            listed = ", ".join(map(repr, get_args(choices)))
            raise ValueError(f"{name} must be one of {listed}, got {value!r}.")
    paths = sorted(Path(folder).glob("*.sgm"))
    if not paths:
        raise FileNotFoundError(f"{folder} must have the files reut2-000.sgm …, and has no *.sgm.")
    stories = list(iter_stories(paths))
    if complete and len(stories) != N_DOCUMENTS:
        raise ValueError(
            f"Reuters-21578 has {N_DOCUMENTS} documents in 22 files, got {len(stories)} in "
            f"{len(paths)} files: {folder} is incomplete. complete=False reads what is there."
        )
    return _corpus(stories, split, field)


def _corpus(stories: Sequence[Story], split: _Split, field: _TextField) -> Corpus:
    used = [(story, part) for story in stories if (part := _part(story.attributes, split))]
    is_train = np.array([part == "train" for _, part in used], dtype=bool)
    in_train, in_test = (
        {topic for story, its in used if its == part for topic in story.topics}
        for part in ("train", "test")
    )
    names = sorted(in_train & in_test)
    if not names:
        raise ValueError(
            f"The split {split!r} must have topics with both a training and a test document, got "
            f"none among {is_train.sum()} training and {(~is_train).sum()} test documents."
        )
    return Corpus(
        name="reuters21578",
        documents=object_array([getattr(story, field) for story, _ in used]),
        **label_fields(read_labels([story.topics & set(names) for story, _ in used], names=names)),
        train=np.flatnonzero(is_train),
        test=np.flatnonzero(~is_train),
        ids=np.array([story.newid for story, _ in used]),
        source="Reuters-21578, Distribution 1.0, "
        "http://www.daviddlewis.com/resources/testcollections/reuters21578/",
        licence="copyright of Reuters, for research use only: see the README of the corpus",
    )


def _part(attributes: Mapping[str, str], split: _Split) -> str | None:
    """Return the part a story belongs to; those that are ``NOT-USED`` belong to none."""
    if split == "modhayes":
        return "train" if attributes["CGISPLIT"] == "TRAINING-SET" else "test"
    topics = attributes["TOPICS"]
    is_used = topics == "YES" if split == "modapte" else topics != "BYPASS"
    return {"TRAIN": "train", "TEST": "test"}.get(attributes["LEWISSPLIT"]) if is_used else None


#: The attributes of a ``REUTERS`` tag and the values that the README gives them.
ATTRIBUTES = {
    "TOPICS": "YES|NO|BYPASS",
    "LEWISSPLIT": "TRAIN|TEST|NOT-USED",
    "CGISPLIT": "TRAINING-SET|PUBLISHED-TESTSET",
    "NEWID": "[0-9]+",
}


@dataclass(frozen=True)
class Story:
    """One document, without mark-up.

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
        What the ``REUTERS`` tag says: ``{"LEWISSPLIT": "TRAIN", …}``.
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


def iter_stories(paths: Sequence[Path]) -> Iterator[Story]:
    """Yield every story of some SGML files in their order, used by a split or not."""
    seen: set[int] = set()
    for path in paths:
        file = _File(path, path.read_text(encoding="latin-1"))
        for start, tag, content in _elements(file):
            story = _read_story(file, start, tag, content)
            if story.newid in seen:
                raise file.error(start, f"NEWID must be unique, got {story.newid} again.")
            seen.add(story.newid)
            yield story


@dataclass(frozen=True)
class _File:
    """A file and its text."""

    path: Path
    text: str

    def error(self, position: int, message: str) -> ValueError:
        """Return the error at a position; only then are the lines before it counted."""
        line = self.text.count("\n", 0, position) + 1
        return ValueError(f"{line_of(self.path, line)}: {message}")


_DOCUMENT = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="(.*?)"')
_ELEMENT = {
    name: re.compile(rf"<{name}\b([^>]*)>(.*?)</{name}>", re.DOTALL)
    for name in ("TOPICS", "TEXT", "TITLE", "BODY")
}
_TOPIC = re.compile(r"<D>(.*?)</D>")
_TAG = re.compile(r"<[^>]+>")


def _elements(file: _File) -> Iterator[tuple[int, str, str]]:
    """Yield position, attributes and content of the ``REUTERS`` elements; all else is an error."""
    if not file.text.startswith("<!DOCTYPE lewis"):
        raise file.error(
            0,
            'the file must begin with <!DOCTYPE lewis SYSTEM "lewis.dtd">, got '
            f"{file.text.partition(chr(10))[0][:60]!r}. Is it a file of Reuters-21578?",
        )
    end = file.text.find(">") + 1
    for found in _DOCUMENT.finditer(file.text, end):
        _check_blank(file, end, found.start())
        if "<REUTERS" in found[2]:
            raise file.error(found.start(), "a document must end with </REUTERS> before the next.")
        yield found.start(), found[1], found[2]
        end = found.end()
    _check_blank(file, end, len(file.text))


def _check_blank(file: _File, start: int, end: int) -> None:
    between = file.text[start:end].strip()
    if between:
        raise file.error(
            file.text.index(between[0], start),
            f"a document must be <REUTERS …> to </REUTERS>, got {between[:60]!r}. Is the file cut "
            "off?",
        )


def _read_story(file: _File, start: int, tag: str, content: str) -> Story:
    attributes = dict(_ATTRIBUTE.findall(tag))
    for name, allowed in ATTRIBUTES.items():
        if not re.fullmatch(allowed, attributes.get(name, "")):
            raise file.error(
                start, f"a REUTERS tag must say {name}={allowed}, got {attributes.get(name)!r}."
            )
    _, topics = _only(file, start, "TOPICS", content)
    kind, text = _only(file, start, "TEXT", content)
    unstructured = "UNPROC" in kind
    return Story(
        newid=int(attributes["NEWID"]),
        title="" if unstructured else _plain(_inner(file, start, "TITLE", text)),
        body=_plain(text if unstructured else _inner(file, start, "BODY", text)),
        topics=frozenset(_TOPIC.findall(topics)),
        attributes=attributes,
    )


def _inner(file: _File, start: int, name: str, text: str) -> str:
    """Return the content of an element that not every story has."""
    return _only(file, start, name, text)[1] if f"<{name}" in text else ""


def _only(file: _File, start: int, name: str, content: str) -> tuple[str, str]:
    """Return attributes and content of an element."""
    found: list[tuple[str, str]] = _ELEMENT[name].findall(content)
    if len(found) != 1:
        raise file.error(
            start,
            f"the document that begins here must have one <{name}>…</{name}>, got {len(found)}.",
        )
    return found[0]


def _plain(text: str) -> str:
    """Text without tags, entities resolved; control characters such as ``&#3;`` vanish."""
    return html.unescape(_TAG.sub(" ", text)).strip()
