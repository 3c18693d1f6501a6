"""Selection and weights of terms, and vectors of views of documents.

Classifiers of several views of one text, combined, are better than one of all its words:
``content=[("title", TextView("title"), PlattSVM()), ("text", TextView("text"), PlattSVM())]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.scikit_learn import read_numbers, unit_length
from labelkin.text.words import SparseTransformer, TextTransformer, WordCounts
from labelkin.validation import check_choice, check_whole_number, validate_sparse

Criterion = Literal["information_gain", "chi2"]
Combine = Literal["sum", "max"]
Scheme = Literal["counts", "tfidf", "ltc"]
Values = NDArray[np.float64]

#: Labels × terms held dense at a time; 2¹⁸ numbers are 2 MB.
_DENSE_CELLS = 2**18


class TermSelection(SparseTransformer, SelectorMixin, BaseEstimator):
    """Keep the ``k`` terms with the highest scores.

    Every score comes from 2 × 2 tables of documents, term present or absent against label present
    or absent (Yang & Pedersen, 1997; combined over labels as in Sebastiani, 2002, section 5.4). A
    term is present in a document where ``X`` is not 0: counts and weights select the same terms.
    Of equal scores the lower column wins. The columns kept stay in order.

    Parameters
    ----------
    criterion : {"information_gain", "chi2"}, default="information_gain"
        Mutual information of term and label, natural logarithm; or chi-square of the 2 × 2 table,
        0 where the term or the label is in all documents or in none.
    combine : {"sum", "max"}, default="sum"
        A term's score from its scores for the labels: their sum or their maximum.
    k : int, default=1000
        How many terms to keep; all of them where there are fewer.

    Attributes
    ----------
    scores_ : array of shape (n_terms,)
        The score of each term, at least 0.

    Examples
    --------
    >>> X = [[2, 1, 0], [1, 0, 1], [0, 1, 3], [0, 0, 1]]
    >>> TermSelection(k=1).fit(X, [["sea"], ["sea"], ["town"], []]).get_support()
    array([ True, False, False])
    """

    def __init__(
        self, criterion: Criterion = "information_gain", *, combine: Combine = "sum", k: int = 1000
    ) -> None:
        self.criterion = criterion
        self.combine = combine
        self.k = k

    def __sklearn_tags__(self) -> Any:
        """Declare sparse ``X`` and a required ``y``, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Score the terms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_terms)
            Counts or weights of terms.
        y : labels
            As :class:`labelkin.LabelDependenceClassifier` takes them. Unknown cells (NaN) are
            left out for their label.

        Returns
        -------
        Self
            The fitted selection.
        """
        if y is None:
            raise ValueError("TermSelection requires y to be passed, but the target y is None.")
        check_whole_number("k", self.k)
        X = validate_data(self, validate_sparse(X), accept_sparse="csr")
        self.scores_: Values = term_scores(X, y, criterion=self.criterion, combine=self.combine)
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        support = np.zeros(len(self.scores_), dtype=np.bool_)
        support[np.argsort(-self.scores_, kind="stable")[: self.k]] = True
        return support


def term_scores(
    X: ArrayLike, Y: Any, *, criterion: Criterion = "information_gain", combine: Combine = "sum"
) -> Values:
    """Return how much each term says about the labels.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_documents, n_terms)
        Counts or weights of terms; present is what is not 0.
    Y : labels
        Of any kind; unknown cells are left out for their label.
    criterion : {"information_gain", "chi2"}, default="information_gain"
        As :class:`TermSelection` takes it.
    combine : {"sum", "max"}, default="sum"
        As :class:`TermSelection` takes it.

    Returns
    -------
    array of shape (n_terms,)
        The scores, at least 0.

    Examples
    --------
    A term that says it all about a label half the documents have is worth ln 2:

    >>> term_scores([[1, 1], [0, 1]], [[1], [0]]).round(3)
    array([0.693, 0.   ])
    """
    check_choice("criterion", criterion, Criterion)
    check_choice("combine", combine, Combine)
    score = _information_gain if criterion == "information_gain" else _chi_square
    present, labels = _presence(X), read_labels(Y)
    check_consistent_length(present, labels.positive)
    if labels.shape[1] == 0:
        raise ValueError(f"y must name at least one label, got shape {labels.shape}.")
    total = np.zeros(present.shape[1])
    for tables in _contingency_tables(present, labels):
        scores = score(tables)
        block = scores.max(axis=0) if combine == "max" else scores.sum(axis=0)
        total = np.maximum(total, block) if combine == "max" else total + block
    return total


class TermWeights(OneToOneFeatureMixin, SparseTransformer, BaseEstimator):
    """Weigh terms by how often a document has them and how few documents do.

    With N training documents, n(t) of them with term t, which occurs f times in the document:

    - ``"counts"``: f, as it came;
    - ``"tfidf"``: f · (1 + ln((1 + N) / (1 + n(t)))), rows of length 1; the same numbers as
      ``sklearn.feature_extraction.text.TfidfTransformer``;
    - ``"ltc"``: (1 + ln f) · ln(N / n(t)), rows of length 1; the vectors of LYRL2004 (Lewis, Yang,
      Rose & Li, "RCV1: a new benchmark collection", 2004). A term that every training document has
      weighs 0, and so does one that none has.

    A document without terms stays an empty row.

    Parameters
    ----------
    scheme : {"counts", "tfidf", "ltc"}, default="tfidf"
        The formula.

    Attributes
    ----------
    idf_ : array of shape (n_terms,)
        The factor of each term; 1 for ``"counts"``.

    Examples
    --------
    >>> TermWeights("ltc").fit_transform([[3, 1], [0, 1]]).toarray()
    array([[1., 0.],
           [0., 0.]])
    """

    def __init__(self, scheme: Scheme = "tfidf") -> None:
        self.scheme = scheme

    def __sklearn_tags__(self) -> Any:
        """Declare sparse counts that are not negative, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn in how many documents each term occurs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_terms)
            Term counts.
        y : None
            Ignored.

        Returns
        -------
        Self
            The fitted weights.
        """
        check_choice("scheme", self.scheme, Scheme)
        counts = self._read(X, reset=True)
        n, n_documents = np.bincount(counts.indices, minlength=counts.shape[1]), counts.shape[0]
        if self.scheme == "tfidf":
            self.idf_ = np.log((n_documents + 1) / (n + 1)) + 1.0
        elif self.scheme == "ltc":  # 0 for terms that no document has: nothing was learned of them
            self.idf_ = np.log(n_documents / np.where(n > 0, n, n_documents))
        else:
            self.idf_ = np.ones(len(n))
        return self

    def transform(self, X: ArrayLike) -> sparse.csr_matrix:
        """Weigh documents; ``X`` stays as it is.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_terms)
            Term counts.

        Returns
        -------
        csr_matrix or csr_array of shape (n_documents, n_terms)
            The weights, float64: a sparse array for a sparse array, a matrix for all else.
        """
        check_is_fitted(self)
        weights = self._read(X, reset=False)
        tf = 1.0 + np.log(weights.data) if self.scheme == "ltc" else weights.data
        weights.data = tf * self.idf_[weights.indices]
        weights.eliminate_zeros()
        if self.scheme != "counts":
            weights = unit_length(weights)
        kind = sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix
        return weights if type(weights) is kind else kind(weights)

    def _read(self, X: ArrayLike, reset: bool) -> sparse.csr_matrix:
        """Return a copy without stored zeros, checked."""
        X = read_numbers(self, X, reset)
        counts = sparse.csr_matrix(X, copy=True)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        smallest = counts.data.min(initial=np.inf)
        if smallest < 0:
            raise ValueError(
                f"Negative values in data passed to TermWeights: term counts must be at least 0, "
                f"got {smallest:g}."
            )
        if self.scheme == "ltc" and smallest < 1:
            raise ValueError(
                f"scheme='ltc' takes the logarithm of term counts, which must be 0 or at least 1, "
                f"got {smallest:g}. Give it counts, not weights."
            )
        return counts


def _presence(X: Any) -> sparse.csr_array:
    """1 where a document has the term; a copy."""
    present = sparse.csr_array(X, copy=True)
    present.sum_duplicates()
    present.eliminate_zeros()
    present.data = np.ones(present.nnz)
    return present


def _contingency_tables(present: sparse.csr_array, labels: LabelMatrix) -> Iterator[_Tables]:
    """Yield the tables of all terms and as many labels as fit into a block."""
    n_terms, n_labels = present.shape[1], labels.shape[1]
    having = np.bincount(present.indices, minlength=n_terms).astype(np.float64)[None, :]
    n_positive, n_known = labels.counts()
    positive = sparse.csr_array(labels.positive.T)
    unknown = None if labels.unknown is None else sparse.csr_array(labels.unknown.T)
    width = max(1, _DENSE_CELLS // max(n_terms, 1))
    for start in range(0, n_labels, width):
        block = slice(start, start + width)
        term = having if unknown is None else having - (unknown[block] @ present).toarray()
        both = (positive[block] @ present).toarray()
        yield _Tables(both, term, n_positive[block, None], n_known[block, None])


class _Tables(NamedTuple):
    """2 × 2 tables of some labels (axis 0) and all terms (axis 1), in numbers of documents.

    Attributes
    ----------
    both
        Documents with term and label, ``(n_labels, n_terms)``.
    term
        With the term, ``(1, n_terms)``; ``(n_labels, n_terms)`` where labels are unknown.
    label, known
        With the label, and those for which it is known, ``(n_labels, 1)``.
    """

    both: Values
    term: Values
    label: Values
    known: Values


def _information_gain(tables: _Tables) -> Values:
    """Σ over the four cells of P(t, c) ln(P(t, c) / (P(t) P(c))), with 0 ln 0 = 0."""
    both, term, label, known = tables
    gain = _cell(both, term, label, known)
    gain += _cell(term - both, term, known - label, known)
    gain += _cell(label - both, known - term, label, known)
    gain += _cell(known - term - label + both, known - term, known - label, known)
    gain /= np.maximum(known, 1)
    return np.maximum(gain, 0.0, out=gain)


def _chi_square(tables: _Tables) -> Values:
    """N (AD − BC)² over the product of the four margins; 0 where a margin is 0."""
    both, term, label, known = tables
    margins = term * (known - term) * (label * (known - label))
    difference = both * known - term * label  # AD − BC
    return np.divide(
        known * difference**2, margins, out=np.zeros_like(difference), where=margins > 0
    )


def _cell(x: Values, of_term: Values, of_label: Values, known: Values) -> Values:
    """One cell's x ln(x N / (margin · margin)): exactly 0 where term and label are independent."""
    expected = of_term * of_label
    ratio = np.divide(x * known, expected, out=np.ones_like(x), where=x > 0)
    return x * np.log(ratio, out=ratio)


