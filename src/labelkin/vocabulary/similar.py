"""Names that are spelled nearly like a text: what a typing error was meant to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np

#: Of the pairs of letters of a text, how many a name must have; of those names, how many of the
#: likeliest are compared letter by letter; and how like the text, from 0 to 1, they must be.
_SHARED, _COMPARED, _ALIKE = 0.2, 50, 0.65


class SimilarNames:
    """Finds, among many names, those that are nearly like a text.

    A text that is the misspelt beginning or a misspelt word of a name counts, too.

    Parameters
    ----------
    names : sequence of str
        The names.

    Examples
    --------
    >>> names = SimilarNames(["wheat", "sweet wine", "gold", "Winter wheat"])
    >>> names.near("wheet")
    [0, 1, 3]
    >>> names.near("Glod"), names.near("aluminium")
    ([2], [])
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = [name.casefold() for name in names]
        places: dict[str, list[int]] = {}
        for place, name in enumerate(self._names):
            for pair in set(_pairs(name)):
                places.setdefault(pair, []).append(place)
        self._places = {pair: np.array(found) for pair, found in places.items()}

    def near(self, text: str, most: int = 8) -> list[int]:
        """Return the places of the names that are like a text, most alike first."""
        wanted = " ".join(text.casefold().split())
        pairs = Counter(_pairs(wanted))
        found = [self._places[pair] for pair in pairs if pair in self._places]
        if len(wanted) < 3 or not found:
            return []
        shared = np.bincount(np.concatenate(found), minlength=len(self._names))
        candidates = np.flatnonzero(shared >= _SHARED * len(pairs))
        lengths = np.array([len(self._names[place]) for place in candidates])
        order = np.lexsort((lengths, -shared[candidates]))[:_COMPARED]
        alike = [(_likeness(wanted, self._names[place]), place) for place in candidates[order]]
        best = sorted((-like, int(place)) for like, place in alike if like >= _ALIKE)
        return [place for _, place in best[:most]]


def _pairs(name: str) -> list[str]:
    """Return the pairs of letters of each word, its beginning among them."""
    return [
        padded[i : i + 2]
        for padded in (f" {word}" for word in name.split())
        for i in range(len(padded) - 1)
    ]


def _likeness(wanted: str, name: str) -> float:
    """Return how like a name is, as a whole or, a little less, at its beginning or in a word."""
    parts = {name[: len(wanted)], *name.split()} - {name}
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    matcher.set_seq1(name)
    best = matcher.ratio()
    for part in parts:
        matcher.set_seq1(part)
        best = max(best, 0.95 * matcher.ratio())
    return best
