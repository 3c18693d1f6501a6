"""The concepts of a vocabulary, in columns: 50,000 of them are a few megabytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.validation import abbreviate

#: Snowball's names of languages → the codes of BCP 47.
LANGUAGE_CODES = {
    "arabic": "ar", "basque": "eu", "catalan": "ca", "danish": "da", "dutch": "nl", "english": "en",
    "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hindi": "hi",
    "hungarian": "hu", "indonesian": "id", "irish": "ga", "italian": "it", "lithuanian": "lt",
    "nepali": "ne", "norwegian": "no", "porter": "en", "portuguese": "pt", "romanian": "ro",
    "russian": "ru", "serbian": "sr", "spanish": "es", "swedish": "sv", "tamil": "ta",
    "turkish": "tr", "yiddish": "yi",
}  # fmt: skip

_Pairs = NDArray[np.int32]
#: Texts of some concepts: the positions of the concepts, and the texts.
_Marked = tuple[NDArray[np.int32], tuple[str, ...]]


class Concept(NamedTuple):
    """One concept of a vocabulary.

    Attributes
    ----------
    uri : str
        Its identifier; documents have it as their label.
    labels : mapping of str to str
        Its preferred label by language; ``""`` is the language of names without language.
    notation : str
        Its code, such as the number in a classification; may be empty.
    alternatives : mapping of str to tuple of str
        Other names by language, for search.
    broader : tuple of str
        URIs of the concepts above it.

    Examples
    --------
    >>> from labelkin.vocabulary import Concept
    >>> poodle = Concept("urn:2", {"en": "poodle", "de": "Pudel"}, broader=("urn:1",))
    >>> poodle.labels["de"], poodle.broader, poodle.notation
    ('Pudel', ('urn:1',), '')
    """

    uri: str
    labels: Mapping[str, str] = {}
    notation: str = ""
    alternatives: Mapping[str, tuple[str, ...]] = {}
    broader: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """The concepts of a vocabulary; :func:`labelkin.vocabulary.read_vocabulary` reads one.

    Attributes
    ----------
    name : str
        Its name.
    language : str
        The default language of shown names.
    uris : tuple of str
        The concepts, sorted.
    labels : dict of str to tuple of str
        Language → the preferred label of each concept; may be empty.
    notations : tuple of str
        The code of each concept; may be empty.
    alternatives : dict of str to (array, tuple of str)
        Language → positions of concepts, and a text for each.
    broader, disjoint : array of int, (n_pairs, 2)
        Positions of a concept and of a broader one, or of one that excludes it.
    replaced : dict of str to str
        Replaced URIs → their successors.

    Examples
    --------
    >>> pets = Vocabulary.of(
    ...     [
    ...         Concept("urn:1", {"en": "dog", "de": "Hund"}, alternatives={"en": ("hound",)}),
    ...         Concept("urn:2", {"en": "poodle", "de": "Pudel"}, broader=("urn:1",)),
    ...     ],
    ...     name="pets",
    ...     language="en",
    ... )
    >>> pets
    <Vocabulary pets: 2 concepts, names in de, en>
    >>> pets.name_of("urn:2"), pets.name_of("urn:2", "de"), pets.name_of("urn:3")
    ('poodle', 'Pudel', 'urn:3')
    >>> sorted(pets.narrower(["urn:1"]))
    ['urn:1', 'urn:2']
    """

    name: str
    language: str
    uris: tuple[str, ...]
    labels: dict[str, tuple[str, ...]]
    notations: tuple[str, ...]
    alternatives: dict[str, _Marked] = field(default_factory=dict)
    broader: _Pairs = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    disjoint: _Pairs = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    replaced: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        concepts: Iterable[Concept],
        *,
        name: str = "vocabulary",
        language: str | None = None,
        disjoint: Iterable[tuple[str, str]] = (),
        replaced: Mapping[str, str] | None = None,
    ) -> Vocabulary:
        """Return the vocabulary of concepts; broader concepts that are missing are left out.

        Parameters
        ----------
        concepts : iterable of Concept
            In any order; each URI once.
        name : str, default "vocabulary"
            Its name.
        language : str, optional
            Language of shown names; ``None``: the one with names for most concepts, English before
            others.
        disjoint : iterable of pairs of str, default ()
            URIs of concepts that exclude each other.
        replaced : mapping of str to str, optional
            Replaced URI → its successor; chains are followed. Replaced concepts are left out.
        """
        successors = _followed(replaced or {})
        kept = sorted(
            (concept for concept in concepts if concept.uri not in successors),
            key=lambda concept: concept.uri,
        )
        uris = tuple(concept.uri for concept in kept)
        place = {uri: i for i, uri in enumerate(uris)}
        if len(place) < len(uris):
            twice = [uri for uri, count in Counter(uris).items() if count > 1]
            raise ValueError(
                f"A vocabulary must have each concept once, got {abbreviate(twice, 3)} again. "
                "Remove the repetitions."
            )
        languages = sorted({tag for concept in kept for tag in concept.labels})
        labels = {tag: tuple(concept.labels.get(tag, "") for concept in kept) for tag in languages}
        broader = {
            (i, place[above])
            for i, concept in enumerate(kept)
            for above in concept.broader
            if place.get(above, i) != i
        }
        apart = {
            (min(place[a], place[b]), max(place[a], place[b]))
            for a, b in disjoint
            if a in place and b in place and a != b
        }
        made = cls(
            name=name,
            language="",
            uris=uris,
            labels=labels,
            notations=tuple(concept.notation for concept in kept),
            alternatives=_alternatives(kept),
            broader=_pairs(broader),
            disjoint=_pairs(apart),
            replaced={old: new for old, new in successors.items() if new in place},
        )
        return made.shown_in(language)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of names, sorted, without names that have no language."""
        return tuple(tag for tag in self.labels if tag)

    def shown_in(self, language: str | None) -> Vocabulary:
        """Return the vocabulary with names shown in a language; an unknown language is an error.

        If no name has a language, all names are taken to be in it.

        Parameters
        ----------
        language : str or None
            Such as ``"en"``; ``None``: the one with names for most concepts.
        """
        counts = {tag: sum(map(bool, texts)) for tag, texts in self.labels.items()}
        if language is None:
            best = max(counts, key=lambda tag: (counts[tag], tag == "en", tag != ""), default="")
            return replace(self, language=best)
        wanted = language.lower()
        if not self.languages and "" in self.labels:
            return replace(self, language=wanted, labels={wanted: self.labels[""]})
        found = self.language_like(wanted)
        if found is None and (wanted or "" not in self.labels) and self.labels:
            raise ValueError(
                f"The names of {self.name} must be shown in one of its languages, "
                f"{abbreviate(self.languages, 12)}, got {language!r}."
            )
        return replace(self, language=wanted if found is None else found)

    def language_like(self, language: str) -> str | None:
        """Return the most similar language of this vocabulary: ``en`` for ``en-GB``."""
        wanted = language.lower()
        if wanted in self.labels and wanted:
            return wanted
        base = wanted.partition("-")[0]
        near = [tag for tag in self.languages if tag.partition("-")[0] == base]
        return min(near, key=len, default=None)

    def name_of(self, uri: str, language: str | None = None) -> str:
        """Return the name of a concept; in another language if it has none in this one.

        Parameters
        ----------
        uri : str
            The concept; a URI outside the vocabulary is returned unchanged.
        language : str, optional
            Such as ``"en"``; ``None``: :attr:`language`.
        """
        place = self.place_of(uri)
        return uri if place is None else self.name_at(place, language)

    def name_at(self, place: int, language: str | None = None) -> str:
        """Return the name of the concept at a position, as :meth:`name_of` does."""
        for tag in self._order(language):
            if text := self.labels[tag][place]:
                return text
        return self.uris[place]

    def concept(self, uri: str) -> Concept:
        """Return a concept; a URI outside the vocabulary is a KeyError.

        Parameters
        ----------
        uri : str
            The concept; a replaced one is its successor.
        """
        place = self.place_of(uri)
        if place is None:
            raise KeyError(f"{self.name} has no concept {uri!r}.")
        return Concept(
            self.uris[place],
            {tag: texts[place] for tag, texts in self.labels.items() if texts[place]},
            self.notations[place],
            {
                tag: texts[_rows(owners, place)]
                for tag, (owners, texts) in self.alternatives.items()
                if texts[_rows(owners, place)]
            },
            tuple(self.uris[above] for above in self.broader[_rows(self.broader[:, 0], place), 1]),
        )

    def current(self, uri: str) -> str:
        """Return the successor of a replaced URI, or the URI itself."""
        return self.replaced.get(uri, uri)

    def place_of(self, uri: str) -> int | None:
        """Return the position of a concept, or of its successor, or ``None``."""
        return self._places.get(self.current(uri))

    def narrower(self, uris: Iterable[str]) -> set[str]:
        """Return concepts and all narrower ones."""
        places = [place for uri in uris if (place := self.place_of(uri)) is not None]
        seen = set(places)
        for place in places:
            for below in self._below.get(place, ()):
                if below not in seen:
                    seen.add(below)
                    places.append(below)
        return {self.uris[place] for place in places}

    def match(self, labels: Sequence[str]) -> list[int | None]:
        """Return the position of the concept of each label, or ``None``.

        Labels are URIs, notations, or preferred labels in one language, whichever fits most labels.
        A name of two concepts matches neither.
        """
        found = [self.place_of(label) for label in labels]
        n_found = sum(place is not None for place in found)
        for names in (self.notations, *(self.labels[tag] for tag in self._order(None))):
            if n_found == len(labels):
                break
            places = unique_places(names)
            other = [places.get(label) for label in labels]
            n_other = sum(place is not None for place in other)
            if n_other > n_found:
                found, n_found = other, n_other
        return found

    def __len__(self) -> int:
        return len(self.uris)

    def __iter__(self) -> Iterator[Concept]:
        return map(self.concept, self.uris)

    def __repr__(self) -> str:
        languages = ", ".join(self.languages[:8]) + (" …" if len(self.languages) > 8 else "")
        named = f", names in {languages}" if languages else ""
        return f"<Vocabulary {self.name}: {len(self):,} concepts{named}>"

    def _order(self, language: str | None) -> list[str]:
        """Return the languages in the order of the search for a name."""
        wanted = None if language is None else self.language_like(language)
        if wanted not in self._orders:
            first = [wanted or "", self.language, ""]
            order = dict.fromkeys((*first, *self.labels))
            self._orders[wanted] = [tag for tag in order if tag in self.labels]
        return self._orders[wanted]

    @cached_property
    def _orders(self) -> dict[str | None, list[str]]:
        return {}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {uri: place for place, uri in enumerate(self.uris)}

    @cached_property
    def _below(self) -> dict[int, list[int]]:
        below: dict[int, list[int]] = {}
        for narrower, broader in self.broader.tolist():
            below.setdefault(broader, []).append(narrower)
        return below


