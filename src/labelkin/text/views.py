"""Views of a document: its title, its beginning, its body, its characters, each as vectors.

Classifiers of several views of one text, taken together, know more than one of all its words:
``content=[("title", TextView("title"), PlattSVM()), ("text", TextView("text"), PlattSVM())]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from labelkin.label_matrix.record import check_choice, check_whole_number
from labelkin.scikit_learn import LinkedEstimator
from labelkin.text.terms import Scheme, TermWeights
from labelkin.text.words import TermOutput, WordCounts

View = Literal["text", "title", "lead", "body", "characters"]
Documents = Iterable[str | Mapping[str, str]]

#: What characters are counted in: pieces of words, so long.
_PIECES = (3, 5)


class TitledText(NamedTuple):
    r"""A document: its title, which may be empty, and the rest of it.

    Attributes
    ----------
    title
        May be empty.
    body
        The rest.

    Examples
    --------
    >>> from labelkin.text import TitledText
    >>> tea = TitledText("Tea", "Hot, with sugar.")
    >>> tea.title, tea.text
    ('Tea', 'Tea\nHot, with sugar.')
    >>> TitledText("", "Hot.").text
    'Hot.'
    """

    title: str
    body: str

    @property
    def text(self) -> str:
        """Title and body."""
        return f"{self.title}\n{self.body}".strip()


def titled_texts(documents: Documents) -> Iterator[TitledText]:
    r"""Yield the documents with their titles.

    Parameters
    ----------
    documents : iterable of texts or records
        The title of a text is its first line, where others follow: ``"Tea\nHot, with sugar."``; a
        text of one line has none, and one that begins with a line break has none, either. A record
        is a mapping of texts, in which ``"title"`` is the title and all others are the body.

    Yields
    ------
    TitledText

    Examples
    --------
    >>> list(titled_texts(["Tea\nHot, with sugar.", "Hot.", {"title": "Tea", "text": "Hot."}]))
    ... # doctest: +NORMALIZE_WHITESPACE
    [TitledText(title='Tea', body='Hot, with sugar.'), TitledText(title='', body='Hot.'),
     TitledText(title='Tea', body='Hot.')]
    """
    if isinstance(documents, str | Mapping) or not isinstance(documents, Iterable):
        raise ValueError(
            "Documents must be an iterable of texts or records, one per document, got one "
            f"{type(documents).__name__}. Put a single document into a list."
        )
    for i, document in enumerate(documents):
        texts = [document] if isinstance(document, str) else document
        if not isinstance(texts, list | Mapping):
            raise TypeError(
                "Documents must be texts (str), or records of texts by name, got "
                f"{type(document).__name__} at document {i}. Decode bytes, replace missing texts "
                "by ''."
            )
        if isinstance(texts, list):
            title, line_break, body = texts[0].partition("\n")
            yield TitledText(title.strip(), body) if line_break else TitledText("", title)
            continue
        for name, text in texts.items():
            if not isinstance(text, str):
                raise TypeError(
                    f"The texts of a record must be texts (str), got {type(text).__name__} as "
                    f"{name!r} of document {i}. Replace missing texts by ''."
                )
        others = [text for name, text in texts.items() if name != "title"]
        yield TitledText(" ".join(texts.get("title", "").split()), "\n".join(others))


class TextView(TermOutput, LinkedEstimator):
    r"""Vectors of one view of documents, texts or records, for a member of an ensemble.

    Terms are counted and weighed, rows have length 1. A document that lacks what is looked at, such
    as one without a title, is an empty row: a :class:`~labelkin.ContentEnsemble` takes it for
    nothing said.

    Parameters
    ----------
    view : {"text", "title", "lead", "body", "characters"}, default="text"
        What is looked at: all words; those of the title (:func:`titled_texts`); the first ones;
        those that are not in the title; or pieces of words, three to five characters.
    title_weight : float, default=0.0
        Above 0, the words of the title stand beside those of the view, as terms of their own that
        weigh so much: ½ is good for news.
    n_words : int, default=60
        Of ``"lead"``: so many words, separated by blanks, of the whole text.
    counts : transformer, optional
        What counts terms; ``None``: :class:`WordCounts`, and for ``"characters"`` scikit-learn's
        ``CountVectorizer`` of pieces that at least five documents have.
    scheme : {"ltc", "tfidf", "counts"}, default="ltc"
        How they are weighed, see :class:`TermWeights`.

    Attributes
    ----------
    counts_, weights_ : fitted transformers
        Of the view.
    title_counts_, title_weights_ : fitted transformers or None
        Of the title beside it.

    Examples
    --------
    >>> documents = ["Tea\nHot, with sugar.", "Coffee\nHot, without sugar.", "Cold tea."]
    >>> title = TextView("title", counts=WordCounts(min_documents=1)).fit(documents)
    >>> title.transform(["Tea\nCold, without coffee.", "Tea?"]).toarray()
    array([[0., 1.],
           [0., 0.]])
    >>> title.get_feature_names_out().tolist()
    ['coffe', 'tea']
    """

    def __init__(
        self,
        view: View = "text",
        *,
        title_weight: float = 0.0,
        n_words: int = 60,
        counts: Any = None,
        scheme: Scheme = "ltc",
    ) -> None:
        self.view = view
        self.title_weight = title_weight
        self.n_words = n_words
        self.counts = counts
        self.scheme = scheme

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that we take texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def fit(self, X: Documents, y: Any = None) -> Self:
        """Learn which terms there are, and what they weigh.

        Parameters
        ----------
        X : iterable of texts or records
            One per document.
        y : None
            Ignored.

        Returns
        -------
        Self
            The fitted view.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Documents, y: Any = None) -> sparse.csr_matrix:
        """Learn which terms there are, and return the vectors of the documents.

        Parameters
        ----------
        X : iterable of texts or records
            One per document.
        y : None
            Ignored.

        Returns
        -------
        csr_matrix of shape (n_documents, n_terms)
        """
        check_choice("view", self.view, View)
        check_whole_number("n_words", self.n_words)
        if not 0 <= self.title_weight < np.inf:
            raise ValueError(f"title_weight must be at least 0, got {self.title_weight!r}.")
        documents = list(titled_texts(X))
        self.counts_, self.weights_ = self._new_counts(), TermWeights(self.scheme)
        counted = self.counts_.fit_transform([self._seen(one) for one in documents])
        found = self.weights_.fit_transform(counted)
        self.title_counts_ = self.title_weights_ = None
        if self.title_weight and any(one.title for one in documents):
            self.title_counts_ = self._new_counts() if self.view != "characters" else WordCounts()
            self.title_weights_ = TermWeights(self.scheme)
            titles = self.title_counts_.fit_transform([one.title for one in documents])
            found = self._beside(found, self.title_weights_.fit_transform(titles))
        return self._output(found, X)

    def transform(self, X: Documents) -> sparse.csr_matrix:
        """Return the vectors of documents; what training has not seen is left out.

        Parameters
        ----------
        X : iterable of texts or records
            One per document.

        Returns
        -------
        csr_matrix of shape (n_documents, n_terms)
        """
        check_is_fitted(self)
        documents = list(titled_texts(X))
        counted = self.counts_.transform([self._seen(one) for one in documents])
        found = self.weights_.transform(counted)
        if self.title_counts_ is not None and self.title_weights_ is not None:
            titles = self.title_counts_.transform([one.title for one in documents])
            found = self._beside(found, self.title_weights_.transform(titles))
        return self._output(found, X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the terms in column order; those of the title beside a view end in "(title)".

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
        terms = list(self.counts_.get_feature_names_out())
        if self.title_counts_ is not None:
            terms += [f"{term} (title)" for term in self.title_counts_.get_feature_names_out()]
        return np.array(terms, dtype=object)

    def is_blank(self, X: Any) -> bool:
        """Return whether the view is empty in all documents, as titles of one-line texts are."""
        return not any(self._seen(one).strip() for one in titled_texts(X))

    def _new_counts(self) -> Any:
        if self.counts is not None:
            return clone(self.counts)
        if self.view == "characters":
            return CountVectorizer(analyzer="char_wb", ngram_range=_PIECES, min_df=5)
        return WordCounts()

    def _seen(self, document: TitledText) -> str:
        """Return what is looked at."""
        if self.view == "title":
            return document.title
        if self.view == "body":
            return document.body
        if self.view == "lead":
            return " ".join(document.text.split(maxsplit=self.n_words)[: self.n_words])
        return document.text

    def _beside(self, found: Any, titles: Any) -> sparse.csr_matrix:
        return sparse.csr_matrix(sparse.hstack([found, self.title_weight * titles], format="csr"))
