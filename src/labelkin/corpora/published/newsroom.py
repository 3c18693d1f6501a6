"""A synthetic news corpus: readable texts, and label sets with known probabilities.

Label sets follow an explicit model, sampled and solved exactly; ``newsroom.toml`` contains its
numbers and all words. A **desk** is drawn for each document by its share, and every **beat**, a
small group of labels, is open or closed at that desk with a given chance, independently of the
other beats. An open beat writes one **story**: one of its listed label sets, drawn by weight (a
desk may prefer some labels), or rarely an unlisted one. So

    p(label set) = Σ_desk share(desk) · Π_beat p(labels of the beat | desk)

and p(label | all other labels) is a ratio of such sums with and without the label. Every label set
is possible except those with labels that exclude each other and those without a topic: every desk
has a beat that is always open, other than the region.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus, label_fields, object_array
from labelkin.files import csv_text
from labelkin.label_matrix import LabelMatrix, read_labels

RARELY_OPEN = 0.005
"""Chance of a beat that the desk does not list."""
ODD_STORIES = 0.01
"""Share of an open beat's stories that are unlisted label sets, …"""
ODD_LABEL = 0.2
"""… each further label of which makes them five times rarer."""

# The text depends only on the label set, with these chances. They were tuned until label evidence
# improved predictions about as much as on real corpora.
VOICE = 0.9
"""Default chance that the text mentions a label of the document."""
KINDS = {"own": 42, "beat": 14, "sibling": 12, "filler": 18, "aside": 14}
"""Subjects of sentences in per cent, after each mentioned label has had a sentence."""
COMMON_WORD = 0.15
"""Chance that a sentence on a label has actors, or a thing, of the whole beat."""
KNOWN_PLACE = 0.9
"""Chance that a place is at home in a domestic document, abroad in a foreign one, …"""
STRAY_PLACE = 0.1
"""… and at home (or abroad) in any other document; other places have no country."""


def newsroom(n_documents: int = 3000, *, seed: int = 0) -> Corpus:
    r"""Write a synthetic news corpus with 38 labels that depend on each other.

    Label sets are drawn from the distribution that :func:`newsroom_truth` returns; each text is
    written from its label set alone. The three reasons for several labels that the paper gives
    (section "The semantic of assigning multiple labels") are built in:

    - *Mixture of topics*: a document on two topics, say software and telecoms, has sentences on
      both.
    - *Contextualisation*: grain occurs with wheat or corn, markets with two of interest-rates,
      inflation and money-market, disaster-relief with floods or earthquakes. These labels follow
      from the others and have few own words.
    - *Labels that exclude each other*: domestic and foreign, victory and defeat, football and
      tennis.

    Label frequencies range from about a quarter of the documents to half a per cent. Labels share
    words with others, are often not mentioned, and are mentioned in other documents. The chances
    were tuned to the effect of label evidence on real corpora: the corpus shows how the method
    works, not how well.

    Parameters
    ----------
    n_documents : int, default 3000
        At least 2. With the same seed, fewer documents are the beginning of more.
    seed : int, default 0
        Same seed, same bytes, on every machine.

    Returns
    -------
    Corpus
        Two thirds of the documents, drawn by the seed, are for training. From 60 documents on,
        every label that occurs has a training document.

    Examples
    --------
    >>> corpus = newsroom(100)
    >>> corpus.label_sets()[35]
    ('software', 'telecoms')
    >>> print(corpus.documents[35].replace(". ", ".\n"))
    Broadband lines back in the spotlight
    In the old town, the software update drew fresh attention.
    Questions about the mobile network dominated a meeting of phone companies in the capital.
    """
    if n_documents < 2:
        raise ValueError(
            f"n_documents must be at least 2, one to train on and one to test, got {n_documents!r}."
        )
    label_seed, text_seed, split_seed = np.random.SeedSequence(seed).spawn(3)
    truth = newsroom_truth()
    labels = read_labels(truth.sample(n_documents, seed=label_seed), names=truth.names)
    uniform = np.random.default_rng(text_seed).random
    words = newsroom_words()
    texts = [_Writer(words, uniform, labels).document() for labels in labels.label_sets()]
    train, test = _split(labels.positive, np.random.default_rng(split_seed))
    return Corpus(
        name="newsroom",
        documents=object_array(texts),
        **label_fields(labels),
        train=train,
        test=test,
        source=f"generated by labelkin.corpora.newsroom({n_documents}, seed={seed})",
        licence="BSD-3-Clause",
    )


