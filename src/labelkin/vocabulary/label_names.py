"""The labels of a model with their names, for display, search and selection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.validation import abbreviate
from labelkin.vocabulary.record import Vocabulary

#: The least similarity of a name to a text.
_ALIKE = 0.65


class FoundLabel(NamedTuple):
    """A label in the result of a search.

    Attributes
    ----------
    column : int
        Column of the label.
    matched : str
        The matched name, alternative label, notation or URI.

    Examples
    --------
    >>> from labelkin.vocabulary import LabelNames, read_vocabulary
    >>> names = LabelNames(["grain", "tennis", "wheat"], read_vocabulary("newsroom"))
    >>> [found] = names.search("weiz", language="de")
    >>> found, names.labels[found.column]
    (FoundLabel(column=2, matched='Weizen'), 'wheat')
    """

    column: int
    matched: str


#: A text of a search: in lower case, as shown, its label, and its kind, from 0 (shown names) to 3
#: (names in other languages).
_Text = tuple[str, str, int, int]


class LabelNames:
    """Labels and their names in a vocabulary; without one every label is its own name.

    Labels are matched by URI, notation or preferred label in one language, whichever fits most.

    Parameters
    ----------
    labels : sequence
        The labels in column order.
    vocabulary : Vocabulary, optional
        Their concepts.

    Examples
    --------
    >>> from labelkin.vocabulary import read_vocabulary
    >>> names = LabelNames(["grain", "tennis", "wheat"], read_vocabulary("newsroom"))
    >>> names.all("de")
    ['Getreide', 'Tennis', 'Weizen']
    >>> names.uri("wheat")
    'http://example.org/newsroom/wheat'
    >>> names.allowed(exclude=["grain"]).tolist()  # and what is narrower
    [False, True, False]
    """

    def __init__(self, labels: Sequence[Any], vocabulary: Vocabulary | None = None) -> None:
        self.labels = [str(label) for label in labels]
        self.vocabulary = vocabulary
        self._column = {label: j for j, label in enumerate(self.labels)}
        none: list[int | None] = [None] * len(self.labels)
        self._places = none if vocabulary is None else vocabulary.match(self.labels)
        self._ready: dict[str, _InOneLanguage] = {}

    @property
    def n_named(self) -> int:
        """Number of labels that are concepts of the vocabulary."""
        return sum(place is not None for place in self._places)

    def check_some(self, source: str) -> None:
        """Raise if no label is a concept of the vocabulary, which was read from ``source``."""
        vocabulary = self.vocabulary
        if vocabulary is None or self.n_named:
            return
        shown = [vocabulary.name_at(place) for place in range(min(3, len(vocabulary)))]
        raise ValueError(
            f"Labels must be concepts of the vocabulary, and none of the {len(self.labels):,} "
            f"labels of the corpus is in {source}. The corpus has {abbreviate(self.labels, 3)}; "
            f"the vocabulary has {abbreviate(vocabulary.uris, 3)}, called {abbreviate(shown)}. Is "
            "it the vocabulary of this corpus?"
        )

    def all(self, language: str | None = None) -> list[str]:
        """Return the names of all labels in a language; ``None``: the vocabulary's own."""
        return self._in(language).names

    def distinct(self, language: str | None = None) -> dict[str, str]:
        """Return label → name, with the label in brackets if two labels have the same name."""
        names = self.all(language)
        counts = Counter(names)
        return {
            label: name if counts[name] == 1 or name == label else f"{name} ({label})"
            for label, name in zip(self.labels, names, strict=True)
        }

    def of(self, label: Any, language: str | None = None) -> str:
        """Return the name of one label; a text that is not a label is returned unchanged."""
        column = self._column.get(str(label))
        if column is not None:
            return self.all(language)[column]
        vocabulary = self.vocabulary
        return str(label) if vocabulary is None else vocabulary.name_of(str(label), language)

    def uri(self, label: Any) -> str:
        """Return the URI of a label: of its concept, or the label itself."""
        place = self._place(label)
        return str(label) if place is None else self._concepts.uris[place]

    def notation(self, label: Any) -> str | None:
        """Return the notation of a label, if it has one."""
        place = self._place(label)
        return None if place is None else self._concepts.notations[place] or None

    def label(self, text: str) -> str | None:
        """Return the label with a text as label, URI, notation or name; ``None`` if ambiguous.

        Upper and lower case of names are equal.
        """
        for one in (text, self._concepts.current(text)):
            if one in self._column:
                return one
        found = self._meant.get(text.casefold(), [])
        return self.labels[found[0]] if len(found) == 1 else None

    def concept(self, text: str) -> str | None:
        """Return the URI of the only concept with a text as URI, notation or name."""
        place = self._concepts.place_of(text)
        places = self._every.get(text.casefold(), []) if place is None else [place]
        return self._concepts.uris[places[0]] if len(places) == 1 else None

    def read(self, text: str, what: str, *, or_concept: bool = False) -> str:
        """Return the label of a text as :meth:`label` does; no label, or several, is an error.

        Parameters
        ----------
        text : str
            A label, a URI, a notation or a name in any language.
        what : str
            Its name in messages, such as ``"--accept"``.
        or_concept : bool, default False
            Also return the URI of a concept that is not a label.
        """
        label = self.label(text)
        if label is None and or_concept:
            label = self.concept(text)
        if label is not None:
            return label
        several = [self.labels[j] for j in self._meant.get(text.casefold(), ())]
        if or_concept and not several:
            several = [self._concepts.uris[j] for j in self._every.get(text.casefold(), ())]
        if several:
            meant = abbreviate(several, 3)
            raise ValueError(f"{what} must be one label, got {text!r}, which is {meant}. Name one.")
        texts = [*self.labels, *(shown for _, shown, *_ in (*self._other_languages, *self._codes))]
        near = dict.fromkeys(texts[place] for place in SimilarNames(texts).near(text))
        listed = " or ".join(map(repr, list(near)[:3]))
        raise ValueError(
            f"{what} must be one of the {len(self.labels)} labels of the model, got {text!r}. "
            + (f"Did you mean {listed}?" if listed else f"It has {abbreviate(self.all())}.")
        )

    def search(self, query: str, language: str | None = None) -> list[FoundLabel]:
        """Return the labels with a name that contains a text, in upper or lower case.

        The search covers names in the language, alternative labels, notations and labels; names in
        other languages only if nothing else matches. Names that begin with the text come first,
        then shown names.
        """
        wanted = query.casefold().strip()
        if "://" in wanted:
            uris = [(j, self.uri(label)) for j, label in enumerate(self.labels)]
            return [FoundLabel(j, uri) for j, uri in uris if uri.casefold().startswith(wanted)]
        ready = self._in(language)
        best: dict[int, tuple[int, str]] = {}
        for texts in (ready.texts, self._other_languages):
            for folded, text, column, kind in texts:
                at = folded.find(wanted)
                if at < 0:
                    continue
                rank = 2 * kind + (at > 0)
                if column not in best or rank < best[column][0]:
                    best[column] = (rank, text)
            if best:
                break
        # One number to sort by, for a list of 10,000: begins with it, kind, and the name shown.
        n, places = len(self.labels), ready.places
        order = sorted(best, key=lambda j: (best[j][0] % 2 * 8 + best[j][0]) * n + places[j])
        return [FoundLabel(j, best[j][1]) for j in order]

    def similar(self, query: str, language: str | None = None) -> list[FoundLabel]:
        """Return the labels with a name that is spelled nearly like a text, most similar first.

        The search covers the same names as :meth:`search`, without other languages.
        """
        ready = self._in(language)
        found: dict[int, str] = {}
        for place in ready.spelled.near(query):
            _, text, column, _ = ready.texts[place]
            found.setdefault(column, text)
        return [FoundLabel(column, text) for column, text in found.items()]

    def allowed(
        self, include: Iterable[str] = (), exclude: Iterable[str] = (), prefix: str = "--"
    ) -> NDArray[np.bool_]:
        """Return the mask of allowed labels; no allowed label is an error.

        Parameters
        ----------
        include : iterable of str, default ()
            Concepts, by URI, notation or name: only these and narrower ones are allowed. Empty:
            every label.
        exclude : iterable of str, default ()
            Concepts that are not allowed, with narrower ones.
        prefix : str, default "--"
            Prefix of ``include`` and ``exclude`` in messages: that of command options.
        """
        include, exclude = list(include), list(exclude)
        mask = np.full(len(self.labels), not include)
        mask[self._and_narrower(include, f"{prefix}include")] = True
        mask[self._and_narrower(exclude, f"{prefix}exclude")] = False
        if not mask.any():
            raise ValueError(
                f"{prefix}include and {prefix}exclude must leave a label, and leave none of the "
                f"{len(self.labels)} labels of the model. Exclude fewer."
            )
        return mask

    def _and_narrower(self, texts: list[str], what: str) -> list[int]:
        """Return the columns of concepts, labels or not, and of narrower ones."""
        uris, columns = [], []
        for text in texts:
            label = self.label(text)
            uri = self.concept(text) if label is None else None
            if uri is None:
                label = self.read(text, what)
                columns.append(self._column[label])
            uris.append(uri or self.uri(label))
        below = self._concepts.narrower(uris)
        return columns + [j for j, label in enumerate(self.labels) if self.uri(label) in below]

    def _place(self, label: Any) -> int | None:
        column = self._column.get(str(label))
        return None if column is None else self._places[column]

    def _in(self, language: str | None) -> _InOneLanguage:
        """Return the names in a language, which are cached."""
        tag = (language and self._concepts.language_like(language)) or ""
        if tag not in self._ready:
            names = [
                label if place is None else self._concepts.name_at(place, tag or None)
                for label, place in zip(self.labels, self._places, strict=True)
            ]
            self._ready[tag] = _InOneLanguage(names, self._codes)
        return self._ready[tag]

    @cached_property
    def _concepts(self) -> Vocabulary:
        """The vocabulary, empty by default."""
        return self.vocabulary or Vocabulary.of([])

    @cached_property
    def _codes(self) -> list[_Text]:
        """Alternative labels, notations, and labels that are not names."""
        columns: dict[int, list[int]] = {}
        for j, place in enumerate(self._places):
            if place is not None:
                columns.setdefault(place, []).append(j)
        found = [
            (text.casefold(), text, j, 1)
            for owners, texts in self._concepts.alternatives.values()
            for place, text in zip(owners.tolist(), texts, strict=True)
            for j in columns.get(place, ())
        ]
        for j, (label, place) in enumerate(zip(self.labels, self._places, strict=True)):
            # All URIs of a vocabulary begin alike: their ends differ.
            end = label.replace("#", "/").rpartition("/")[2] if "://" in label else label
            texts = () if place is None else (self._concepts.notations[place], end)
            found += [(text.casefold(), text, j, 2) for text in texts if text]
        return found

    @cached_property
    def _other_languages(self) -> list[_Text]:
        """The preferred labels in every language."""
        return [
            (texts[place].casefold(), texts[place], j, 3)
            for j, place in enumerate(self._places)
            if place is not None
            for texts in self._concepts.labels.values()
            if texts[place]
        ]

    @cached_property
    def _every(self) -> dict[str, list[int]]:
        """Positions of all concepts by name in any language, notation or alternative label."""
        preferred = (self._concepts.notations, *self._concepts.labels.values())
        return _by_text(
            ((text, place) for texts in preferred for place, text in enumerate(texts)),
            (
                (text, place)
                for owners, texts in self._concepts.alternatives.values()
                for place, text in zip(owners.tolist(), texts, strict=True)
            ),
        )

    @cached_property
    def _meant(self) -> dict[str, list[int]]:
        """Columns by URI or name in any language, notation or alternative label."""
        uris = (
            (self.uri(label), j)
            for j, label in enumerate(self.labels)
            if self._places[j] is not None
        )
        groups = [((text, j) for _, text, j, _ in x) for x in (self._other_languages, self._codes)]
        return _by_text(uris, *groups)


