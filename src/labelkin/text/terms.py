"""The terms that tell most about the labels: information gain and chi-square, all labels at once.

Every score comes from 2 × 2 tables of documents, term present or absent against label present or
absent (Yang & Pedersen, 1997; combined over labels as in Sebastiani, 2002, section 5.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from labelkin.label_matrix import LabelMatrix, read_labels

Values = NDArray[np.float64]

#: Labels × terms held dense at a time; 2¹⁸ numbers are 2 MB.
_DENSE_CELLS = 2**18


class TermSelection(SelectorMixin, BaseEstimator):
    """Keep the ``k`` terms with the highest scores.

    A term is present in a document where ``X`` is not 0: counts and weights select the same terms.
    Of equal scores the lower column wins. The columns kept stay in order.

    Parameters
    ----------
    criterion
        ``"information_gain"`` (mutual information of term and label, natural logarithm) or
        ``"chi2"`` (of the 2 × 2 table; 0 where the term or the label is in all documents or in
        none).
    combine
        A term's score from its scores for the labels: their ``"sum"``, their ``"max"`` or
        ``"weighted"``, the sum weighted by the labels' priors.
    k
        How many terms to keep; all of them where there are fewer.

    Attributes
    ----------
    scores_ : array
        The score of each term, ``(n_terms,)``, at least 0.

    Examples
    --------
    >>> X = [[2, 1, 0], [1, 0, 1], [0, 1, 3], [0, 0, 1]]
    >>> TermSelection(k=1).fit(X, [["sea"], ["sea"], ["town"], []]).get_support()
    array([ True, False, False])
    """

    def __init__(
        self, criterion: str = "information_gain", combine: str = "sum", k: int = 1000
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

    def fit(self, X: Any, y: Any) -> Self:
        """Score the terms.

        Parameters
        ----------
        X
            Documents × terms, dense or sparse.
        y
            The labels: any kind of ``Y`` that :func:`labelkin.label_matrix.read_labels` takes.
            Unknown cells (NaN) are left out for their label.
        """
        if y is None:
            raise ValueError("TermSelection requires y to be passed, but the target y is None.")
        _check_whole_number("k", self.k)
        X = validate_data(self, X, accept_sparse="csr")
        self.scores_: Values = term_scores(X, y, criterion=self.criterion, combine=self.combine)
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        support = np.zeros(len(self.scores_), dtype=np.bool_)
        support[np.argsort(-self.scores_, kind="stable")[: self.k]] = True
        return support


def term_scores(
    X: Any, Y: Any, *, criterion: str = "information_gain", combine: str = "sum"
) -> Values:
    """Return how much each term tells about the labels, ``(n_terms,)``, at least 0.

    Parameters
    ----------
    X
        Documents × terms, dense or sparse; present is what is not 0.
    Y
        The labels, of any kind; unknown cells are left out for their label.
    criterion, combine
        As :class:`TermSelection` takes them.

    Examples
    --------
    A term that says it all about a label half the documents have is worth ln 2:

    >>> term_scores([[1, 1], [0, 1]], [[1], [0]]).round(3)
    array([0.693, 0.   ])
    """
    score_tables = _choose("criterion", criterion, CRITERIA)
    add = _choose("combine", combine, COMBINATIONS)
    present, labels = _presence(X), read_labels(Y)
    _check_shapes(present, labels)
    total = np.zeros(present.shape[1])
    for tables in _contingency_tables(present, labels):
        add(total, score_tables(tables), tables)
    return total


class Tables(NamedTuple):
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


def information_gain(tables: Tables) -> Values:
    """Σ over the four cells of P(t, c) ln(P(t, c) / (P(t) P(c))), with 0 ln 0 = 0."""
    both, term, label, known = tables
    gain = _cell(both, term, label, known)
    gain += _cell(term - both, term, known - label, known)
    gain += _cell(label - both, known - term, label, known)
    gain += _cell(known - term - label + both, known - term, known - label, known)
    gain /= np.maximum(known, 1)
    return np.maximum(gain, 0.0, out=gain)


def chi_square(tables: Tables) -> Values:
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


def _add_sum(total: Values, scores: Values, tables: Tables) -> None:
    total += scores.sum(axis=0)


def _add_max(total: Values, scores: Values, tables: Tables) -> None:
    np.maximum(total, scores.max(axis=0), out=total)


def _add_weighted(total: Values, scores: Values, tables: Tables) -> None:
    total += (scores * (tables.label / np.maximum(tables.known, 1))).sum(axis=0)


CRITERIA: dict[str, Callable[[Tables], Values]] = {
    "information_gain": information_gain,
    "chi2": chi_square,
}
COMBINATIONS: dict[str, Callable[[Values, Values, Tables], None]] = {
    "sum": _add_sum,
    "max": _add_max,
    "weighted": _add_weighted,
}


def _choose(name: str, value: Any, choices: dict[str, Any]) -> Any:
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")
    return choices[value]


def _check_whole_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")


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


def _contingency_tables(present: sparse.csr_array, labels: LabelMatrix) -> Iterator[Tables]:
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
        yield Tables(both, term, n_positive[block, None], n_known[block, None])


class TermWeights(
    OneToOneFeatureMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):  # type: ignore[call-arg]
    """Weigh terms by how often a document has them and how few documents do.

    With N training documents, n(t) of them with term t, which occurs f times in the document:

    - ``"counts"``: f, as it came;
    - ``"tfidf"``: f · (1 + ln((1 + N) / (1 + n(t)))), rows of length 1; the same numbers as
      scikit-learn's ``TfidfTransformer``;
    - ``"ltc"``: (1 + ln f) · ln(N / n(t)), rows of length 1; the vectors of LYRL2004 (Lewis, Yang,
      Rose & Li, "RCV1: a new benchmark collection", 2004). A term that every training document has
      weighs 0, and so does one that none has.

    A document without terms stays an empty row.

    Parameters
    ----------
    scheme
        ``"counts"``, ``"tfidf"`` or ``"ltc"``.

    Attributes
    ----------
    idf_ : array
        The factor of each term, ``(n_terms,)``; 1 for ``"counts"``.

    Examples
    --------
    >>> TermWeights("ltc").fit_transform([[3, 1], [0, 1]]).toarray()
    array([[1., 0.],
           [0., 0.]])
    """

    def __init__(self, scheme: str = "tfidf") -> None:
        self.scheme = scheme

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that we take sparse counts, none of them negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn in how many documents each term occurs.

        Parameters
        ----------
        X
            Term counts, documents × terms, dense or sparse.
        y
            Ignored.
        """
        if not isinstance(self.scheme, str) or self.scheme not in SCHEMES:
            listed = ", ".join(repr(name) for name in SCHEMES)
            raise ValueError(f"scheme must be one of {listed}, got {self.scheme!r}.")
        counts = self._read(X, reset=True)
        n_having = np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.float64)
        self.idf_ = SCHEMES[self.scheme].idf(n_having, counts.shape[0])
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Weigh documents, CSR float64 ``(n_documents, n_terms)``; ``X`` stays as it is."""
        check_is_fitted(self)
        scheme = SCHEMES[self.scheme]
        weights = self._read(X, reset=False)
        weights.data = scheme.tf(weights.data) * self.idf_[weights.indices]
        weights.eliminate_zeros()
        return sparse.csr_matrix(normalize(weights, copy=False) if scheme.unit else weights)

    def _read(self, X: Any, reset: bool) -> sparse.csr_matrix:
        """Return a copy without stored zeros, checked."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        counts = sparse.csr_matrix(X, copy=True)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        self._check_values(counts.data)
        return counts

    def _check_values(self, values: Values) -> None:
        smallest = values.min(initial=np.inf)
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


class Scheme(NamedTuple):
    """How counts of a document and numbers of documents become weights.

    Attributes
    ----------
    tf
        Counts → their part of the weight.
    idf
        Documents with each term, and all documents → the term's factor.
    unit
        Whether rows are divided by their length.
    """

    tf: Callable[[Values], Values]
    idf: Callable[[Values, int], Values]
    unit: bool


def _as_counted(counts: Values) -> Values:
    return counts


def _log_tf(counts: Values) -> Values:
    return 1.0 + np.log(counts)


def _no_idf(n_having: Values, n_documents: int) -> Values:
    return np.ones_like(n_having)


def _smooth_idf(n_having: Values, n_documents: int) -> Values:
    return np.log((n_documents + 1) / (n_having + 1)) + 1.0


def _plain_idf(n_having: Values, n_documents: int) -> Values:
    """ln(N / n); 0 for terms that no document has, about which nothing was learnt."""
    return np.log(n_documents / np.where(n_having > 0, n_having, n_documents))


SCHEMES = {
    "counts": Scheme(_as_counted, _no_idf, unit=False),
    "tfidf": Scheme(_as_counted, _smooth_idf, unit=True),
    "ltc": Scheme(_log_tf, _plain_idf, unit=True),
}
