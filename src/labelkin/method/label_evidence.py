"""Label evidence, p(label | other labels): one classifier per label, fitted on label sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from labelkin.label_matrix import LabelMatrix, frame_in_order, read_labels
from labelkin.method.label_sets import LabelSets, count_label_sets
from labelkin.odds import count_log_odds, to_log_odds, to_probability
from labelkin.solvers.logistic import LinearTerm, fit_logistic_layer
from labelkin.solvers.neighbourhoods import MOST, fit_neighbourhoods
from labelkin.solvers.weka import fit_svm_layer, fit_weka_logistic
from labelkin.validation import check_choice, check_memory

#: Maximum number of labels for which, by default, every other label is an input.
_ALL_LABELS = 300
#: Matrices of labels × labels in memory while all weights are fitted.
_COPIES = 3


class LabelEvidence(BaseEstimator, ABC):
    """Base class of label classifiers, fitted on true labels and applied to filled-in ones."""

    takes_label_matrix = True

    def fit(self, Y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifiers on true labels.

        Parameters
        ----------
        Y : any kind of labels
            Labels of the training documents. An unknown cell (NaN) is left out as a target and has
            the label's prior as an input.
        sample_weight : array of shape (n_documents,), optional
            Weights of the documents.

        Returns
        -------
        self
        """
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return self._learn(read_labels(Y), weight)

    def log_odds(self, L: Any) -> NDArray[np.float64]:
        """Return the log-odds of every label given the other labels.

        Parameters
        ----------
        L : array or DataFrame of shape (n_documents, n_labels)
            Labels as 0 and 1, or their probabilities; NaN stands for the label's prior. Column j is
            ignored for label j.

        Returns
        -------
        array of shape (n_documents, n_labels)
        """
        check_is_fitted(self)
        given = frame_in_order(L, self.label_names_) if hasattr(L, "columns") else L
        values = np.asarray(given, dtype=np.float64)
        least, most = np.nanmin(values, initial=0), np.nanmax(values, initial=1)
        if values.shape[1:] != self.prior_.shape or least < 0 or most > 1:
            raise ValueError(
                f"L must be a matrix of labels (0, 1) or probabilities, (n, {len(self.prior_)}), "
                f"got shape {values.shape} with values from {least:g} to {most:g}."
            )
        return self._log_odds(np.where(np.isnan(values), self.prior_, values))

    def predict_proba(self, L: Any) -> NDArray[np.float64]:
        """Return p(label | other labels).

        Parameters
        ----------
        L : array of shape (n_documents, n_labels)
            As in :meth:`log_odds`.

        Returns
        -------
        array of shape (n_documents, n_labels)
        """
        return to_probability(self.log_odds(L))

    @abstractmethod
    def _learn(self, labels: LabelMatrix, weight: NDArray[np.float64] | None) -> Self:
        """Fit on validated labels; set ``label_names_`` and ``prior_`` also."""

    @abstractmethod
    def _log_odds(self, L: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-odds given validated inputs."""


class LinearLabelEvidence(LabelEvidence):
    """Base class of label classifiers that are linear and fitted on counted label sets."""

    weights_: Any
    bias_: NDArray[np.float64]
    rest_: NDArray[np.float64] | None = None

    @abstractmethod
    def fit_counted(self, label_sets: LabelSets, names: NDArray[Any]) -> Self:
        """Fit on counted label sets of labels with these names."""

    def _learn(self, labels: LabelMatrix, weight: NDArray[np.float64] | None) -> Self:
        return self.fit_counted(count_label_sets(labels, weight), labels.names)

    def _log_odds(self, L: NDArray[np.float64]) -> NDArray[np.float64]:
        return LinearTerm(self.weights_, self.bias_, self.rest_).at(L)


class LogisticLabels(LinearLabelEvidence):
    """Logistic regression of each label with a Gaussian prior (the paper's BLR).

    The variance of the prior is that of Weka's ``BayesianLogisticRegression``, which the paper
    used. With many labels the inputs of a label are its *neighbours*: labels that occur with it
    clearly more often or less often than by chance. All other labels have one weight in common.

    Parameters
    ----------
    solver : "exact" or "weka", default "exact"
        ``"exact"`` finds the optimum. ``"weka"`` repeats Weka's algorithm with its early stop, for
        comparison with the paper.
    tol : float, default 1e-9
        Share of the objective at which the exact solver stops.
    n_jobs : int, optional
        Number of threads, over blocks of labels.
    neighbours : int from 1 to 32, "auto" or None, default "auto"
        Maximum number of neighbours of a label. ``None``: all other labels are inputs, as in the
        paper; ``"auto"``: all other labels for up to 300 labels, 32 neighbours above.

    Attributes
    ----------
    weights_ : array or CSC array of shape (n_labels, n_labels)
        Weight ``[k, j]`` of label k for label j; the diagonal is 0. With neighbours it is sparse
        and does not include ``rest_``.
    rest_ : array of shape (n_labels,), or None
        Common weight of all other labels, neighbours included; ``None`` without neighbours.
    bias_ : array of shape (n_labels,)
    prior_ : array of shape (n_labels,)
    label_names_ : array of shape (n_labels,)

    Examples
    --------
    >>> layer = LogisticLabels().fit([["tea", "sugar"]] * 9 + [["tea"]] * 3 + [["milk"]] * 8)
    >>> layer.label_names_.tolist()
    ['milk', 'sugar', 'tea']
    >>> layer.predict_proba([[1, 0, 0], [0, 1, 0]])[:, 2].round(2).tolist()
    [0.22, 0.87]
    """

    def __init__(
        self,
        solver: Literal["exact", "weka"] = "exact",
        *,
        tol: float = 1e-9,
        n_jobs: int | None = None,
        neighbours: int | Literal["auto"] | None = "auto",
    ) -> None:
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.neighbours = neighbours

    def fit_counted(self, label_sets: LabelSets, names: NDArray[Any]) -> Self:
        """Fit on counted label sets of labels with these names."""
        n_labels = label_sets.positive.shape[1]
        most = self._most_neighbours(n_labels)
        self.label_names_, self.prior_ = names, label_sets.prior()
        if most is not None:
            self.weights_, self.bias_, self.rest_ = fit_neighbourhoods(
                label_sets.positive,
                label_sets.count,
                1 + mean_other_labels(label_sets),
                unknown=label_sets.unknown,
                most=most,
                tol=self.tol,
                n_jobs=self.n_jobs,
            )
            return self
        if n_labels > _ALL_LABELS:
            check_memory(
                _COPIES * 8.0 * n_labels**2,
                f"Label weights of {n_labels:,} × {n_labels:,} labels",
                'Use LogisticLabels(neighbours="auto").',
            )
        rows = label_sets.inputs(), label_sets.positive, label_sets.count
        tau, unknown = prior_scale(label_sets), label_sets.unknown
        if self.solver == "exact":
            learned = fit_logistic_layer(
                *rows, 2 / tau, unknown=unknown, tol=self.tol, n_jobs=self.n_jobs
            )
        elif self.solver == "weka":
            weka = fit_weka_logistic(*rows, tau, unknown=unknown)
            learned = LinearTerm(weka.weights, weka.bias)
        else:
            raise ValueError(f"solver must be 'exact' or 'weka', got {self.solver!r}.")
        self.weights_, self.bias_, self.rest_ = learned.weights, learned.bias, None
        return self

    def _most_neighbours(self, n_labels: int) -> int | None:
        """Return the maximum number of neighbours; ``None``: all labels are inputs."""
        if self.neighbours is None:
            return None
        if isinstance(self.neighbours, str) and self.neighbours == "auto":
            return MOST if n_labels > _ALL_LABELS and self.solver == "exact" else None
        given: Any = self.neighbours
        is_number = isinstance(given, Integral) and not isinstance(given, bool)
        if not is_number or not 1 <= int(given) <= MOST:
            raise ValueError(
                f'neighbours must be a whole number from 1 to {MOST}, "auto" or None (all labels), '
                f"got {self.neighbours!r}."
            )
        if self.solver != "exact":
            raise ValueError(
                f'neighbours must be None or "auto" with solver={self.solver!r}, '
                f"got {self.neighbours!r}."
            )
        return int(self.neighbours)


class SVMLabels(LinearLabelEvidence):
    """Linear SVM with a logistic output (the paper's "SMO").

    As Weka's ``SMO -M``: inputs scaled to [0, 1], soft margin with unpenalised bias, then a
    logistic fit of the label on the outputs of the training documents. For rare labels the optimal
    SVM often returns the same class for every label set; ``rare`` chooses the evidence then.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of a margin violation.
    rare : "prior" or "balanced", default "prior"
        Evidence of labels whose SVM returns one class only: ``"prior"``, the prior;
        ``"balanced"``, an SVM with equal weights of both classes, whose strength is set by the
        logistic fit. Weka standardises the noise of its solver, which other solvers do not
        reproduce.
    n_jobs : int, optional
        Number of labels fitted in parallel.

    Attributes
    ----------
    weights_, bias_, prior_, label_names_
        As in :class:`LogisticLabels`.

    Examples
    --------
    >>> layer = SVMLabels().fit([["tea", "sugar"]] * 9 + [["tea"]] * 3 + [["milk"]] * 8)
    >>> bool(layer.predict_proba([[0, 1, 0]])[0, 2] > 0.9)  # tea, given sugar
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        rare: Literal["prior", "balanced"] = "prior",
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.rare = rare
        self.n_jobs = n_jobs

    def fit_counted(self, label_sets: LabelSets, names: NDArray[Any]) -> Self:
        """Fit on counted label sets of labels with these names."""
        if self.rare not in ("prior", "balanced"):
            raise ValueError(f"rare must be 'prior' or 'balanced', got {self.rare!r}.")
        self.label_names_, self.prior_ = names, label_sets.prior()
        self.weights_, self.bias_ = fit_svm_layer(
            label_sets.inputs().toarray(),
            label_sets.positive,
            label_sets.count,
            unknown=label_sets.unknown,
            C=self.C,
            balance_rare=self.rare == "balanced",
            n_jobs=self.n_jobs,
        )
        return self


class PerLabelEvidence(LabelEvidence):
    """Any scikit-learn classifier with ``predict_proba``, fitted per label on the other columns.

    Parameters
    ----------
    estimator : classifier
        Any classifier with ``predict_proba``.
    clip : float, default 1e-6
        Probabilities are clipped to [``clip``, ``1 - clip``].
    n_jobs : int, optional
        Number of labels fitted in parallel.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> layer = PerLabelEvidence(DecisionTreeClassifier(max_depth=2, random_state=0))
    >>> layer = layer.fit([["tea", "sugar"]] * 9 + [["tea"]] * 3 + [["milk"]] * 8)
    >>> layer.predict_proba([[0, 1, 0]])[:, 2].round(2).tolist()
    [1.0]
    """

    def __init__(self, estimator: Any, *, clip: float = 1e-6, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.clip = clip
        self.n_jobs = n_jobs

    def _learn(self, labels: LabelMatrix, weight: NDArray[np.float64] | None) -> Self:
        name = type(self.estimator).__name__
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"A label classifier must return probabilities, and {name} has no predict_proba. "
                "Use LogisticLabels(), SVMLabels() or CalibratedClassifierCV."
            )
        if weight is not None:
            raise ValueError(
                f"PerLabelEvidence({name}) does not take sample_weight. Use LogisticLabels or "
                "SVMLabels."
            )
        self.label_names_, self.prior_ = labels.names, labels.prior()
        self.prior_log_odds_ = count_log_odds(*labels.counts())
        known = labels.dense()
        inputs = np.where(np.isnan(known), self.prior_, known)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_on_others)(self.estimator, inputs, known[:, j], j)
            for j in range(labels.shape[1])
        )
        return self

    def _log_odds(self, L: NDArray[np.float64]) -> NDArray[np.float64]:
        result = np.tile(self.prior_log_odds_, (len(L), 1))
        for j, estimator in enumerate(self.estimators_):
            if estimator is not None:
                probability = estimator.predict_proba(np.delete(L, j, axis=1))[:, 1]
                result[:, j] = to_log_odds(probability, clip=self.clip)
        return result


#: Label classifiers by name.
_NAMED = {"logistic": LogisticLabels, "svm": SVMLabels}


def prior_scale(label_sets: LabelSets) -> NDArray[np.float64]:
    """Return Weka's tau of every label, ``(n_labels,)``; the prior's variance is tau/2.

    tau = (inputs + 2) / (1 + mean sum of squared inputs); inputs are the other labels, and the mean
    is over the documents for which the label is known.
    """
    return np.asarray((label_sets.positive.shape[1] + 1) / (1 + mean_other_labels(label_sets)))


def mean_other_labels(label_sets: LabelSets) -> NDArray[np.float64]:
    """Return the mean sum of squared inputs of every label, ``(n_labels,)``.

    Without unknown cells it is the mean number of other labels.
    """
    if label_sets.unknown is None:  # inputs are 1 and 0
        sums = np.diff(label_sets.positive.indptr).astype(np.float64)
    else:
        sums = label_sets.inputs().power(2).sum(axis=1)
    squares = label_sets.count * sums
    total = squares.sum() - label_sets.positives()
    if label_sets.unknown is not None:
        total -= label_sets.unknown.T @ squares
    known = label_sets.known()
    return np.divide(total, known, out=np.zeros_like(total), where=known > 0)


def as_label_classifier(labels: Any) -> Any:
    """Return a label classifier, with ``fit(Y)`` and ``log_odds(L)``.

    Parameters
    ----------
    labels : label classifier, scikit-learn classifier, "logistic", "svm" or None
        ``None`` is ``"logistic"``; a scikit-learn classifier is fitted per label.
    """
    if labels is None:
        return LogisticLabels()
    if isinstance(labels, str):
        check_choice("labels", labels, _NAMED)
        return _NAMED[labels]()
    if isinstance(labels, type) or not hasattr(labels, "fit"):
        raise TypeError(
            f"labels must be a label classifier such as LogisticLabels(), or a scikit-learn "
            f"classifier with predict_proba, got {labels!r}."
        )
    return labels if hasattr(labels, "log_odds") else PerLabelEvidence(labels)


def _fit_on_others(
    estimator: Any, inputs: NDArray[np.float64], target: NDArray[np.float64], j: int
) -> Any:
    """Fit a clone on the other columns; ``None`` with one class only or without other columns."""
    rows = np.flatnonzero(~np.isnan(target))
    if len(np.unique(target[rows])) < 2 or inputs.shape[1] < 2:
        return None
    others = np.delete(inputs[rows], j, axis=1)
    with threadpool_limits(1, user_api="blas"):  # results do not depend on n_jobs
        return clone(estimator).fit(others, target[rows].astype(np.int64))
