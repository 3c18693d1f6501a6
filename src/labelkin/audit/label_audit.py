"""The audit of given labels: fit, then read which are wrong, which are missing, and why."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from labelkin.audit.contradictions import (
    Broken,
    Twins,
    as_rows,
    broken_rules,
    find_twins,
    keep_rules,
)
from labelkin.audit.evidence import GivenEvidence, blocks
from labelkin.audit.issues import (
    KINDS,
    Issue,
    Kind,
    LabelErrors,
    SimilarDocument,
    issues_table,
    list_end,
    surest,
)
from labelkin.audit.noise import NoiseModel
from labelkin.content.any_classifier import as_content
from labelkin.estimator import fit_content, out_of_fold_log_odds, read_any_documents, stage
from labelkin.explain.contributions import LabelContribution
from labelkin.label_matrix import (
    LabelMatrix,
    Scale,
    check_scale,
    labels_for,
    read_labels,
    read_scores,
    read_weight,
)
from labelkin.label_matrix.record import some_of
from labelkin.method.label_evidence import as_label_classifier
from labelkin.odds import count_log_odds, log_odds_of, probability_of
from labelkin.rules import Rules, bind_rules
from labelkin.scikit_learn import route_fit, seeded
from labelkin.solvers.cosine_index import similar_documents

#: With fewer documents nothing can be left out and asked about.
FEWEST = 8
#: Log-odds of the content beyond this are this: a classifier that is surer has said no more.
_SURE = 30.0
_CLIP = 1e-6
#: Cells that are wrong with this probability are not learned from in a second round.
_SUSPECT = 0.5


class LabelAudit(BaseEstimator):
    """Find wrong and missing labels in a labelled corpus.

    Each cell of the label matrix is judged by what its document says (content evidence out of
    fold) and by what the document's other labels say (label evidence of layers that have not seen
    it), as equation 2 adds them up; how much each counts, and how often labels are missing or wrong
    at all, is learned from the corpus as it is (:mod:`labelkin.audit.noise`). So every cell has
    the probability that what the corpus says of it is wrong, and missing and wrong labels stand in
    one list.

    Parameters
    ----------
    content : classifier or name, optional
        The content classifier, as :class:`LabelDependenceClassifier` takes it: :class:`PlattSVM`
        (default), or any with ``predict_proba``.
    labels : label classifier or name, optional
        The label classifier: :class:`LogisticLabels` (default), :class:`SVMLabels`, or any
        scikit-learn classifier with ``predict_proba``.
    rules : Rules, optional
        :class:`labelkin.rules.Rules` that labels should keep: a cell that breaks one is an issue.
    rounds : int, default 1
        2: content and label evidence are learned a second time without the suspects of the first,
        whose cells count as unknown. That is kept if it explains the given labels clearly better;
        it costs as much as the first round.
    twin_similarity : float or None, default 0.95
        The cosine from which on two documents count as the same text; ``None``: do not look.
    cv : int, optional
        Folds for content evidence; ``None``: the classifier's own way.
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

    def __init__(
        self,
        content: Any = None,
        labels: Any = None,
        rules: Rules | None = None,
        rounds: int = 1,
        twin_similarity: float | None = 0.95,
        cv: int | None = None,
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

    def fit(
        self,
        X: Any,
        Y: Any,
        scores: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
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

        Returns
        -------
        self
        """
        self._check_parameters()
        labels = self._read_labels(X, Y, scores)
        self.label_names_ = labels.names
        self.rules_ = bind_rules(self.rules, labels.names)
        self.n_rounds_ = 0
        learned = labels
        for number in range(self.rounds):
            found = self._judge(X, labels, learned, scores, sample_weight)
            if number and not found[-1].explains_more_than(self.noise_):
                break
            self.content_, self.content_log_odds_, self.evidence_, self.noise_ = found
            self.error_probability_ = self._error_probability(labels)
            self.n_rounds_ = number + 1
            suspects = sparse.csr_array(self.error_probability_ >= _SUSPECT)
            learned = repaired(labels, suspects, "unknown")
        self._rows = None if self.n_similar == 0 and self.twin_similarity is None else as_rows(X)
        self.twins_ = Twins.none()
        if self.twin_similarity is not None:
            with stage("documents with the same text", self.verbose):
                self.twins_ = find_twins(self._rows, self.twin_similarity)
        self._twin_of = self._compare_twins()
        self._broken = self._keep_rules()
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
        if top is not None and (not isinstance(top, Integral) or top < 0):
            raise ValueError(f"top must be a whole number of at least 0, got {top!r}.")
        row, column = surest(
            self._of_kinds(kinds, top), self.list_end_ if top is None else int(top)
        )
        similar = self._similar(row)
        return [
            self._issue(int(i), int(j), near)
            for i, j, near in zip(row, column, similar, strict=True)
        ]

    def issues_frame(
        self,
        top: int | None = None,
        kinds: Collection[Kind] | None = None,
        ids: Sequence[Any] | None = None,
    ) -> Any:
        """Return the surest issues as a pandas DataFrame, a row each.

        Parameters
        ----------
        top, kinds
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
        if self._form == "record":
            return labels
        if self._form == "sets" and labels.unknown is None:
            return labels.label_sets()
        if self._form == "frame":
            return self._frame_like(labels.plain())
        return labels.plain()

    # -- what is learned ------------------------------------------------------------------------

    def _judge(
        self, X: Any, labels: LabelMatrix, learned: LabelMatrix, scores: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[np.float32], GivenEvidence, NoiseModel]:
        """Learn from some labels what is to be thought of the given ones: one round."""
        weight = None if sample_weight is None else read_weight(sample_weight, labels.shape[0])
        with self._jobs():
            content, log_odds = self._content_evidence(X, learned, scores, sample_weight)
            with stage(f"label evidence of {labels.shape[1]} labels", self.verbose):
                classifier = as_label_classifier(self.labels)
                evidence = GivenEvidence.of(classifier, labels, weight, learned=learned)
        with stage("rates of errors", self.verbose):
            noise = NoiseModel.fit(log_odds, evidence.added, labels, weight)
        return content, log_odds, evidence, noise

    def _content_evidence(
        self, X: Any, labels: LabelMatrix, scores: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[np.float32]]:
        """Return the fitted content classifier and its out-of-fold log-odds, or given ones."""
        if scores is not None:
            values = read_scores(
                scores, labels.names, n_documents=labels.shape[0], scale=self.scale
            )
            if self.scale == "probability":
                values = log_odds_of(values, clip=_CLIP)
            return None, np.clip(values, -_SURE, _SURE).astype(np.float32)
        chosen = as_content("svm" if self.content is None else self.content)
        content = seeded(chosen, self.random_state)
        params = {} if sample_weight is None else {"sample_weight": sample_weight}
        to_content = route_fit(self, params, content=content)["content"]
        documents = read_any_documents(self, X, reset=True)
        with stage(f"content evidence of {labels.shape[1]} labels", self.verbose):
            if self.cv is None:
                values = fit_content(content, documents, labels, to_content, out_of_fold=True)
            else:
                values = out_of_fold_log_odds(
                    content,
                    documents,
                    labels,
                    to_content,
                    cv=self.cv,
                    random_state=self.random_state,
                )
                content.fit(documents, labels_for(content, labels), **to_content)
        assert values is not None
        return content, np.clip(values, -_SURE, _SURE).astype(np.float32)

    def _error_probability(self, labels: LabelMatrix) -> NDArray[np.float32]:
        result = np.zeros(labels.shape, dtype=np.float32)
        n_others = np.diff(labels.positive.indptr)
        audited = self._audited(labels)
        for rows in blocks(np.arange(labels.shape[0]), labels.shape[1]):
            given = labels.positive[rows].toarray() > 0
            errors = self.noise_.error_log_odds(
                self.content_log_odds_[rows],
                self.evidence_.added[rows],
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

    def _compare_twins(self) -> dict[tuple[int, int], tuple[int, float]]:
        """Return, for cells in which twins differ, the twin and their similarity.

        One text has one truth: what is known of it is what is known of both, and what the corpus
        says of the two speaks for and against. That counts as much as twins have the same labels.
        """
        self._by_twins: dict[tuple[int, int], float] = {}
        first, second, similarity = self.twins_
        if not len(first):
            return {}
        has = self._labels.positive
        differs = sparse.coo_array(abs(has[first] - has[second]))
        pair, label = differs.row[differs.data > 0], differs.col[differs.data > 0]
        same = 1 - len(np.unique(pair)) / len(first)
        asked = self.error_probability_
        order = np.argsort(-similarity[pair], kind="stable")
        found: dict[tuple[int, int], tuple[int, float]] = {}
        missing, wrong = self.noise_.offsets()
        changed: dict[tuple[int, int], float] = {}
        for q, j in zip(pair[order].tolist(), label[order].tolist(), strict=True):
            a, b = int(first[q]), int(second[q])
            if not (asked[a, j] and asked[b, j]):
                continue  # one of them is unknown, or the label cannot be audited
            lacks, carries = (b, a) if has[a, j] else (a, b)
            if (lacks, j) in found or (carries, j) in found:
                continue  # there is a twin that is nearer
            z_lacks = _log_odds(asked[lacks, j]) - missing[j]
            z_carries = wrong[j] - _log_odds(asked[carries, j])
            truth = (z_lacks + z_carries) / 2 + missing[j] - wrong[j]
            for i, other, error in ((lacks, carries, truth), (carries, lacks, -truth)):
                found[i, j] = other, float(similarity[q])
                changed[i, j] = same * float(probability_of(error)) + (1 - same) * asked[i, j]
        for cell, p in changed.items():
            self._by_twins[cell] = _log_odds(p) - _log_odds(asked[cell])
            asked[cell] = p
        return found

    def _keep_rules(self) -> dict[tuple[int, int], Broken]:
        self._by_rules: dict[tuple[int, int], float] = {}
        if self.rules_ is None:
            return {}
        broken = broken_rules(self.rules_, self._labels)
        cells = {(one.document, one.label): one for one in reversed(broken)}
        before = {cell: _log_odds(self.error_probability_[cell]) for cell in cells}
        errors = dict(before)
        keep_rules(self.rules_, broken, errors)
        for cell, error in errors.items():
            self._by_rules[cell] = error - before[cell]
            self.error_probability_[cell] = probability_of(error)
        return cells

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

    # -- what is shown ----------------------------------------------------------------------------

    def _of_kinds(self, kinds: Collection[Kind] | None, top: int | None) -> NDArray[np.float32]:
        """Return the probabilities with those of other kinds set to 0."""
        p = self.error_probability_
        if kinds is None:
            return p
        if top is None:
            row, column = surest(p, self.list_end_)
            p = np.zeros_like(p)
            p[row, column] = self.error_probability_[row, column]
        else:
            p = p.copy()
        special: dict[Kind, Any] = {"rule": self._broken, "twin": self._twin_of}
        cells = {(i, j) for kind in special for i, j in special[kind]}
        kept = {cell: p[cell] for cell in cells if self._kind(*cell) in kinds}
        for cell in cells:
            p[cell] = 0.0
        has = self._labels.positive
        if "wrong" not in kinds:
            p[has.nonzero()] = 0.0
        if "missing" not in kinds:
            row, column = has.nonzero()
            only = np.zeros_like(p)
            only[row, column] = p[row, column]
            p = only
        for cell, value in kept.items():
            p[cell] = value
        return p

    def _kind(self, i: int, j: int) -> Kind:
        if (i, j) in self._broken:
            return "rule"
        if (i, j) in self._twin_of:
            return "twin"
        return "wrong" if self._labels.positive[i, j] else "missing"

    def _issue(self, i: int, j: int, similar: tuple[tuple[int, float], ...]) -> Issue:
        has, names = self._labels.positive, self.label_names_
        given = bool(has[i, j])
        sign = -1.0 if given else 1.0
        n_others = float(has.indptr[i + 1] - has.indptr[i] - given)
        b, w, v, none, many, constant = self.noise_.weights.tolist()
        count = np.log1p(n_others)
        prior = float(self._prior_log_odds[j])
        factor = w + v * count
        offset = float(self.noise_.offsets()[given][j])
        parts = {
            "prior": sign * prior,
            "content": sign * (b * float(self.content_log_odds_[i, j]) - prior),
            "other labels": sign * factor * float(self.evidence_.added[i, j]),
            "number of labels": sign * (none * (n_others == 0) + many * count + constant),
            "noise": offset,
        }
        if (i, j) in self._by_twins:
            parts["twins"] = float(self._by_twins[i, j])
        if (i, j) in self._by_rules:
            parts["rules"] = self._by_rules[i, j]
        return Issue(
            document=i,
            label=names[j].item() if isinstance(names[j], np.generic) else names[j],
            kind=self._kind(i, j),
            given=given,
            probability=float(self.error_probability_[i, j]),
            parts=parts,
            labels=self._other_labels(i, j, sign * factor),
            similar=tuple(SimilarDocument(k, s, self._has(k, j)) for k, s in similar),
            reason=self._reason(i, j),
        )

    def _other_labels(self, i: int, j: int, factor: float) -> tuple[LabelContribution, ...]:
        added = self.evidence_.contributions(self._labels, i, j)
        if added is None:
            return ()
        names, has = self.label_names_.tolist(), self._labels.positive[[i]].toarray()[0]
        order = np.argsort(-np.abs(added), kind="stable")
        return tuple(
            LabelContribution(names[k], float(factor * added[k]), float(has[k]), True)
            for k in order
            if added[k]
        )

    def _reason(self, i: int, j: int) -> str:
        names = self.label_names_
        if (i, j) in self._broken:
            one = self._broken[i, j]
            if one.kind == "exclusive":
                return f"{names[j]} and {names[one.partner]} exclude each other"
            pair = (j, one.partner) if self._labels.positive[i, j] else (one.partner, j)
            return f"{names[pair[0]]} implies {names[pair[1]]}"
        if (i, j) in self._twin_of:
            other, similarity = self._twin_of[i, j]
            same = "the same text" if similarity > 1 - 1e-6 else f"a similarity of {similarity:.2f}"
            return f"document {other} has {same} and is labelled otherwise"
        return ""

    def _has(self, i: int, j: int) -> bool | None:
        unknown = self._labels.unknown
        if unknown is not None and unknown[i, j]:
            return None
        return bool(self._labels.positive[i, j])

    def _similar(self, documents: NDArray[Any]) -> list[tuple[tuple[int, float], ...]]:
        """Return the documents most similar to each of some."""
        if self._rows is None or not self.n_similar or not len(documents):
            return [()] * len(documents)
        asked, place = np.unique(documents, return_inverse=True)
        found = similar_documents(
            self._rows, self._rows[asked], self.n_similar + 1, n_jobs=self.n_jobs
        )
        lists = []
        for q, own in enumerate(asked.tolist()):
            cells = slice(found.indptr[q], found.indptr[q + 1])
            near = sorted(
                zip(found.indices[cells].tolist(), found.data[cells].tolist(), strict=True),
                key=lambda one: (-one[1], one[0]),
            )
            lists.append(tuple(one for one in near if one[0] != own)[: self.n_similar])
        return [lists[q] for q in place]

    # -- what comes in ----------------------------------------------------------------------------

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
        self._prior_log_odds = count_log_odds(*labels.counts())
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
        if not isinstance(self.n_similar, Integral) or self.n_similar < 0:
            raise ValueError(
                f"n_similar must be a whole number, 0 or more, got {self.n_similar!r}."
            )

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether ``fit`` has been called."""
        return hasattr(self, "list_end_")


def repaired(
    labels: LabelMatrix, suspects: sparse.csr_array, repair: Literal["change", "unknown"]
) -> LabelMatrix:
    """Return labels with some cells turned into their opposite, or into "nobody knows"."""
    marked = sparse.csr_array(suspects, dtype=np.float64)
    if repair == "unknown":
        unknown = marked if labels.unknown is None else (labels.unknown + marked).minimum(1)
        positive = labels.positive - labels.positive.multiply(marked)
        unknown = sparse.csr_array(unknown)
        unknown.eliminate_zeros()
        marks = unknown if unknown.nnz else None
    else:
        positive, marks = abs(labels.positive - marked), labels.unknown
    positive = sparse.csr_array(positive)
    positive.eliminate_zeros()
    positive.sort_indices()
    return replace(labels, positive=positive, unknown=marks)


def _log_odds(probability: Any) -> float:
    return float(logit(np.clip(np.float64(probability), 1e-12, 1 - 1e-7)))


def _form_of(Y: Any) -> Literal["record", "frame", "sets", "matrix"]:
    if isinstance(Y, LabelMatrix):
        return "record"
    if hasattr(Y, "columns"):
        return "frame"
    if sparse.issparse(Y) or (isinstance(Y, np.ndarray) and Y.ndim == 2):
        return "matrix"
    rows = Y.tolist() if hasattr(Y, "tolist") else list(Y)
    has_names = any(isinstance(row, set | frozenset) or _holds_text(row) for row in rows)
    return "sets" if has_names else "matrix"


def _holds_text(row: Any) -> bool:
    return isinstance(row, list | tuple) and bool(row) and isinstance(row[0], str)


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
