"""Decision trees for label sets: one tree, its entropy summed over all labels.

Clare & King (2001) taught C4.5 label sets by summing the entropy of every label, yes and no:

    entropy(S) = − Σ_labels [ p log p + (1 − p) log (1 − p) ].

scikit-learn's multi-output trees average the same entropies over the outputs; sum and mean choose
the same splits, so they grow the tree here. (C4.5's gain ratio and its pruning are not in it.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix
from labelkin.odds import log_odds_of
from labelkin.research.related.powerset import label_priors, whole_label_sets

Matrix = NDArray[np.float64]


class _Trees(LogOddsClassifier):
    """What a tree and a forest share: labels that vary go in, probabilities come out."""

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

    def _log_odds(self, X: Any) -> Matrix:
        log_odds = np.tile(self.prior_, (X.shape[0], 1))
        if self.trees_ is not None:
            found = self.trees_.predict_proba(X)
            shares = found if isinstance(found, list) else [found]
            probability = np.column_stack([share[:, 1] for share in shares])
            log_odds[:, np.isnan(self.prior_)] = log_odds_of(probability, clip=self.clip)
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
        How many trees.
    max_features : "sqrt" or float, default "sqrt"
        Features that a split may choose from: the root of their number, or a share of them.
    max_depth : int, optional
        How deep a tree grows at most.
    min_documents_leaf : int, default 1
        Documents that a leaf has at least.
    clip : float, default 1e-3
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    n_jobs : int, optional
        Trees grown at a time.
    random_state : int or RandomState, optional
        Of the documents and features of each tree.

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
