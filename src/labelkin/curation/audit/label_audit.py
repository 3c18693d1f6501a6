"""The audit of given labels: fit, then read which are wrong, which are missing, and why."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from labelkin.content.any_classifier import MultilabelContent, as_content
from labelkin.curation.audit.contradictions import (
    Twins,
    as_rows,
    differing_twins,
    find_twins,
    settle_rules,
)
from labelkin.curation.audit.evidence import GivenEvidence, blocks
from labelkin.curation.audit.findings import Findings, repaired
from labelkin.curation.audit.issues import KINDS, Issue, Kind, LabelErrors, issues_table, list_end
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
from labelkin.label_matrix.record import some_of
from labelkin.method.combination import Matrix
from labelkin.method.label_evidence import LogisticLabels, as_label_classifier
from labelkin.models.in_sample import warn_if_in_sample
from labelkin.odds import log_odds_of, probability_of
from labelkin.scikit_learn import LinkedEstimator, route_fit, router, seeded
from labelkin.vocabulary.rules import Rules, bind_rules

#: With fewer documents nothing can be left out and asked about.
FEWEST = 8
#: Log-odds of the content beyond this are this: a classifier that is surer has said no more.
_SURE = 30.0
_CLIP = 1e-6
#: Cells that are wrong with this probability are not learned from in a second round.
_SUSPECT = 0.5
#: Label evidence this exact is a quarter faster and moves no log-odds by more than 0.01.
_EXACT = 1e-6


class _Round(NamedTuple):
    """What is learned in a round."""

    content: Any
    content_log_odds: NDArray[np.float32]
    evidence: GivenEvidence
    noise: NoiseModel


class LabelAudit(LinkedEstimator):
    """Find wrong and missing labels in a labelled corpus.

    Each cell of the label matrix is judged by what its document says (content evidence out of
    fold) and by what the document's other labels say (label evidence of layers that have not seen
    it), as equation 2 adds them up; how much each counts, and how often labels are missing or wrong
    at all, is learned from the corpus as it is (:mod:`labelkin.curation.audit.noise`). So every
    cell has the probability that what the corpus says of it is wrong, and missing and wrong labels
    stand in one list.

    Parameters
    ----------
    content : classifier or name, optional
        The content classifier, as :class:`LabelDependenceClassifier` takes it: :class:`PlattSVM`
        (default), or any with ``predict_proba``.
    labels : label classifier or name, optional
        The label classifier: :class:`LogisticLabels` (default), :class:`SVMLabels`, or any
        scikit-learn classifier with ``predict_proba``.
    rules : Rules, optional
        :class:`labelkin.Rules` that labels should keep: a cell that breaks one is an issue.
    rounds : int, default 1
        2: content and label evidence are learned a second time without the suspects of the first,
        whose cells count as unknown. That is kept if it explains the given labels clearly better;
        it costs as much as the first round.
    twin_similarity : float or None, default 0.95
        The cosine from which two documents count as the same text; ``None``: do not compare them.
        Cells in which such documents differ are issues of the kind ``"twin"``; they do not change
        the probability of an error.
    cv : int, splitter or iterable of splits, optional
        Folds for content evidence, as scikit-learn's ``cv``; ``None``: the classifier's own way.
    scale : "probability" or "log_odds", default "probability"
        What ``scores`` are.
    n_similar : int, default 3
        Similar documents that an issue lists.
    n_jobs : int, optional
        Number of jobs of all parts that do not name their own.
    random_state : int or RandomState, optional
        Of the content classifier and its folds.
    verbose : int, default 0
        1 prints on stderr what is being done and how long it took.

    Attributes
    ----------
    error_probability_ : float32 array of shape (n_documents, n_labels)
        For every cell the probability that what the corpus says is wrong. 0 where it says nothing
        (NaN) and for labels that cannot be audited.
    label_names_ : array of shape (n_labels,)
    n_errors_ : float
        Expected number of errors: the sum of all probabilities.
    list_end_ : int
        How many of the surest issues to read: as many as have the best expected F1.
    label_errors_ : list of LabelErrors
        The same, label by label.
    noise_ : NoiseModel
        What was learned: weights, and rates of missing and wrong labels.
    content_ : content classifier or None
        Fitted on all documents; ``None`` where scores were given.
    content_log_odds_ : float32 array of shape (n_documents, n_labels)
        Content evidence out of fold.
    evidence_ : GivenEvidence
        Label evidence of the given labels.
    n_rounds_ : int
        Rounds that were kept.
    twins_ : Twins
        Pairs of documents with the same or nearly the same text.
    notes_ : list of str
        What a reader of the result should know: labels that cannot be audited, unlabelled
        documents.

    Examples
    --------
    Wheat is grain, but document 3 is not labelled so:

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> texts = ["wheat harvest", "corn harvest", "gold mine", "wheat price", "gold price"] * 10
    >>> topics = [["wheat", "grain"], ["corn", "grain"], ["gold"], ["wheat", "grain"], ["gold"]]
    >>> topics = topics * 10
    >>> topics[3] = ["wheat"]
    >>> X = CountVectorizer().fit_transform(texts)
    >>> audit = LabelAudit(twin_similarity=None, random_state=0).fit(X, topics)
    >>> first = audit.issues(top=1)[0]
    >>> first.document, first.label, first.kind, first.repair
    (3, 'grain', 'missing', 'add')
    >>> audit.cleaned()[3]
    ('grain', 'wheat')
    """

    #: Read where somebody tries to save one.
    why_not_saved = "An audit is of one corpus: keep its issues_frame(), or what cleaned() returns."
    noise_: NoiseModel

    def __init__(
        self,
        content: Any = None,
        *,
        labels: Any = None,
        rules: Rules | None = None,
        rounds: int = 1,
        twin_similarity: float | None = 0.95,
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
        self.twin_similarity = twin_similarity
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
        """Judge every cell of a labelled corpus.

        Parameters
        ----------
        X : documents
            Whatever the content classifier takes. With ``scores`` it may be ``None``; given, it is
            used to find twins and similar documents.
        Y : label matrix or label sets
            What the corpus says, with NaN for what nobody knows. A document without labels is
            taken to have none of them.
        scores : array of shape (n_documents, n_labels), optional
            Out-of-fold scores of the documents by a classifier that had not seen them, on
            ``scale``; then no content classifier is fitted.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts in what is learned; the parts must take it.
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
            judged = self._judge(X, labels, suspects, scores, metadata)
            if number and not judged.noise.explains_more_than(self.noise_):
                break
            self.content_, self.content_log_odds_, self.evidence_, self.noise_ = judged
            self.error_probability_ = self._error_probability(labels)
            suspects = sparse.csr_array(self.error_probability_ >= _SUSPECT)
            self.n_rounds_ = number + 1
        self._rows = None if self.n_similar == 0 and self.twin_similarity is None else as_rows(X)
        self.twins_ = Twins.none()
        if self.twin_similarity is not None:
            with stage("documents with the same text", self.verbose):
                self.twins_ = find_twins(self._rows, self.twin_similarity)
        self._twin_cells = differing_twins(labels, self.twins_)
        self._broken_cells = settle_rules(labels, self.rules_, self.error_probability_)
        self._sum_up()
        return self

    @property
    def issues_(self) -> list[Issue]:
        """The issues up to where the list should end, the surest first."""
        return self.issues()

    def issues(self, top: int | None = None, kinds: Collection[Kind] | None = None) -> list[Issue]:
        """Return the surest issues, with their reasons.

        Parameters
        ----------
        top : int, optional
            How many at most; ``None``: up to ``list_end_``.
        kinds : collection of "missing", "wrong", "twin", "rule", optional
            Which; ``None``: all. The first ``top`` of these are returned; without ``top``, those
            among the first ``list_end_`` of all.

        Returns
        -------
        list of Issue
        """
        check_is_fitted(self)
        strange = set(kinds or ()) - set(KINDS)
        if strange:
            raise ValueError(f"kinds must be among {KINDS}, got {sorted(map(str, strange))}.")
        if top is not None and (not isinstance(top, int | np.integer) or top < 0):
            raise ValueError(f"top must be a whole number of at least 0, got {top!r}.")
        found = self._findings()
        row, column = found.surest(self.list_end_ if top is None else int(top), kinds, top is None)
        return found.issues(row, column, self.n_similar, self.n_jobs)

    def issues_frame(
        self,
        top: int | None = None,
        kinds: Collection[Kind] | None = None,
        ids: Sequence[Any] | None = None,
    ) -> Any:
        """Return the surest issues as a pandas DataFrame, a row each.

        Parameters
        ----------
        top : int, optional
            As in :meth:`issues`.
        kinds : collection of "missing", "wrong", "twin", "rule", optional
            As in :meth:`issues`.
        ids : sequence of length n_documents, optional
            Names of the documents, in place of their rows.
        """
        return issues_table(self.issues(top, kinds), ids)

    def cleaned(
        self, at_least: float = 0.8, repair: Literal["change", "unknown"] = "change"
    ) -> Any:
        """Return the labels with the surest repairs made, in the form they were given in.

        Parameters
        ----------
        at_least : float, default 0.8
            Cells that are wrong with at least this probability are repaired.
        repair : "change" or "unknown", default "change"
            What the corpus says is turned into its opposite, or into NaN, nobody knows. Label sets
            cannot say "unknown": they come back as a matrix of 0, 1 and NaN.

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
        labels = repaired(self._labels, suspects, repair)
        if self._form == "sets" and labels.unknown is None:
            return labels.label_sets()
        if self._form == "frame":
            return self._frame_like(labels.plain())
        return labels.plain()

    def _judge(
        self,
        X: Any,
        labels: LabelMatrix,
        suspects: sparse.csr_array | None,
        scores: Any,
        metadata: dict[str, Any],
    ) -> _Round:
        """Learn, without the suspects, what is to be thought of the given labels."""
        sample_weight = metadata.get("sample_weight")
        weight = None if sample_weight is None else read_weight(sample_weight, labels.shape[0])
        learned = labels if suspects is None else repaired(labels, suspects, "unknown")
        with self._jobs():
            if scores is not None:
                content, values = None, self._read_scores(scores, labels)
            else:
                content = as_content("svm" if self.content is None else self.content)
                # One classifier for all labels cannot leave out single cells.
                whole = suspects is not None and isinstance(content, MultilabelContent)
                target = repaired(labels, suspects, "change") if whole else learned
                content = seeded(content, self.random_state)
                with stage(f"content evidence of {labels.shape[1]} labels", self.verbose):
                    values = self._out_of_fold(content, X, target, metadata)
            log_odds = np.clip(values, -_SURE, _SURE).astype(np.float32)
            with stage(f"label evidence of {labels.shape[1]} labels", self.verbose):
                default = LogisticLabels(tol=_EXACT)
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
        values = log_odds_of(values, clip=_CLIP) if self.scale == "probability" else values
        warn_if_in_sample(labels, values, stacklevel=5)
        return values

    def _error_probability(self, labels: LabelMatrix) -> NDArray[np.float32]:
        result = np.zeros(labels.shape, dtype=np.float32)
        n_others = np.diff(labels.positive.indptr)
        audited = self._audited(labels)
        for rows in blocks(np.arange(labels.shape[0]), labels.shape[1]):
            given = labels.positive[rows].toarray() > 0
            errors = self.noise_.error_log_odds(
                self.content_log_odds_[rows].astype(np.float64),
                self.evidence_.added[rows].astype(np.float64),
                n_others[rows, None] - given,
                given,
            )
            asked = np.broadcast_to(audited, given.shape)
            if labels.unknown is not None:
                asked = asked & (labels.unknown[rows].toarray() == 0)
            result[rows] = np.where(asked, probability_of(errors), 0.0)
        return result

    def _audited(self, labels: LabelMatrix) -> NDArray[np.bool_]:
        """Return the labels of which something can be learned with a document left out."""
        positive, known = labels.counts()
        return (positive >= 2) & (known - positive >= 2)

    def _sum_up(self) -> None:
        p, labels = self.error_probability_, self._labels
        given = p.astype(np.float64) if p.size < 2**16 else p
        wrong = np.asarray(labels.positive.multiply(given).sum(axis=0)).ravel()
        both = p.sum(axis=0, dtype=np.float64)
        count = labels.counts()[0]
        self.label_errors_ = [
            LabelErrors(name, int(n), float(max(b - w, 0.0)), float(w))
            for name, n, b, w in zip(labels.names.tolist(), count, both, wrong, strict=True)
        ]
        self.n_errors_ = float(both.sum())
        flat = p.ravel()
        top = np.sort(flat[flat > 0.01])[::-1]
        self.list_end_ = list_end(top, self.n_errors_)

    def _findings(self) -> Findings:
        return Findings(
            self._labels,
            self.error_probability_,
            self.content_log_odds_,
            self.evidence_,
            self.noise_,
            self._twin_cells,
            self._broken_cells,
            self._rows,
        )

    def _read_labels(self, X: Any, Y: Any, scores: Any) -> LabelMatrix:
        labels = read_labels(Y)
        if labels.kind != "multilabel":
            raise ValueError(
                f"Y must be a label matrix or label sets, got a 1-d y of {len(labels.classes)} "
                "classes. Give a 0/1 matrix with a column per class."
            )
        if X is None and scores is None:
            raise ValueError("X may be None only where scores are given; got neither.")
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
                f"be left out and judged by the others; got Y of shape {labels.shape}."
            )
        self._labels, self._form = labels, _form_of(Y)
        self._frame = (
            (Y.columns, getattr(Y, "index", None), type(Y)) if self._form == "frame" else None
        )
        self.notes_ = _notes(labels, self._audited(labels))
        return labels

    def _frame_like(self, values: Any) -> Any:
        assert self._frame is not None
        columns, index, kind = self._frame
        if index is None:
            return kind(np.asarray(values), schema=list(columns))
        return kind(values, columns=columns, index=index)

    def _jobs(self) -> AbstractContextManager[Any]:
        return nullcontext() if self.n_jobs is None else parallel_config(n_jobs=self.n_jobs)

    def _check_parameters(self) -> None:
        check_scale(self.scale)
        if self.rounds not in (1, 2):
            raise ValueError(f"rounds must be 1 or 2, got {self.rounds!r}.")
        if self.twin_similarity is not None and not 0 < self.twin_similarity <= 1:
            raise ValueError(
                "twin_similarity must be above 0 and at most 1, or None, got "
                f"{self.twin_similarity!r}."
            )
        if not isinstance(self.n_similar, int | np.integer) or self.n_similar < 0:
            raise ValueError(
                f"n_similar must be a whole number, 0 or more, got {self.n_similar!r}."
            )

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether ``fit`` has been called."""
        return hasattr(self, "list_end_")


def _form_of(Y: Any) -> Literal["frame", "sets", "matrix"]:
    if isinstance(Y, LabelMatrix):
        return "matrix"
    if hasattr(Y, "columns"):
        return "frame"
    return "sets" if is_label_sets(Y) else "matrix"


def _notes(labels: LabelMatrix, audited: NDArray[np.bool_]) -> list[str]:
    notes = []
    constant = labels.constant()
    if constant.any():
        notes.append(
            f"{int(constant.sum())} labels that no document has, or every one, cannot be audited: "
            f"{some_of(labels.names[constant].tolist())}."
        )
    few = ~audited & ~constant
    if few.any():
        notes.append(
            f"{int(few.sum())} labels that one document alone has, or lacks, cannot be audited, "
            f"because nothing is left to learn from: {some_of(labels.names[few].tolist())}."
        )
    empty = np.diff(labels.positive.indptr) == 0
    if labels.unknown is not None:
        empty &= np.diff(labels.unknown.indptr) < labels.shape[1]
    if empty.any():
        notes.append(
            f"{int(empty.sum())} documents have no label, and are taken to have none of them; give "
            "NaN where nobody has looked."
        )
    return notes