def newsroom_files(n_documents: int = 3000) -> dict[str, tuple[str, int]]:
    """Return example files: name → text and number of documents.

    Training documents with labels as a table and as JSON lines, test documents without labels.
    """
    news = newsroom(n_documents)
    ids, labels = [f"n{i}" for i in range(1, n_documents + 1)], news.label_sets()
    rows = [
        (id, *text.split("\n", 1), ";".join(row))
        for id, text, row in zip(ids, news.documents, labels, strict=True)
    ]
    records = [
        {"id": id, "text": text, "labels": row}
        for id, text, row in zip(ids, news.documents, labels, strict=True)
    ]
    heading, train, test = ("id", "title", "text", "labels"), news.train, news.test
    texts = [{key: records[i][key] for key in ("id", "text")} for i in test]

    def lines(some: list[dict[str, Any]]) -> str:
        return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in some)

    return {
        "news.csv": (csv_text([heading, *(rows[i] for i in train)]), len(train)),
        "new.csv": (csv_text([heading[:3], *(rows[i][:3] for i in test)]), len(test)),
        "news.jsonl": (lines([records[i] for i in train]), len(train)),
        "texts.jsonl": (lines(texts), len(test)),
    }


@dataclass(frozen=True)
class NewsroomTruth:
    """The exact distribution of the newsroom's label sets.

    Attributes
    ----------
    names : ndarray of str, (n_labels,)
        The labels in alphabetical order: the columns of every matrix here.
    shares : ndarray, (n_desks,)
        p(desk).
    columns : tuple of ndarray
        For every beat the columns of its labels.
    tables : tuple of ndarray
        For every beat p(its labels | desk), ``(n_desks, 2 ** n_labels_of_the_beat)``. Position in a
        table: its first label counts 1, the second 2, the third 4, and so on.

    Examples
    --------
    >>> truth = newsroom_truth()
    >>> truth.sample(5).shape
    (5, 38)
    """

    names: NDArray[np.str_]
    shares: NDArray[np.float64]
    columns: tuple[NDArray[np.int64], ...]
    tables: tuple[NDArray[np.float64], ...]

    @property
    def prior(self) -> NDArray[np.float64]:
        """p(label), ``(n_labels,)``."""
        prior = np.empty(len(self.names))
        for columns, table in zip(self.columns, self.tables, strict=True):
            prior[columns] = self.shares @ table @ _bits(len(columns))
        return prior

    def log_odds(self, L: ArrayLike | sparse.sparray | sparse.spmatrix) -> NDArray[np.float64]:
        """Return the exact log-odds of p(label | all other labels), ``(n_documents, n_labels)``.

        ``-inf``: the label is impossible with the others (victory beside defeat). ``inf``: it is
        certain (the only topic). NaN: 0/0, the others never occur.

        Parameters
        ----------
        L : array-like or label sets
            Complete label sets, ``(n_documents, n_labels)`` of 0 and 1 or any other kind of ``Y``;
            column j is ignored for label j.
        """
        cells = _complete(read_labels(L, names=self.names))
        codes = [cells[:, columns] @ (1 << np.arange(len(columns))) for columns in self.columns]
        chances = [table[:, code].T for table, code in zip(self.tables, codes, strict=True)]
        log_odds = np.empty(cells.shape)
        for g, (columns, table) in enumerate(zip(self.columns, self.tables, strict=True)):
            # p(desk, labels of all other beats), one column per desk
            others = self.shares * np.prod(chances[:g] + chances[g + 1 :], axis=0)
            for bit, j in enumerate(columns):
                without = codes[g] & ~(1 << bit)
                p_without = (others * table[:, without].T).sum(axis=1)
                p_with = (others * table[:, without | 1 << bit].T).sum(axis=1)
                with np.errstate(divide="ignore", invalid="ignore"):  # ±inf and NaN are meant
                    log_odds[:, j] = np.log(p_with) - np.log(p_without)
        return log_odds

    def sample(
        self, n_documents: int, *, seed: int | np.random.SeedSequence = 0
    ) -> NDArray[np.int64]:
        """Draw label sets without texts, 0/1, ``(n_documents, n_labels)``.

        With the same seed, fewer documents are the beginning of more.
        """
        # Uniform numbers only: their stream is the same on every machine.
        u = np.random.default_rng(seed).random((n_documents, 1 + len(self.tables)))
        desks = _draw(self.shares, u[:, 0])
        Y = np.zeros((n_documents, len(self.names)), dtype=np.int64)
        for g, (columns, table) in enumerate(zip(self.columns, self.tables, strict=True), start=1):
            for desk, p in enumerate(table):
                rows = np.flatnonzero(desks == desk)
                Y[np.ix_(rows, columns)] = _bits(len(columns))[_draw(p, u[rows, g])]
        return Y


