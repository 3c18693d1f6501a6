"""Content evidence by several classifiers or several views of a document.

The paper's equation 1 adds up evidence of the document and of the other labels beyond the prior.
In the same way several content classifiers m with log-odds z are combined:

    log-odds = lp + Σ_m a_m (z_m − lp) + b,        lp: the log-odds of the prior

Views repeat each other. The weights a are therefore learned from out-of-fold evidence, first for
all labels together, then for each label with these as prior mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from labelkin.content.any_classifier import PerLabel
from labelkin.content.forest import RandomForest
from labelkin.content.members import (
    Member,
    MemberEvidence,
    TrainingEvidence,
    beyond_prior,
    innermost,
    is_empty,
    read_members,
)
from labelkin.content.platt_svm import PlattSVM
from labelkin.content.term_contributions import (
    ContentContributions,
    ContributionsOfDocuments,
    NeighbourVote,
    check_columns,
    contributions_of,
    terms_of,
    with_term_names,
)
from labelkin.estimator import LogOddsClassifier, fit_content, read_any_documents
from labelkin.label_matrix import LabelMatrix
from labelkin.odds import to_log_odds
from labelkin.scikit_learn import (
    check_metadata,
    n_rows,
    read_sample_weight,
    takes_sample_weight,
    with_random_state,
)
from labelkin.text.terms import TextView

_Floats = NDArray[np.float64]

#: Default shrinkage for different classifiers, and for the same classifier on several views.
_DIFFERENT, _SAME = 30.0, 100.0
_FOLDS = 5
#: Share of zeros above which a dense matrix contains words, and number of rows inspected.
_ZEROS, _ROWS = 0.5, 1000
#: Minimum number of documents to learn the weights of several classifiers.
_FEW = 30


class ContentEnsemble(LogOddsClassifier):
    """Several content classifiers, or one classifier on several views of a document, as one.

    ``LabelDependenceClassifier(content=[…])`` makes an ensemble of a list.

    Parameters
    ----------
    members : sequence, default ("naive_bayes", "nearest_neighbours", "svm")
        Each a content classifier (anything ``content=`` takes), a pair (name, classifier), or a
        triple (name, transformer, classifier): the transformer, or a function, returns the
        member's view of the documents. It is fitted once, on all documents, without their labels.
    shrinkage : float, optional
        Strength of the prior of a label's weights around those of all labels. Default: 30 for
        different classifiers, 100 if two are of one class.
    random_state : int or RandomState, optional
        Seed of the folds for learning the weights, and of members without an own seed.

    Attributes
    ----------
    members_ : list of Member
        The fitted members with a positive weight.
    dropped_ : list of str
        Names of the members without a positive weight.
    weights_ : array of shape (n_labels, n_members)
        Weights of the evidence of each member.
    bias_ : array of shape (n_labels,)
    prior_log_odds_ : array of shape (n_labels,)
    prior_once_ : bool
        Whether the prior is counted once, or as often as the members together, chosen by the
        out-of-fold Brier score.

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
        """Accept the documents that all members accept."""
        tags = super().__sklearn_tags__()
        members = read_members(self.members)
        seen = [get_tags(m.features or m.classifier).input_tags for m in members]
        for name in ("sparse", "string", "allow_nan"):
            setattr(tags.input_tags, name, all(getattr(one, name) for one in seen))
        tags.input_tags.positive_only = any(one.positive_only for one in seen)
        tags.classifier_tags.poor_score = any(
            get_tags(m.classifier).classifier_tags.poor_score for m in members
        )
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of the members, ``svm__C``.

        Parameters
        ----------
        deep : bool, default True
            Whether to include the parameters of the members.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = super().get_params(deep=False)
        try:
            members = read_members(self.members) if deep else []
        except (TypeError, ValueError):  # fit raises the error
            members = []
        for name, features, classifier in members:
            for key, part in ((name, classifier), (f"{name}_features", features)):
                if part is not None:
                    found |= {key: part, **{f"{key}__{k}": v for k, v in part.get_params().items()}}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the members.

        Parameters
        ----------
        **params : dict
            Values by the names of :meth:`get_params`.

        Returns
        -------
        self
        """
        self.members = params.pop("members", self.members)
        if params.keys() - super().get_params(deep=False).keys():
            self.members = [
                (
                    member.name,
                    params.pop(f"{member.name}_features", member.features),
                    params.pop(member.name, member.classifier),
                )
                for member in read_members(self.members)
            ]
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Fit the members and learn their weights.

        Parameters
        ----------
        X : documents
            Documents in any form that the members, or their transformers, accept.
        y : any kind of labels
            Labels of the training documents.
        **metadata
            ``sample_weight``, for the members that accept it and for the weights.

        Returns
        -------
        self
        """
        self._fit(X, y, metadata, out_of_fold=False)
        return self

    # As in PlattSVM: a weight is not a repetition, but metadata routing must know it.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012 (read by scikit-learn)

    def fit_out_of_fold(self, X: Any, y: Any, **metadata: Any) -> Any:
        """Fit, and return the out-of-fold log-odds of the training documents.

        Parameters
        ----------
        X : documents
            Training documents, as in :meth:`fit`.
        y : any kind of labels
            Labels of the training documents.
        **metadata
            As in :meth:`fit`.

        Returns
        -------
        array or CSR array of shape (n_documents, n_labels)
        """
        return self._fit(X, y, metadata, out_of_fold=True)

    def decompose(self, X: Any) -> tuple[Any, dict[str, _Floats]]:
        """Return the log-odds and the contribution of each member to them.

        Parameters
        ----------
        X : documents
            Documents in the form used for :meth:`fit`.

        Returns
        -------
        log_odds : array or CSR array of shape (n_documents, n_labels)
        contributions : dict
            Name of the member, or ``"prior"`` for the rest, to an array like the log-odds. The
            arrays add up to the log-odds.
        """
        check_is_fitted(self)
        evidence = self._evidence(self._read_documents(X, reset=False))
        label = evidence.cells.label
        parts = {"prior": evidence.matrix(self._constant(self._theta())[label])}
        for k, member in enumerate(self.members_):
            parts[member.name] = evidence.matrix(self.weights_[label, k] * evidence.values[k])
        return evidence.matrix(self._combined(evidence)), parts

    def term_contributions(self, X: Any, columns: ArrayLike) -> ContributionsOfDocuments | None:
        """Return the contributions of terms to the log-odds of some labels, for a few documents.

        ``[i][k]`` is document i and label ``columns[k]``. Terms of several members are added.

        Parameters
        ----------
        X : documents
            Documents in the form used for :meth:`fit`.
        columns : array of int
            Columns of labels.

        Returns
        -------
        list of lists of ContentContributions, or None
            ``None`` if a member has no exact contributions.
        """
        check_is_fitted(self)
        documents = self._read_documents(X, reset=False)
        asked = check_columns(columns, len(self.bias_))
        constant, prior = self._constant(self._theta())[asked], self.prior_log_odds_[asked]
        parts: list[Any] = [[[] for _ in asked] for _ in range(n_rows(X))]
        for k, member in enumerate(self.members_):
            view = member.view(documents)
            found = contributions_of(member.classifier, view, asked)
            names = None if member.features is None else terms_of(member.features)
            if found is None or (member.features is not None and names is None):
                return None
            given = np.array([[cell.log_odds for cell in row] for row in found])
            added = self.weights_[asked, k] * beyond_prior(member.classifier, given, prior)
            added[is_empty(view)] = 0.0
            size = given - prior
            factor = np.divide(added, size, out=np.zeros_like(size), where=size != 0)
            for i, row in enumerate(found):
                for at, cell in enumerate(row):
                    parts[i][at].append((with_term_names(cell, names), prior[at], factor[i, at]))
        return [
            [_sum_of(*one) for one in zip(constant.tolist(), row, strict=True)] for row in parts
        ]

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        self._fit(X, labels, {}, out_of_fold=False)

    def _fit(self, X: Any, y: Any, metadata: dict[str, Any], out_of_fold: bool) -> Any:
        check_metadata(self, metadata, "sample_weight")
        X, labels = self._read(X, y)
        X = _sorted_rows(X)
        weight = read_sample_weight(labels.positive, metadata.get("sample_weight"))
        positive, known = labels.counts(weight)
        self.prior_log_odds_ = to_log_odds((positive + 0.5) / (known + 1.0))
        # A few shrunken numbers per label: folds need not be stratified.
        fold = np.full(labels.shape[0], -1)
        if labels.shape[0] > 1:
            order = check_random_state(self.random_state).permutation(labels.shape[0])
            fold[order] = np.arange(labels.shape[0]) % _FOLDS
        asked, blank = _without_blank_views(read_members(self.members), X)
        ways = {getattr(member.classifier, "leaves_one_out", False) for member in asked}
        members, views, found = [], [], []
        for name, features, classifier in asked:
            own = None if features is None else with_random_state(features, self.random_state)
            member = Member(name, own, with_random_state(classifier, self.random_state))
            view = X if features is None else _sorted_rows(member.features.fit_transform(X))
            given = {} if weight is None or not takes_sample_weight(classifier) else metadata
            # A member fitted on all documents but one would get too large a weight next to members
            # that are fitted on four fifths of them.
            is_better_off = len(ways) > 1 and getattr(classifier, "leaves_one_out", False)
            in_folds = PredefinedSplit(fold) if is_better_off and fold.max() > 0 else None
            found.append(
                fit_content(member.classifier, view, labels, given, out_of_fold=True, cv=in_folds)
            )
            members.append(member)
            views.append(view)
        evidence = MemberEvidence.of(members, views, found, self.prior_log_odds_)
        folds = fold if out_of_fold else np.full_like(fold, -1)
        result = self._learn_weights(members, evidence, labels, weight, folds, out_of_fold)
        self.dropped_ += blank
        return result

    def _learn_weights(
        self,
        members: list[Member],
        evidence: MemberEvidence,
        labels: LabelMatrix,
        weight: _Floats | None,
        fold: NDArray[np.intp],
        out_of_fold: bool,
    ) -> Any:
        """Learn the weights, drop members that do not help, and return out-of-fold log-odds."""
        training = TrainingEvidence(evidence, labels, weight, self.prior_log_odds_)
        chosen = training.choose()
        self.prior_once_ = chosen.once
        self.dropped_ = [m.name for k, m in enumerate(members) if k not in chosen.kept]
        self.members_ = [members[k] for k in chosen.kept]
        training = training.members(chosen.kept) if self.dropped_ else training
        *parts, theta = training.fit(chosen, self._strength(), fold)
        self.weights_, self.bias_ = theta[:, :-1], theta[:, -1]
        if not out_of_fold:
            return None
        if not parts:
            return training.evidence.matrix(self._combined(training.evidence))
        result = np.empty(training.evidence.cells.n)
        for k, theta in enumerate(parts):
            left, places = training.evidence.documents(fold == k)
            result[places] = self._combined(left, theta)
        return training.evidence.matrix(result)

    def _strength(self) -> float:
        if self.shrinkage is not None:
            if not self.shrinkage > 0:
                raise ValueError(f"shrinkage must be positive, got {self.shrinkage!r}.")
            return float(self.shrinkage)
        kinds = [type(innermost(member.classifier)) for member in self.members_]
        return _DIFFERENT if len(set(kinds)) == len(kinds) else _SAME

    def _log_odds(self, X: Any) -> Any:
        evidence = self._evidence(X)
        return evidence.matrix(self._combined(evidence))

    def _evidence(self, X: Any) -> MemberEvidence:
        views = [member.view(X) for member in self.members_]
        found = [m.classifier.log_odds(v) for m, v in zip(self.members_, views, strict=True)]
        return MemberEvidence.of(self.members_, views, found, self.prior_log_odds_)

    def _combined(self, evidence: MemberEvidence, theta: _Floats | None = None) -> _Floats:
        theta = self._theta() if theta is None else theta
        label = evidence.cells.label
        result: _Floats = self._constant(theta)[label]
        for weights, values in zip(theta.T, evidence.values, strict=False):
            result += weights[label] * values
        return result

    def _theta(self) -> _Floats:
        return np.column_stack([self.weights_, self.bias_])

    def _constant(self, theta: _Floats) -> _Floats:
        """Return the log-odds of documents without evidence of members, ``(n_labels,)``."""
        times = 1.0 if self.prior_once_ else theta[:, :-1].sum(axis=1)
        is_constant = ~theta.any(axis=1)  # a constant label has no weights
        return np.asarray(np.where(is_constant, 1.0, times) * self.prior_log_odds_ + theta[:, -1])

    def _read_documents(self, X: Any, reset: bool) -> Any:
        return read_any_documents(self, X, reset)


