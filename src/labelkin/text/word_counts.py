"""Texts → term counts: the words of each document, stemmed, rare ones left out."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelkin.text.words import WORD, read_stop_words, snowball_stemmer, word_finder

#: Different words whose columns are remembered at a time, about 100 MB.
_REMEMBERED = 2**20
#: The column of words that are not counted.
_LEFT_OUT = -1


class WordCounts(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Count the terms of texts.

    Each document goes through these steps, in the paper's order: marks are removed, the text is
    lower-cased and cut into words (what :data:`~labelkin.text.WORD` matches: letters, with
    apostrophes between them), stop words are left out, words are stemmed. The stems are the terms.
    Those that fewer than ``min_documents`` training documents have are dropped; the rest are the
    columns, sorted.

    Documents are read one after the other, from any iterable: memory holds the counts and the
    different words, never the texts.

    Parameters
    ----------
    language
        The language of the Snowball stemmer: ``"english"``, ``"german"``, ``"porter"`` …
    stop_words
        Words to leave out, in any case. ``"auto"``: the SMART list for English, none for other
        languages. ``"smart"``: the SMART list for any. ``None``: leave out nothing.
    stem
        Whether words are stemmed; ``True`` needs PyStemmer (``pip install "labelkin[text]"``).
    min_documents
        In how many training documents a term must occur (3 in the paper, 5 for RCV1).
    markup
        Whether XML, SGML or HTML marks are removed and ``&lt;``, ``&#38;`` … decoded, see
        :func:`~labelkin.text.remove_markup`. Set it to ``False`` for text that is plain already:
        a plain ``<IBM>`` looks like a mark.
    lowercase
        Whether words are lower-cased. Snowball expects it.
    token_pattern
        A regular expression for words; if it has a group, the group is the word.

    Attributes
    ----------
    vocabulary_ : dict
        Term → column.
    stop_words_ : frozenset
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
    """

    def __init__(
        self,
        language: str = "english",
        stop_words: Any = "auto",
        *,
        stem: bool = True,
        min_documents: int = 3,
        markup: bool = True,
        lowercase: bool = True,
        token_pattern: str = WORD,
    ) -> None:
        self.language = language
        self.stop_words = stop_words
        self.stem = stem
        self.min_documents = min_documents
        self.markup = markup
        self.lowercase = lowercase
        self.token_pattern = token_pattern

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that we take texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Learn which terms there are. ``X``: texts; ``y`` is ignored."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Iterable[str], y: Any = None) -> sparse.csr_matrix:
        """Learn which terms there are and count them; reads the texts once.

        Returns float64 counts, CSR ``(n_documents, n_terms)``; ``y`` is ignored.
        """
        self._check_min_documents()
        self.stop_words_ = read_stop_words(self.stop_words, self.language)
        place: defaultdict[str, int] = defaultdict()
        place.default_factory = place.__len__
        counts = self._count(X, place.__getitem__, lambda: len(place))
        _check_any_terms(counts)
        n_having = np.bincount(counts.indices, minlength=len(place))
        terms = sorted(term for term, j in place.items() if n_having[j] >= self.min_documents)
        if not terms:
            self._refuse_empty_vocabulary(counts.shape[0], n_having)
        self.vocabulary_ = {term: j for j, term in enumerate(terms)}
        kept = counts[:, [place[term] for term in terms]]
        kept.sort_indices()
        return kept

    def transform(self, X: Iterable[str]) -> sparse.csr_matrix:
        """Count the terms of training in other texts; other terms are left out.

        Returns float64 counts, CSR ``(n_documents, n_terms)``. A document without a known term is
        an empty row.
        """
        check_is_fitted(self)
        known = self.vocabulary_
        counts = self._count(X, lambda term: known.get(term, _LEFT_OUT), lambda: len(known))
        counts.sort_indices()
        return counts

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the terms in column order; ``input_features`` is ignored."""
        check_is_fitted(self)
        return np.array(list(self.vocabulary_), dtype=object)

    def _count(
        self, X: Iterable[str], column_of: Callable[[str], int], n_columns: Callable[[], int]
    ) -> sparse.csr_matrix:
        """Count terms by column; how many columns there are is asked after the last document."""
        words = word_finder(
            self.token_pattern,
            language=self.language,
            markup=self.markup,
            lowercase=self.lowercase,
        )
        stem = snowball_stemmer(self.language) if self.stem else str
        columns = _ColumnOfWord(self.stop_words_, stem, column_of)
        return _count_columns((words(text) for text in _texts(X)), columns, n_columns)

    def _check_min_documents(self) -> None:
        n: Any = self.min_documents
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise ValueError(f"min_documents must be a whole number of at least 1, got {n!r}.")

    def _refuse_empty_vocabulary(self, n_documents: int, n_having: NDArray[np.int64]) -> None:
        raise ValueError(
            f"Terms must occur in min_documents={self.min_documents} documents, got none that do: "
            f"of {len(n_having)} terms in {n_documents} documents the most common occurs in "
            f"{n_having.max()}. Lower min_documents or give more documents."
        )


class _ColumnOfWord(dict[str, int]):
    """Word → column of its term; a word is looked up and stemmed only when it is new."""

    def __init__(
        self,
        stop_words: frozenset[str],
        stem: Callable[[str], str],
        column_of: Callable[[str], int],
    ) -> None:
        super().__init__()
        self.stop_words = stop_words
        self.stem = stem
        self.column_of = column_of

    def __missing__(self, word: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[word] = column = self._column(word)
        return column

    def _column(self, word: str) -> int:
        if word.lower() in self.stop_words:
            return _LEFT_OUT
        term = self.stem(word)
        return self.column_of(term) if term else _LEFT_OUT


def _count_columns(
    documents: Iterable[list[str]], columns: _ColumnOfWord, n_columns: Callable[[], int]
) -> sparse.csr_matrix:
    indices, values, ends = array("i"), array("i"), array("q", [0])
    for words in documents:
        counts = Counter(map(columns.__getitem__, words))
        counts.pop(_LEFT_OUT, None)
        indices.extend(counts.keys())
        values.extend(counts.values())
        ends.append(len(indices))
    parts = (np.array(values, dtype=np.float64), np.array(indices), np.array(ends))
    return sparse.csr_matrix(parts, shape=(len(ends) - 1, n_columns()))


def _texts(X: Iterable[str]) -> Iterator[str]:
    """Yield the documents; whatever is not a text is named by its position."""
    if isinstance(X, str) or hasattr(X, "columns") or not isinstance(X, Iterable):
        what = "one text" if isinstance(X, str) else f"a {type(X).__name__}"
        raise ValueError(
            f"Documents must be an iterable of texts, one per document, got {what}. "
            "Put a single text into a list; of a table give the column of texts."
        )
    for i, text in enumerate(X):
        if not isinstance(text, str):
            raise TypeError(
                f"Documents must be texts (str), got {type(text).__name__} at document {i}. "
                "Decode bytes, replace missing texts by ''."
            )
        yield text


def _check_any_terms(counts: sparse.csr_matrix) -> None:
    if counts.shape[0] == 0:
        raise ValueError("WordCounts needs at least one document to learn terms from, got none.")
    if counts.shape[1] == 0:
        raise ValueError(
            f"Documents must contain words other than stop words, got {counts.shape[0]} without. "
            "Check the texts, or relax stop_words, token_pattern or markup."
        )
