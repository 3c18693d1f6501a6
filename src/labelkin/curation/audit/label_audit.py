"""The audit of given labels: wrong and missing labels, with reasons."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from labelkin.content.any_classifier import MultilabelContent, as_content
from labelkin.curation.audit.contradictions import (
    as_rows,
    differing_cells,
    find_near_duplicates,
    settle_rules,
)
from labelkin.curation.audit.evidence import GivenEvidence, blocks
from labelkin.curation.audit.issue_table import (
    ISSUE_KINDS,
    Issue,
    IssueKind,
    IssueTable,
    LabelErrors,
    issues_frame,
    list_end,
)
from labelkin.curation.audit.noise import NoiseModel
from labelkin.estimator import fit_content, read_any_documents, stage
from labelkin.evaluation.splits import CrossValidation
from labelkin.label_matrix import (
    LabelMatrix,
    Scale,
    check_scale,
    read_labels,
    read_scores,
    read_weight,
)
from labelkin.label_matrix.reading import is_label_sets
from labelkin.method.combination import Matrix
from labelkin.method.label_evidence import LogisticLabels, as_label_classifier
from labelkin.models.in_sample import warn_if_in_sample
from labelkin.odds import to_log_odds, to_probability
from labelkin.scikit_learn import route_fit, router, with_random_state
from labelkin.validation import abbreviate
from labelkin.vocabulary.rules import Rules, bind_rules

#: The least number of documents, so that some can be left out.
FEWEST = 8
#: Log-odds of the content are clipped to this.
_LARGEST = 30.0
_CLIP = 1e-6
#: Cells that are wrong with this probability are unknown in a second round.
_SUSPECT = 0.5
#: Label evidence with this tolerance is a quarter faster and moves no log-odds by more than 0.01.
_TOLERANCE = 1e-6


class _Round(NamedTuple):
    """The results of a round."""

    content: Any
    content_log_odds: NDArray[np.float32]
    evidence: GivenEvidence
    noise: NoiseModel


class LabelAudit(BaseEstimator):
    """Find wrong and missing labels in a labelled corpus.

    The evidence for each cell of the label matrix is content evidence out of fold and evidence of
    the document's other labels, by label layers that have not seen it, added up as in equation 2.
    Their weights, and the rates of missing and wrong labels, are learned from the corpus itself
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
        Rules that labels should keep: a cell that breaks one is an issue.
    rounds : int, default 1
        2: evidence is learned a second time with the suspects of the first round as unknown. The
        second round is kept if its model of the given labels is clearly better; it costs as much as
        the first.
    duplicate_similarity : float or None, default 0.95
        The least cosine of near-duplicate documents; ``None``: do not compare documents. Cells in
        which near-duplicates differ are issues of the kind ``"near-duplicate"``; the probability of
        an error does not depend on it.
    cv : int, splitter or iterable of splits, optional
        Folds for content evidence, as scikit-learn's ``cv``; ``None``: the classifier's own way.
    scale : "probability" or "log_odds", default "probability"
        Scale of ``scores``.
    n_similar : int, default 3
        Number of similar documents in an issue.
    n_jobs : int, optional
        Number of jobs of all parts without their own.
    random_state : int or RandomState, optional
        Of the content classifier and its folds.
    verbose : int, default 0
        1 prints the steps and their times on stderr.

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
    n_rounds_ : int
        Number of rounds that were kept.
    near_duplicates_ : NearDuplicates
        Pairs of documents with the same or nearly the same text.
    notes_ : list of str
        Labels that cannot be audited, and the number of unlabelled documents.

    Examples
    --------
    Wheat is grain, but document 3 is not labelled so:

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> texts = ["wheat harvest", "corn harvest", "gold mine", "wheat price", "gold price"] * 10
    >>> topics = [["wheat", "grain"], ["corn", "grain"], ["gold"], ["wheat", "grain"], ["gold"]]
    >>> topics = topics * 10
    >>> topics[3] = ["wheat"]
    >>> X = CountVectorizer().fit_transform(texts)
    >>> audit = LabelAudit(duplicate_similarity=None, random_state=0).fit(X, topics)
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
        duplicate_similarity: float | None = 0.95,
        cv: CrossValidation = None,
        scale: Scale = "probability",
        n_similar: int = 3,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.content = content
        self.labels = labels
        self.rules = rules
        self.rounds = rounds
        self.duplicate_similarity = duplicate_similarity
        self.cv = cv
        self.scale = scale
        self.n_similar = n_similar
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def get_metadata_routing(self) -> MetadataRouter:
        """Route ``sample_weight`` to the content classifier and ``groups`` to the splitter."""
        return router(self, content=as_content("svm" if self.content is None else self.content))

    def fit(
        self,
        X: Any,
        Y: Any,
        scores: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Compute the probability of an error in every cell of a labelled corpus.

        Parameters
        ----------
        X : documents
            Input of the content classifier. ``None`` is possible with ``scores``; otherwise it is
            used to find near-duplicates and similar documents.
        Y : label matrix or label sets
            The labels of the corpus, NaN if unknown. A document without labels has none of them.
        scores : array of shape (n_documents, n_labels), optional
            Out-of-fold scores of the documents, on ``scale``; then no content classifier is fitted.
        sample_weight : array of shape (n_documents,), optional
            Weight of each document; the parts must accept it.
        groups : array of shape (n_documents,), optional
            Groups for a splitter given as ``cv``, such as ``GroupKFold()``.

        Returns
        -------
        self
        """
        self._check_parameters()
        metadata = {"sample_weight": sample_weight, "groups": groups}
        metadata = {name: value for name, value in metadata.items() if value is not None}
        labels = self._read_labels(X, Y, scores)
        self.label_names_ = labels.names
        self.rules_ = bind_rules(self.rules, labels.names)
        suspects: sparse.csr_array | None = None
        self.n_rounds_ = 0
        for number in range(self.rounds):
            found = self._round(X, labels, suspects, scores, metadata)
            if number and not found.noise.explains_more_than(self.noise_):
                break
            self.content_, self.content_log_odds_, self.evidence_, self.noise_ = found
            self.error_probability_ = self._error_probability(labels)
            suspects = sparse.csr_array(self.error_probability_ >= _SUSPECT)
            self.n_rounds_ = number + 1
        is_compared = self.duplicate_similarity is not None
        rows = as_rows(X) if self.n_similar or is_compared else None
        with stage("near-duplicate documents", self.verbose if is_compared else 0):
            compared = rows if is_compared else None
            self.near_duplicates_ = find_near_duplicates(compared, self.duplicate_similarity or 1)
        self._table = IssueTable(
            labels,
            self.error_probability_,
            self.content_log_odds_,
            self.evidence_,
            self.noise_,
            differing_cells(labels, self.near_duplicates_),
            settle_rules(labels, self.rules_, self.error_probability_),
            rows,
        )
        self._sum_up(labels)
        return self

    @property
    def issues_(self) -> list[Issue]:
        """The issues up to ``list_end_``, the most probable errors first."""
        return self.issues()

    def issues(
        self, top: int | None = None, kinds: Collection[IssueKind] | None = None
    ) -> list[Issue]:
        """Return the most probable errors, with their reasons.

        Parameters
        ----------
        top : int, optional
            Maximum number; ``None``: up to ``list_end_``.
        kinds : collection of "missing", "wrong", "near-duplicate", "rule", optional
            ``None``: all. The first ``top`` of these are returned; without ``top``, those among the
            first ``list_end_`` of all.

        Returns
        -------
        list of Issue
        """
        check_is_fitted(self)
        strange = set(kinds or ()) - set(ISSUE_KINDS)
        if strange:
            raise ValueError(f"kinds must be among {ISSUE_KINDS}, got {sorted(map(str, strange))}.")
        if top is not None:
            _check_count("top", top)
            cells = self._table.most_probable(int(top), kinds)
        else:
            cells = self._table.most_probable(self.list_end_)
            cells = [cell for cell in cells if kinds is None or self._table.kind(*cell) in kinds]
        return self._table.issues(cells, self.n_similar, self.n_jobs)

    def issues_frame(
        self,
        top: int | None = None,
        kinds: Collection[IssueKind] | None = None,
        ids: Sequence[Any] | None = None,
    ) -> Any:
        """Return the most probable errors as a pandas DataFrame, a row each.

        Parameters
        ----------
        top : int, optional
            As in :meth:`issues`.
        kinds : collection of kinds, optional
            As in :meth:`issues`.
        ids : sequence of length n_documents, optional
            Names of the documents, instead of their rows.
        """
        return issues_frame(self.issues(top, kinds), ids)

    def cleaned(
        self, at_least: float = 0.8, repair: Literal["change", "unknown"] = "change"
    ) -> Any:
        """Return the labels with the most probable errors repaired, in the form of ``Y``.

        Parameters
        ----------
        at_least : float, default 0.8
            Cells that are wrong with at least this probability are repaired.
        repair : "change" or "unknown", default "change"
            The value becomes its opposite, or NaN, unknown. Label sets cannot express "unknown":
            they become a matrix of 0, 1 and NaN.

        Returns
        -------
        label matrix, DataFrame or label sets
            As ``Y``; unknown cells stay unknown.
        """
        check_is_fitted(self)
        if repair not in ("change", "unknown"):
            raise ValueError(f"repair must be 'change' or 'unknown', got {repair!r}.")
        if not 0 < at_least <= 1:
            raise ValueError(f"at_least must be above 0 and at most 1, got {at_least!r}.")
        suspects = sparse.csr_array(self.error_probability_ >= np.float32(at_least))
        labels = _repaired(self._table.labels, suspects, repair)
        if self._are_sets and labels.unknown is None:
            return labels.label_sets()
        return labels.plain() if self._frame is None else _as_frame(labels.plain(), *self._frame)

    def _round(
        self,
        X: Any,
        labels: LabelMatrix,
        suspects: sparse.csr_array | None,
        scores: Any,
        metadata: dict[str, Any],
    ) -> _Round:
        """Learn the evidence, with suspects as unknown, and the model of errors."""
        sample_weight = metadata.get("sample_weight")
        weight = None if sample_weight is None else read_weight(sample_weight, labels.shape[0])
        learned = labels if suspects is None else _repaired(labels, suspects, "unknown")
        jobs = nullcontext() if self.n_jobs is None else parallel_config(n_jobs=self.n_jobs)
        with jobs:
            if scores is not None:
                content, values = None, self._read_scores(scores, labels)
            else:
                content = as_content("svm" if self.content is None else self.content)
                # One classifier for all labels cannot leave out single cells.
                is_whole = suspects is not None and isinstance(content, MultilabelContent)
                target = _repaired(labels, suspects, "change") if is_whole else learned
                content = with_random_state(content, self.random_state)
                with stage(f"content evidence of {labels.shape[1]} labels", self.verbose):
                    values = self._out_of_fold(content, X, target, metadata)
            log_odds = np.clip(values, -_LARGEST, _LARGEST).astype(np.float32)
            with stage(f"label evidence of {labels.shape[1]} labels", self.verbose):
                default = LogisticLabels(tol=_TOLERANCE)
                classifier = as_label_classifier(default if self.labels is None else self.labels)
                evidence = GivenEvidence.of(classifier, labels, weight, learned=learned)
        with stage("rates of errors", self.verbose):
            noise = NoiseModel.fit(log_odds, evidence.added, labels, weight)
        return _Round(content, log_odds, evidence, noise)

    def _out_of_fold(
        self, content: Any, X: Any, labels: LabelMatrix, metadata: dict[str, Any]
    ) -> Matrix:
        """Fit the content classifier; return its out-of-fold log-odds."""
        params = route_fit(self, metadata, content=content)["content"]
        documents = read_any_documents(self, X, reset=True)
        split = {"cv": self.cv, "groups": metadata.get("groups"), "random_state": self.random_state}
        return fit_content(content, documents, labels, params, out_of_fold=True, **split)

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
        given = p.astype(np.float64) if p.size < 2**16 else p
        wrong = np.asarray(labels.positive.multiply(given).sum(axis=0)).ravel()
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
        if X is not None:
            n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
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
        is_ours = isinstance(Y, LabelMatrix)
        is_frame = hasattr(Y, "columns") and not is_ours
        self._frame = (Y.columns, getattr(Y, "index", None), type(Y)) if is_frame else None
        self._are_sets = not (is_frame or is_ours) and is_label_sets(Y)
        self.notes_ = _notes(labels)
        return labels

    def _check_parameters(self) -> None:
        check_scale(self.scale)
        if self.rounds not in (1, 2):
            raise ValueError(f"rounds must be 1 or 2, got {self.rounds!r}.")
        similarity = self.duplicate_similarity
        if similarity is not None and not 0 < similarity <= 1:
            raise ValueError(
                f"duplicate_similarity must be above 0 and at most 1, or None, got {similarity!r}."
            )
        _check_count("n_similar", self.n_similar)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether ``fit`` has been called."""
        return hasattr(self, "list_end_")


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(f"{name} must be a whole number of at least 0, got {value!r}.")


def _as_frame(values: Any, columns: Any, index: Any, kind: Any) -> Any:
    """Return values as a frame: polars has no index."""
    if index is None:
        return kind(np.asarray(values), schema=list(columns))
    return kind(values, columns=columns, index=index)


def _repaired(
    labels: LabelMatrix, suspects: sparse.csr_array | None, repair: Literal["change", "unknown"]
) -> LabelMatrix:
    """Return labels with some cells changed to their opposite, or unknown."""
    marked = sparse.csr_array(suspects, dtype=np.float64)
    if repair == "change":
        return replace(labels, positive=_without_zeros(abs(labels.positive - marked)))
    unknown = marked if labels.unknown is None else labels.unknown.maximum(marked)
    positive = _without_zeros(labels.positive - labels.positive.multiply(marked))
    return replace(
        labels, positive=positive, unknown=_without_zeros(unknown) if unknown.nnz else None
    )


def _without_zeros(cells: Any) -> sparse.csr_array:
    """Return cells as :class:`LabelMatrix` needs them: sorted, no stored zeros."""
    result = sparse.csr_array(cells)
    result.eliminate_zeros()
    result.sort_indices()
    return result


def _can_be_audited(labels: LabelMatrix) -> NDArray[np.bool_]:
    """Return the labels that can be learned with a document left out."""
    positive, known = labels.counts()
    return (positive >= 2) & (known - positive >= 2)


def _notes(labels: LabelMatrix) -> list[str]:
    notes = []
    constant = labels.constant()
    if constant.any():
        notes.append(
            f"{int(constant.sum())} labels of no document, or of all documents, cannot be audited: "
            f"{abbreviate(labels.names[constant].tolist())}."
        )
    few = ~_can_be_audited(labels) & ~constant
    if few.any():
        notes.append(
            f"{int(few.sum())} labels that only one document has, or lacks, cannot be audited: "
            f"{abbreviate(labels.names[few].tolist())}."
        )
    empty = np.diff(labels.positive.indptr) == 0
    if labels.unknown is not None:
        empty &= np.diff(labels.unknown.indptr) < labels.shape[1]
    if empty.any():
        notes.append(
            f"{int(empty.sum())} documents have no label, which counts as a 'no' for all labels. "
            "Use NaN for unknown labels."
        )
    return notes
