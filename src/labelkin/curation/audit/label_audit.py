"""The audit of given labels: wrong and missing labels, with reasons."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any, Self

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from labelkin.content.any_classifier import as_content
from labelkin.curation.audit.issues import (
    Issue,
    IssueTable,
    LabelErrors,
    as_rows,
    issues_frame,
    list_end,
    settle_rules,
)
from labelkin.curation.audit.noise import GivenEvidence, NoiseModel, blocks
from labelkin.estimator import fit_content, read_any_documents
from labelkin.evaluation.splits import CrossValidation
from labelkin.label_matrix import LabelMatrix, Scale, read_labels, read_scores
from labelkin.label_matrix.reading import is_label_sets
from labelkin.method.combination import Matrix
from labelkin.method.label_evidence import LogisticLabels, as_label_classifier
from labelkin.models.in_sample import warn_if_in_sample
from labelkin.odds import to_log_odds, to_probability
from labelkin.scikit_learn import with_random_state
from labelkin.validation import abbreviate, check_choice, check_whole_number
from labelkin.vocabulary.rules import Rules, bind_rules

#: Minimum number of documents, so that some can be left out.
FEWEST = 8
#: Log-odds of the content are clipped to ± this value.
_LARGEST = 30.0
_CLIP = 1e-6
#: Cells that are wrong with at least this probability are changed for a second round.
_SUSPECT = 0.5
#: With this tolerance fitting takes a quarter less time, and log-odds change by at most 0.01.
_TOLERANCE = 1e-6


class LabelAudit(BaseEstimator):
    """Find wrong and missing labels in a labelled corpus.

    The evidence for each cell of the label matrix is content evidence out of fold and evidence of
    the document's other labels, by label layers fitted without the document, added as in equation
    2. Their weights, and the rates of missing and wrong labels, are learned from the corpus itself
    (:mod:`labelkin.curation.audit.noise`). The result is the probability of an error in every
    cell, and one list of missing and wrong labels.

    Parameters
    ----------
    content : classifier or name, optional
        The content classifier, as :class:`LabelDependenceClassifier` takes it: :class:`PlattSVM`
        (default), or any with ``predict_proba``.
    labels : label classifier or name, optional
        The label classifier: :class:`LogisticLabels` (default), :class:`SVMLabels`, or any
        scikit-learn classifier with ``predict_proba``.
    rules : Rules, optional
        Rules between labels: a cell that breaks one is an issue.
    rounds : int, default 1
        Number of times that the evidence is learned. After the first time it is learned from labels
        in which cells with an error probability of at least ½ are changed.
    cv : int, splitter or iterable of splits, optional
        Folds for content evidence, as scikit-learn's ``cv``; default: those of the classifier.
    scale : "probability" or "log_odds", default "probability"
        Scale of ``scores``.
    n_jobs : int, optional
        Number of jobs of all parts without their own.
    random_state : int or RandomState, optional
        Of the content classifier and its folds.

    Attributes
    ----------
    error_probability_ : float32 array of shape (n_documents, n_labels)
        The probability of an error in every cell; 0 in unknown cells and for labels that cannot be
        audited.
    label_names_ : array of shape (n_labels,)
    n_errors_ : float
        Expected number of errors: the sum of all probabilities.
    list_end_ : int
        The length of the list of issues with the best expected F1.
    label_errors_ : list of LabelErrors
        Expected numbers of errors by label.
    noise_ : NoiseModel
        The learned weights, and rates of missing and wrong labels.
    content_ : content classifier or None
        Fitted on all documents; ``None`` if scores were given.
    content_log_odds_ : float32 array of shape (n_documents, n_labels)
        Content evidence out of fold.
    evidence_ : GivenEvidence
        Label evidence of the given labels.
    notes_ : list of str
        Labels that cannot be audited, and the number of unlabelled documents.

    Examples
    --------
    Wheat is grain, but document 3 is not labelled so:

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> texts = ["wheat harvest", "corn harvest", "gold mine", "wheat price", "gold price"] * 10
    >>> texts = [f"{text} of {1950 + i}" for i, text in enumerate(texts)]
    >>> topics = [["wheat", "grain"], ["corn", "grain"], ["gold"], ["wheat", "grain"], ["gold"]]
    >>> topics = topics * 10
    >>> topics[3] = ["wheat"]
    >>> X = CountVectorizer().fit_transform(texts)
    >>> audit = LabelAudit(random_state=0).fit(X, topics)
    >>> first = audit.issues(top=1)[0]
    >>> first.document, first.label, first.kind, first.repair
    (3, 'grain', 'missing', 'add')
    >>> audit.cleaned()[3]
    ('grain', 'wheat')
    """

    #: The message when a user tries to save one.
    why_not_saved = "An audit is of one corpus: keep its issues_frame(), or what cleaned() returns."
    noise_: NoiseModel

    def __init__(
        self,
        content: Any = None,
        *,
        labels: Any = None,
        rules: Rules | None = None,
        rounds: int = 1,
        cv: CrossValidation = None,
        scale: Scale = "probability",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.content = content
        self.labels = labels
        self.rules = rules
        self.rounds = rounds
        self.cv = cv
        self.scale = scale
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, Y: Any, scores: ArrayLike | None = None) -> Self:
        """Compute the probability of an error in every cell of a labelled corpus.

        Parameters
        ----------
        X : documents
            Input of the content classifier; similar documents are found in it also. ``None`` is
            possible with ``scores``.
        Y : label matrix or label sets
            The labels of the corpus, NaN if unknown. A document without labels has none of them.
        scores : array of shape (n_documents, n_labels), optional
            Out-of-fold scores of the documents, on ``scale``; then no content classifier is fitted.

        Returns
        -------
        self
        """
        check_choice("scale", self.scale, Scale)
        check_whole_number("rounds", self.rounds)
        labels = self._read_labels(X, Y, scores)
        self.label_names_ = labels.names
        learned = labels
        for _ in range(self.rounds):
            self._learn(X, labels, learned, scores)
            self.error_probability_ = self._error_probability(labels)
            learned = _changed(labels, self.error_probability_ >= _SUSPECT)
        self._table = IssueTable(
            labels,
            self.error_probability_,
            self.content_log_odds_,
            self.evidence_,
            self.noise_,
            settle_rules(labels, bind_rules(self.rules, labels.names), self.error_probability_),
            as_rows(X),
        )
        self._sum_up(labels)
        return self

    def issues(self, top: int | None = None) -> list[Issue]:
        """Return the most probable errors, with their reasons.

        Parameters
        ----------
        top : int, optional
            Maximum number; default ``list_end_``.

        Returns
        -------
        list of Issue
        """
        check_is_fitted(self)
        if top is not None:
            check_whole_number("top", top, 0)
        cells = islice(self._table.ranked(), self.list_end_ if top is None else top)
        return self._table.issues(list(cells), self.n_jobs)

    def issues_frame(self, top: int | None = None) -> Any:
        """Return the most probable errors as a pandas DataFrame, a row each.

        Parameters
        ----------
        top : int, optional
            As in :meth:`issues`.

        Returns
        -------
        DataFrame
        """
        return issues_frame(self.issues(top))

    def cleaned(self, at_least: float = 0.8) -> Any:
        """Return the labels with the most probable errors changed to the opposite.

        Parameters
        ----------
        at_least : float, default 0.8
            Minimum probability of an error that is changed.

        Returns
        -------
        label matrix or label sets
            Label sets if ``Y`` was a list of them; otherwise a matrix, sparse if ``Y`` was, with
            NaN in unknown cells.
        """
        check_is_fitted(self)
        if not 0 < at_least <= 1:
            raise ValueError(f"at_least must be above 0 and at most 1, got {at_least!r}.")
        suspects = self.error_probability_ >= np.float32(at_least)
        labels = _changed(self._table.labels, suspects)
        return labels.label_sets() if self._are_sets else labels.plain()

    def _learn(self, X: Any, labels: LabelMatrix, learned: LabelMatrix, scores: Any) -> None:
        """Fit content and label evidence to ``learned``, and the model of errors to ``labels``."""
        jobs = nullcontext() if self.n_jobs is None else parallel_config(n_jobs=self.n_jobs)
        with jobs:
            if scores is not None:
                self.content_, values = None, self._read_scores(scores, labels)
            else:
                content = as_content("svm" if self.content is None else self.content)
                self.content_ = with_random_state(content, self.random_state)
                values = fit_content(
                    self.content_,
                    read_any_documents(self, X, reset=True),
                    learned,
                    {},
                    out_of_fold=True,
                    cv=self.cv,
                    random_state=self.random_state,
                )
            self.content_log_odds_ = np.clip(values, -_LARGEST, _LARGEST).astype(np.float32)
            default = LogisticLabels(tol=_TOLERANCE)
            classifier = as_label_classifier(default if self.labels is None else self.labels)
            self.evidence_ = GivenEvidence.of(classifier, labels, learned)
        self.noise_ = NoiseModel.fit(self.content_log_odds_, self.evidence_.added, labels)

    def _read_scores(self, scores: Any, labels: LabelMatrix) -> Matrix:
        values = read_scores(scores, labels.names, n_documents=labels.shape[0], scale=self.scale)
        values = to_log_odds(values, clip=_CLIP) if self.scale == "probability" else values
        warn_if_in_sample(labels, values, stacklevel=5)
        return values

    def _error_probability(self, labels: LabelMatrix) -> NDArray[np.float32]:
        result = np.zeros(labels.shape, dtype=np.float32)
        n_others = np.diff(labels.positive.indptr)
        can_be_audited = _can_be_audited(labels)
        for rows in blocks(np.arange(labels.shape[0]), labels.shape[1]):
            given = labels.positive[rows].toarray() > 0
            errors = self.noise_.error_log_odds(
                self.content_log_odds_[rows].astype(np.float64),
                self.evidence_.added[rows].astype(np.float64),
                n_others[rows, None] - given,
                given,
            )
            asked = np.broadcast_to(can_be_audited, given.shape)
            if labels.unknown is not None:
                asked = asked & (labels.unknown[rows].toarray() == 0)
            result[rows] = np.where(asked, to_probability(errors), 0.0)
        return result

    def _sum_up(self, labels: LabelMatrix) -> None:
        p = self.error_probability_
        wrong = np.asarray(labels.positive.multiply(p).sum(axis=0)).ravel()
        both = p.sum(axis=0, dtype=np.float64)
        self.label_errors_ = [
            LabelErrors(name, int(n), float(max(b - w, 0.0)), float(w))
            for name, n, b, w in zip(
                labels.names.tolist(), labels.counts()[0], both, wrong, strict=True
            )
        ]
        self.n_errors_ = float(both.sum())
        self.list_end_ = list_end(np.sort(p[p > 0.01])[::-1], self.n_errors_)

    def _read_labels(self, X: Any, Y: Any, scores: Any) -> LabelMatrix:
        labels = read_labels(Y)
        if labels.kind != "multilabel":
            raise ValueError(
                f"Y must be a label matrix or label sets, got a 1-d y of {len(labels.classes)} "
                "classes. Give a 0/1 matrix with a column per class."
            )
        if X is None and scores is None:
            raise ValueError("X may be None only if scores are given, got neither.")
        n_documents, n_labels = labels.shape
        n_rows = n_documents if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != n_documents:
            raise ValueError(
                f"X and Y must have the same number of documents, got {n_rows} and Y of shape "
                f"{labels.shape}."
            )
        if n_documents < FEWEST or not n_labels:
            raise ValueError(
                f"An audit needs at least {FEWEST} documents and one label, so that documents can "
                f"be left out, got Y of shape {labels.shape}."
            )
        self._are_sets = not isinstance(Y, LabelMatrix) and is_label_sets(Y)
        self.notes_ = _notes(labels)
        return labels

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether ``fit`` has been called."""
        return hasattr(self, "list_end_")


