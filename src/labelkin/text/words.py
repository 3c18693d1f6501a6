"""Text → words: mark-up removal, what a word is, stop words, stems.

The stop list shipped in ``smart_stop_words.txt`` is that of the SMART retrieval system (G. Salton
and C. Buckley, Cornell University; online appendix 11 of Lewis et al., 2004) in the form the R
package ``tm`` carries it, ``SMART.dat``: 571 lines, "would" twice, 570 distinct words. Stems are
Snowball's (https://snowballstem.org), by PyStemmer.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from labelkin.text.word_counts import WordCounts

# Python's \w lacks the signs that belong to the letter before them: accents, Hebrew and Arabic
# vowel points, Devanagari and Tamil vowel signs; and the joiners inside Persian and Hindi words.
_SIGNS = (
    r"\u0300-\u036f"
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    r"\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    r"\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963"
    r"\u0b82\u0bbe-\u0bcd\u0bd7"
    r"\u200c\u200d"
)
# It has, on the other hand, signs such as ² and ½ that are no decimal digits.
_LETTER = r"[^\W\d_\u00b2\u00b3\u00b9\u00bc-\u00be\u0bf0-\u0bf2]"

WORD = rf"{_LETTER}+(?:(?:[{_SIGNS}]+|['’](?={_LETTER})){_LETTER}*)*"
"""What a word is: letters of any script with their accents and vowel signs, and apostrophes between
letters ("don't" is one word). Digits, hyphens, full stops and all else separate words."""

_ENGLISH = frozenset({"english", "en", "eng", "porter"})
_TURKISH = frozenset({"turkish", "tr", "tur"})
_DOTTED_AND_DOTLESS = str.maketrans("Iİ", "ıi")

# An unclosed comment or script runs to the end, as browsers read it; that also keeps the search
# linear. A tag's name follows the "<" at once, so "a < b" and "<me@home.org>" are text.
_MARK = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)"
    r"|</?[a-z][\w:.-]*(?:\s[^<>]*)?/?>"
    r"|<\?[^<>]*>"
    r"|<!\[cdata\[|\]\]>|<![a-z][^<>]*>",
    re.DOTALL | re.IGNORECASE,
)

#: What :func:`html.unescape` looks for.
_REFERENCE = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")


def remove_markup(text: str) -> str:
    """Replace XML, SGML and HTML marks by spaces, then character references by what they mean.

    In this order, because a reference may mean a "<" that is text. Where a reader has decoded
    references before, ``<IBM>`` can no longer be told from a tag, and is lost here.

    Examples
    --------
    >>> remove_markup("<BODY>Profit of &lt;IBM> up</BODY>").strip()
    'Profit of <IBM> up'
    """
    return html.unescape(_MARK.sub(" ", text) if "<" in text or "]]>" in text else text)


@cache
def smart_stop_words() -> frozenset[str]:
    """Return the 570 English stop words of the SMART retrieval system."""
    text = files("labelkin.text").joinpath("smart_stop_words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def read_stop_words(stop_words: Any, language: str) -> frozenset[str]:
    """Return the words to leave out, lower case, from the parameter ``stop_words``."""
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        return _named_stop_words(stop_words, language)
    words = list(stop_words) if isinstance(stop_words, Iterable) else [stop_words]
    strange = [word for word in words if not isinstance(word, str)]
    if strange:
        raise TypeError(
            f"stop_words must be 'auto', 'smart', None or words, got {strange[0]!r} "
            f"({type(strange[0]).__name__}). Give a list of str."
        )
    return frozenset(_plain(word).lower() for word in words)


def word_finder(
    token_pattern: str, *, language: str, markup: bool, lowercase: bool
) -> Callable[[str], list[str]]:
    """Return the function from a text to its words, in order."""
    find = _compile(token_pattern).findall

    def words(text: str) -> list[str]:
        text = _plain(remove_markup(text) if markup else text)
        if lowercase and language in _TURKISH:
            text = text.translate(_DOTTED_AND_DOTLESS)
        return find(text.lower() if lowercase else text)

    return words


def snowball_stemmer(language: str) -> Callable[[str], str]:
    """Return the function from a word to its Snowball stem; unknown languages list the choices."""
    try:
        snowball = import_module("Stemmer")
    except ImportError as error:
        raise ImportError(
            'stem=True needs PyStemmer: pip install "labelkin[text]". stem=False needs nothing.'
        ) from error
    try:
        stemmer = snowball.Stemmer(language, 0)  # no cache of its own: the caller remembers stems
    except (KeyError, TypeError, AttributeError):  # unknown, or not even a text
        known = ", ".join(snowball.algorithms())
        raise ValueError(
            f"language must be one that Snowball knows, got {language!r}. It knows {known}. "
            "Use stem=False for any other."
        ) from None
    stem: Callable[[str], str] = stemmer.stemWord
    return stem


class SurfaceForm(NamedTuple):
    """A word as it is written: ``text[start:end]``."""

    word: str
    start: int
    end: int


def surface_forms(text: str, counts: WordCounts) -> dict[str, list[SurfaceForm]]:
    """Find the words of a text that fitted word counts reduce to each term, in order.

    Examples
    --------
    >>> from labelkin.text import WordCounts
    >>> counts = WordCounts(min_documents=1).fit(["to trade ships"])
    >>> surface_forms("Trading is trade.", counts)["trade"]
    [SurfaceForm(word='Trading', start=0, end=7), SurfaceForm(word='trade', start=11, end=16)]
    """
    stem = cache(snowball_stemmer(counts.language) if counts.stem else str)
    found: dict[str, list[SurfaceForm]] = {}
    for word, start, end in _traced_words(text, counts):
        term = "" if word.lower() in counts.stop_words_ else stem(word)
        if term in counts.vocabulary_:
            found.setdefault(term, []).append(SurfaceForm(text[start:end], start, end))
    return found


def _named_stop_words(name: str, language: str) -> frozenset[str]:
    if name not in ("auto", "smart"):
        raise ValueError(
            f"stop_words must be 'auto', 'smart', None or a collection of words, got {name!r}. "
            f"To leave out that word alone: stop_words=[{name!r}]."
        )
    return smart_stop_words() if name == "smart" or language in _ENGLISH else frozenset()


def _plain(text: str) -> str:
    """One spelling for each letter and for the apostrophe, however it was typed."""
    return unicodedata.normalize("NFC", text).replace("’", "'")


class _Traced(NamedTuple):
    """A text and, for each of its characters, from where to where it stood in the first text."""

    text: str
    starts: list[int]
    ends: list[int]


def _traced_words(text: str, counts: WordCounts) -> Iterator[tuple[str, int, int]]:
    """Yield what :func:`word_finder` finds, each word with its place in the text as written."""
    traced = _Traced(text, list(range(len(text))), list(range(1, len(text) + 1)))
    if counts.markup:
        traced = _rewrite(traced, _matches(_MARK, traced.text, lambda mark: " "))
        traced = _rewrite(traced, _matches(_REFERENCE, traced.text, html.unescape))
    traced = _rewrite(traced, _compositions(traced.text))
    traced = traced._replace(text=_plain(traced.text))
    if counts.lowercase and counts.language in _TURKISH:
        traced = traced._replace(text=traced.text.translate(_DOTTED_AND_DOTLESS))
    if counts.lowercase:  # İ is the one letter whose small form is longer
        traced = _rewrite(traced, _matches(re.compile("İ"), traced.text, str.lower))
        traced = traced._replace(text=traced.text.lower())
    pattern = _compile(counts.token_pattern)
    for match in pattern.finditer(traced.text):
        start, end = match.span(pattern.groups)
        if start < end:
            yield traced.text[start:end], traced.starts[start], traced.ends[end - 1]


def _matches(
    pattern: re.Pattern[str], text: str, replace: Callable[[str], str]
) -> Iterator[tuple[int, int, str]]:
    return ((*match.span(), replace(match[0])) for match in pattern.finditer(text))


def _compositions(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the letters, each with the signs that may join it, that NFC writes in another way."""
    if unicodedata.is_normalized("NFC", text):
        return
    edges = [i for i, sign in enumerate(text) if i == 0 or not _may_join(sign)]
    for start, end in pairwise([*edges, len(text)]):
        yield start, end, unicodedata.normalize("NFC", text[start:end])


