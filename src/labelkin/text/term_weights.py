"""Term counts → term weights: tf-idf as scikit-learn has it, or as LYRL2004 has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

Values = NDArray[np.float64]


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
