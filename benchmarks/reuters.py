"""Reuters-21578 from its SGML files: the ModApte split and the topics that occur in both parts."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

_DOCUMENT = re.compile(r"<REUTERS (.*?)>(.*?)</REUTERS>", re.DOTALL)
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_TOPIC = re.compile(r"<D>(.*?)</D>")
_TEXT = re.compile(r"<TEXT.*?>(.*?)</TEXT>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class Story:
    """A text, its topics, and which part it belongs to: ``"TRAIN"`` or ``"TEST"``."""

    text: str
    topics: frozenset[str]
    part: str


def read_stories(folder: Path) -> tuple[list[Story], list[Story]]:
    """Read all ``*.sgm`` of a folder; return training and test stories of the ModApte split."""
    stories: list[Story] = []
    for path in sorted(folder.glob("*.sgm")):
        stories.extend(parse_sgml(path.read_text(encoding="latin-1")))
    return split_stories(stories)


def parse_sgml(text: str) -> Iterator[Story]:
    """Yield the stories that were given topics (also none) and belong to a part."""
    for attributes, body in _DOCUMENT.findall(text):
        part = re.search(r'LEWISSPLIT="(TRAIN|TEST)"', attributes)
        if part and 'TOPICS="YES"' in attributes:
            topics = frozenset(_TOPIC.findall(_first(_TOPICS, body)))
            yield Story(html.unescape(_TAG.sub(" ", _first(_TEXT, body))), topics, part[1])


def split_stories(stories: list[Story]) -> tuple[list[Story], list[Story]]:
    """Keep the topics that occur in both parts, and the stories that have one of them."""
    train, test = ([s for s in stories if s.part == part] for part in ("TRAIN", "TEST"))
    both = frozenset().union(*(s.topics for s in train)) & frozenset().union(
        *(s.topics for s in test)
    )
    return _with_topics(train, both), _with_topics(test, both)


def word_reader(stop_list: Path) -> Callable[[str], list[str]]:
    """Return what cuts a text into lower-case words: no stop words, English stems.

    Without the stop list, or without PyStemmer, that step is left out.
    """
    stop_words = (
        frozenset(stop_list.read_text(encoding="utf-8").split())
        if stop_list.exists()
        else frozenset()
    )
    stem = _stemmer()
    return lambda text: stem([w for w in _WORD.findall(text.lower()) if w not in stop_words])


def describe_words(stop_list: Path) -> str:
    """Return the steps that :func:`word_reader` takes here, in words."""
    stop_words = "without SMART stop words" if stop_list.exists() else "all words"
    return f"{stop_words}, {'as they are' if _stemmer() is list else 'English stems'}"


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


def _with_topics(stories: list[Story], topics: frozenset[str]) -> list[Story]:
    return [Story(s.text, s.topics & topics, s.part) for s in stories if s.topics & topics]


def _stemmer() -> Callable[[list[str]], list[str]]:
    try:
        snowball = import_module("Stemmer")
    except ImportError:
        return list
    stems: Callable[[list[str]], list[str]] = snowball.Stemmer("english").stemWords
    return stems