def _may_join(sign: str) -> bool:
    """Tell marks, and the vowels and finals of Hangul."""
    return unicodedata.category(sign)[0] == "M" or "\u1160" <= sign <= "\u11ff"


def _rewrite(traced: _Traced, changes: Iterable[tuple[int, int, str]]) -> _Traced:
    """Put other text in some places; all of it stood where what it replaces stood."""
    pieces, starts, ends, last = [], [], [], 0
    for start, end, new in changes:
        if new == traced.text[start:end]:
            continue
        pieces += [traced.text[last:start], new]
        starts += traced.starts[last:start] + [traced.starts[start]] * len(new)
        ends += traced.ends[last:start] + [traced.ends[end - 1]] * len(new)
        last = end
    pieces.append(traced.text[last:])
    return _Traced("".join(pieces), starts + traced.starts[last:], ends + traced.ends[last:])


def _compile(token_pattern: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(token_pattern)
    except (re.error, TypeError) as error:
        raise ValueError(
            f"token_pattern must be a regular expression, got {token_pattern!r}: {error}."
        ) from error
    if pattern.groups > 1:
        raise ValueError(
            f"token_pattern may have one group, the word, got {pattern.groups} in "
            f"{token_pattern!r}. Write (?:…) for the others."
        )
    return pattern
