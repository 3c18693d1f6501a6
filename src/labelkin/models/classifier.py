"""Classifiers of documents with learned label evidence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelkin.content.any_classifier import PerLabel, as_content
from labelkin.content.ensemble import default_content
from labelkin.estimator import (
    KnownLabelsClassifier,
    LogOddsClassifier,
    fit_content,
    report,
    stage,
)
from labelkin.evaluation.splits import CrossValidation
from labelkin.explain.contributions import (
    Explanation,
    Posterior,
    Suggestion,
    content_and_members,
)
from labelkin.label_matrix import Cells, read_labels, to_dense
from labelkin.learned.calibration import Calibration, check_can_calibrate, fit_calibration
from labelkin.learned.fitting import (
    EvidenceWeight,
    Variant,
    check_learning,
    has_candidates,
    learns_cuts,
    learns_weight,
)
from labelkin.method.combination import Matrix
from labelkin.method.label_evidence import as_label_classifier
from labelkin.models.rescorer import LabelRescorer
from labelkin.odds import to_probability
from labelkin.records import short_repr
from labelkin.scikit_learn import route_fit, with_random_state
from labelkin.thresholds import ThresholdChoice, fit_rule, rule_for

if TYPE_CHECKING:
    from labelkin.vocabulary.rules import Rules


@short_repr
class OutOfFold(NamedTuple):
    """Out-of-fold log-odds of the training documents, and their labels.

    Attributes
    ----------
    content, posterior
        Log-odds, ``(n_documents, n_labels)`` each; CSR arrays if the content returns candidates.
    Y
        True labels.
    """

    content: Any
    posterior: Any
    Y: Any


class LabelDependenceClassifier(KnownLabelsClassifier):
    """A multilabel classifier that models label dependence.

    A content classifier estimates p(label | document), a label classifier p(label | other labels).
    The posterior is content odds × label odds ÷ prior odds (Romero & de Campos, equation 2), with a
    learned weight of the evidence from predicted labels.

    Parameters
    ----------
    content : classifier or name, optional
        The content classifier: :class:`PlattSVM` (``"svm"``), :class:`NaiveBayes`
        (``"naive_bayes"``), :class:`NearestNeighbours` (``"nearest_neighbours"``),
        :class:`RandomForest` (``"forest"``), :class:`PerLabel`, or any scikit-learn classifier with
        ``predict_proba``, multilabel or binary. A list is a :class:`ContentEnsemble`. Default: for
        words, that is, sparse matrices and dense ones of mostly zeros without negative values,
        :class:`PlattSVM`; for other numbers an ensemble of a random forest and a logistic
        regression.
    labels : label classifier or name, optional
        The label classifier: :class:`LogisticLabels` (default, ``"logistic"``), :class:`SVMLabels`
        (``"svm"``), or any scikit-learn classifier with ``predict_proba``, fitted per label on the
        other labels.
    variant : "soft", "hard" or threshold rule, default "soft"
        Values of the other labels of a new document: ``"soft"``, their probabilities (the paper's
        M2); ``"hard"``, the decisions of the content classifier (M1); a threshold rule such as
        ``SCutFBR()``, its decisions (M1 with learned cut-offs).
    evidence_weight : float, "auto" or LearnedWeight, default "auto"
        Weight of the evidence from predicted labels: ``"auto"`` or a :class:`LearnedWeight` learns
        it on out-of-fold evidence of the training documents; a number fixes it, also for known
        labels: 1 is the paper, 0 the content alone.
    thresholds : float, metric, rule or name, optional
        Rule from posterior to decision: a probability, default ½; the name of a metric
        (``"micro_f1"``, ``"macro_f1"``, ``"subset_loss"``, ``"document_f1"``, ``"hamming_loss"``),
        which chooses a rule; or a rule: ``GlobalCut()``, ``SCutFBR()``, ``MCut()``,
        ``LabelLimits(at_least=1)`` and others. Rules are tuned out of fold.
    rules : Rules, optional
        :class:`labelkin.Rules` between labels, applied to posterior and decisions. They take
        precedence over a maximum number of labels.
    calibrate : bool, default False
        Whether probabilities are calibrated, per label, on the out-of-fold posterior. Log-odds,
        decisions and explanations do not change. Requires a label matrix; not with ``rules``.
    keep_out_of_fold : bool, default False
        Whether ``fit`` stores ``out_of_fold_``.
    known_weight : float, optional
        Weight of known labels. Default: the evidence weight if that is a number; otherwise 0.75,
        or 0.1 for label classifiers that are not linear. 1 is the paper.
    n_jobs : int, optional
        Number of jobs of parts without an own ``n_jobs``.
    random_state : int or RandomState, optional
        Seed of the content classifier and its parts, if they have none.
    verbose : int, default 0
        1 prints the stages of ``fit``, their duration and the chosen content classifier on
        stderr.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels; column numbers for a matrix without names; both classes of a binary 1-d ``y``.
    content_ : content classifier
        The fitted content classifier.
    rescorer_ : LabelRescorer
        The fitted label evidence.
    thresholds_ : ThresholdRule
        The fitted threshold rule; ``thresholds_.table()`` lists the threshold of each label.
    calibration_ : Calibration or None
        The calibration of the posterior, if ``calibrate``.
    out_of_fold_ : OutOfFold
        Out-of-fold ``content`` and ``posterior`` log-odds of the training documents, and their
        labels ``Y``, if ``keep_out_of_fold``.
    prior_, label_weights_, evidence_weight_
        As in ``rescorer_``.

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

    A user rejects wheat, and grain becomes less probable. (Five documents are too few to learn the
    evidence weight; 1 is the paper's.)

    >>> model = LabelDependenceClassifier(NaiveBayes(), evidence_weight=1).fit(X, topics)
    >>> before = model.predict_proba(X[:1])[0, 2]
    >>> bool(model.predict_proba(X[:1], known={"rejected": ["wheat"]})[0, 2] < before)
    True
    """

    #: Splitter or splits for out-of-fold content evidence; default: those of the content.
    cv: CrossValidation = None

    def __init__(
        self,
        content: Any = None,
        *,
        labels: Any = None,
        variant: Variant = "soft",
        evidence_weight: EvidenceWeight = "auto",
        thresholds: ThresholdChoice = None,
        rules: Rules | None = None,
        calibrate: bool = False,
        keep_out_of_fold: bool = False,
        known_weight: float | None = None,
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
        self.keep_out_of_fold = keep_out_of_fold
        self.known_weight = known_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit content and label evidence.

        Parameters
        ----------
        X : documents
            Training documents in any form that the content classifier accepts.
        y : any kind of labels
            A 0/1 array or sparse matrix; a DataFrame with a column per label; lists of label
            names or of integer ids, or sets; or a 1-d ``y`` of classes. NaN or masked: unknown. If
            scikit-learn rejects lists of labels, as in ``cross_val_score(model, X, lists, cv=5)``,
            use ``MultiLabelBinarizer().fit_transform(lists)``.
        **fit_params
            ``sample_weight`` for all parts, and ``groups`` for a splitter; with scikit-learn's
            metadata routing enabled, the metadata that the parts request.

        Returns
        -------
        self
        """
        self._fit(X, y, fit_params, out_of_fold=False)
        return self

    def fit_out_of_fold(self, X: Any, y: Any, **fit_params: Any) -> Any:
        """Fit, and return the out-of-fold posterior log-odds of the training documents.

        Parameters
        ----------
        X : documents
            Training documents, as in :meth:`fit`.
        y : any kind of labels
            Their labels, as in :meth:`fit`.
        **fit_params
            As in :meth:`fit`.

        Returns
        -------
        array or CSR array of shape (n_documents, n_labels)
        """
        posterior = self._fit(X, y, fit_params, out_of_fold=True)
        assert posterior is not None
        return posterior

    def _fit(self, X: Any, y: Any, fit_params: dict[str, Any], out_of_fold: bool) -> Any:
        """Fit content, labels and thresholds; return the out-of-fold posterior if computed."""
        X, labels = self._read(X, y)
        parts = self._parts(X)
        to_content, to_labels = route_fit(self, fit_params, **parts).values()
        if self.calibrate:
            check_can_calibrate(labels, self.rules)
        rule = rule_for(self.thresholds)
        rule._check_parameters()  # before the time that training takes
        is_honest = out_of_fold or self.calibrate or self.keep_out_of_fold
        learns = learns_weight(self.evidence_weight, *labels.shape)
        predicts = is_honest or rule.needs_scores or learns or learns_cuts(self.variant)
        if learns and not has_candidates(parts["content"]):
            check_learning(*labels.shape)  # before fitting the content, which takes longest
        self.rescorer_ = LabelRescorer(
            parts["labels"],
            variant=self.variant,
            evidence_weight=self.evidence_weight,
            scale="log_odds",
            rules=self.rules,
            known_weight=self.known_weight,
        )
        with self._jobs():
            with stage(f"content evidence of {labels.shape[1]} labels", self.verbose):
                self.content_ = with_random_state(parts["content"], self.random_state)
                cv = None if isinstance(self.cv, Integral) else self.cv
                split = {"cv": cv, "groups": None if cv is None else fit_params.get("groups")}
                content = fit_content(
                    self.content_, X, labels, to_content, out_of_fold=predicts, **split
                )
            with stage("label evidence", self.verbose):
                self.rescorer_._fit(labels, content, **to_labels)
                posterior: Any = None
                if is_honest:
                    posterior = self.rescorer_._cross_fitted(labels, content, **to_labels)
        given = to_labels.get("sample_weight")
        weight = None if given is None else np.asarray(given, dtype=np.float64)
        with stage("thresholds", self.verbose):
            # Thresholds are tuned on the fitted rule, applied to out-of-fold content.
            deployed = self.rescorer_.rescore(content) if rule.needs_scores else None
            self.thresholds_ = fit_rule(rule, deployed, labels, weight)
        self.calibration_: Calibration | None = None
        if self.calibrate:
            self.calibration_ = fit_calibration(posterior, labels, weight)
        if self.keep_out_of_fold:
            self.out_of_fold_ = OutOfFold(content, posterior, labels.public())
        return posterior

    def retune(self, thresholds: ThresholdChoice) -> Self:
        """Replace the thresholds without refitting the model.

        Parameters
        ----------
        thresholds : float, metric, rule or name
            As the parameter ``thresholds``. Rules that need scores are tuned on ``out_of_fold_``.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        rule = rule_for(thresholds)
        kept = getattr(self, "out_of_fold_", None)
        if kept is None and rule.needs_scores:
            raise ValueError(
                f"thresholds={thresholds!r} must be tuned on out-of-fold evidence, which this "
                "model does not contain. Fit with keep_out_of_fold=True."
            )
        names = self.label_names_
        labels = read_labels(np.zeros((1, len(names))) if kept is None else kept.Y, names=names)
        deployed = None if kept is None else self.rescorer_.rescore(kept.content)
        self.thresholds_ = fit_rule(rule, deployed, labels)
        self.thresholds = thresholds
        return self

    def _log_odds(self, X: Any, known: Any = None) -> Any:
        with self._jobs():
            content = self.content_.log_odds(X)
            if isinstance(self.content_, LogOddsClassifier):  # whose log-odds need no validation
                return self.rescorer_._posterior(content, known, content)
            return self.rescorer_.rescore(content, known)

    def posterior(self, X: Any, known: Any = None) -> Posterior:
        """Return the posterior with suggestions, explanations and decisions.

        For many documents :meth:`log_odds` uses less memory.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.
        known : known labels, optional
            As in :meth:`log_odds`.

        Returns
        -------
        Posterior
        """
        check_is_fitted(self)
        documents = self._read_documents(X, reset=False)
        with self._jobs():
            content, members = content_and_members(self.content_, documents)
            found = self.rescorer_.posterior(content, known)
        calibrated = None if self.calibration_ is None else self.calibration_.probabilities
        return replace(found, calibrated=calibrated, decide=self.decide, members=members)

    def suggest(self, X: Any, top: int = 10, known: Any = None) -> list[list[Suggestion]]:
        """Return the most probable labels of each document, known labels excluded.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.
        top : int, default 10
            Maximum number of labels per document.
        known : known labels, optional
            As in :meth:`log_odds`.

        Returns
        -------
        list of lists of Suggestion
        """
        return self.posterior(X, known).suggest(top)

    def explain(
        self, X: Any, top: int = 10, known: Any = None, label_names: Any = None
    ) -> list[list[Explanation]]:
        """Return explanations of the best labels of each document, or of ``label_names``.

        The parts of an :class:`Explanation` are log-odds and add up to those of the posterior.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.
        top : int, default 10
            Maximum number of labels per document.
        known : known labels, optional
            As in :meth:`log_odds`.
        label_names : sequence or None, default None
            Labels to explain instead of the best ones.

        Returns
        -------
        list of lists of Explanation
        """
        return self.posterior(X, known).explain(top, label_names)

    @property
    def prior_(self) -> Matrix:
        """p(label), ``(n_labels,)``."""
        return self.rescorer_.prior_

    @property
    def label_weights_(self) -> Matrix | None:
        """Weights ``[k, j]`` of label k for label j; ``None`` if label evidence is not linear."""
        return self.rescorer_.label_weights_

    @property
    def evidence_weight_(self) -> float:
        """Weight of label evidence from predicted labels."""
        return self.rescorer_.evidence_weight_

    def probabilities(self, log_odds: Any, columns: Any = slice(None)) -> Any:
        """Return probabilities given posterior log-odds, calibrated if ``calibrate``.

        Parameters
        ----------
        log_odds : array or CSR array of shape (n_documents, n_labels)
            Posterior log-odds; ±inf of a known label becomes 1 or 0.
        columns : slice or array, optional
            The labels of the columns; default all.

        Returns
        -------
        array or CSR array
            Of the same shape.
        """
        if sparse.issparse(log_odds):
            cells = Cells.of(log_odds)
            return cells.matrix(self.probabilities(log_odds.data, cells.label))
        if self.calibration_ is None:
            return to_probability(log_odds)
        return self.calibration_.probabilities(log_odds, columns)

    def decide(self, log_odds: Any) -> Any:
        """Return the decisions of thresholds and rules.

        Parameters
        ----------
        log_odds : array or CSR array of shape (n_documents, n_labels)
            Posterior log-odds.

        Returns
        -------
        bool array or CSR array of shape (n_documents, n_labels)
        """
        check_is_fitted(self)
        decided = self.thresholds_.decide(log_odds)
        bound = self.rescorer_.rules_
        if bound is None:
            return decided
        if sparse.issparse(log_odds):
            return sparse.csr_array(bound.decisions(to_dense(log_odds), decided.toarray()))
        return bound.decisions(log_odds, decided)

    def _probabilities(self, log_odds: Any) -> Any:
        if self.target_kind_ == "multilabel":
            return self.probabilities(log_odds)
        return super()._probabilities(log_odds)

    @contextmanager
    def _jobs(self) -> Iterator[None]:
        """Set ``n_jobs`` of the parts, and suppress their warning about feature names."""
        with ExitStack() as stack:
            if self.n_jobs is not None:
                stack.enter_context(parallel_config(n_jobs=self.n_jobs))
            if hasattr(self, "feature_names_in_"):
                stack.enter_context(warnings.catch_warnings())
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            yield

    def _parts(self, X: Any = None) -> dict[str, Any]:
        """Return the unfitted classifiers; the default content depends on the documents."""
        content = "svm" if self.content is None else self.content
        if self.content is None and X is not None:
            content = default_content(X)
            report(f"labelkin: content chosen by the features: {content!r}", self.verbose)
        return {"content": as_content(content), "labels": as_label_classifier(self.labels)}

    def _decisions(self, log_odds: Any) -> Any:
        return self.decide(log_odds)


class RescoredClassifier(LabelDependenceClassifier):
    """A meta-estimator that adds label evidence to a multilabel classifier.

    ``fit`` computes the out-of-fold scores from which the evidence weight is learned. For scores
    that were computed elsewhere use :class:`LabelRescorer`.

    Parameters
    ----------
    estimator : classifier
        Any classifier with ``predict_proba``. Multilabel classifiers (``OneVsRestClassifier``,
        forests, neural networks, ``ClassifierChain``) are fitted on the label matrix, others per
        label.
    cv : int, splitter or iterable of splits, default 5
        Number of folds for the out-of-fold scores, stratified over all labels; or a splitter or
        splits as in scikit-learn. ``groups`` of ``fit`` is passed to the splitter.
    labels : label classifier or name, optional
        As in :class:`LabelDependenceClassifier`.
    variant : "soft", "hard" or threshold rule, default "soft"
        Values of the other labels of a new document.
    evidence_weight : float, "auto" or LearnedWeight, default "auto"
        Weight of label evidence from predicted labels; ``"auto"``: learned.
    thresholds : float, metric, rule or name, optional
        Rule from posterior to decision, tuned out of fold; default ½.
    rules : Rules, optional
        :class:`labelkin.Rules` between labels.
    calibrate : bool, default False
        Whether probabilities are calibrated on the out-of-fold posterior.
    known_weight : float, optional
        Weight of known labels, as in :class:`LabelDependenceClassifier`.
    n_jobs : int, optional
        Number of jobs of parts without an own ``n_jobs``.
    random_state : int or RandomState, optional
        Seed of the folds, and of the estimator if it has none.
    verbose : int, default 0
        1 prints the stages of ``fit`` and their duration on stderr.

    Attributes
    ----------
    content_ : content classifier
        The fitted estimator; ``content_.log_odds(X)`` are its log-odds without label evidence.
    estimator_ : classifier or list
        The estimator fitted on all documents; a list if it is fitted per label.
    rescorer_, thresholds_, calibration_, classes_, prior_, evidence_weight_
        As in :class:`LabelDependenceClassifier`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> base = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    >>> model = RescoredClassifier(base, random_state=0).fit(X[:150], Y[:150])
    >>> model.predict(X[150:]).shape
    (50, 4)
    >>> 0 <= model.evidence_weight_ <= 1
    True
    """

    # Parameters of the base class that this class does not have.
    content = None
    keep_out_of_fold = False

    def __init__(
        self,
        estimator: Any,
        *,
        cv: CrossValidation = 5,
        labels: Any = None,
        variant: Variant = "soft",
        evidence_weight: EvidenceWeight = "auto",
        thresholds: ThresholdChoice = None,
        rules: Rules | None = None,
        calibrate: bool = False,
        known_weight: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.labels = labels
        self.variant = variant
        self.evidence_weight = evidence_weight
        self.thresholds = thresholds
        self.rules = rules
        self.calibrate = calibrate
        self.known_weight = known_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def estimator_(self) -> Any:
        """The fitted estimator; a list if it is fitted per label."""
        check_is_fitted(self)
        if not isinstance(self.content_, PerLabel):
            return self.content_
        return getattr(self.content_, "estimator_", None) or self.content_.estimators_

    def _parts(self, X: Any = None) -> dict[str, Any]:
        content = as_content(self.estimator)
        if isinstance(self.cv, Integral) and "cv" in content.get_params(deep=False):
            content = clone(content).set_params(cv=self.cv)
        return {"content": content, "labels": as_label_classifier(self.labels)}
