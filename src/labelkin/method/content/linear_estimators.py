"""The weights of scikit-learn's linear classifiers, also behind steps that make their features.

Known are the classifiers with ``coef_`` whose probability is the logistic function of it, and the
naive Bayes family for counts. What is read off is checked against what the classifier tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import binarize

from labelkin.method.content.term_shares import ContentShares, linear_shares, named, terms_of

#: Sums of float32 documents differ by so much, relative to their parts; other models by far more.
_ROUNDING = 1e-5


class LinearForm(NamedTuple):
    """Log-odds of "yes" as constant + Σ weight × value.

    Attributes
    ----------
    weigh
        From some features to their weights.
    constant
        The log-odds where all features are 0.
    above
        Values above this count as 1, others as 0; ``None``: as they are.
    """

    weigh: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    constant: float
    above: float | None = None


def estimator_shares(
    estimator: Any, X: Any, told: NDArray[np.float64], clip: float
) -> list[ContentShares] | None:
    """Take apart what one binary classifier tells of some documents; ``None`` if it is not linear.

    Parameters
    ----------
    estimator
        A fitted classifier of two classes, or a pipeline that ends in one. Shares are those of the
        features it sees; columns that only pass through the steps before it keep their places.
    X
        Documents as it takes them.
    told
        The log-odds it gives them, ``(n_documents,)``.
    clip
        Where its probabilities are clipped.
    """
    front, last = split_front(estimator)
    form = linear_form(last)
    names = None if front is None else names_behind(front, X)
    if form is None or (front is not None and names is None):
        return None
    features = X if front is None else front.transform(X)
    shares = [named(row, names) for row in _form_shares(form, features)]
    linear = np.array([row.log_odds for row in shares])
    size = np.array([sum(abs(term.share) for term in row.terms) for row in shares])
    if not _agree(told, linear, 1 + size + abs(form.constant), clip):
        return None
    return [
        replace(row, clipped=_beyond_rounding(value - row.log_odds))
        for row, value in zip(shares, told, strict=True)
    ]


def estimator_of_label(estimator: Any, place: int) -> Any:
    """Return the binary classifier of one label, with the steps before it; ``None`` if none is."""
    if isinstance(estimator, Pipeline):
        last = estimator_of_label(estimator[-1], place)
        return None if last is None else Pipeline([*estimator.steps[:-1], ("label", last)])
    if isinstance(estimator, OneVsRestClassifier | MultiOutputClassifier):
        return estimator.estimators_[place]
    return None


def split_front(estimator: Any) -> tuple[Any, Any]:
    """Return the steps before the last, ``None`` if there are none, and the last."""
    if not isinstance(estimator, Pipeline):
        return None, estimator
    return (estimator[:-1] if len(estimator) > 1 else None), estimator[-1]


def names_behind(front: Any, X: Any) -> NDArray[Any] | None:
    """Return the names of features behind some steps; columns of ``X`` they keep are numbers."""
    is_matrix = len(getattr(X, "shape", ())) == 2
    if is_matrix and not hasattr(front, "feature_names_in_"):
        return terms_of(front, np.array(range(X.shape[1]), dtype=object))
    return terms_of(front)


def linear_form(estimator: Any) -> LinearForm | None:
    """Read off the weights of a classifier of two classes; ``None`` if it shows none."""
    if isinstance(estimator, BernoulliNB):
        return _bernoulli_form(estimator)
    if isinstance(estimator, MultinomialNB | ComplementNB):
        no, yes = estimator.feature_log_prob_
        # ComplementNB has a prior too, but does not use it for two classes
        is_complement = isinstance(estimator, ComplementNB)
        constant = 0.0 if is_complement else _difference(estimator.class_log_prior_)
        return LinearForm(lambda terms: yes[terms] - no[terms], constant)
    if not (hasattr(estimator, "coef_") and hasattr(estimator, "intercept_")):
        return None
    coef = estimator.coef_.toarray() if sparse.issparse(estimator.coef_) else estimator.coef_
    if np.ndim(coef) != 2 or len(coef) != 1:
        return None
    return LinearForm(lambda terms: coef[0, terms], float(np.ravel(estimator.intercept_)[0]))


def _bernoulli_form(estimator: Any) -> LinearForm:
    """Absent terms speak too: what they say is in the constant, and present ones take it back."""
    no, yes = estimator.feature_log_prob_
    absent_no, absent_yes = np.log1p(-np.exp(no)), np.log1p(-np.exp(yes))
    constant = _difference(estimator.class_log_prior_) + float(np.sum(absent_yes - absent_no))

    def weigh(terms: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(yes[terms] - absent_yes[terms] - (no[terms] - absent_no[terms]))

    return LinearForm(weigh, constant, estimator.binarize)


def _difference(log_prior: NDArray[np.float64]) -> float:
    no, yes = log_prior
    return float(yes - no)


def _form_shares(form: LinearForm, features: Any) -> list[ContentShares]:
    values = features if sparse.issparse(features) else np.asarray(features, dtype=np.float64)
    if form.above is not None:
        values = binarize(values, threshold=form.above)
    rows = linear_shares(
        values, lambda terms: form.weigh(terms)[:, None], np.array([form.constant])
    )
    return [row for (row,) in rows]


def _agree(
    told: NDArray[np.float64], linear: NDArray[np.float64], size: NDArray[np.float64], clip: float
) -> bool:
    """Tell whether log-odds are the linear ones, or stand at the clip that those are beyond."""
    end = -logit(clip)
    is_clipped = (np.abs(told) > end - _ROUNDING) & (told * linear > end * (end - _ROUNDING))
    return bool(np.all(is_clipped | (np.abs(told - linear) <= _ROUNDING * size)))


def _beyond_rounding(value: float) -> float:
    return float(value) if abs(value) >= 1e-10 else 0.0
