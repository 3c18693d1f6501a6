"""Label sets → readable news: a headline and two to six sentences per document.

The text depends on the label set alone, and only loosely: the chances below say how loosely. They
were tuned until what the other labels add came near the size seen on real corpora. A document in
which more than six labels have a say gets a sentence for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from labelkin.corpora import newsroom_words as words
from labelkin.corpora.newsroom_desks import BEATS

VOICE = 0.9
"""Chance that a label of the document is written about at all …"""
VOICES = {
    "disaster-relief": 0.1, "domestic": 0.1, "foreign": 0.1, "grain": 0.1, "markets": 0.1,
    "aviation": 0.5, "coffee": 0.5, "defeat": 0.6, "earthquakes": 0.5, "fishing": 0.5, "gas": 0.6,
    "gold": 0.4, "money-market": 0.6, "museums": 0.5, "music": 0.6, "ports": 0.4, "space": 0.5,
    "telecoms": 0.6, "tennis": 0.6, "vaccines": 0.5, "victory": 0.6, "weather": 0.5,
}  # fmt: skip
"""… and for those with little of their own to say, or often mentioned by nothing but their beat."""
KINDS = {"own": 42, "beat": 14, "sibling": 12, "filler": 18, "aside": 14}
"""What a sentence is about, in per cent, once every label that is written about has had one."""
COMMON_WORD = 0.15
"""Chance that a sentence on a label takes its actors, or its thing, from the whole beat."""
KNOWN_PLACE = 0.9
"""Chance that a place lies at home in a domestic document, abroad in a foreign one, …"""
STRAY_PLACE = 0.1
"""… and at home (or, as often, abroad) in any other document. Else it could lie anywhere."""


class Topic(NamedTuple):
    """What a sentence can be about: a label, or a beat as a whole."""

    actors: list[str]
    things: list[str]
    moves: list[str]


def write_documents(label_sets: Sequence[Sequence[str]], rng: np.random.Generator) -> list[str]:
    """Write one document per label set; the headline is its first line."""
    return [Writer(rng.random, labels).document() for labels in label_sets]


class Writer:
    """Writes the document of one label set; ``uniform`` is its only source of randomness."""

    def __init__(self, uniform: Callable[[], float], labels: Sequence[str]) -> None:
        self.uniform = uniform
        self.labels = labels
        self.voices = [label for label in labels if uniform() < VOICES.get(label, VOICE)]
        self.used: set[str] = set()

    def document(self) -> str:
        """Write about the labels that found a voice first, about everything else after them."""
        headline = self.fill(words.HEADLINES, self.main_topic())
        n_sentences = max(2 + int(5 * self.uniform()), len(self.voices))
        plan = [("own", label) for label in self.voices] or [("beat", self.main_topic())]
        plan += [self.next_topic() for _ in range(n_sentences - len(plan))]
        plan.sort(key=lambda sentence: sentence[0] in TEMPLATES)
        body = [self.fill(TEMPLATES.get(kind, words.SENTENCES), topic) for kind, topic in plan]
        return headline + "\n" + " ".join(body)

    def main_topic(self) -> str:
        """Return a label with a voice or, failing that, the beat of a label."""
        return self.pick(self.voices) if self.voices else BEAT_OF[self.pick(self.labels)]

    def next_topic(self) -> tuple[str, str]:
        """Draw what a sentence is about: its kind, and a label or beat."""
        kind = self.pick(HUNDRED_KINDS)
        beat = BEAT_OF[self.pick(self.labels)]
        if kind == "own":
            return kind, self.main_topic()
        if kind == "sibling":
            return kind, self.pick(LABELS_OF[beat])
        return kind, self.pick(ALL_LABELS) if kind == "aside" else beat

    def fill(self, templates: Sequence[str], topic: str) -> str:
        """Put words into a template that the document has not used; link two labels if it can."""
        template = self.pick([t for t in templates if t not in self.used])
        self.used.add(template)
        thing = self.often(self.words_of(topic).things)
        others = self.words_of(self.main_topic()).things
        slots = {
            "actors": self.often(self.words_of(topic).actors),
            "thing": thing,
            "other": self.often([other for other in others if other != thing]),
            "moved": self.often(TOPICS[topic].moves),
            "did": self.often(DEEDS),
            "place": self.place(),
            "time": self.pick(TIMES),
            "future": self.pick(FUTURES),
            "amount": self.pick(AMOUNTS),
        }
        capitals = {slot.capitalize(): _capital(text) for slot, text in slots.items()}
        return template.format(**slots, **capitals)

    def words_of(self, topic: str) -> Topic:
        """Return the words of the topic, or now and then those of its whole beat."""
        return TOPICS[BEAT_OF[topic] if self.uniform() < COMMON_WORD else topic]

    def place(self) -> str:
        """Name a place; the labels domestic and foreign say where it is likely to lie."""
        at_home = abroad = STRAY_PLACE
        if "domestic" in self.labels:
            at_home, abroad = KNOWN_PLACE, 0.0
        if "foreign" in self.labels:
            at_home, abroad = 0.0, KNOWN_PLACE
        u = self.uniform()
        if u < at_home:
            return self.often(HOME_PLACES)
        return self.often(FOREIGN_PLACES if u < at_home + abroad else PLACES)

    def pick(self, items: Sequence[str]) -> str:
        """Draw one item, all alike."""
        return items[int(self.uniform() * len(items))]

    def often(self, items: Sequence[str]) -> str:
        """Draw one item, the first ones more often: the first k of n with chance √(k/n)."""
        u = self.uniform()
        return items[int(u * u * len(items))]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _items(listed: str) -> list[str]:
    return listed.split(", ")


def _topic(actors: str, things: str, beat: str) -> Topic:
    moves = f"{words.BEAT_WORDS[beat].moves}, {words.MOVES}"
    return Topic(_items(actors), _items(things), _items(moves))


# The word lists, split once.
ALL_LABELS = sorted(words.LABEL_WORDS)
LABELS_OF = {
    beat: sorted({label for story in stories for label in story.split()})
    for beat, stories in BEATS.items()
}
BEAT_OF = {topic: beat for beat, labels in LABELS_OF.items() for topic in [beat, *labels]}
TOPICS = {
    topic: _topic(said[0], said[1], BEAT_OF[topic])
    for topic, said in [*words.LABEL_WORDS.items(), *words.BEAT_WORDS.items()]
}
HUNDRED_KINDS = [kind for kind, per_cent in KINDS.items() for _ in range(per_cent)]
TEMPLATES = {"filler": words.FILLERS, "aside": words.ASIDES}
DEEDS, TIMES, FUTURES = _items(words.DEEDS), _items(words.TIMES), _items(words.FUTURES)
AMOUNTS, PLACES = _items(words.AMOUNTS), _items(words.PLACES)
HOME_PLACES, FOREIGN_PLACES = _items(words.HOME_PLACES), _items(words.FOREIGN_PLACES)