def newsroom_truth() -> NewsroomTruth:
    """Return the distribution behind :func:`newsroom`.

    Returns
    -------
    NewsroomTruth

    Examples
    --------
    Log-odds of grain given wheat, and given weather:

    >>> truth = newsroom_truth()
    >>> grain = truth.names.tolist().index("grain")
    >>> truth.log_odds([["wheat"], ["weather"]])[:, grain].round(1).tolist()
    [2.8, -3.2]
    """
    words = newsroom_words()
    return make_truth(words.stories, words.desks, words.exclusive)


@dataclass(frozen=True)
class Desk:
    """One desk of the newsroom.

    Attributes
    ----------
    share
        Its share of all documents.
    beats
        The chance that a beat is open, default :data:`RARELY_OPEN`.
    leans
        Factors on the weight of every story with the label.
    """

    share: float
    beats: Mapping[str, float]
    leans: Mapping[str, float] = field(default_factory=dict)


def make_truth(
    stories: Mapping[str, Mapping[str, float]],
    desks: Mapping[str, Desk],
    exclusive: Sequence[Sequence[str]],
) -> NewsroomTruth:
    """Turn stories by beat, desks and labels that exclude each other into probability tables."""
    labels = {beat: _labels_of(listed) for beat, listed in stories.items()}
    names = sorted(label for members in labels.values() for label in members)
    shares = np.array([desk.share for desk in desks.values()])
    columns = [np.array([names.index(name) for name in members]) for members in labels.values()]
    tables = []
    for beat, members in labels.items():
        odd = _odd_stories(members, exclusive)
        rows = [_table(stories[beat], members, odd, desk, beat) for desk in desks.values()]
        tables.append(np.array(rows))
    return NewsroomTruth(np.array(names), shares / shares.sum(), tuple(columns), tuple(tables))


def _labels_of(stories: Mapping[str, float]) -> list[str]:
    return list(dict.fromkeys(label for story in stories for label in story.split()))


def _table(
    stories: Mapping[str, float], labels: list[str], odd: NDArray[np.float64], desk: Desk, beat: str
) -> NDArray[np.float64]:
    """p(labels of the beat | desk); a closed beat has none of its labels."""
    weights = np.zeros(2 ** len(labels))
    for story, weight in stories.items():
        members = story.split()
        lean = math.prod(desk.leans.get(label, 1.0) for label in members)
        weights[sum(1 << labels.index(label) for label in members)] = weight * lean
    chance = desk.beats.get(beat, RARELY_OPEN)
    table = chance * ((1 - ODD_STORIES) * (weights / weights.sum()) + ODD_STORIES * odd)
    table[0] = 1 - chance
    return table