def _without_blank_views(members: list[Member], X: Any) -> tuple[list[Member], list[str]]:
    """Return the members whose view has text, and the names of the others."""
    blank = [m.name for m in members if isinstance(m.features, TextView) and m.features.is_blank(X)]
    if len(blank) == len(members):
        return members, []  # fitting the first member raises an error
    return [member for member in members if member.name not in blank], blank


def _sorted_rows(X: Any) -> Any:
    """Return sparse rows with sorted indices, so that members need not sort them in each fold."""
    if sparse.issparse(X) and X.format == "csr" and not X.has_sorted_indices:
        return X.sorted_indices()
    return X


def _sum_of(
    constant: float, cells: list[tuple[ContentContributions, float, float]]
) -> ContentContributions:
    """Return the sum of contributions, each less its prior and times its factor."""
    terms: dict[Any, Any] = {}
    neighbours: list[NeighbourVote] = []
    clipped = 0.0
    for cell, prior, factor in cells:
        constant += factor * (cell.constant - prior)
        clipped += factor * cell.clipped
        neighbours += cell.neighbours
        for term in cell.terms:
            before = terms.get(term.term, term._replace(log_odds=0.0))
            added = before.log_odds + factor * term.log_odds
            terms[term.term] = before._replace(log_odds=float(added))
    strongest = sorted(terms.values(), key=lambda term: -abs(term.log_odds))
    return ContentContributions(
        tuple(term for term in strongest if term.log_odds),
        float(constant),
        tuple(neighbours),
        float(clipped),
    )


