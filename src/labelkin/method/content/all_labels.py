"""Content evidence by a classifier that learns all labels at once; and by any classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from labelkin.label_matrix import LabelMatrix
from labelkin.method.content.linear_estimators import (
    estimator_of_label,
    estimator_shares,
    names_behind,
    split_front,
)
from labelkin.method.content.per_label import (
    PerLabel,
    n_rows,
    needs_probabilities,
    spread,
)
from labelkin.method.content.term_shares import (
    ContentShares,
    SharesOfDocuments,
    content_shares,
    named,
)
from labelkin.odds import count_log_odds, log_odds_of


class AllLabels(PerLabel):
    """One multilabel classifier, such as a random forest, for the whole label matrix.

    Parameters and methods are those of :class:`PerLabel`. The one fitted clone is ``estimator_``;
    it has seen the columns ``fitted_labels_``, those with documents on both sides.
    """

    def content_shares(self, X: Any, columns: ArrayLike) -> SharesOfDocuments | None:
        """Return what each term adds to the log-odds of some label columns, for a few documents.

        As :meth:`PerLabel.content_shares` does, for one-vs-rest classifiers; a pipeline that ends
        in a content classifier of the library answers as that one does.
        """
        check_is_fitted(self)
        if _ends_in_ours(self.estimator_):
            return _shares_behind(self.estimator_, self._read_documents(X, reset=False), columns)
        return super().content_shares(X, columns)

    def _label_shares(self, X: Any, j: int) -> list[ContentShares] | None:
        if j not in self.fitted_labels_:
            return self._prior_alone(X, j)
        place = int(np.searchsorted(self.fitted_labels_, j))
        estimator = estimator_of_label(self.estimator_, place)
        if estimator is None:
            return None
        told = log_odds_of(estimator.predict_proba(X)[:, 1], clip=self.clip)
        return estimator_shares(estimator, X, told, self.clip)

    def _learn(self, X: Any, labels: LabelMatrix, params: dict[str, Any] | None = None) -> None:
        self._check_parameters()
        positive, known = labels.counts()
        self.prior_log_odds_ = count_log_odds(positive, known)
        self.fitted_labels_ = np.flatnonzero((positive > 0) & (positive < known))
        self.estimator_ = clone(self.estimator)
        if _ends_in_ours(self.estimator_):
            self.fitted_labels_ = np.arange(labels.shape[1])
            self.estimator_.fit(X, labels, **(params or {}))
        elif len(self.fitted_labels_):
            self.estimator_.fit(X, self._targets(labels), **(params or {}))

    def _targets(self, labels: LabelMatrix) -> NDArray[np.int64]:
        """Return the fitted columns; a single one as a 1-d y, as everywhere in scikit-learn."""
        if labels.unknown is not None:
            raise ValueError(
                f"{type(self.estimator).__name__} learns all labels at once and cannot leave out "
                f"unknown cells, got {labels.unknown.nnz} of them. Use PerLabel for one per label."
            )
        targets = labels.positive[:, self.fitted_labels_].toarray().astype(np.int64)
        return targets.ravel() if len(self.fitted_labels_) == 1 else targets

    def _log_odds(self, X: Any) -> NDArray[np.float64]:
        columns: list[NDArray[np.float64]] = []
        if len(self.fitted_labels_):
            columns = list(self._fitted_log_odds(X).T)
        return spread(columns, self.fitted_labels_, self.prior_log_odds_, n_rows(X))

    def _fitted_log_odds(self, X: Any) -> NDArray[np.float64]:
        """Log-odds of the fitted labels, whatever shape the estimator's probabilities have."""
        if _ends_in_ours(self.estimator_):
            return self.estimator_[-1].log_odds(self.estimator_[:-1].transform(X))
        probability = self.estimator_.predict_proba(X)
        if isinstance(probability, list):  # forests and neighbours: one (n, 2) for every label
            probability = np.column_stack([label[:, 1] for label in probability])
        elif len(self.fitted_labels_) == 1:
            probability = probability[:, 1:]
        return log_odds_of(probability, clip=self.clip)


def as_content(estimator: Any) -> Any:
    """Give any estimator the two verbs of content evidence, ``fit`` and ``log_odds``.

    An estimator that has them is returned as it is. One that takes label matrices (a forest, a
    neural network, ``OneVsRestClassifier``) sees them whole; any other is fitted per label.
    """
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(
            f"content must be an estimator instance such as PlattSVM(), got {estimator!r}."
        )
    if hasattr(estimator, "log_odds"):
        return estimator
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(needs_probabilities(estimator))
    return AllLabels(estimator) if _takes_label_matrices(estimator) else PerLabel(estimator)


def _takes_label_matrices(estimator: Any) -> bool:
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    if isinstance(estimator, OneVsRestClassifier):
        return True  # its tags do not say so
    tags = get_tags(estimator)
    return bool(
        tags.target_tags.multi_output or getattr(tags.classifier_tags, "multi_label", False)
    )


def _ends_in_ours(estimator: Any) -> bool:
    """Tell a pipeline whose last step takes a label matrix, unknown cells too, as it is."""
    return isinstance(estimator, Pipeline) and hasattr(estimator[-1], "log_odds")


def _shares_behind(pipeline: Pipeline, X: Any, columns: ArrayLike) -> SharesOfDocuments | None:
    """Return the shares of a pipeline's last step; ``None`` if the steps before name no terms."""
    front, last = split_front(pipeline)
    shares = content_shares(last, X if front is None else front.transform(X), columns)
    if shares is None or front is None:
        return shares
    names = names_behind(front, X)
    if names is None and any(cell.terms for row in shares for cell in row):
        return None
    return [[named(cell, names) for cell in row] for row in shares]