def _odd_stories(labels: list[str], exclusive: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """p(label set of the beat | unlisted): larger sets are rarer; exclusive labels do not meet."""
    bits = _bits(len(labels))
    weights = ODD_LABEL ** bits.sum(axis=1)
    weights[0] = 0.0
    for pair in exclusive:
        columns = [labels.index(label) for label in pair if label in labels]
        weights[bits[:, columns].sum(axis=1) == 2] = 0.0
    return weights / weights.sum()


def _complete(labels: LabelMatrix) -> NDArray[np.int64]:
    if labels.unknown is not None:
        raise ValueError(
            "L must hold complete label sets, as p(label | all other labels) needs all of them, "
            f"got {labels.unknown.nnz} unknown cells (NaN). Fill them in with 0 or 1."
        )
    return labels.positive.toarray().astype(np.int64)


def _bits(n_labels: int) -> NDArray[np.int64]:
    """Return the label sets in table order, 0/1, ``(2 ** n_labels, n_labels)``."""
    return np.arange(2**n_labels)[:, None] >> np.arange(n_labels) & 1


def _draw(p: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each ``u``, the first place whose cumulated probability exceeds it."""
    cumulated = np.cumsum(p)
    return np.searchsorted(cumulated, u * cumulated[-1], side="right")


def _split(
    Y: sparse.csr_array, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two thirds of the documents at random, the first one of every label among them."""
    order = np.argsort(rng.random(Y.shape[0]), kind="stable")
    by_label = sparse.csc_array(Y[order])
    by_label.sort_indices()
    firsts = np.unique(by_label.indices[by_label.indptr[:-1][np.diff(by_label.indptr) > 0]])
    order = np.concatenate([order[firsts], np.delete(order, firsts)])
    n_train = round(len(order) * 2 / 3)
    return np.sort(order[:n_train]), np.sort(order[n_train:])


class Topic(NamedTuple):
    """The subject of a sentence: a label, or a beat as a whole."""

    actors: list[str]
    things: list[str]
    moves: list[str]


class NewsroomWords:
    """The content of ``newsroom.toml``, ready for sampling and writing.

    Attributes
    ----------
    stories
        Label sets of every beat with their weights.
    desks, exclusive
        The desks, and pairs of labels of a beat that exclude each other.
    topics
        The words for a label or a beat.
    voices
        Chance that the text mentions a label of the document, default :data:`VOICE`.
    beat_of, labels_of
        The beat of a label (and of a beat: itself); the labels of a beat.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        beats, labels = content["beats"], content["labels"]
        self.stories: dict[str, dict[str, float]] = {b: beats[b]["stories"] for b in beats}
        self.desks = {name: Desk(**desk) for name, desk in content["desks"].items()}
        self.exclusive: list[list[str]] = content["exclusive"]
        self.labels = sorted(labels)
        self.labels_of = {beat: sorted(_labels_of(s)) for beat, s in self.stories.items()}
        self.beat_of = {
            t: beat for beat, members in self.labels_of.items() for t in [beat, *members]
        }
        self.voices = {label: said["voice"] for label, said in labels.items() if "voice" in said}
        self.topics = {}
        for topic, said in [*labels.items(), *beats.items()]:
            moves = f"{beats[self.beat_of[topic]]['moves']}, {content['moves']}"
            texts = (said["actors"], said["things"], moves)
            self.topics[topic] = Topic(*(text.split(", ") for text in texts))
        self.headlines, self.sentences = content["headlines"], content["sentences"]
        self.templates = {"filler": content["fillers"], "aside": content["asides"]}
        # Deeds, times, places …: every single text in the file.
        texts_by_name = {n: said for n, said in content.items() if isinstance(said, str)}
        self.lists = {name: text.split(", ") for name, text in texts_by_name.items()}


@cache
def newsroom_words() -> NewsroomWords:
    """Read ``newsroom.toml``, once."""
    content = (
        files("labelkin.corpora.published").joinpath("newsroom.toml").read_text(encoding="utf-8")
    )
    return NewsroomWords(tomllib.loads(content))


_HUNDRED_KINDS = [kind for kind, per_cent in KINDS.items() for _ in range(per_cent)]


class _Writer:
    """The document of one label set: a headline and two to six sentences.

    A document that mentions more than six labels has a sentence for each. ``uniform`` is the only
    source of randomness.
    """

    def __init__(
        self, words: NewsroomWords, uniform: Callable[[], float], labels: Sequence[str]
    ) -> None:
        self.words = words
        self.uniform = uniform
        self.labels = labels
        self.voices = [label for label in labels if uniform() < words.voices.get(label, VOICE)]
        self.used: set[str] = set()

    def document(self) -> str:
        """Write first about the mentioned labels, then about other topics."""
        templates = self.words.templates
        headline = self.fill(self.words.headlines, self.main_topic())
        n_sentences = max(2 + int(5 * self.uniform()), len(self.voices))
        plan = [("own", label) for label in self.voices] or [("beat", self.main_topic())]
        plan += [self.next_topic() for _ in range(n_sentences - len(plan))]
        plan.sort(key=lambda sentence: sentence[0] in templates)
        sentences = self.words.sentences
        body = [self.fill(templates.get(kind, sentences), topic) for kind, topic in plan]
        return headline + "\n" + " ".join(body)

    def main_topic(self) -> str:
        """Return a mentioned label, or the beat of a label if no label is mentioned."""
        if self.voices:
            return self.pick(self.voices)
        return self.words.beat_of[self.pick(self.labels)]

    def next_topic(self) -> tuple[str, str]:
        """Draw the subject of a sentence: its kind, and a label or beat."""
        kind = self.pick(_HUNDRED_KINDS)
        beat = self.words.beat_of[self.pick(self.labels)]
        if kind == "own":
            return kind, self.main_topic()
        if kind == "sibling":
            return kind, self.pick(self.words.labels_of[beat])
        return kind, self.pick(self.words.labels) if kind == "aside" else beat

    def fill(self, templates: Sequence[str], topic: str) -> str:
        """Fill a template that the document has not used; it may link two labels."""
        lists = self.words.lists
        template = self.pick([t for t in templates if t not in self.used])
        self.used.add(template)
        thing = self.often(self.words_of(topic).things)
        others = self.words_of(self.main_topic()).things
        slots = {
            "actors": self.often(self.words_of(topic).actors),
            "thing": thing,
            "other": self.often([other for other in others if other != thing]),
            "moved": self.often(self.words.topics[topic].moves),
            "did": self.often(lists["deeds"]),
            "place": self.place(),
            "time": self.pick(lists["times"]),
            "future": self.pick(lists["futures"]),
            "amount": self.pick(lists["amounts"]),
        }
        capitals = {s.capitalize(): text[0].upper() + text[1:] for s, text in slots.items()}
        return template.format(**slots, **capitals)

    def words_of(self, topic: str) -> Topic:
        """Return the words of the topic, or sometimes those of its whole beat."""
        common = self.uniform() < COMMON_WORD
        return self.words.topics[self.words.beat_of[topic] if common else topic]

    def place(self) -> str:
        """Draw a place, at home or abroad by the labels domestic and foreign."""
        at_home = abroad = STRAY_PLACE
        if "domestic" in self.labels:
            at_home, abroad = KNOWN_PLACE, 0.0
        if "foreign" in self.labels:
            at_home, abroad = 0.0, KNOWN_PLACE
        u = self.uniform()
        where = (
            "home_places" if u < at_home else "foreign_places" if u < at_home + abroad else "places"
        )
        return self.often(self.words.lists[where])

    def pick(self, items: Sequence[str]) -> str:
        """Draw one item, each with the same chance."""
        return items[int(self.uniform() * len(items))]

    def often(self, items: Sequence[str]) -> str:
        """Draw one item, the first ones more often: the first k of n with chance √(k/n)."""
        u = self.uniform()
        return items[int(u * u * len(items))]
