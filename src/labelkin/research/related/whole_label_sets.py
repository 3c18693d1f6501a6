"""Methods that learn from whole label sets: powersets, random k-labelsets, trees and forests.

Label powerset (Tsoumakas & Katakis 2007; pruned sets by Read, Pfahringer & Holmes 2008): whole
label sets are the classes of one multiclass problem. RAkEL (Tsoumakas, Katakis & Vlahavas 2011) is
the vote of many small powersets, each over k labels drawn at random.

Clare & King (2001) extended C4.5 to label sets by the sum of the entropies of all labels,

    entropy(S) = − Σ_labels [ p log p + (1 − p) log (1 − p) ].

scikit-learn's multi-output trees use the mean of the same entropies, which chooses the same splits;
C4.5's gain ratio and pruning are not included.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from math import comb
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelkin.content.any_classifier import as_content
from labelkin.content.platt_svm import PlattSVM
from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix, in_container
from labelkin.method.label_sets import group_equal_rows
from labelkin.odds import constant_labels, count_log_odds, to_log_odds
from labelkin.scikit_learn import with_random_state
from labelkin.validation import check_choice, check_whole_number

_Matrix = NDArray[np.float64]
_Columns = NDArray[np.int64]


class LabelSetClassifier(LogOddsClassifier):
    """A classifier that decides on whole label sets, unless ``decide`` is ``"labels"``."""

    decide: str = "label_set"

    def predict(self, X: Any) -> Any:
        """Return the most probable label set of each document, or decisions label by label.

        In the form of :meth:`labelkin.estimator.LogOddsClassifier.predict`.
        """
        if getattr(self, "target_kind_", "") != "multilabel" or self.decide == "labels":
            return super().predict(X)
        check_is_fitted(self)
        best = self._best_sets(self._read_documents(X, reset=False))
        return in_container(best, self.target_container_)

    @abstractmethod
    def _best_sets(self, X: Any) -> NDArray[np.bool_]:
        """Return the most probable label sets, ``(n_documents, n_labels)``."""


class LabelPowerset(LabelSetClassifier):
    """One multiclass classifier whose classes are the label sets of the training documents.

    A label's probability is that of all the sets that have it. Label sets that no training document
    has are never predicted.

    Parameters
    ----------
    estimator : classifier or str, optional
        A multiclass classifier; :class:`labelkin.PlattSVM`, one label set against the rest, if none
        is given. Without ``predict_proba`` the set it predicts has all probability.
    min_documents : int, default 1
        Label sets of fewer training documents are pruned: each such document counts as one of each
        of its largest frequent subsets instead, or is left out.
    keep_subsets : int, default 2
        How many subsets that is at most (strategy A of Read et al., b).
    decide : "label_set" or "labels", default "label_set"
        Whether ``predict`` returns the most probable label set (right as a whole), or each label
        whose probability exceeds one half (right label by label).
    clip : float, default 1e-6
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    n_jobs : int, optional
        Given to an estimator that takes it and has none.
    random_state : int or RandomState, optional
        Seed of an estimator without a seed.

    Attributes
    ----------
    label_sets_ : bool array of shape (n_sets, n_labels)
        The classes.
    estimator_ : classifier, or None
        Fitted; ``None`` where there is one label set only.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> LabelPowerset(LogisticRegression()).fit(X, Y).predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        min_documents: int = 1,
        keep_subsets: int = 2,
        decide: Literal["label_set", "labels"] = "label_set",
        clip: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.min_documents = min_documents
        self.keep_subsets = keep_subsets
        self.decide = decide
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        for name in ("min_documents", "keep_subsets"):
            check_whole_number(name, getattr(self, name))
        check_choice("decide", self.decide, ("label_set", "labels"))
        self.prior_ = label_priors(labels)
        positive = whole_label_sets(labels, type(self).__name__)
        self.label_sets_, rows, classes = prune_label_sets(
            positive, self.min_documents, self.keep_subsets
        )
        self.estimator_ = None
        if len(self.label_sets_) > 1:
            self.estimator_ = multiclass(self.estimator, self.n_jobs, self.random_state)
            with warnings.catch_warnings():
                # half as many label sets as documents: so it is, and nothing can be done about it
                warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
                self.estimator_.fit(X[rows], classes)

    def _best_sets(self, X: Any) -> NDArray[np.bool_]:
        only = np.zeros(X.shape[0])
        best = only if self.estimator_ is None else np.asarray(self.estimator_.predict(X))
        return self.label_sets_[best.astype(np.int64)]

    def _log_odds(self, X: Any) -> _Matrix:
        if self.estimator_ is not None and hasattr(self.estimator_, "predict_proba"):
            share = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
            probability = share @ self.label_sets_[self.estimator_.classes_]
        else:
            probability = self._best_sets(X).astype(np.float64)
        log_odds = to_log_odds(np.clip(probability, 0.0, 1.0), clip=self.clip)
        return np.where(np.isnan(self.prior_), log_odds, self.prior_)


def label_priors(labels: LabelMatrix) -> _Matrix:
    """Return the log-odds of constant labels, NaN for the others, ``(n_labels,)``."""
    counts = labels.counts()
    return np.where(constant_labels(*counts), count_log_odds(*counts), np.nan)


