"""Label evidence for any classifier of scikit-learn."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelkin.content.any_classifier import PerLabel, as_content
from labelkin.evaluation.splits import CrossValidation
from labelkin.learned.weights import EvidenceWeight, Variant
from labelkin.method.label_evidence import as_label_classifier
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.thresholds import ThresholdChoice

if TYPE_CHECKING:
    from labelkin.vocabulary.rules import Rules


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