def _changed(labels: LabelMatrix, suspects: NDArray[np.bool_]) -> LabelMatrix:
    """Return labels with some known cells changed to their opposite."""
    positive = abs(labels.positive - sparse.csr_array(suspects, dtype=np.float64))
    positive = sparse.csr_array(positive)
    positive.eliminate_zeros()
    positive.sort_indices()
    return replace(labels, positive=positive)


def _can_be_audited(labels: LabelMatrix) -> NDArray[np.bool_]:
    """Return the labels that can be learned with a document left out."""
    positive, known = labels.counts()
    return (positive >= 2) & (known - positive >= 2)


def _notes(labels: LabelMatrix) -> list[str]:
    constant = labels.constant()
    few = ~_can_be_audited(labels) & ~constant
    notes = [
        f"{int(found.sum())} labels {which}, cannot be audited: "
        f"{abbreviate(labels.names[found].tolist())}."
        for found, which in (
            (constant, "of no document, or of all documents"),
            (few, "that only one document has, or lacks"),
        )
        if found.any()
    ]
    empty = np.diff(labels.positive.indptr) == 0
    if labels.unknown is not None:
        empty &= np.diff(labels.unknown.indptr) < labels.shape[1]
    if empty.any():
        notes.append(
            f"{int(empty.sum())} documents have no label, which counts as a 'no' for all labels. "
            "Use NaN for unknown labels."
        )
    return notes
