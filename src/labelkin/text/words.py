"""Texts → words → counts: mark-up, words, stop words, stems and counts.

The stop list in ``smart_stop_words.txt`` is that of the SMART retrieval system (G. Salton and C.
Buckley, Cornell University; online appendix 11 of Lewis et al., 2004) as in ``SMART.dat`` of the R
package ``tm``: 571 lines, "would" twice, 570 distinct words. Stems are Snowball's
(https://snowballstem.org), by PyStemmer.
"""

from __future__ import annotations

import html
import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from threading import Lock
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelkin.validation import check_whole_number

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
# It contains signs such as ² and ½, which are not decimal digits.
_LETTER = r"[^\W\d_\u00b2\u00b3\u00b9\u00bc-\u00be\u0bf0-\u0bf2]"

WORD = rf"{_LETTER}+(?:(?:[{_SIGNS}]+|['’](?={_LETTER})){_LETTER}*)*"
"""Pattern of a word: letters of any script with their accents and vowel signs, and apostrophes
between letters ("don't" is one word). Digits, hyphens, full stops and all other characters separate
words."""

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

#: Different words whose columns are remembered at a time, about 100 MB.
_REMEMBERED = 2**20
#: The column of words that are not counted.
_LEFT_OUT = -1


class SparseTransformer(TransformerMixin):
    """Transformers that return sparse matrices; as scikit-learn's vectorisers, without tables."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)


class TextTransformer(SparseTransformer, BaseEstimator):
    """Transformers of texts."""

    def __sklearn_tags__(self) -> Any:
        """Declare texts as the input, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class WordCounts(TextTransformer):
    """Count the terms of texts.

    Each document goes through these steps, in the paper's order: mark-up is removed, the text is
    lower-cased and cut into words (the pattern :data:`~labelkin.text.WORD`: letters, with
    apostrophes between them), stop words are left out, words are stemmed. The stems are the terms.
    Terms in fewer than ``min_documents`` training documents are dropped; the rest are the columns,
    sorted.

    Documents are read one after the other, from any iterable: memory contains the counts and the
    different words, never the texts.

    Parameters
    ----------
    language : str, default="english"
        A language of the Snowball stemmer, for example ``"german"`` or ``"porter"``.
    stop_words : {"auto", "smart"}, iterable of str or None, default="auto"
        Words to leave out, in any case. ``"auto"``: the SMART list for English, none for other
        languages. ``"smart"``: the SMART list for any. ``None``: leave out nothing.
    stem : bool, default=True
        Whether words are stemmed; ``True`` needs PyStemmer (``pip install "labelkin[text]"``).
    min_documents : int, default=3
        Least number of training documents with a term (3 in the paper, 5 for RCV1).
    markup : bool, default=True
        Whether XML, SGML or HTML marks are removed and ``&lt;``, ``&#38;`` … decoded, see
        :func:`~labelkin.text.remove_markup`. Set it to ``False`` for plain text, in which ``<IBM>``
        is not a mark.
    token_pattern : str, default=WORD
        A regular expression for words, without groups.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Term → column.
    stop_words_ : frozenset of str
        The words left out.

    Examples
    --------
    >>> counts = WordCounts(min_documents=2)
    >>> counts.fit_transform(["<b>Trading</b> ships", "the trade, and trades", "ship!"]).toarray()
    array([[1., 1.],
           [0., 2.],
           [1., 0.]])
    >>> counts.get_feature_names_out().tolist()
    ['ship', 'trade']

    Counts as a table:
    """

    def __init__(
        self,
        language: str = "english",
        *,
        stop_words: Literal["auto", "smart"] | Iterable[str] | None = "auto",
        stem: bool = True,
        min_documents: int = 3,
        markup: bool = True,
        token_pattern: str = WORD,
    ) -> None:
        self.language = language
        self.stop_words = stop_words
        self.stem = stem
        self.min_documents = min_documents
        self.markup = markup
        self.token_pattern = token_pattern

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Learn the terms; reads the texts once.

        Parameters
        ----------
        X : iterable of str
            The texts, one per document.
        y : None
            Ignored.

        Returns
        -------
        Self
            The fitted transformer.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Iterable[str], y: Any = None) -> sparse.csr_matrix:
        """Learn the terms and count them; reads the texts once.

        Parameters
        ----------
        X : iterable of str
            The texts, one per document.
        y : None
            Ignored.

        Returns
        -------
        csr_matrix of shape (n_documents, n_terms)
            The counts, float64.
        """
        check_whole_number("min_documents", self.min_documents)
        self.stop_words_ = stop_word_set(self.stop_words, self.language)
        place: defaultdict[str, int] = defaultdict()
        place.default_factory = place.__len__
        counts = self._counter(place.__getitem__, lambda: len(place))(X)
        n_documents = counts.shape[0]
        if n_documents == 0:
            raise ValueError(
                "WordCounts needs at least one document to learn terms from, got none."
            )
        if not place:
            raise ValueError(
                f"Documents must contain words other than stop words, got {n_documents} without. "
                "Check the texts, or relax stop_words, token_pattern or markup."
            )
        n_having = np.bincount(counts.indices, minlength=len(place))
        terms = sorted(term for term, j in place.items() if n_having[j] >= self.min_documents)
        if not terms:
            raise ValueError(
                f"Terms must occur in min_documents={self.min_documents} documents, got none that "
                f"do: of {len(n_having)} terms in {n_documents} documents the most common occurs "
                f"in {n_having.max()}. Lower min_documents or give more documents."
            )
        self.vocabulary_ = {term: j for j, term in enumerate(terms)}
        kept = counts[:, [place[term] for term in terms]]
        kept.sort_indices()
        return kept

    def transform(self, X: Iterable[str]) -> sparse.csr_matrix:
        """Count the terms of training in other texts; other terms are left out.

        Parameters
        ----------
        X : iterable of str
            The texts, one per document.

        Returns
        -------
        csr_matrix of shape (n_documents, n_terms)
            The counts, float64; a document without a known term is an empty row. A table after
            :meth:`set_output`.
        """
        return self.counter()(X)

    def counter(
        self, most_words: int = _REMEMBERED
    ) -> Callable[[Iterable[str]], sparse.csr_matrix]:
        """Return a function that does what :meth:`transform` does, for many calls with few texts.

        It remembers the words of one call for the next, which makes it about twice as fast for a
        text of a hundred words. Several threads may call it.

        Parameters
        ----------
        most_words : int, default=1,048,576
            Different words that are remembered at a time, at about 100 bytes each.

        Returns
        -------
        callable
            From texts to counts.

        Examples
        --------
        >>> counts = WordCounts(min_documents=1, stem=False).fit(["ships trade"])
        >>> count = counts.counter()
        >>> count(["trade"]).toarray(), count(["ships, ships"]).toarray()
        (array([[0., 1.]]), array([[2., 0.]]))
        """
        check_is_fitted(self)
        known = self.vocabulary_
        return self._counter(
            lambda term: known.get(term, _LEFT_OUT), lambda: len(known), most_words
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the terms in column order.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        array of shape (n_terms,)
            The terms, text.
        """
        check_is_fitted(self)
        return np.array(list(self.vocabulary_), dtype=object)

    def _counter(
        self,
        column_of: Callable[[str], int],
        n_columns: Callable[[], int],
        most_words: int = _REMEMBERED,
    ) -> Callable[[Iterable[str]], sparse.csr_matrix]:
        """Return a function that counts terms by column; ``n_columns`` is called at the end.

        Stemmers serve one thread at a time.
        """
        words = word_finder(self.token_pattern, language=self.language, markup=self.markup)
        stem, lock = snowball_stemmer(self.language) if self.stem else str, Lock()

        def column_of_word(word: str) -> int:
            with lock:
                term = "" if word.lower() in self.stop_words_ else stem(word)
                return column_of(term) if term else _LEFT_OUT

        columns = _Remembered(column_of_word, most_words)

        def count(X: Iterable[str]) -> sparse.csr_matrix:
            indices, values, ends = array("i"), array("i"), array("q", [0])
            for text in _texts(X):
                counts = Counter(map(columns.__getitem__, words(text)))
                counts.pop(_LEFT_OUT, None)
                indices.extend(counts.keys())
                values.extend(counts.values())
                ends.append(len(indices))
            parts = (np.array(values, dtype=np.float64), np.array(indices), np.array(ends))
            found = sparse.csr_matrix(parts, shape=(len(ends) - 1, n_columns()))
            found.sort_indices()
            return found

        return count


class _Remembered(dict[str, int]):
    """Word → column; a word is looked up and stemmed only when it is new."""

    def __init__(self, find: Callable[[str], int], most: int) -> None:
        super().__init__()
        self.find, self.most = find, most

    def __missing__(self, word: str) -> int:
        if len(self) >= self.most:
            self.clear()
        self[word] = column = self.find(word)
        return column


def _texts(X: Iterable[str]) -> Iterator[str]:
    """Yield the documents; another value is an error that names its position."""
    if isinstance(X, str) or hasattr(X, "columns") or not isinstance(X, Iterable):
        raise ValueError(
            f"Documents must be an iterable of texts, one per document, got a {type(X).__name__}. "
            "Put a single text into a list; pass the column of texts of a table."
        )
    for i, text in enumerate(X):
        if not isinstance(text, str):
            raise TypeError(
                f"Documents must be texts (str), got {type(text).__name__} at document {i}. "
                "Decode bytes, replace missing texts by ''."
            )
        yield text


class SurfaceForm(NamedTuple):
    """A word as written: ``text[start:end]``.

    Attributes
    ----------
    word
        Its letters, unchanged.
    start, end
        Its position in the text.

    Examples
    --------
    >>> from labelkin.text import WordCounts, surface_forms
    >>> text, counts = "They are trading.", WordCounts(min_documents=1).fit(["to trade"])
    >>> [form] = surface_forms(text, counts)["trade"]
    >>> form
    SurfaceForm(word='trading', start=9, end=16)
    >>> text[form.start : form.end]
    'trading'
    """

    word: str
    start: int
    end: int


def surface_forms(text: str, counts: WordCounts) -> dict[str, list[SurfaceForm]]:
    """Find the words of a text that fitted word counts reduce to each term, in order.

    Parameters
    ----------
    text : str
        The text, unchanged.
    counts : WordCounts
        Fitted.

    Returns
    -------
    dict of term to list of SurfaceForm

    Examples
    --------
    >>> from labelkin.text import WordCounts
    >>> counts = WordCounts(min_documents=1).fit(["to trade ships"])
    >>> surface_forms("Trading is trade.", counts)["trade"]
    [SurfaceForm(word='Trading', start=0, end=7), SurfaceForm(word='trade', start=11, end=16)]
    """
    stem = cache(snowball_stemmer(counts.language) if counts.stem else str)
    found: dict[str, list[SurfaceForm]] = {}
    for word, start, end in _placed_words(text, counts):
        term = "" if word.lower() in counts.stop_words_ else stem(word)
        if term in counts.vocabulary_:
            found.setdefault(term, []).append(SurfaceForm(text[start:end], start, end))
    return found


def _placed_words(text: str, counts: WordCounts) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text with their positions in it.

    Where decoding or composing letters changes the length of a part between blanks, its words have
    the position of the whole part.
    """
    pattern = _compile(counts.token_pattern)
    if counts.markup:
        text = _MARK.sub(lambda mark: " " * len(mark[0]), text)
    for part in re.finditer(r"\S+", text):
        written, first = part[0], part.start()
        decoded = html.unescape(written) if counts.markup else written
        plain = _lowered(decoded, counts.language)
        is_kept = _plain(decoded) == written.replace("’", "'") and len(plain) == len(written)
        for match in pattern.finditer(plain):
            start, end = match.span() if is_kept else (0, len(written))
            if match[0]:
                yield match[0], first + start, first + end


def remove_markup(text: str) -> str:
    """Replace XML, SGML and HTML marks by spaces, then decode character references.

    In this order, because a decoded "<" is text. If references have been decoded before, ``<IBM>``
    is removed as a tag.

    Parameters
    ----------
    text : str
        With marks.

    Returns
    -------
    str

    Examples
    --------
    >>> remove_markup("<BODY>Profit of &lt;IBM> up</BODY>").strip()
    'Profit of <IBM> up'
    """
    return html.unescape(_MARK.sub(" ", text) if "<" in text or "]]>" in text else text)


def word_finder(token_pattern: str, *, language: str, markup: bool) -> Callable[[str], list[str]]:
    """Return the function from a text to its words, in order."""
    find = _compile(token_pattern).findall
    return lambda text: find(_lowered(remove_markup(text) if markup else text, language))


def _lowered(text: str, language: str) -> str:
    """Return a text in lower case, with one spelling of each letter."""
    text = _plain(text)
    return (text.translate(_DOTTED_AND_DOTLESS) if language in _TURKISH else text).lower()


def _compile(token_pattern: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(token_pattern)
        if pattern.groups:
            raise TypeError("it has groups; write (?:…)")
    except (re.error, TypeError) as error:
        raise ValueError(
            f"token_pattern must be a regular expression, got {token_pattern!r}: {error}."
        ) from None
    return pattern


def _plain(text: str) -> str:
    """Return a text with one spelling of each letter and of the apostrophe."""
    return unicodedata.normalize("NFC", text).replace("’", "'")


@cache
def smart_stop_words() -> frozenset[str]:
    """Return the 570 English stop words of the SMART retrieval system.

    Returns
    -------
    frozenset of str

    Examples
    --------
    >>> "which" in smart_stop_words(), "wheat" in smart_stop_words()
    (True, False)
    """
    text = files("labelkin.text").joinpath("smart_stop_words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def stop_word_set(stop_words: Any, language: str) -> frozenset[str]:
    """Return the words to leave out, lower case, from the parameter ``stop_words``."""
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        if stop_words not in ("auto", "smart"):
            raise ValueError(
                f"stop_words must be 'auto', 'smart', None or a collection of words, got "
                f"{stop_words!r}. To leave out that word alone: stop_words=[{stop_words!r}]."
            )
        return smart_stop_words() if stop_words == "smart" or language in _ENGLISH else frozenset()
    words = list(stop_words) if isinstance(stop_words, Iterable) else [stop_words]
    if strange := [word for word in words if not isinstance(word, str)]:
        raise TypeError(
            f"stop_words must be 'auto', 'smart', None or words, got {strange[0]!r} "
            f"({type(strange[0]).__name__}). Give a list of str."
        )
    return frozenset(_plain(word).lower() for word in words)


def snowball_stemmer(language: str) -> Callable[[str], str]:
    """Return the function from a word to its Snowball stem; unknown languages list the choices."""
    try:
        snowball = import_module("Stemmer")
    except ImportError as error:
        raise ImportError(
            'stem=True needs PyStemmer: pip install "labelkin[text]". stem=False needs nothing.'
        ) from error
    try:
        stemmer = snowball.Stemmer(language, 0)  # without its cache: callers cache stems
    except (KeyError, TypeError, AttributeError):  # unknown, or not even a text
        known = ", ".join(snowball.algorithms())
        raise ValueError(
            f"language must be one that Snowball knows, got {language!r}. It knows {known}. "
            "Use stem=False for any other."
        ) from None
    stem: Callable[[str], str] = stemmer.stemWord
    return stem