def whole_label_sets(labels: LabelMatrix, who: str) -> sparse.csr_array:
    """Return the labels of classifiers that learn from whole label sets; unknown cells raise."""
    if labels.unknown is not None:
        raise ValueError(
            f"{who} learns from whole label sets and cannot leave out unknown cells, got "
            f"{labels.unknown.nnz} of them. Leave those documents out, or use a classifier that "
            "learns label by label, such as ClassifierChain."
        )
    return labels.positive


def prune_label_sets(
    positive: sparse.csr_array, min_documents: int, keep_subsets: int
) -> tuple[NDArray[np.bool_], _Columns, _Columns]:
    """Return the frequent label sets, and which documents count as which of them.

    Returns
    -------
    label_sets : bool array of shape (n_sets, n_labels)
    rows, classes : arrays of the same length
        A document, and the label set it counts as; pruned documents occur several times or never.
        If no label set is frequent, all are kept.

    Examples
    --------
    >>> Y = sparse.csr_array(np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1], [1, 1, 1]]))
    >>> label_sets, rows, classes = prune_label_sets(Y, 2, 2)
    >>> rows.tolist(), [np.flatnonzero(label_sets[c]).tolist() for c in classes]
    ([0, 1, 2, 3, 4, 4], [[0], [0], [1, 2], [1, 2], [1, 2], [0]])
    """
    first, group = group_equal_rows([positive])
    sets = positive[first].toarray() > 0
    count = np.bincount(group, minlength=len(sets))
    frequent = np.flatnonzero(count >= min_documents)
    if len(frequent) in (0, len(sets)):
        return sets, np.arange(len(group)), group
    order = frequent[np.lexsort((-count[frequent], -sets[frequent].sum(axis=1)))]
    stands_for: dict[int, list[int]] = {int(s): [k] for k, s in enumerate(order)}
    for s in np.flatnonzero(count < min_documents):
        inside = ~(sets[order] & ~sets[s]).any(axis=1) & sets[order].any(axis=1)
        stands_for[int(s)] = np.flatnonzero(inside)[:keep_subsets].tolist()
    pairs = [(row, k) for row, s in enumerate(group) for k in stands_for[int(s)]]
    rows, classes = np.array(pairs, dtype=np.int64).T
    return sets[order], rows, classes


def multiclass(estimator: Any, n_jobs: int | None, random_state: Any) -> Any:
    """Return an unfitted classifier of label sets."""
    if estimator is None:
        made: Any = PlattSVM()
    elif isinstance(estimator, str):
        made = as_content(estimator)
    elif isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(
            f"estimator must be a classifier such as PlattSVM(), got {estimator!r:.80}."
        )
    else:
        made = clone(estimator)
    if n_jobs is not None and made.get_params().get("n_jobs", 1) is None:
        made.set_params(n_jobs=n_jobs)
    return with_random_state(made, random_state)


