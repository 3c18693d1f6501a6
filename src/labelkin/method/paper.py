"""The paper's classifier: content evidence, label evidence and the prior, combined."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from labelkin.content.any_classifier import as_content
from labelkin.estimator import KnownLabelsClassifier
from labelkin.label_matrix import labels_for, read_known
from labelkin.method.combination import VARIANTS, combine
from labelkin.method.label_evidence import as_label_classifier
from labelkin.odds import count_log_odds
from labelkin.scikit_learn import route_fit, with_random_state

Matrix = NDArray[np.float64]


class PaperClassifier(KnownLabelsClassifier):
    """The multilabel classifier of Romero & de Campos [1]_.

    Parameters
    ----------
    content : classifier or name, default "svm"
        Probabilistic classifier of documents, p(c_j | x): :class:`PlattSVM` (``"svm"``),
        :class:`NaiveBayes` (``"naive_bayes"``), :class:`NearestNeighbours`
        (``"nearest_neighbours"``), or any scikit-learn classifier with ``predict_proba``.
    labels : label classifier or name, default "logistic"
        Classifier of each label given the other labels, p(c_j | l_j): :class:`LogisticLabels`
        (``"logistic"``, the paper's BLR), :class:`SVMLabels` (``"svm"``, the paper's SMO), or any
        scikit-learn classifier with ``predict_proba``, fitted per label.
    variant : "soft" or "hard", default "soft"
        Values of the other labels of a new document: their probabilities (``"soft"``, M2,
        equation 4) or the decisions of the content classifier (``"hard"``, M1, equation 3).
    random_state : int or RandomState, optional
        Seed of the content classifier, if it has none.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
    content_ : content classifier
        p(c_j | x), fitted on the documents.
    labels_ : label classifier
        p(c_j | l_j), fitted on the label sets of the documents.
    prior_ : array of shape (n_labels,)
        p(c_j), the share of training documents that have the label.

    See Also
    --------
    LabelDependenceClassifier : The same with a learned weight of label evidence and with
        thresholds; ``evidence_weight=1`` is this classifier.

    Notes
    -----
    For each label c_j of a document x with other labels l_j, equation 2 of [1]_ in log-odds is

        logit p(c_j | x, l_j) = logit p(c_j | x) + logit p(c_j | l_j) − logit p(c_j)

    The posterior of a label of no or all training documents is its content evidence. Known
    labels (``known``) replace the filled-in ones.

    References
    ----------
    .. [1] A. E. Romero and L. M. de Campos, "A probabilistic methodology for multilabel
       classification", arXiv:1201.4777.

    Examples
    --------
    >>> from labelkin import NaiveBayes, PaperClassifier
    >>> X = [[2, 0, 0], [1, 1, 0], [0, 0, 2], [0, 2, 0], [0, 1, 1]]
    >>> Y = [["grain", "wheat"], ["grain", "wheat"], ["gold"], ["grain"], ["gold"]]
    >>> model = PaperClassifier(NaiveBayes(), "logistic", "soft").fit(X, Y)
    >>> model.predict_labels([[1, 0, 0]])
    [('grain', 'wheat')]
    """

    def __init__(
        self,
        content: Any = "svm",
        labels: Any = "logistic",
        variant: Literal["soft", "hard"] = "soft",
        *,
        random_state: Any = None,
    ) -> None:
        self.content = content
        self.labels = labels
        self.variant = variant
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit p(c_j | x) on documents, p(c_j | l_j) on label sets, and p(c_j) by counting.

        Parameters
        ----------
        X : documents
            Training documents in any form that the content classifier accepts.
        y : any kind of labels
            Their labels, as in :class:`labelkin.LabelDependenceClassifier`.
        **fit_params
            ``sample_weight`` for both classifiers; with metadata routing enabled, the metadata that
            they request.

        Returns
        -------
        self
        """
        if self.variant not in VARIANTS:
            raise ValueError(f"variant must be 'soft' or 'hard', got {self.variant!r}.")
        parts = self._parts()
        X, labels = self._read(X, y)
        to_content, to_labels = route_fit(self, fit_params, **parts).values()
        content, others = parts.values()
        weight = to_labels.get("sample_weight")
        self.content_ = with_random_state(content, self.random_state)
        self.content_.fit(X, labels_for(content, labels), **to_content)  # p(c_j | x)
        self.labels_ = clone(others).fit(labels_for(others, labels), **to_labels)  # p(c_j | l_j)
        self.prior_ = labels.prior(weight)  # p(c_j)
        self.constant_ = labels.constant(weight) | (labels.shape[1] == 1)
        self.prior_log_odds_ = count_log_odds(*labels.counts(weight))
        return self

    def _log_odds(self, X: Any, known: Any = None) -> Matrix:
        content = self.content_.log_odds(X)  # step 1
        if sparse.issparse(content):
            raise ValueError(
                "content must return the log-odds of all labels, got candidates of "
                f"{self.content!r:.60}. Use top=None, or LabelDependenceClassifier."
            )
        given = np.full(content.shape, np.nan)
        if known is not None:
            given = read_known(known, len(content), self.label_names_)
        labels = np.where(np.isnan(given), VARIANTS[self.variant](content), given)  # step 2a
        label = self.labels_.log_odds(labels)  # step 2b
        posterior = combine(content, label, self.prior_log_odds_)  # step 2c
        posterior = np.where(self.constant_, content, posterior)
        return np.where(np.isnan(given), posterior, np.where(given > 0, np.inf, -np.inf))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether ``fit`` has finished."""
        return hasattr(self, "constant_")

    def _parts(self, X: Any = None) -> dict[str, Any]:
        return {"content": as_content(self.content), "labels": as_label_classifier(self.labels)}
