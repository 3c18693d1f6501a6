"""The paper's classifier: content evidence, label evidence and the prior, combined."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils._metadata_requests import _raise_for_params
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from labelkin.beyond.calibration import fit_calibration
from labelkin.beyond.fitting import (
    fit_rule,
    is_too_little,
    learns_from_guesses,
    read_evidence_weight,
)
from labelkin.beyond.learned_weight import LearnedWeight
from labelkin.content.any_classifier import as_content
from labelkin.content.platt_svm import PlattSVM
from labelkin.estimator import LogOddsClassifier, out_of_fold_log_odds, read_any_documents, stage
from labelkin.explain.contributions import Explanation, check_top
from labelkin.label_matrix import LabelMatrix, labels_for
from labelkin.method.label_evidence import LogisticLabels, as_label_classifier
from labelkin.method.rescorer import LabelRescorer
from labelkin.odds import probability_of
from labelkin.rules import Rules
from labelkin.thresholds import as_rule

_Routed = dict[str, dict[str, Any]]


class Suggestion(NamedTuple):
    """One label suggested for a document."""

    label: Any
    probability: float
    log_odds: float


class LabelDependenceClassifier(LogOddsClassifier):
    """A multilabel classifier that listens to the other labels.

    Any probabilistic classifier gives content evidence, p(label | document). A label classifier,
    learnt from the training label sets, gives label evidence, p(label | other labels). The
    posterior is content odds × label odds ÷ prior odds (Romero & de Campos, equation 2); how much
    labels count that are only guessed is learnt.

    Parameters
    ----------
    content
        The content classifier: :class:`PlattSVM` (default), :class:`NaiveBayes`,
        :class:`NearestNeighbours`, :class:`PerLabel`, or any scikit-learn classifier with
        ``predict_proba``, multilabel or binary.
    labels
        The label classifier: :class:`LogisticLabels` (default), :class:`SVMLabels`, or any
        scikit-learn classifier with ``predict_proba``, fitted per label on the other labels.
    variant
        How the other labels of a new document are filled in: ``"soft"``, with their probabilities
        (the paper's M2), ``"hard"``, with the content's decisions (M1), or, given a threshold rule
        such as ``SCutFBR()``, with its decisions (M1 with learnt cut-offs).
    evidence_weight
        How much label evidence from guessed labels counts: ``"auto"`` learns it on out-of-fold
        evidence of the training documents, a :class:`LearnedWeight` does so by a criterion; a
        number fixes it, 1 is the paper, 0 the content alone.
    thresholds
        From posterior to decision: ``None`` gives a label where its posterior exceeds ½; another
        number cuts there; the name of a metric (``"micro_f1"``, ``"macro_f1"``, ``"subset_loss"``,
        ``"samples_f1"``, ``"hamming_loss"``) chooses a rule for it; or a rule: ``GlobalCut()``,
        ``SCutFBR()``, ``MCut()``, ``LabelLimits(at_least=1)`` and others. Rules are tuned out of
        fold.
    rules
        :class:`labelkin.rules.Rules` between labels that posterior and decisions keep; where they
        and "at most k labels" disagree, the rules win.
    calibrate
        Whether probabilities are calibrated, per label, on the out-of-fold posterior. Log-odds,
        their order, decisions and explanations stay what they are: calibrated probabilities of an
        overconfident classifier are honest, and cutting them at ½ would cost it F1. For label
        matrices, and not together with rules, which calibrated probabilities would break.
    n_jobs
        Number of jobs of all parts that do not name their own.
    random_state
        Of the default content classifier; others have their own.
    verbose
        1 tells on stderr what is being fitted and how long it took.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels; ``arange`` for a nameless matrix. (Both classes of a 1-d ``y`` of two.)
    content_ : the fitted content classifier
    rescorer_ : LabelRescorer
        The fitted label evidence and combination.
    thresholds_ : ThresholdRule
        The fitted threshold rule; ``thresholds_.table()`` shows it label by label.
    calibration_ : Calibration or None
        What turns posterior log-odds into calibrated probabilities.
    prior_, label_weights_, evidence_weight_
        Those of ``rescorer_``.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from labelkin import NaiveBayes
    >>> texts = ["wheat harvest", "corn harvest", "gold price", "wheat and corn", "gold mine"]
    >>> topics = [["grain", "wheat"], ["corn", "grain"], ["gold"], ["corn", "grain"], ["gold"]]
    >>> X = CountVectorizer().fit_transform(texts)
    >>> model = LabelDependenceClassifier(content=NaiveBayes()).fit(X, topics)
    >>> model.label_sets(model.predict(X[2:3]))
    [('gold',)]

    A person refuses wheat, and grain becomes less likely:

    >>> before = model.predict_proba(X[:1])[0, 2]
    >>> bool(model.predict_proba(X[:1], known={"refused": ["wheat"]})[0, 2] < before)
    True
    """

    def __init__(
        self,
        content: Any = None,
        labels: Any = None,
        variant: Any = "soft",
        evidence_weight: Any = "auto",
        thresholds: Any = None,
        rules: Rules | None = None,
        calibrate: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.content = content
        self.labels = labels
        self.variant = variant
        self.evidence_weight = evidence_weight
        self.thresholds = thresholds
        self.rules = rules
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Take what the content classifier takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._content()).input_tags
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Hand metadata such as ``sample_weight`` to the parts that ask for it."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(
            content=self._content(), labels=self._labels(), method_mapping=mapping
        )

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit content and label evidence.

        Parameters
        ----------
        X
            Whatever the content classifier takes, sparse included.
        y
            The labels, any kind of ``Y``; NaN = unknown.
        **fit_params
            Metadata such as ``sample_weight``, routed to the parts that request it.
        """
        routed = self._route(fit_params)
        X, labels = self._read(X, y)
        self._learn(X, labels, routed)
        return self

    def fit_out_of_fold(self, X: Any, y: Any, **fit_params: Any) -> NDArray[np.float64]:
        """Fit, and return the posterior log-odds of the training documents as if unseen."""
        routed = self._route(fit_params)
        X, labels = self._read(X, y)
        return self._learn_out_of_fold(X, labels, routed)

    def _learn(self, X: Any, labels: LabelMatrix, routed: _Routed | None = None) -> None:
        self._learn_parts(X, labels, routed, out_of_fold=False)

    def _learn_out_of_fold(
        self, X: Any, labels: LabelMatrix, routed: _Routed | None = None
    ) -> NDArray[np.float64]:
        posterior = self._learn_parts(X, labels, routed, out_of_fold=True)
        assert posterior is not None
        return posterior

    def _learn_parts(
        self, X: Any, labels: LabelMatrix, routed: _Routed | None, out_of_fold: bool
    ) -> NDArray[np.float64] | None:
        """Fit content, labels and thresholds; return the out-of-fold posterior if it was made."""
        routed = routed or {"content": {}, "labels": {}}
        self._check_calibrate()
        rule = as_rule(self.thresholds, "log_odds")
        rescorer = self._rescorer(labels)
        wanted = out_of_fold or rule.needs_scores or self.calibrate
        guesses = wanted or learns_from_guesses(self.variant, rescorer.evidence_weight)
        posterior = None
        with self._jobs():
            with stage(f"content evidence of {labels.shape[1]} labels", self.verbose):
                self.content_, content = self._fit_content(X, labels, routed["content"], guesses)
            with stage("label evidence", self.verbose):
                if wanted:
                    posterior = rescorer.fit_out_of_fold(labels, scores=content, **routed["labels"])
                else:
                    rescorer.fit(labels, scores=content, **routed["labels"])
        self.rescorer_ = rescorer
        weight = _as_weight(routed["labels"].get("sample_weight"))
        with stage("thresholds", self.verbose):
            self.thresholds_ = fit_rule(rule, posterior, labels, weight)
        self.calibration_ = None
        if self.calibrate and posterior is not None:
            self.calibration_ = fit_calibration(posterior, labels, weight)
        return posterior

    def _fit_content(
        self, X: Any, labels: LabelMatrix, params: dict[str, Any], out_of_fold: bool
    ) -> tuple[Any, NDArray[np.float64] | None]:
        """Return the fitted content classifier and, if wanted, its out-of-fold evidence."""
        content = clone(self._content())
        target = labels_for(content, labels)
        if not out_of_fold:
            return content.fit(X, target, **params), None
        if hasattr(content, "fit_out_of_fold"):
            evidence = content.fit_out_of_fold(X, target, **params)
            return content, evidence
        evidence = out_of_fold_log_odds(content, X, labels, params)
        return content.fit(X, target, **params), evidence

    def log_odds(self, X: Any, known: Any = None) -> NDArray[np.float64]:
        """Return the posterior log-odds of every label, ``(n_documents, n_labels)``.

        ``known`` tells which labels a person has accepted or refused (matrix of 1, 0 and NaN,
        sparse matrix of +1 and −1, or a mapping with "accepted" and "refused" per document). A
        known label has ±inf, and the others respond.
        """
        check_is_fitted(self)
        return self._log_odds(self._read_documents(X, reset=False), known)

    def _log_odds(self, X: Any, known: Any = None) -> NDArray[np.float64]:
        with self._jobs():
            return self.rescorer_.rescore(self.content_.log_odds(X), known)

    def predict_proba(self, X: Any, known: Any = None) -> NDArray[np.float64]:
        """Return the posterior, ``(n_documents, n_labels)``; strictly inside (0, 1) unless known.

        For a 1-d ``y`` of training: the probability of every class, rows sum to 1.
        """
        return self._probabilities(self.log_odds(X, known))

    def decision_function(self, X: Any, known: Any = None) -> NDArray[np.float64]:
        """Return the posterior log-odds; ``(n_documents,)`` when ``y`` had two classes."""
        return self._decision_values(self.log_odds(X, known))

    def predict(self, X: Any, known: Any = None) -> Any:
        """Decide by the thresholds: by default, a label is given where its posterior exceeds ½.

        Known labels stay known; of a 1-d ``y`` with several classes the most probable is chosen.
        Returns a 0/1 matrix ``(n_documents, n_labels)``, CSR when the training ``y`` was sparse;
        for a 1-d ``y`` the class of each document.
        """
        return self._decide(self.log_odds(X, known))

    def suggest(self, X: Any, top: int = 10, known: Any = None) -> list[list[Suggestion]]:
        """Return each document's ``top`` open labels, most probable first."""
        check_top(top)
        posterior = self.log_odds(X, known)
        probability = self.probabilities(posterior)
        open_labels = np.isfinite(posterior)  # what is known, or follows from it, is not suggested
        return [
            _ranked(row, row_probability, is_open, self.label_names_, top)
            for row, row_probability, is_open in zip(
                posterior, probability, open_labels, strict=True
            )
        ]

    def explain(
        self, X: Any, top: int = 10, known: Any = None, labels: Any = None
    ) -> list[list[Explanation]]:
        """Return, per document, what speaks for and against its ``top`` open labels, or ``labels``.

        The parts of an :class:`Explanation`, prior, content, every other label and what remains,
        are in log-odds and add up to the posterior's.
        """
        check_is_fitted(self)
        documents = self._read_documents(X, reset=False)
        with self._jobs():
            content = self.content_.log_odds(documents)
        explained = self.rescorer_.explain(content, top=top, known=known, labels=labels)
        return explained if self.calibration_ is None else self._calibrated(explained)

    @property
    def prior_(self) -> NDArray[np.float64]:
        """p(label), ``(n_labels,)``."""
        check_is_fitted(self)
        return self.rescorer_.prior_

    @property
    def label_weights_(self) -> NDArray[np.float64] | None:
        """What label k says of label j, ``[k, j]``; ``None`` where label evidence is not linear."""
        check_is_fitted(self)
        return self.rescorer_.label_weights_

    @property
    def evidence_weight_(self) -> float:
        """How much label evidence from guessed labels counts."""
        check_is_fitted(self)
        return self.rescorer_.evidence_weight_

    def _calibrated(self, explained: list[list[Explanation]]) -> list[list[Explanation]]:
        """Give explanations the probabilities that ``predict_proba`` gives."""
        column = {label: j for j, label in enumerate(self.label_names_.tolist())}

        def probability(one: Explanation) -> float:
            return float(self.probabilities(np.float64(one.log_odds), column[one.label]))

        return [[replace(one, probability=probability(one)) for one in row] for row in explained]

    def probabilities(self, log_odds: Any, columns: Any = slice(None)) -> NDArray[np.float64]:
        """Return probabilities given posterior log-odds, of all labels or of some columns.

        Calibrated if that is wanted; ±inf, a known label, is 1 or 0.
        """
        check_is_fitted(self)
        if self.calibration_ is None:
            return probability_of(log_odds)
        return self.calibration_.probabilities(log_odds, columns)

    def decide(self, log_odds: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which labels are given, by thresholds and rules, ``(n_documents, n_labels)``."""
        check_is_fitted(self)
        decided = self.thresholds_.decide(log_odds)
        bound = self.rescorer_.rules_
        return decided if bound is None else bound.decisions(log_odds, decided)

    def _probabilities(self, log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.target_kind_ == "multilabel":
            return self.probabilities(log_odds)
        return super()._probabilities(log_odds)

    def _check_calibrate(self) -> None:
        if not self.calibrate:
            return
        if self.target_kind_ != "multilabel":
            raise ValueError(
                "calibrate=True calibrates label by label, for a label matrix; got a 1-d y of "
                f"{len(self.classes_)} classes. Leave it out, or use CalibratedClassifierCV."
            )
        if self.rules is not None:
            raise ValueError(
                "calibrate=True changes probabilities label by label and would break the rules "
                "between them. Use calibrate or rules, not both."
            )

    def _jobs(self) -> AbstractContextManager[Any]:
        return nullcontext() if self.n_jobs is None else parallel_config(n_jobs=self.n_jobs)

    def _content(self) -> Any:
        if self.content is None:
            return PlattSVM(random_state=self.random_state)
        return as_content(self.content)

    def _labels(self) -> Any:
        return LogisticLabels() if self.labels is None else as_label_classifier(self.labels)

    def _rescorer(self, labels: LabelMatrix) -> LabelRescorer:
        weight = self.evidence_weight
        if isinstance(read_evidence_weight(weight), LearnedWeight) and is_too_little(labels):
            weight = 0.0  # spares the content classifier its out-of-fold evidence
        return LabelRescorer(
            self._labels(), self.variant, weight, scale="log_odds", rules=self.rules
        )

    def _decisions(self, log_odds: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self.decide(log_odds)

    def _route(self, fit_params: dict[str, Any]) -> dict[str, dict[str, Any]]:
        if not fit_params:
            return {}
        _raise_for_params(fit_params, self, "fit")
        routed = process_routing(self, "fit", **fit_params)
        return {part: dict(routed[part].fit) for part in ("content", "labels")}

    def _read_documents(self, X: Any, reset: bool) -> Any:
        return read_any_documents(self, X, reset)


def _as_weight(sample_weight: Any) -> NDArray[np.float64] | None:
    return None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)


def _ranked(
    log_odds: NDArray[np.float64],
    probability: NDArray[np.float64],
    is_open: NDArray[np.bool_],
    names: NDArray[Any],
    top: int,
) -> list[Suggestion]:
    columns = np.flatnonzero(is_open)
    columns = columns[np.argsort(-log_odds[columns], kind="stable")][:top]
    ranked = zip(names[columns].tolist(), probability[columns], log_odds[columns], strict=True)
    return [Suggestion(label, float(p), float(z)) for label, p, z in ranked]