# Views of a document: its title, its beginning, its body, its characters.

View = Literal["text", "title", "lead", "body", "characters"]
_Documents = Iterable[str | Mapping[str, str]]

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


def titled_texts(documents: _Documents) -> Iterator[TitledText]:
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
        texts = document if isinstance(document, Mapping) else {"text": document}
        for name, text in texts.items():
            if not isinstance(text, str):
                raise TypeError(
                    "Documents must be texts (str), or records of texts by name, got "
                    f"{type(text).__name__} as {name!r} of document {i}. Decode bytes, replace "
                    "missing texts by ''."
                )
        if isinstance(document, str):
            title, line_break, body = document.partition("\n")
            yield TitledText(title.strip(), body) if line_break else TitledText("", title)
        else:
            others = [text for name, text in texts.items() if name != "title"]
            yield TitledText(" ".join(texts.get("title", "").split()), "\n".join(others))


class TextView(TextTransformer):
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
        Weight of the words of the title as separate terms beside those of the view; 0: without
        them. ½ is good for news.
    n_words : int, default=60
        Length of ``"lead"`` in words, separated by blanks, of the whole text.
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

    def fit(self, X: _Documents, y: Any = None) -> Self:
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

    def fit_transform(self, X: _Documents, y: Any = None) -> sparse.csr_matrix:
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
        return found

    def transform(self, X: _Documents) -> sparse.csr_matrix:
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
        return found

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
