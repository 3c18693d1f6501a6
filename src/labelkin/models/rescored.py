"""Any multilabel classifier of scikit-learn's, and the label evidence on top of it."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelkin.content.any_classifier import PerLabel, as_content
from labelkin.evaluation.splits import CrossValidation
from labelkin.learned.fitting import EvidenceWeight, Variant
from labelkin.method.label_evidence import as_label_classifier
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.thresholds import ThresholdChoice

if TYPE_CHECKING:
    from labelkin.vocabulary.rules import Rules


class RescoredClassifier(LabelDependenceClassifier):
    """A multilabel classifier whose scores are improved by what the other labels say.

    A meta-estimator: ``fit`` makes the out-of-fold scores itself, from which it learns how far the
    estimator's scores can be trusted, and so how much the other labels count. What they do not
    improve there stays as it is. It is :class:`LabelDependenceClassifier` for who has a classifier
    and wants it better; :class:`LabelRescorer` is for scores that were computed elsewhere.

    Parameters
    ----------
    estimator : classifier
        Any with ``predict_proba``: multilabel ones (``OneVsRestClassifier``, forests, neural
        networks, ``ClassifierChain``) see the whole label matrix, others are fitted per label.
    cv : int, splitter or iterable of splits, default 5
        Number of folds for the out-of-fold scores, stratified over all labels, or splits, as
        scikit-learn's ``cv``; the estimator is fitted once per split and once on all documents. A
        splitter for groups takes ``groups`` of ``fit``.
    labels : label classifier or name, optional
        As :class:`LabelDependenceClassifier` takes it, and all that follows.
    variant : "soft", "hard" or threshold rule, default "soft"
        How the other labels of a new document are filled in.
    evidence_weight : float, "auto" or LearnedWeight, default "auto"
        How much label evidence from predicted labels counts; ``"auto"`` learns it.
    thresholds : float, metric, rule or name, optional
        From posterior to decision, tuned out of fold; ``None`` cuts at ½.
    rules : Rules, optional
        :class:`labelkin.Rules` between labels.
    calibrate : bool, default False
        Whether probabilities are calibrated on the out-of-fold posterior.
    known_weight : float, optional
        Weight of known labels, as in :class:`LabelDependenceClassifier`.
    n_jobs : int, optional
        Number of jobs of all parts that do not name their own.
    random_state : int or RandomState, optional
        Of the folds, and of the estimator where it names none of its own.
    verbose : int, default 0
        1 prints on stderr what is being fitted and how long it took.

    Attributes
    ----------
    content_ : content classifier
        The fitted estimator as it is asked for log-odds: ``content_.log_odds(X)`` are its own,
        without the other labels.
    estimator_ : classifier or list
        The estimator, fitted on all documents; one per label where it is fitted per label.
    rescorer_, thresholds_, calibration_, classes_, prior_, evidence_weight_
        As those of :class:`LabelDependenceClassifier`.

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

    # Parameters of the class above that this one does not have.
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
        """The fitted estimator; a list of them where it is fitted per label."""
        check_is_fitted(self)
        if not isinstance(self.content_, PerLabel):
            return self.content_
        return getattr(self.content_, "estimator_", None) or self.content_.estimators_

    def _parts(self, X: Any = None) -> dict[str, Any]:
        content = as_content(self.estimator)
        if isinstance(self.cv, Integral) and "cv" in content.get_params(deep=False):
            content = clone(content).set_params(cv=self.cv)
        return {"content": content, "labels": as_label_classifier(self.labels)}
