"""Content evidence by several classifiers or several views of a document, the prior counted once.

The paper's equation 1 adds up what the document and the other labels say beyond the prior. Nothing
limits it to one view of the document. Of several content classifiers m, with log-odds z,

    log-odds = lp + Σ_m a_m (z_m − lp) + b,        lp: the log-odds of the prior,

where the weights a, because views repeat each other, are learned on evidence of documents that the
classifiers have not seen: weights that all labels share, and for each label its own, drawn towards
those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from labelkin.content.any_classifier import as_content
from labelkin.content.naive_bayes import NaiveBayes
from labelkin.content.nearest_neighbours import NearestNeighbours
from labelkin.content.term_contributions import (
    ContentContributions,
    ContributionsOfDocuments,
    contributions_of,
    named,
    read_columns,
    terms_of,
)
from labelkin.estimator import LogOddsClassifier, fit_content, read_any_documents
from labelkin.label_matrix import Cells, LabelMatrix
from labelkin.odds import log_odds_of
from labelkin.registry import PARTS
from labelkin.scikit_learn import read_sample_weight, seeded, takes_sample_weight
from labelkin.solvers.shrunken_logistic import Floats, GroupedCells, Prior, fit_logistic

#: How strongly a label's weights are drawn to those of all: of unlike classifiers, and of one kind
#: of classifier on several views, which are more alike.
_UNLIKE, _ALIKE = 30.0, 100.0
#: Of the shared weights, so that evidence that is everywhere the same has one, too.
_RIDGE = 1e-3
#: Where all classifiers are below, cells without the label are counted, not visited.
_FAR = -8.0
#: From so many documents on, of cells below without the label only one document in so many is
#: visited, and counts for all of them.
_MANY = 2000
_THINNED = ((-5.0, 8),)
#: Documents × labels that learn their weights together.
_BLOCK_CELLS = 2**22
#: Cells from which the shared weights are learned, at most: they are a handful of numbers.
_POOLED_CELLS = 2**23
_FOLDS = 5


class Member(NamedTuple):
    """One classifier of an ensemble.

    Attributes
    ----------
    name
        What explanations and parameters call it.
    features
        Transformer from the documents to what it sees, its view; ``None``: the documents.
    classifier
        A content classifier.
    """

    name: str
    features: Any
    classifier: Any

    def view(self, X: Any) -> Any:
        """Return the documents as the fitted member sees them."""
        return X if self.features is None else self.features.transform(X)


class ContentEnsemble(LogOddsClassifier):
    """Several content classifiers, or one kind on several views of a document, as one.

    ``LabelDependenceClassifier(content=[…])`` makes one of a list.

    Parameters
    ----------
    members : sequence, default ("naive_bayes", "nearest_neighbours", "svm")
        Each a content classifier (anything ``content=`` takes), a pair (name, classifier), or a
        triple (name, transformer, classifier): the transformer makes the member's view of the
        documents. It is fitted once, on all of them, without their labels.
    shrinkage : float, optional
        How strongly the weights of a label are drawn to those of all. ``None``: 30 for classifiers
        of different kinds, 100 where two are of one kind.
    random_state : int or RandomState, optional
        Of the folds in which the weights are learned, and of members that name none of their own.

    Attributes
    ----------
    members_ : list of Member
        Fitted; without those that did not help.
    dropped_ : list of str
        Members that did not help: beside the others their evidence had no positive weight.
    weights_ : array of shape (n_labels, n_members)
        What the evidence of each member counts.
    bias_ : array of shape (n_labels,)
    prior_log_odds_ : array of shape (n_labels,)
    prior_once_ : bool
        Whether the prior is counted once, or as often as the members together; by the Brier score
        of documents that the members had not seen.

    Examples
    --------
    >>> from labelkin import NaiveBayes, NearestNeighbours
    >>> X, Y = [[3, 0], [2, 1], [0, 4], [1, 3]] * 5, [["sea"], ["sea"], ["town"], ["town"]] * 5
    >>> both = ContentEnsemble([NaiveBayes(), NearestNeighbours(n_neighbors=3)]).fit(X, Y)
    >>> both.predict_labels([[5, 0], [1, 4]])
    [('sea',), ('town',)]
    """

    def __init__(
        self,
        members: Sequence[Any] = ("naive_bayes", "nearest_neighbours", "svm"),
        *,
        shrinkage: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.members = members
        self.shrinkage = shrinkage
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Take what all members take; with views, anything."""
        tags = super().__sklearn_tags__()
        seen = [get_tags(m.features or m.classifier).input_tags for m in self._named()]
        tags.input_tags.sparse = all(one.sparse for one in seen)
        tags.input_tags.string = all(one.string for one in seen)
        tags.input_tags.positive_only = any(one.positive_only for one in seen)
        tags.input_tags.allow_nan = all(one.allow_nan for one in seen)
        tags.classifier_tags.poor_score = any(
            get_tags(m.classifier).classifier_tags.poor_score for m in self._named()
        )
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of the members, ``name__parameter``."""
        found = super().get_params(deep=False)
        try:
            members = self._named() if deep else []
        except (TypeError, ValueError):  # fit says what is wrong with them
            members = []
        for name, features, classifier in members:
            inner = {name: classifier} | (
                {} if features is None else {f"{name}_features": features}
            )
            for key, part in inner.items():
                found[key] = part
                found |= {f"{key}__{k}": value for k, value in part.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the members."""
        own = super().get_params(deep=False).keys()
        super().set_params(**{key: value for key, value in params.items() if key in own})
        rest = {key: value for key, value in params.items() if key not in own}
        if not rest:
            return self
        parts: dict[str, Any] = {}
        for name, features, classifier in self._named():
            parts |= {name: classifier, f"{name}_features": features}
        for key, value in sorted(rest.items()):  # a part before what is inside it
            part, _, inner = key.partition("__")
            if part not in parts:
                raise ValueError(
                    f"A parameter must be one of the ensemble or of its members "
                    f"{[m.name for m in self._named()]}, got {key!r}."
                )
            if inner:
                parts[part].set_params(**{inner: value})
            else:
                parts[part] = value
        self.members = [(m.name, parts[f"{m.name}_features"], parts[m.name]) for m in self._named()]
        return self

    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Fit the members and learn their weights.

        Parameters
        ----------
        X : documents
            Whatever the members, or their transformers, take.
        y : any kind of labels
        **metadata
            ``sample_weight``, for the members that take it and for the weights.

        Returns
        -------
        self
        """
        self.fit_out_of_fold(X, y, **metadata)
        return self

    # As for PlattSVM: weights are not repetition, and metadata routing knows them all the same.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012 (read by scikit-learn)

    def fit_out_of_fold(self, X: Any, y: Any, **metadata: Any) -> Any:
        """Fit, and return the log-odds of the training documents as if unseen."""
        unknown = sorted(metadata.keys() - {"sample_weight"})
        if unknown:
            raise TypeError(f"fit takes sample_weight beside X and y, got {unknown[0]!r}.")
        X, labels = self._read(X, y)
        weight = read_sample_weight(labels.positive, metadata.get("sample_weight"))
        positive, known = labels.counts(weight)
        self.prior_log_odds_ = log_odds_of((positive + 0.5) / (known + 1.0))
        members, views, found = [], [], []
        for name, features, classifier in self._named():
            own = None if features is None else seeded(features, self.random_state)
            member = Member(name, own, seeded(classifier, self.random_state))
            view = X if features is None else member.features.fit_transform(X)
            given = {} if weight is None or not takes_sample_weight(classifier) else metadata
            found.append(fit_content(member.classifier, view, labels, given, out_of_fold=True))
            members.append(member)
            views.append(view)
        evidence = _Evidence.of(members, views, found, self.prior_log_odds_)
        return self._learn_weights(members, evidence, labels, weight)

    def log_odds(self, X: Any) -> Any:
        """Return the log-odds of every label, ``(n_documents, n_labels)``.

        Where members give candidates, a CSR array of all their candidates.
        """
        check_is_fitted(self)
        return self._log_odds(self._read_documents(X, reset=False))

    def member_contributions(self, X: Any) -> dict[str, NDArray[np.float64]]:
        """Return what each member adds to the log-odds, ``(n_documents, n_labels)`` each.

        By the member's name; ``"prior"`` is what is there without them. All add up to the log-odds.
        Of candidates, values over the stored cells of :meth:`log_odds`, in its order.
        """
        return self.taken_apart(X)[1]

    def taken_apart(self, X: Any) -> tuple[Any, dict[str, NDArray[np.float64]]]:
        """Return :meth:`log_odds` and :meth:`member_contributions`, both from one computation."""
        check_is_fitted(self)
        evidence = self._evidence(self._read_documents(X, reset=False))
        parts = {"prior": evidence.of_labels(self._constant())}
        for k, member in enumerate(self.members_):
            parts[member.name] = evidence.of_labels(self.weights_[:, k]) * evidence.values[k]
        return evidence.matrix(self._combined(evidence)), parts

    def term_contributions(self, X: Any, columns: ArrayLike) -> ContributionsOfDocuments | None:
        """Return what each term adds to the log-odds of some label columns, for a few documents.

        ``[i][k]`` is document i and label ``columns[k]``. Terms that several members see are
        together; ``None`` where a member has nothing exact to say of terms.
        """
        check_is_fitted(self)
        documents = self._read_documents(X, reset=False)
        asked = read_columns(columns, len(self.bias_))
        constant = self._constant()[asked]
        rows = [[ContentContributions((), float(c)) for c in constant] for _ in range(_length(X))]
        for k, member in enumerate(self.members_):
            view = member.view(documents)
            found = contributions_of(member.classifier, view, asked)
            names = None if member.features is None else terms_of(member.features)
            if found is None or (member.features is not None and names is None):
                return None
            for i, row in enumerate(found):
                given = np.array([cell.log_odds for cell in row])[None]
                prior = self.prior_log_odds_[asked]
                beyond = _beyond_prior(member.classifier, given, prior)[0]
                if _is_empty(view)[i]:
                    beyond[:] = 0.0
                for at, cell in enumerate(row):
                    part = _scaled(named(cell, names), prior[at], beyond[at])
                    rows[i][at] = _joined(rows[i][at], part, self.weights_[asked[at], k])
        return rows

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        self.fit_out_of_fold(X, labels)

    def _learn_weights(
        self,
        members: list[Member],
        evidence: _Evidence,
        labels: LabelMatrix,
        weight: NDArray[np.float64] | None,
    ) -> Any:
        """Learn what members count, drop those that do not help; return out-of-fold log-odds."""
        cells = _Learning(evidence, labels, weight, self.prior_log_odds_)
        self.prior_once_, kept, shared = cells.choose()
        self.dropped_ = [m.name for k, m in enumerate(members) if k not in kept]
        self.members_ = [members[k] for k in kept]
        cells = replace(cells, evidence=evidence.some(kept)) if self.dropped_ else cells
        strength = self._strength()
        # A handful of numbers per label, drawn to those of all: folds need not be stratified.
        n_folds = min(_FOLDS, labels.shape[0])
        order = check_random_state(self.random_state).permutation(labels.shape[0])
        fold = np.empty(labels.shape[0], dtype=np.intp)
        fold[order] = np.arange(labels.shape[0]) % n_folds
        *parts, theta = cells.fit(shared, strength, self.prior_once_, fold)
        self.weights_, self.bias_ = theta[:, :-1], theta[:, -1]
        if n_folds < 2:
            return cells.evidence.matrix(self._combined(cells.evidence))
        result = np.empty(cells.evidence.values.shape[1:])
        for k, theta in enumerate(parts):
            left, places = cells.evidence.documents(fold == k)
            result[places] = self._combined(left, theta)
        return cells.evidence.matrix(result)

    def _strength(self) -> float:
        if self.shrinkage is not None:
            if not self.shrinkage > 0:
                raise ValueError(f"shrinkage must be positive, got {self.shrinkage!r}.")
            return float(self.shrinkage)
        kinds = [type(_innermost(member.classifier)) for member in self.members_]
        return _UNLIKE if len(set(kinds)) == len(kinds) else _ALIKE

    def _log_odds(self, X: Any) -> Any:
        evidence = self._evidence(X)
        return evidence.matrix(self._combined(evidence))

    def _evidence(self, X: Any) -> _Evidence:
        views = [member.view(X) for member in self.members_]
        found = [m.classifier.log_odds(v) for m, v in zip(self.members_, views, strict=True)]
        return _Evidence.of(self.members_, views, found, self.prior_log_odds_)

    def _combined(self, evidence: _Evidence, theta: Floats | None = None) -> Floats:
        weights = self.weights_ if theta is None else theta[:, :-1]
        bias = self.bias_ if theta is None else theta[:, -1]
        result = np.array(evidence.of_labels(self._constant(weights, bias)), dtype=np.float64)
        result = np.broadcast_to(result, evidence.values.shape[1:]).copy()
        for k, values in enumerate(evidence.values):
            result += evidence.of_labels(weights[:, k]) * values
        return result

    def _constant(self, weights: Floats | None = None, bias: Floats | None = None) -> Floats:
        """Return the log-odds of a document of which no member says anything, ``(n_labels,)``."""
        weights = self.weights_ if weights is None else weights
        bias = self.bias_ if bias is None else bias
        times = 1.0 if self.prior_once_ else weights.sum(axis=1)
        is_constant = ~weights.any(axis=1) & (bias == 0)  # nothing was learned of such a label
        return np.asarray(np.where(is_constant, 1.0, times) * self.prior_log_odds_ + bias)

    def _named(self) -> list[Member]:
        """Return the members with names: those they were given, or those of their kind."""
        if not isinstance(self.members, list | tuple) or not self.members:
            raise ValueError(f"members must be a list of classifiers, got {self.members!r}.")
        found: list[Member] = []
        for given in self.members:
            member = _read_member(given)
            taken = {one.name for one in found}
            name, again = member.name, 2
            while name in taken:
                name, again = f"{member.name}_{again}", again + 1
            found.append(member._replace(name=name))
        return found

    def _read_documents(self, X: Any, reset: bool) -> Any:
        return read_any_documents(self, X, reset)


class _Evidence(NamedTuple):
    """What members say beyond the prior.

    Attributes
    ----------
    values
        ``(n_members, n_documents, n_labels)``; of candidates ``(n_members, n_cells)``.
    cells
        The candidates; ``None``: all cells.
    """

    values: Floats
    cells: Cells | None = None

    @classmethod
    def of(
        cls, members: list[Member], views: list[Any], log_odds: list[Any], prior: Floats
    ) -> _Evidence:
        """Return the evidence of documents; one whose view is empty says nothing."""
        patterns = [Cells.of(z) for z in log_odds if sparse.issparse(z)]
        if not patterns:
            values = np.empty((len(members), *log_odds[0].shape))
            for k, (member, view) in enumerate(zip(members, views, strict=True)):
                values[k] = _beyond_prior(member.classifier, log_odds[k], prior)
                values[k, _is_empty(view)] = 0.0
            return cls(values)
        cells = patterns[0]
        for pattern in patterns[1:]:
            cells = cells.union(pattern)[0]
        values = np.empty((len(members), cells.n))
        for k, (member, view) in enumerate(zip(members, views, strict=True)):
            found = _at(cells, log_odds[k])
            values[k] = _beyond_prior(member.classifier, found, prior[cells.label])
            values[k, _is_empty(view)[cells.document]] = 0.0
        return cls(values, cells)

    def some(self, members: list[int]) -> _Evidence:
        """Return the evidence of some members."""
        return self._replace(values=self.values[members])

    def documents(self, rows: NDArray[np.bool_]) -> tuple[_Evidence, Any]:
        """Return the evidence of some documents, and where they are among the values of all."""
        if self.cells is None:
            return _Evidence(self.values[:, rows]), rows
        cells, places = self.cells.take(np.flatnonzero(rows))
        return _Evidence(self.values[:, places], cells), places

    def of_labels(self, numbers: Floats) -> Floats:
        """Return one number per label as something that values can be multiplied with."""
        return numbers if self.cells is None else numbers[self.cells.label]

    def matrix(self, values: Floats) -> Any:
        """Return values as log-odds: dense, or a CSR array of the candidates."""
        return values if self.cells is None else self.cells.matrix(values)


@dataclass(frozen=True)
class _Learning:
    """Evidence to learn weights from, with what is true."""

    evidence: _Evidence
    labels: LabelMatrix
    weight: NDArray[np.float64] | None
    prior: Floats

    def documents(self, rows: NDArray[np.bool_]) -> _Learning:
        """Return some of the documents."""
        weight = None if self.weight is None else self.weight[rows]
        index = np.flatnonzero(rows)
        return _Learning(
            self.evidence.documents(rows)[0], self.labels.rows(index), weight, self.prior
        )

    def choose(self) -> tuple[bool, list[int], Floats]:
        """Return whether the prior counts once, which members help, and the shared weights."""
        n_documents = self.labels.shape[0]
        most = max(_POOLED_CELLS * n_documents // max(self.evidence.values[0].size, 1), 1)
        few = np.zeros(n_documents, dtype=np.bool_)
        few[:: -(-n_documents // min(most, n_documents))] = True
        part = self if few.all() else self.documents(few)
        groups = [group for _, group, _ in part.groups(True)]
        tried = []
        for once in (True, False):
            cells = _together(groups, once)
            kept, theta = _positive_weights(cells)
            loss = cells.target - expit(
                cells.offset + cells.inputs[:, kept] @ theta[:-1] + theta[-1]
            )
            tried.append((float(cells.weight @ loss**2), not once, kept, theta))
        _, is_plain, kept, theta = min(tried, key=lambda one: one[:2])
        return not is_plain, kept, theta

    def fit(
        self, shared: Floats, strength: float, once: bool, fold: NDArray[np.intp]
    ) -> list[Floats]:
        """Return weights and bias of every label, ``(n_labels, n_members + 1)``.

        Of the documents that are not in each fold; last, of all of them.
        """
        n_folds = int(fold.max(initial=0)) + 1 if len(fold) > 1 else 0
        thetas = [np.zeros((self.labels.shape[1], len(shared))) for _ in range(n_folds + 1)]
        precision = np.full(len(shared), strength)
        precision[-1] /= 10  # a bias is a label's own more than its weights are
        for columns, cells, document in self.groups(once):
            whole = fit_logistic(cells, Prior(shared, precision))
            thetas[-1][columns] = whole
            for k in range(n_folds):
                # A part has a part of the documents, and of the prior that is meant for all.
                share = float(np.mean(fold != k))
                part = cells.some((document < 0) | (fold[document] != k), document < 0, share)
                prior = Prior(shared, share * precision)
                thetas[k][columns] = fit_logistic(part, prior, whole)
        for k, theta in enumerate(thetas):
            theta[:, :-1] = np.maximum(theta[:, :-1], 0.0)  # nobody is believed the wrong way round
            rows = np.flatnonzero(fold != k)
            weight = None if self.weight is None else self.weight[rows]
            theta[self.labels.rows(rows).constant(weight)] = 0.0
        return thetas

    def groups(
        self, once: bool
    ) -> Iterator[tuple[NDArray[np.intp], GroupedCells, NDArray[np.intp]]]:
        """Yield labels, their cells and the cells' documents, some labels at a time."""
        n_documents, n_labels = self.labels.shape
        width = max(_BLOCK_CELLS // max(n_documents, 1), 1)
        order = None
        if self.evidence.cells is not None:
            order = np.argsort(self.evidence.cells.label, kind="stable")
        for first in range(0, n_labels, width):
            columns = np.arange(first, min(first + width, n_labels))
            yield columns, *self._group(columns, order, once)

    def _group(
        self, columns: NDArray[np.intp], order: NDArray[np.intp] | None, once: bool
    ) -> tuple[GroupedCells, NDArray[np.intp]]:
        labels = self.labels.columns(columns)
        if order is None:
            values = self.evidence.values[:, :, columns].transpose(0, 2, 1)
            inputs = values.reshape(len(values), -1)
            truth = labels.dense().T.ravel()
            document = np.tile(np.arange(self.labels.shape[0]), len(columns))
            label = np.repeat(np.arange(len(columns)), self.labels.shape[0])
        else:
            cells = self.evidence.cells
            assert cells is not None
            ends = np.searchsorted(cells.label[order], [columns[0], columns[-1] + 1])
            places = order[ends[0] : ends[1]]
            inputs = self.evidence.values[:, places]
            document, label = cells.document[places], cells.label[places] - columns[0]
            truth = cells.at(self.labels.positive)[places]
            if self.labels.unknown is not None:
                truth = np.where(cells.at(self.labels.unknown)[places] > 0, np.nan, truth)
        weight = np.ones(len(truth)) if self.weight is None else self.weight[document]
        prior = self.prior[columns]
        if self.labels.shape[0] >= _MANY:
            highest = inputs.max(axis=0) + prior[label]
            weight = weight * _times_counted(highest, document, truth)
        return _grouped(inputs, truth, weight, label, document, prior, once)


def _grouped(
    inputs: Floats,
    truth: Floats,
    weight: Floats,
    label: NDArray[np.intp],
    document: NDArray[np.intp],
    prior: Floats,
    once: bool,
) -> tuple[GroupedCells, NDArray[np.intp]]:
    """Group cells by label; those that cannot matter become one cell of their label.

    A cell cannot matter where no member finds the label likely and the document lacks it. Their
    mean, with as much weight as they have together, keeps the bias where it belongs. Returns the
    documents of the cells, too; −1 for such a mean.
    """
    n_labels, of_prior = len(prior), prior[label]
    known = ~np.isnan(truth) & (weight > 0)
    far = known & (truth == 0) & ((inputs + of_prior) < _FAR).all(axis=0)
    near = np.flatnonzero(known & ~far)
    n_far = np.bincount(label[far], weight[far], n_labels)
    some = np.flatnonzero(n_far)
    means = [np.bincount(label[far], weight[far] * one[far], n_labels)[some] for one in inputs]
    all_labels = np.concatenate([label[near], some])
    all_inputs = np.hstack([inputs[:, near], np.array(means) / n_far[some]]).T
    order = np.argsort(all_labels, kind="stable")
    start = np.searchsorted(all_labels[order], np.arange(n_labels + 1))
    offset = prior[all_labels[order]]
    documents = np.concatenate([document[near], np.full(len(some), -1)])[order]
    cells = GroupedCells(
        start,
        all_inputs[order] + (0.0 if once else offset[:, None]),
        offset if once else np.zeros(len(order)),
        np.concatenate([truth[near], np.zeros(len(some))])[order],
        np.concatenate([weight[near], n_far[some]])[order],
    )
    return cells, documents


def _times_counted(highest: Floats, document: NDArray[np.intp], truth: Floats) -> Floats:
    """Return how often a cell counts, 0 if it is not visited, where there are very many.

    Which documents are visited is the same for all labels, so that their order does not matter.
    """
    drawn = (document.astype(np.uint64) * np.uint64(2654435761) >> np.uint64(8)) % np.uint64(16)
    times = np.ones(len(truth))
    for below, every in _THINNED:
        low = (highest < below) & (truth == 0)
        times[low] = np.where(drawn[low] % np.uint64(every) == 0, float(every), 0.0)
    return times


def _together(groups: list[GroupedCells], once: bool) -> GroupedCells:
    """Return cells, grouped with the prior counted once, as those of one label."""
    inputs, offset, target, weight = (
        np.concatenate([getattr(group, name) for group in groups])
        for name in ("inputs", "offset", "target", "weight")
    )
    if not once:
        inputs, offset = inputs + offset[:, None], np.zeros(len(offset))
    return GroupedCells(np.array([0, len(target)]), inputs, offset, target, weight)


def _positive_weights(cells: GroupedCells) -> tuple[list[int], Floats]:
    """Fit shared weights; while one is not positive, leave out the smallest."""
    kept = list(range(cells.inputs.shape[1]))
    while True:
        some = replace(cells, inputs=cells.inputs[:, kept])
        prior = Prior(np.zeros(len(kept) + 1), np.full(len(kept) + 1, _RIDGE))
        (theta,) = fit_logistic(some, prior)
        if theta[:-1].min() > 0:
            return kept, theta
        if len(kept) == 1:  # nothing helps: what is left out of a fold, or of itself, errs a little
            return kept, np.array([0.0, theta[-1]])
        kept.pop(int(theta[:-1].argmin()))


def _read_member(given: Any) -> Member:
    if isinstance(given, Member):
        return given
    if not isinstance(given, tuple | list):
        classifier = as_content(given)
        return Member(name_of(classifier), None, classifier)
    if len(given) not in (2, 3) or not isinstance(given[0], str):
        raise ValueError(
            "A member must be a classifier, (name, classifier) or (name, transformer, classifier), "
            f"got {given!r:.80}."
        )
    name, *features, classifier = given
    if "__" in name or not name or name in ("prior", "members", "shrinkage", "random_state"):
        raise ValueError(
            f"The name of a member must be a word of its own, without '__', got {name!r}."
        )
    return Member(name, features[0] if features else None, as_content(classifier))


def name_of(classifier: Any) -> str:
    """Return the name of a classifier in the registry, else that of its class."""
    kind = type(_innermost(classifier))
    for name, place in PARTS["content"].items():
        if place.endswith(f".{kind.__name__}"):
            return name
    return kind.__name__.lower()


def _innermost(classifier: Any) -> Any:
    """Return what is inside wrappers and pipelines."""
    inner = getattr(classifier, "estimator", None)
    if inner is not None:
        return _innermost(inner)
    steps = getattr(classifier, "steps", None)
    return _innermost(steps[-1][1]) if steps else classifier


def _beyond_prior(classifier: Any, log_odds: Floats, prior: Floats) -> Floats:
    """Return finite evidence beyond the prior, label by label along the last axis.

    Naive Bayes multiplies words as if each were news: its evidence is the logarithm of its
    log-odds. A share of k votes is that of k + 1, the last vote being the prior's, so that none of
    k is not impossible.
    """
    inner = _innermost(classifier)
    if isinstance(inner, NaiveBayes):
        beyond = log_odds - prior
        return np.asarray(np.sign(beyond) * np.log1p(np.abs(beyond)))
    votes = _votes(inner)
    if votes is not None:
        share = (votes * expit(log_odds) + expit(prior)) / (votes + 1)
        return log_odds_of(share) - prior
    return log_odds - prior


def _votes(classifier: Any) -> int | None:
    """Return how many vote where probabilities are shares of votes; ``None`` where they are not."""
    if isinstance(classifier, NearestNeighbours):
        return int(classifier.n_neighbors)
    trees = getattr(classifier, "n_estimators", None)
    return int(trees) if trees is not None and hasattr(classifier, "estimators_") else None


def _is_empty(view: Any) -> NDArray[np.bool_]:
    """Return which documents a view has nothing of; all are there where it is not numbers."""
    if sparse.issparse(view):
        return np.diff(sparse.csr_array(view).indptr) == 0
    if getattr(view, "ndim", 0) == 2 and np.asarray(view).dtype.kind == "f":
        return np.isnan(np.asarray(view)).all(axis=1)
    return np.zeros(_length(view), dtype=np.bool_)


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _at(cells: Cells, log_odds: Any) -> Floats:
    """Return a member's log-odds at all candidates; where it has none, its lowest of the document.

    A document without any candidate of its own has the lowest of all.
    """
    if not sparse.issparse(log_odds):
        return cells.at(log_odds)
    own = Cells.of(log_odds)
    place, found = cells.find(own)
    lowest = np.full(cells.shape[0], log_odds.data.min(initial=0.0))
    some = np.flatnonzero(np.diff(own.indptr))
    if len(some):
        lowest[some] = np.minimum.reduceat(log_odds.data, own.indptr[some])
    values = lowest[cells.document]
    values[place[found]] = log_odds.data[found]
    return values


def _scaled(cell: ContentContributions, prior: float, beyond: float) -> ContentContributions:
    """Return contributions to the log-odds as contributions to the evidence beyond the prior."""
    whole = cell.log_odds - prior
    factor = beyond / whole if whole else 0.0
    terms = tuple(t._replace(log_odds=factor * t.log_odds) for t in cell.terms)
    return replace(
        cell,
        terms=terms,
        constant=factor * (cell.constant - prior),
        clipped=factor * cell.clipped,
    )


def _joined(
    sum_: ContentContributions, part: ContentContributions, weight: float
) -> ContentContributions:
    """Add a member's contributions, times its weight; terms of one name become one."""
    terms = {term.term: term for term in sum_.terms}
    for term in part.terms:
        before = terms.get(term.term)
        added = weight * term.log_odds + (before.log_odds if before else 0.0)
        value = before.value if before else term.value
        terms[term.term] = term._replace(log_odds=added, value=value)
    strongest = sorted(terms.values(), key=lambda term: -abs(term.log_odds))
    return ContentContributions(
        tuple(term for term in strongest if term.log_odds),
        sum_.constant + weight * part.constant,
        sum_.neighbours + part.neighbours,
        sum_.clipped + weight * part.clipped,
    )
