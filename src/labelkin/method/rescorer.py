"""Better scores for any classifier, from its scores and the training labels alone."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from labelkin.beyond.fitting import fit_combination, learns_from_guesses, read_variant
from labelkin.beyond.guesses import Matrix
from labelkin.explain.contributions import Explanation, explain_documents
from labelkin.label_matrix import LabelMatrix, frame_in_order, read_labels
from labelkin.label_matrix.known import read_known
from labelkin.method.label_evidence import LogisticLabels, as_label_classifier
from labelkin.method.label_sets import count_label_sets
from labelkin.odds import count_log_odds, log_odds_of, probability_of
from labelkin.rules import BoundRules, Rules


class LabelRescorer(BaseEstimator):
    """Add what the other labels say to a score matrix computed anywhere.

    Parameters
    ----------
    labels
        The label classifier: :class:`LogisticLabels` (default), :class:`SVMLabels`, or any
        scikit-learn classifier with ``predict_proba``, fitted per label on the other columns.
    variant
        ``"soft"`` fills the other labels in with their probabilities (the paper's M2), ``"hard"``
        with 0 and 1 (M1), a threshold rule such as ``SCutFBR()`` with its decisions (M1 with learnt
        cut-offs).
    evidence_weight
        How much guessed labels count: 1 is the paper, 0 leaves the scores alone. ``"auto"`` or a
        :class:`LearnedWeight` learns it from out-of-fold ``scores``, which ``fit`` must then have.
    scale
        What the scores are: ``"probability"``, in [0, 1], or ``"log_odds"``. They come back the
        same.
    clip
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    rules
        :class:`labelkin.rules.Rules` between labels that the posterior keeps.

    Attributes
    ----------
    label_names_ : array of shape (n_labels,)
    prior_ : array of shape (n_labels,)
    labels_ : the fitted label classifier
    label_weights_ : array of shape (n_labels, n_labels) or None
        ``[k, j]``: what label k says of label j once it is known, where the label classifier is
        linear.
    guessed_weights_ : array of shape (n_labels, n_labels) or None
        The same for a label that is guessed.
    evidence_weight_ : float
    combination_ : Combination
        The fitted rule.
    label_sets_ : LabelSets
        The counted label sets of the training documents: what was learnt from.
    label_counts_ : CSR array of shape (n_labels, n_labels)
        Training documents that have both labels; on the diagonal, those that have the label.
    n_documents_ : float
        Training documents. Counts follow ``sample_weight``, and are whole if it is.

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
        variant: Any = "soft",
        evidence_weight: Any = 1.0,
        scale: Literal["probability", "log_odds"] = "probability",
        clip: float = 1e-6,
        rules: Rules | None = None,
    ) -> None:
        self.labels = labels
        self.variant = variant
        self.evidence_weight = evidence_weight
        self.scale = scale
        self.clip = clip
        self.rules = rules

    def fit(self, Y: Any, *, scores: Any = None, sample_weight: Any = None) -> Self:
        """Learn how labels go together.

        Parameters
        ----------
        Y
            The training labels, any kind.
        scores
            Scores of the training documents from a classifier that had not seen them
            (cross-validation), ``(n_documents, n_labels)``. What is to be learnt about guessed
            labels, the evidence weight and cut-offs, is learnt from these.
        sample_weight
            How many times each document counts, ``(n_documents,)``; the label classifier must take
            it.
        """
        self._fit(Y, scores, sample_weight)
        return self

    def fit_out_of_fold(self, Y: Any, *, scores: Any, sample_weight: Any = None) -> Matrix:
        """Fit, and return the posterior of the training documents as if each had been unseen.

        On the scale of the scores, which must themselves be out of fold.
        """
        posterior = self._fit(Y, scores, sample_weight, out_of_fold=True)
        if posterior is None:
            raise ValueError("scores must be given: out-of-fold scores of the training documents.")
        return self._to_scale(self._keep_rules(posterior))

    def rescore(self, scores: Any, known: Any = None) -> Matrix:
        """Return the posterior on the scale of the scores, ``(n_documents, n_labels)``.

        Parameters
        ----------
        scores
            Content evidence, ``(n_documents, n_labels)``, columns in the order of ``label_names_``.
        known
            Known labels: see :func:`labelkin.label_matrix.known.read_known`. A known label's
            posterior is 1 or 0 (±inf as log-odds), and the other labels respond.
        """
        check_is_fitted(self)
        content = self._read_scores(scores)
        facts = self._read_known(known, len(content))
        return self._to_scale(self._keep_rules(self.combination_.posterior(content, facts)))

    def explain(
        self, scores: Any, top: int = 10, known: Any = None, labels: Any = None
    ) -> list[list[Explanation]]:
        """Return, per document, what speaks for and against its ``top`` open labels, or ``labels``.

        The parts of an :class:`Explanation` are in log-odds and add up to the posterior's.
        """
        check_is_fitted(self)
        content = self._read_scores(scores)
        facts = self._read_known(known, len(content))
        posterior = self.combination_.posterior(content, facts)
        return explain_documents(
            self.combination_,
            self.label_names_,
            content,
            facts,
            (posterior, self._keep_rules(posterior)),
            top=top,
            labels=labels,
        )

    def learn_more(self, Y: Any) -> LabelRescorer:
        """Return a rescorer that has also learnt from the label sets of further documents.

        Label sets add up, so that nothing is learnt twice and no earlier document is needed; this
        rescorer stays as it is. What was learnt about guesses is kept.

        Parameters
        ----------
        Y
            Labels of the further documents, with names among ``label_names_``, or a matrix with
            its columns.
        """
        check_is_fitted(self)
        if not hasattr(self.labels_, "fit_counted"):
            raise ValueError(
                f"Only label evidence that learns from counted label sets can learn more: "
                f"LogisticLabels, SVMLabels; got {type(self.labels_).__name__}. Fit again instead."
            )
        more = count_label_sets(read_labels(Y, names=self.label_names_))
        label_sets = self.label_sets_.merge(more)
        positive, known = label_sets.positives(), label_sets.known()
        result = copy(self)
        result.label_sets_ = label_sets
        result.combination_ = replace(
            self.combination_,
            labels=clone(self.labels_).fit_counted(label_sets, self.label_names_),
            prior=label_sets.prior(),
            prior_log_odds=count_log_odds(positive, known),
            mute=(positive <= 0) | (positive >= known),
        )
        return result

    @property
    def prior_(self) -> Matrix:
        """p(label), ``(n_labels,)``."""
        check_is_fitted(self)
        return self.combination_.prior

    @property
    def labels_(self) -> Any:
        """The fitted label classifier."""
        check_is_fitted(self)
        return self.combination_.labels

    @property
    def evidence_weight_(self) -> float:
        """How much the paper's label evidence counts where labels are guessed."""
        check_is_fitted(self)
        return self.combination_.weight

    @property
    def label_weights_(self) -> Matrix | None:
        """What label k says of label j, ``[k, j]``, in log-odds, once it is known."""
        check_is_fitted(self)
        return getattr(self.labels_, "weights_", None)

    @property
    def guessed_weights_(self) -> Matrix | None:
        """What label k says of label j, ``[k, j]``, in log-odds, where it is guessed."""
        check_is_fitted(self)
        guessed = self.combination_.guessed
        return None if guessed is None else guessed.weights

    @property
    def label_counts_(self) -> sparse.csr_array:
        """Training documents that have both labels; on the diagonal, those that have the label."""
        check_is_fitted(self)
        return self.label_sets_.together()

    @property
    def n_documents_(self) -> float:
        """Training documents, or the sum of their weights."""
        check_is_fitted(self)
        return self.label_sets_.n_documents

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether ``fit`` has been called."""
        return hasattr(self, "combination_")

    def _fit(
        self, Y: Any, scores: Any, sample_weight: Any, out_of_fold: bool = False
    ) -> Matrix | None:
        """Fit; return the out-of-fold posterior log-odds of the training documents if wanted."""
        _choose("scale", self.scale, {"probability": None, "log_odds": None})
        read_variant(self.variant)
        if learns_from_guesses(self.variant, self.evidence_weight) and scores is None:
            chosen = f"evidence_weight={self.evidence_weight!r}, variant={self.variant!r}"
            raise ValueError(
                f"A weight or cut-offs that are learnt ({chosen}) are learnt from guesses: "
                "fit(Y, scores=...) needs out-of-fold scores of the training documents."
            )
        labels = read_labels(Y)
        times = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.label_names_ = labels.names
        self.rules_ = _bind(self.rules, labels.names)
        self.combination_, posterior = fit_combination(
            LogisticLabels() if self.labels is None else as_label_classifier(self.labels),
            self.variant,
            self.evidence_weight,
            labels,
            content=None if scores is None else self._read_training_scores(scores, labels),
            weight=times,
            out_of_fold=out_of_fold,
        )
        self.label_sets_ = count_label_sets(labels, times)
        return posterior

    def _read_training_scores(self, scores: Any, labels: LabelMatrix) -> Matrix:
        content = self._read_scores(scores)
        if len(content) != labels.shape[0]:
            raise ValueError(
                f"scores must have a row for every document of Y, {labels.shape[0]}, got "
                f"{len(content)}."
            )
        return content

    def _read_scores(self, scores: Any) -> Matrix:
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

    def _read_known(self, known: Any, n_documents: int) -> Matrix | None:
        """Return what is known, and what follows from it by the rules."""
        if known is None:
            return None
        facts = read_known(known, n_documents, self.label_names_)
        return facts if self.rules_ is None else self.rules_.complete_known(facts)

    def _keep_rules(self, posterior: Matrix) -> Matrix:
        return posterior if self.rules_ is None else self.rules_.posterior(posterior)

    def _to_scale(self, posterior: Matrix) -> Matrix:
        return posterior if self.scale == "log_odds" else probability_of(posterior)


def _bind(rules: Any, names: Any) -> BoundRules | None:
    if rules is None:
        return None
    if not isinstance(rules, Rules):
        raise TypeError(f"rules must be labelkin.rules.Rules(...), got {rules!r:.60}.")
    return rules.bind(names)


def _choose(name: str, value: Any, choices: dict[str, Any]) -> Any:
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")
    return choices[value]
