"""Issues: suspected errors as records, broken rules and near-duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from labelkin.curation.audit.noise import GivenEvidence, NoiseModel
from labelkin.explain.contributions import LabelContribution
from labelkin.label_matrix import LabelMatrix
from labelkin.odds import count_log_odds, to_log_odds, to_probability
from labelkin.records import short_repr
from labelkin.solvers.cosine_index import similar_documents, unit_rows
from labelkin.validation import validate_sparse
from labelkin.vocabulary.bound_rules import BoundRules, at_most_one

IssueKind = Literal["missing", "wrong", "near-duplicate", "rule"]
#: Document and column.
CellPlace = tuple[int, int]
#: Smaller reasons are left out: they would be printed as 0.0.
_SHOWN = 0.05
#: Number of similar documents of an issue, and of those among which near-duplicates are found.
_SIMILAR, _COMPARED = 3, 8
#: Minimum cosine of near-duplicates.
_NEAR = 0.95
_ALMOST_ZERO = 1e-7
_TEXT_FEATURES = 2**18
_HAS = {True: "has it", False: "lacks it", None: "unknown"}


@short_repr
class SimilarDocument(NamedTuple):
    """A document that is similar to the document of an issue.

    Attributes
    ----------
    document
        Its row.
    similarity
        Cosine of the two.
    given
        Whether it has the label; ``None``: unknown.

    Examples
    --------
    >>> from labelkin.curation import SimilarDocument
    >>> similar = [SimilarDocument(7, 0.91, True), SimilarDocument(4, 0.85, None)]
    >>> [one.document for one in similar if one.given]
    [7]
    """

    document: int
    similarity: float
    given: bool | None


@short_repr
class LabelErrors(NamedTuple):
    """The expected number of errors of a label.

    Attributes
    ----------
    label
        Its name.
    documents
        Number of documents that have it.
    missing, wrong
        Expected number of documents that lack it, and that have it, wrongly.

    Examples
    --------
    >>> from labelkin.curation import LabelErrors
    >>> grain = LabelErrors("grain", documents=120, missing=6.5, wrong=1.5)
    >>> grain.documents + grain.missing - grain.wrong  # that should have it
    125.0
    """

    label: Any
    documents: int
    missing: float
    wrong: float


@short_repr
@dataclass(frozen=True)
class Issue:
    """A cell of the label matrix that is probably wrong.

    Attributes
    ----------
    document
        Row of the document.
    label
        Name of the label.
    kind
        ``"missing"``: the document lacks the label. ``"wrong"``: it has it. ``"near-duplicate"``: a
        document with nearly the same text has a different value. ``"rule"``: together with another
        cell it breaks a rule.
    given
        The value in the corpus: ``True``, the document has the label. The repair is the opposite.
    probability
        Probability that the value in the corpus is wrong.
    parts
        The parts of the log-odds of the error, by name; positive parts support it: ``"prior"``,
        ``"content"``, ``"other labels"``, ``"number of labels"``, ``"noise"`` (how often such
        errors occur), ``"rules"``.
    labels
        The contribution of each other label of the document, given or not, strongest first; empty
        if label evidence is not linear.
    similar
        Similar documents and whether they have the label, most similar first.
    reason
        The broken rule or the near-duplicate, in words; ``""`` otherwise.

    Examples
    --------
    >>> from labelkin.curation import Issue
    >>> parts = {"prior": 1.0, "content": 2.5, "other labels": 1.5, "noise": -3.0}
    >>> issue = Issue(3, "grain", "missing", given=False, probability=0.88, parts=parts)
    >>> issue.repair, sum(issue.parts.values())
    ('add', 2.0)
    """

    document: int
    label: Any
    kind: IssueKind
    given: bool
    probability: float
    parts: dict[str, float]
    labels: tuple[LabelContribution, ...] = ()
    similar: tuple[SimilarDocument, ...] = ()
    reason: str = ""

    @property
    def repair(self) -> Literal["add", "remove"]:
        """The change that repairs it."""
        return "remove" if self.given else "add"


class BrokenRule(NamedTuple):
    """The rule that a cell breaks, in words, and its contribution to the log-odds of an error."""

    reason: str
    log_odds: float


@dataclass(frozen=True, eq=False)
class IssueTable:
    """The results of an audit, from which issues are read.

    Attributes
    ----------
    labels
        The labels of the corpus.
    probability
        Probability of an error, ``(n_documents, n_labels)``.
    content, evidence, noise
        The evidence and the model of errors.
    broken
        Cells that break rules.
    rows
        The documents as rows of length 1; ``None``: similar documents are unknown.
    """

    labels: LabelMatrix
    probability: NDArray[np.float32]
    content: NDArray[np.float32]
    evidence: GivenEvidence
    noise: NoiseModel
    broken: dict[CellPlace, BrokenRule]
    rows: Any

    def ranked(self) -> Iterator[CellPlace]:
        """Yield the cells that may be wrong, the most probable errors first."""
        flat = self.probability.ravel()
        order = np.argsort(-flat, kind="stable")[: np.count_nonzero(flat > 0)]
        yield from (divmod(int(cell), self.probability.shape[1]) for cell in order)

    def issues(self, cells: Sequence[CellPlace], n_jobs: int | None = None) -> list[Issue]:
        """Return the records of some cells."""
        similar = self._similar([i for i, _ in cells], n_jobs)
        prior = count_log_odds(*self.labels.counts())
        return [self._issue(i, j, float(prior[j]), similar.get(i, [])) for i, j in cells]

    def _issue(self, i: int, j: int, prior: float, near: Sequence[tuple[int, float]]) -> Issue:
        has, name = self.labels.positive, self.labels.names[j]
        given = bool(has[i, j])
        sign = -1.0 if given else 1.0
        n_others = float(has.indptr[i + 1] - has.indptr[i] - given)
        content, labels, number = self.noise.parts(
            float(self.content[i, j]), float(self.evidence.added[i, j]), n_others
        )
        parts = {
            "prior": sign * prior,
            "content": sign * float(content - prior),
            "other labels": sign * float(labels),
            "number of labels": sign * float(number),
            "noise": float(self.noise.offsets()[given][j]),
        }
        if self.broken:
            parts["rules"] = 0.0
        similar = [SimilarDocument(k, cosine, self._has(k, j)) for k, cosine in near]
        kind, reason = self._kind(given, similar)
        if (i, j) in self.broken:
            kind, (reason, parts["rules"]) = "rule", self.broken[i, j]
        return Issue(
            document=i,
            label=name.item() if isinstance(name, np.generic) else name,
            kind=kind,
            given=given,
            probability=float(self.probability[i, j]),
            parts=parts,
            labels=self._other_labels(i, j, sign * float(self.noise.label_weight(n_others))),
            similar=tuple(similar[:_SIMILAR]),
            reason=reason,
        )

    def _kind(self, given: bool, similar: Sequence[SimilarDocument]) -> tuple[IssueKind, str]:
        """Return the kind of an error that breaks no rule, and a near-duplicate in words."""
        differing = [x for x in similar if x.similarity >= _NEAR and x.given is (not given)]
        if not differing or self.rows.min() < 0:  # such vectors are often similar by chance
            return "wrong" if given else "missing", ""
        first = differing[0]
        same = "the same words" if first.similarity > 1 - 1e-6 else "nearly the same words"
        reason = f"document {first.document} has {same} and is labelled otherwise"
        return "near-duplicate", reason

    def _other_labels(self, i: int, j: int, factor: float) -> tuple[LabelContribution, ...]:
        added = self.evidence.contributions(self.labels, i, j)
        if added is None:
            return ()
        names, has = self.labels.names.tolist(), self.labels.rows([i]).dense()[0]
        order = np.argsort(-np.abs(added), kind="stable")
        return tuple(
            LabelContribution(names[k], float(factor * added[k]), float(has[k]), True)
            for k in order.tolist()
            if added[k] and not np.isnan(has[k])
        )

    def _has(self, i: int, j: int) -> bool | None:
        unknown = self.labels.unknown
        if unknown is not None and unknown[i, j]:
            return None
        return bool(self.labels.positive[i, j])

    def _similar(
        self, documents: Sequence[int], n_jobs: int | None
    ) -> dict[int, list[tuple[int, float]]]:
        """Return the most similar documents of each document, and their cosines."""
        if self.rows is None or not documents:
            return {}
        asked = np.unique(documents)
        found = similar_documents(self.rows, self.rows[asked], _COMPARED + 1, n_jobs=n_jobs)
        similar = {}
        for q, own in enumerate(asked.tolist()):
            cells = slice(found.indptr[q], found.indptr[q + 1])
            near = zip(found.indices[cells].tolist(), found.data[cells].tolist(), strict=True)
            ranked = sorted(near, key=lambda one: (-one[1], one[0]))
            similar[own] = [one for one in ranked if one[0] != own][:_COMPARED]
        return similar


def settle_rules(
    labels: LabelMatrix, rules: BoundRules | None, probability: NDArray[np.float32]
) -> dict[CellPlace, BrokenRule]:
    """Find the cells that break rules, and change the probability of an error in them.

    Of labels that exclude each other, at most one is right; of the two cells of a broken
    implication also. The probabilities are conditioned on this, with errors independent otherwise.
    Unknown cells break no rule.
    """
    reasons = dict[CellPlace, str]()
    before, after = dict[CellPlace, float](), dict[CellPlace, float]()
    for i, reason_of in _broken(labels, rules) if rules else ():
        cells = [(i, j) for j in reason_of]
        for cell in cells:
            reasons.setdefault(cell, reason_of[cell[1]])
            error = float(to_log_odds(probability[cell], clip=_ALMOST_ZERO))
            after.setdefault(cell, before.setdefault(cell, error))
        right = at_most_one(-np.array([[after[cell] for cell in cells]]))[0]
        after.update(zip(cells, (-right).tolist(), strict=True))
    for cell, error in after.items():
        probability[cell] = to_probability(error)
    return {cell: BrokenRule(reasons[cell], after[cell] - before[cell]) for cell in after}


def _broken(labels: LabelMatrix, rules: BoundRules) -> Iterator[tuple[int, dict[int, str]]]:
    """Yield documents, and the columns of a broken rule with its words: exclusive groups first."""
    names = labels.names
    for group in rules.groups:
        columns = labels.positive[:, list(group)]
        for i in np.flatnonzero(np.diff(columns.indptr) > 1).tolist():
            inside = [group[k] for k in columns.indices[columns.indptr[i] : columns.indptr[i + 1]]]
            others = {j: next(k for k in inside if k != j) for j in inside}
            yield i, {j: f"{names[j]} and {names[k]} exclude each other" for j, k in others.items()}
    for narrower, broader in rules.implies:
        reason = f"{names[narrower]} implies {names[broader]}"
        is_broken = (labels.column(narrower) == 1) & (labels.column(broader) == 0)
        for i in np.flatnonzero(is_broken).tolist():
            yield i, {narrower: reason, broader: reason}


def as_rows(X: Any) -> Any:
    """Return documents as rows of length 1; ``None`` if they are neither texts nor numbers."""
    if X is None:
        return None
    X = validate_sparse(X)
    if sparse.issparse(X):
        return unit_rows(X) if np.isfinite(X.data).all() else None
    if len(X) and isinstance(X.iloc[0] if hasattr(X, "iloc") else X[0], str):
        words = HashingVectorizer(n_features=_TEXT_FEATURES, alternate_sign=False)
        return unit_rows(words.transform(X))
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return unit_rows(array) if array.ndim == 2 and np.isfinite(array).all() else None


def list_end(probability: ArrayLike, n_errors: float) -> int:
    """Return the length of the list of suspects with the best expected F1.

    The expected number of errors among the first k suspects is the sum of their probabilities.

    Parameters
    ----------
    probability : array of shape (n_suspects,)
        In descending order.
    n_errors : float
        Expected number of errors in all.

    Returns
    -------
    int

    Examples
    --------
    >>> list_end([0.9, 0.8, 0.1, 0.1], 1.9)
    2
    """
    found = np.cumsum(np.asarray(probability, dtype=np.float64))
    if not len(found) or n_errors <= 0:
        return 0
    f1 = 2 * found / (np.arange(1, len(found) + 1) + n_errors)
    return int(np.argmax(f1)) + 1


def reasons(
    parts: Mapping[str, float], labels: Iterable[tuple[str, float]], reason: str, most: int = 3
) -> str:
    """Return the strongest reasons for an error, then the strongest against it.

    Parameters
    ----------
    parts : mapping of str to float
        Parts of the log-odds of the error, as in :class:`Issue`.
    labels : iterable of tuples
        Other labels and their contributions.
    reason : str
        The broken rule or the near-duplicate in words, or "".
    most : int, default 3
        Number of reasons, by absolute value; the strongest one for the error is always included.

    Returns
    -------
    str

    Examples
    --------
    >>> reasons({"content": 6.68, "other labels": -0.7}, [("coffee", -0.5), ("no grain", -0.2)], "")
    'content +6.7; against: coffee -0.5; no grain -0.2'
    """
    found = [("content", parts.get("content", 0.0)), *labels]
    found.append(("number of labels", parts.get("number of labels", 0.0)))
    found.append((reason, parts.get("rules", 0.0)))
    found = sorted((one for one in found if abs(one[1]) >= _SHOWN), key=lambda one: -abs(one[1]))
    best = [one for one in found if one[1] > 0][:1]
    shown = sorted([*best, *(one for one in found if one not in best)][:most], key=found.index)
    supports = "; ".join(f"{name} {added:+.1f}" for name, added in shown if added > 0)
    opposes = "; ".join(f"{name} {added:+.1f}" for name, added in shown if added < 0)
    duplicate = "" if parts.get("rules") else reason
    return "; ".join(filter(None, (supports, opposes and f"against: {opposes}", duplicate)))


def other_label(label: Any, given: bool) -> str:
    """Return how another label of a document is named in a list of reasons."""
    return f"{label}" if given else f"no {label}"


def similar_text(document: Any, similarity: float, given: bool | None) -> str:
    """Return a similar document in words.

    Examples
    --------
    >>> similar_text("doc-7", 0.914, None)
    'doc-7 (0.91, unknown)'
    """
    return f"{document} ({similarity:.2f}, {_HAS[given]})"


def issues_frame(issues: Sequence[Issue]) -> Any:
    """Return issues as a pandas DataFrame, a row each, parts in columns."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError('issues_frame requires pandas: pip install "labelkin[frames]"') from None
    names = ["document", "label", "kind", "given", "repair", "probability", "reason"]
    rows = []
    for issue in issues:
        others = [(other_label(one.label, one.value > 0), one.log_odds) for one in issue.labels]
        row = {name: getattr(issue, name) for name in names}
        row |= {name.replace(" ", "_"): value for name, value in issue.parts.items()}
        row["because_of"] = reasons(issue.parts, others, issue.reason)
        row["similar"] = "; ".join(similar_text(*one) for one in issue.similar)
        rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else [*names, "because_of", "similar"])