def vocabulary_of(model: Any) -> Vocabulary | None:
    """Return the vocabulary of a model, or of the last step of a pipeline.

    Parameters
    ----------
    model : estimator
        With a vocabulary as the attribute ``concepts_``, as set by ``labelkin train --vocab``.

    Returns
    -------
    Vocabulary or None
        None without vocabulary.

    Examples
    --------
    >>> from labelkin import NaiveBayes
    >>> from labelkin.vocabulary import read_vocabulary
    >>> model = NaiveBayes().fit([[3, 0], [0, 4]], [["corn"], ["gold"]])
    >>> vocabulary_of(model) is None
    True
    >>> model.concepts_ = read_vocabulary("newsroom")
    >>> vocabulary_of(model).name_of("http://example.org/newsroom/wheat", "de")
    'Weizen'
    """
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return getattr(last, "concepts_", None)


def unique_places(names: Sequence[str]) -> dict[str, int]:
    """Return name → position, of names that occur once.

    Examples
    --------
    >>> unique_places(["bank", "", "river", "bank"])
    {'river': 2}
    """
    counts = Counter(names)
    return {name: place for place, name in enumerate(names) if name and counts[name] == 1}


def _rows(owners: NDArray[np.int32], place: int) -> slice:
    """Return the range of a position among the sorted owners."""
    first, last = np.searchsorted(owners, [place, place + 1])
    return slice(first, last)


def _followed(replaced: Mapping[str, str]) -> dict[str, str]:
    """Return the last successor of each replaced URI; circles are left out."""
    followed: dict[str, str] = {}
    for old in replaced:
        way = {old}
        new = replaced[old]
        while new in replaced and new not in way:
            if new in followed:
                new = followed[new]
                break
            way.add(new)
            new = replaced[new]
        if new not in way:
            followed[old] = new
    return followed


def _alternatives(concepts: Sequence[Concept]) -> dict[str, _Marked]:
    """Return the alternative names of concepts by language, in the order of the concepts."""
    found: dict[str, list[tuple[int, str]]] = {}
    for i, concept in enumerate(concepts):
        for tag, texts in concept.alternatives.items():
            found.setdefault(tag, []).extend((i, text) for text in texts if text)
    return {
        tag: (np.array([i for i, _ in pairs], dtype=np.int32), tuple(text for _, text in pairs))
        for tag, pairs in sorted(found.items())
    }


def _pairs(pairs: Iterable[tuple[int, int]]) -> _Pairs:
    return np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)
