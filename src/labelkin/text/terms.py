"""Which terms say most about the labels, and how much each weighs in a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.label_matrix.record import check_choice, check_whole_number
from labelkin.scikit_learn import LinkedEstimator, read_numbers, sound_sparse, unit_length
from labelkin.text.words import TermOutput

Criterion = Literal["information_gain", "chi2"]
Combine = Literal["sum", "max", "weighted"]
Scheme = Literal["counts", "tfidf", "ltc"]
Values = NDArray[np.float64]

#: Labels × terms held dense at a time; 2¹⁸ numbers are 2 MB.
_DENSE_CELLS = 2**18


class TermSelection(TermOutput, SelectorMixin, LinkedEstimator):
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
    combine : {"sum", "max", "weighted"}, default="sum"
        A term's score from its scores for the labels: their sum, their maximum, or the sum weighted
        by the labels' priors.
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
        """Tell scikit-learn that we take sparse ``X`` and need ``y``."""
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
        X = validate_data(self, sound_sparse(X), accept_sparse="csr")
        self.scores_: Values = term_scores(X, y, criterion=self.criterion, combine=self.combine)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Keep the selected terms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_terms)
            Counts or weights of terms.

        Returns
        -------
        array or sparse matrix of shape (n_documents, n_selected)
            Of the kind that ``X`` is; a table after :meth:`set_output`.
        """
        return self._output(super().transform(X), X)

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
    combine : {"sum", "max", "weighted"}, default="sum"
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
    _check_shapes(present, labels)
    total = np.zeros(present.shape[1])
    for tables in _contingency_tables(present, labels):
        scores = score(tables)
        if combine == "max":
            np.maximum(total, scores.max(axis=0), out=total)
        elif combine == "sum":
            total += scores.sum(axis=0)
        else:
            total += (scores * (tables.label / np.maximum(tables.known, 1))).sum(axis=0)
    return total


class TermWeights(OneToOneFeatureMixin, TermOutput, LinkedEstimator):
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
        """Tell scikit-learn that we take sparse counts, none of them negative."""
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
            The weights, float64: a sparse array for a sparse array, a matrix for all else; a table
            after :meth:`set_output`.
        """
        check_is_fitted(self)
        weights = self._read(X, reset=False)
        tf = 1.0 + np.log(weights.data) if self.scheme == "ltc" else weights.data
        weights.data = tf * self.idf_[weights.indices]
        weights.eliminate_zeros()
        if self.scheme != "counts":
            weights = unit_length(weights)
        kind = sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix
        return self._output(weights if type(weights) is kind else kind(weights), X)

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


def _check_shapes(present: sparse.csr_array, labels: LabelMatrix) -> None:
    if labels.shape[0] != present.shape[0]:
        raise ValueError(
            f"X and y must have the same number of documents, got inconsistent numbers: X has "
            f"{present.shape[0]}, y has shape {labels.shape}."
        )
    if labels.shape[1] == 0:
        raise ValueError(
            f"y must name at least one label, got shape {labels.shape}: no document has one."
        )


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