class RAkEL(LogOddsClassifier):
    """Random k-labelsets: many powersets over a few labels each vote.

    Parameters
    ----------
    estimator : classifier or str, optional
        The multiclass classifier of each powerset: see :class:`LabelPowerset`.
    subset_size : int, default 3
        k: labels in a subset; all where there are fewer.
    n_subsets : int, optional
        How many different subsets are drawn; twice as many as labels if none is given. More follow
        until every label is in one.
    variant : "hard" or "soft", default "hard"
        Whether a powerset votes for its best label set, or with the labels' probabilities.
    clip : float, default 1e-6
        Shares of votes closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    n_jobs : int, optional
        Number of subsets fitted in parallel.
    random_state : int or RandomState, optional
        Seed of the subsets, and of an estimator without a seed.

    Attributes
    ----------
    subsets_ : list of arrays
        Label columns of each subset.
    powersets_ : list of LabelPowerset

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> model = RAkEL(LogisticRegression(), subset_size=2, random_state=0).fit(X, Y)
    >>> model.predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        subset_size: int = 3,
        n_subsets: int | None = None,
        variant: Literal["hard", "soft"] = "hard",
        clip: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.subset_size = subset_size
        self.n_subsets = n_subsets
        self.variant = variant
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        check_whole_number("subset_size", self.subset_size)
        if self.n_subsets is not None:
            check_whole_number("n_subsets", self.n_subsets)
        check_choice("variant", self.variant, ("hard", "soft"))
        whole_label_sets(labels, type(self).__name__)
        self.prior_ = label_priors(labels)
        varying = np.flatnonzero(np.isnan(self.prior_))
        random = check_random_state(self.random_state)
        powerset = LabelPowerset(
            multiclass(self.estimator, None, random), clip=self.clip, random_state=0
        )
        places = draw_subsets(len(varying), self.subset_size, self.n_subsets, random)
        self.subsets_ = [varying[place] for place in places]
        self.powersets_ = Parallel(n_jobs=self.n_jobs)(
            delayed(clone(powerset).fit)(X, labels.columns(subset)) for subset in self.subsets_
        )

    def _log_odds(self, X: Any) -> _Matrix:
        votes, voters = np.zeros((X.shape[0], len(self.prior_))), np.zeros(len(self.prior_))
        for subset, powerset in zip(self.subsets_, self.powersets_, strict=True):
            voters[subset] += 1
            if self.variant == "soft":
                votes[:, subset] += powerset.predict_proba(X)
            else:
                votes[:, subset] += powerset._best_sets(X)
        share = np.clip(votes / np.maximum(voters, 1), 0.0, 1.0)
        return np.where(np.isnan(self.prior_), to_log_odds(share, clip=self.clip), self.prior_)


def draw_subsets(
    n_labels: int, size: int, n_subsets: int | None, random: Any
) -> list[NDArray[np.int64]]:
    """Draw different subsets of label columns, then such as hold those that are in none."""
    if n_labels <= size:
        return [np.arange(n_labels)] if n_labels else []
    wanted = min(2 * n_labels if n_subsets is None else n_subsets, comb(n_labels, size))
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < wanted:
        drawn[tuple(sorted(random.permutation(n_labels)[:size].tolist()))] = None
    left = sorted(set(range(n_labels)) - {j for subset in drawn for j in subset})
    while left:
        others = random.permutation(np.setdiff1d(np.arange(n_labels), left[:size]))
        chosen = [*left[:size], *others.tolist()][:size]
        drawn[tuple(sorted(chosen))] = None
        left = left[size:]
    return [np.array(subset) for subset in drawn]


class _Trees(LogOddsClassifier):
    """Trees of the labels that are not constant."""

    clip: float
    why_not_saved = (
        "Compiled trees follow the numbers of a file without a look; train again where it is used, "
        "or joblib.dump for files that are only your own."
    )

    def _grow(self, trees: Any, X: Any, labels: LabelMatrix) -> None:
        positive = whole_label_sets(labels, type(self).__name__)
        self.prior_ = label_priors(labels)
        varying = np.flatnonzero(np.isnan(self.prior_))
        self.trees_ = None
        if len(varying):
            targets = positive[:, varying].toarray().astype(np.int64)
            self.trees_ = trees.fit(X, targets.ravel() if len(varying) == 1 else targets)

    def _log_odds(self, X: Any) -> _Matrix:
        log_odds = np.tile(self.prior_, (X.shape[0], 1))
        if self.trees_ is not None:
            found = self.trees_.predict_proba(X)
            shares = found if isinstance(found, list) else [found]
            probability = np.column_stack([share[:, 1] for share in shares])
            log_odds[:, np.isnan(self.prior_)] = to_log_odds(probability, clip=self.clip)
        return log_odds


class MultilabelTree(_Trees):
    """One decision tree for all labels; a leaf gives each label the share of its documents.

    Parameters
    ----------
    max_depth : int, optional
        How deep it grows at most; until leaves are pure or small if none is given.
    min_documents_leaf : int, default 2
        Documents that a leaf has at least, as in C4.5.
    clip : float, default 1e-3
        Shares closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    random_state : int or RandomState, optional
        Chooses among splits that are equally good.

    Attributes
    ----------
    trees_ : DecisionTreeClassifier, or None
        ``None`` where all labels are constant.

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [["a"], ["a"], ["b", "c"], ["b", "c"]]
    >>> MultilabelTree(random_state=0).fit(X, Y).predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        max_depth: int | None = None,
        *,
        min_documents_leaf: int = 2,
        clip: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_documents_leaf = min_documents_leaf
        self.clip = clip
        self.random_state = random_state

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        tree = DecisionTreeClassifier(
            criterion="entropy",
            max_depth=self.max_depth,
            min_samples_leaf=self.min_documents_leaf,
            random_state=self.random_state,
        )
        self._grow(tree, X, labels)


class MultilabelForest(_Trees):
    """A random forest of multilabel trees; probabilities are averaged.

    The strong baseline on tables of numbers: Madjarov et al. (2012) and Bogatinovski et al. (2022)
    found forests of such trees among the best of all.

    Parameters
    ----------
    n_trees : int, default 100
        Number of trees.
    max_features : "sqrt" or float, default "sqrt"
        Features that a split may choose from: the root of their number, or a share of them.
    max_depth : int, optional
        How deep a tree grows at most.
    min_documents_leaf : int, default 1
        Documents that a leaf has at least.
    clip : float, default 1e-3
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    n_jobs : int, optional
        Number of trees grown in parallel.
    random_state : int or RandomState, optional
        Seed of the documents and features of each tree.

    Attributes
    ----------
    trees_ : RandomForestClassifier, or None
        ``None`` where all labels are constant.

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> MultilabelForest(10, random_state=0).fit(X, Y).predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        n_trees: int = 100,
        *,
        max_features: str | float = "sqrt",
        max_depth: int | None = None,
        min_documents_leaf: int = 1,
        clip: float = 1e-3,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_documents_leaf = min_documents_leaf
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        forest = RandomForestClassifier(
            n_estimators=self.n_trees,
            criterion="entropy",
            max_features=self.max_features,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_documents_leaf,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        self._grow(forest, X, labels)