def _by_text(*groups: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Return the positions by text, without case; earlier groups have priority.

    Examples
    --------
    >>> _by_text([("Bank", 0), ("bank", 2)], [("bank", 1), ("shore", 1)])
    {'bank': [0, 2], 'shore': [1]}
    """
    found: dict[str, dict[int, None]] = {}
    for group in groups:
        taken = {*found}
        for text, place in group:
            if text and (folded := text.casefold()) not in taken:
                found.setdefault(folded, {})[place] = None
    return {text: list(places) for text, places in found.items()}


class _InOneLanguage:
    """The names of all labels in one language, and the texts of searches."""

    def __init__(self, names: list[str], codes: list[_Text]) -> None:
        self.names = names
        self._codes = codes

    @cached_property
    def texts(self) -> list[_Text]:
        """The first texts of a search: names, alternative labels, notations."""
        return [(name.casefold(), name, j, 0) for j, name in enumerate(self.names)] + self._codes

    @cached_property
    def places(self) -> list[int]:
        """The rank of each name in alphabetical order."""
        order = sorted(range(len(self.names)), key=lambda j: (self.texts[j][0], self.names[j]))
        return np.argsort(order).tolist()

    @cached_property
    def spelled(self) -> SimilarNames:
        """The index of the texts by spelling."""
        return SimilarNames([text for _, text, _, _ in self.texts])


class SimilarNames:
    """Search for names that are spelled nearly like a text, or have such a word.

    Parameters
    ----------
    names : sequence of str
        The names.

    Examples
    --------
    >>> names = SimilarNames(["wheat", "sweet wine", "gold", "Winter wheat"])
    >>> names.near("wheet")
    [0, 3, 1]
    >>> names.near("Glod"), names.near("aluminium")
    ([2], [])
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            folded = name.casefold()
            for text in {folded, *folded.split()}:
                self._places.setdefault(text, []).append(place)

    def near(self, text: str, most: int = 8) -> list[int]:
        """Return the places of the names that are similar to a text, most similar first."""
        wanted = " ".join(text.casefold().split())
        if len(wanted) < 3:
            return []
        found = get_close_matches(wanted, self._places, most, _ALIKE)
        return list(dict.fromkeys(place for one in found for place in self._places[one]))[:most]
