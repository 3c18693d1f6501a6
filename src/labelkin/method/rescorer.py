"""Better scores for any classifier, from its scores and the training labels alone."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from labelkin.label_matrix import frame_in_order, labels_for, read_labels
from labelkin.method.combination import VARIANTS, Combination
from labelkin.method.known import read_known
from labelkin.method.label_evidence import LogisticLabels, as_label_classifier
from labelkin.odds import count_log_odds, log_odds_of, probability_of


class LabelRescorer(BaseEstimator):
    """Add what the other labels say to a score matrix computed anywhere.

    Parameters
    ----------
    labels
        The label classifier: :class:`LogisticLabels` (default), :class:`SVMLabels`, or any
        scikit-learn classifier with ``predict_proba``, fitted per label on the other columns.
    variant
        ``"soft"`` fills the other labels in with their probabilities (the paper's M2), ``"hard"``
        with 0 and 1 (M1).
    evidence_weight
        How much guessed labels count: 1 is the paper, 0 leaves the scores alone.
    scale
        What the scores are: ``"probability"``, in [0, 1], or ``"log_odds"``. They come back the
        same.
    clip
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.

    Attributes
    ----------
    label_names_ : array of shape (n_labels,)
    prior_ : array of shape (n_labels,)
    labels_ : the fitted label classifier
    label_weights_ : array of shape (n_labels, n_labels) or None
        ``[k, j]``: what label k says of label j, where the label classifier is linear.
    evidence_weight_ : float

    Examples
    --------
    Wheat is grain. A classifier is sure of wheat and undecided about grain:

    >>> Y = [["wheat", "grain"], ["wheat", "grain"], ["grain"], ["gold"], ["gold"], []]
    >>> LabelRescorer().fit(Y).rescore([[0.1, 0.5, 0.9]]).round(2).tolist()
    [[0.08, 0.65, 0.93]]
    """

    def __init__(
        self,
        labels: Any = None,
        variant: str = "soft",
        evidence_weight: float = 1.0,
        scale: Literal["probability", "log_odds"] = "probability",
        clip: float = 1e-6,
    ) -> None:
        self.labels = labels
        self.variant = variant
        self.evidence_weight = evidence_weight
        self.scale = scale
        self.clip = clip

    def fit(self, Y: Any, *, sample_weight: Any = None) -> Self:
        """Learn how labels go together.

        Parameters
        ----------
        Y
            The training labels, any kind.
        sample_weight
            How many times each document counts, ``(n_documents,)``; the label classifier must take
            it.
        """
        variant = _choose("variant", self.variant, VARIANTS)
        weight = _read_evidence_weight(self.evidence_weight)
        _choose("scale", self.scale, {"probability": None, "log_odds": None})
        labels = read_labels(Y)
        counted = {} if sample_weight is None else {"sample_weight": sample_weight}
        chosen = LogisticLabels() if self.labels is None else as_label_classifier(self.labels)
        self.labels_ = clone(chosen)
        self.labels_.fit(labels_for(self.labels_, labels), **counted)
        self.label_names_ = labels.names
        self.evidence_weight_ = weight
        times = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.prior_ = labels.prior(times)
        prior_log_odds = count_log_odds(*labels.counts(times))
        self.combination_ = Combination(self.labels_, self.prior_, prior_log_odds, variant, weight)
        return self

    @property
    def label_weights_(self) -> NDArray[np.float64] | None:
        """What label k says of label j, ``[k, j]``, in log-odds."""
        check_is_fitted(self)
        return getattr(self.labels_, "weights_", None)

    def rescore(self, scores: Any, known: Any = None) -> NDArray[np.float64]:
        """Return the posterior on the scale of the scores, ``(n_documents, n_labels)``.

        Parameters
        ----------
        scores
            Content evidence, ``(n_documents, n_labels)``, columns in the order of ``label_names_``.
        known
            What a person has stated: see :func:`labelkin.method.known.read_known`. A known label's
            posterior is 1 or 0 (±inf as log-odds), and the other labels respond.
        """
        check_is_fitted(self)
        content = self._read_scores(scores)
        facts = None if known is None else read_known(known, len(content), self.label_names_)
        posterior = self.combination_.posterior(content, facts)
        return posterior if self.scale == "log_odds" else probability_of(posterior)

    def _read_scores(self, scores: Any) -> NDArray[np.float64]:
        expected = len(self.label_names_)
        if hasattr(scores, "columns"):
            scores = frame_in_order(scores, self.label_names_)
        values = scores.toarray() if hasattr(scores, "toarray") else np.asarray(scores)
        if values.ndim != 2 or values.shape[1] != expected:
            raise ValueError(
                f"scores must be documents × labels, (n, {expected}), got shape {values.shape}. "
                "Their columns are in the order of label_names_."
            )
        if self.scale == "probability":
            return log_odds_of(values, clip=self.clip)
        values = values.astype(np.float64, copy=False)
        if values.size and np.isnan(values.min()):
            i, j = np.argwhere(np.isnan(values))[0]
            raise ValueError(
                f"scores must be numbers, got NaN at document {i}, label {j} "
                f"({int(np.isnan(values).sum())} such cells)."
            )
        return values


def _choose(name: str, value: Any, choices: dict[str, Any]) -> Any:
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")
    return choices[value]


def _read_evidence_weight(value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = -1.0
    if not 0 <= weight < np.inf:
        raise ValueError(
            f"evidence_weight must be a number of at least 0, got {value!r}; 1 is the paper, 0 the "
            "content alone."
        )
    return weight