def default_content(X: Any) -> Any:
    """Return the classifier for documents that are words, or numbers.

    For words, that is, sparse matrices and dense ones of mostly zeros without negative values, a
    :class:`~labelkin.PlattSVM`. For other numbers of at least 30 documents a
    :class:`~labelkin.ContentEnsemble` of a random forest and a logistic regression of standardised
    features, which is better than either.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame
        The training documents.

    Examples
    --------
    >>> default_content(np.array([[0, 0, 2], [1, 0, 0]] * 20))
    PlattSVM()
    >>> [name for name, *_ in default_content(np.array([[0.5, -1.2], [0.1, 3.0]] * 20)).members]
    ['forest', 'logistic']
    """
    if n_rows(X) < _FEW or looks_like_words(X):
        return PlattSVM()
    return ContentEnsemble(
        [
            ("forest", RandomForest()),
            ("logistic", StandardScaler(), PerLabel(LogisticRegression(C=0.1, max_iter=1000))),
        ]
    )


def looks_like_words(X: Any) -> bool:
    """Return whether documents are counts or weights of words, not measurements."""
    if sparse.issparse(X):
        return True
    try:
        values = np.asarray(X[:_ROWS], dtype=np.float64)
    except (TypeError, ValueError):  # texts, or a table of other things
        return True
    if values.ndim != 2 or not values.size or np.isnan(values).any():
        return True
    return bool(values.min() >= 0 and (values == 0).mean() >= _ZEROS)
