"""Content evidence by a random forest of multilabel trees.

scikit-learn grows the trees on bootstrap samples; trees whose sample does not contain a document
give its out-of-bag evidence. Fitted forests are plain arrays of nodes (:class:`TreeNodes`), which
model files can contain because every number in them can be checked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import RandomForestRegressor
from sklearn.utils import check_random_state

from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix
from labelkin.odds import count_log_odds, to_log_odds
from labelkin.scikit_learn import check_metadata, read_sample_weight

_Floats = NDArray[np.float64]

#: Number of documents × trees in a block.
_BLOCK = 2**18


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """The nodes of all trees of a forest, tree after tree; children come after parents.

    Attributes
    ----------
    roots : int32 array of shape (n_trees,)
        The first node of every tree.
    children : int32 array of shape (n_nodes, 2)
        The next node if the feature is at most the threshold, and if not; both −1 at a leaf.
    feature : int32 array of shape (n_nodes,)
        The feature that is compared; 0 at a leaf.
    threshold : float32 or float64 array of shape (n_nodes,)
    leaf : int32 array of shape (n_nodes,)
        The row of a leaf in ``shares``; −1 at other nodes.
    shares : float32 array of shape (n_leaves, n_labels)
        The share of a leaf's documents that have each label.
    n_features : int
        Number of features.
    """

    roots: NDArray[np.int32]
    children: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    leaf: NDArray[np.int32]
    shares: NDArray[np.float32]
    n_features: int

    @classmethod
    def of(cls, forest: RandomForestRegressor, n_labels: int) -> TreeNodes:
        """Copy the nodes of a fitted forest whose targets are labels, 0 to 1."""
        trees = [estimator.tree_ for estimator in forest.estimators_]
        ends = np.cumsum([0, *(tree.node_count for tree in trees)])
        children = np.concatenate(
            [
                first + np.column_stack([tree.children_left, tree.children_right])
                for first, tree in zip(ends, trees, strict=False)
            ]
        )
        feature, threshold, values = (
            np.concatenate([getattr(tree, name) for tree in trees])
            for name in ("feature", "threshold", "value")
        )
        is_leaf = feature < 0
        children[is_leaf] = -1
        leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
        shares = np.clip(values[is_leaf].reshape(-1, n_labels), 0.0, 1.0)
        return cls(
            ends[:-1].astype(np.int32),
            children.astype(np.int32),
            np.where(is_leaf, 0, feature).astype(np.int32),
            np.where(is_leaf, 0.0, threshold),
            leaf.astype(np.int32),
            shares.astype(np.float32),
            int(forest.n_features_in_),
        )

    def check(self) -> None:
        """Raise for nodes with indices outside the arrays, or with cycles."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "n_features"}
        kinds = {"threshold": np.float64, "shares": np.float32}
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype != kinds.get(name, np.int32):
                raise ValueError(f"a forest whose {name} are not an array of their kind")
        n_nodes, n_features = len(self.feature), self.n_features
        flat = all(arrays[name].shape == (n_nodes,) for name in ("feature", "threshold", "leaf"))
        if not flat or self.children.shape != (n_nodes, 2) or self.shares.ndim != 2:
            raise ValueError("a forest whose arrays do not fit each other")
        if type(n_features) is not int or not _are_within(self.feature, 0, n_features):
            raise ValueError("a forest of other features")
        if self.roots.ndim != 1 or not len(self.roots) or not _are_within(self.roots, 0, n_nodes):
            raise ValueError(f"a forest whose roots are not among its {n_nodes} nodes")
        if not _are_within(self.leaf, -1, len(self.shares)):
            raise ValueError("a forest with leaves without shares")
        # A walk from a node to one behind it ends.
        is_leaf, places = self.leaf >= 0, np.arange(n_nodes)[:, None]
        is_behind = (self.children > places) & (self.children < n_nodes)
        if not np.where(is_leaf[:, None], self.children == -1, is_behind).all():
            raise ValueError("a forest with children that do not come after their parents")
        if not np.isfinite(self.threshold).all() or not _are_within(self.shares, 0, 1.0000001):
            raise ValueError("a forest with invalid shares or thresholds")

    def leaves(self, X: Any, trees: slice = slice(None)) -> NDArray[np.intp]:
        """Return the leaf of each document in each tree, ``(n_documents, n_trees)``."""
        documents = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float32)
        roots = self.roots[trees]
        found = np.empty((len(documents), len(roots)), dtype=np.intp)
        step = max(_BLOCK // max(len(roots), 1), 1)
        for start in range(0, len(documents), step):
            block = documents[start : start + step]
            node = np.tile(roots.astype(np.intp), len(block))
            row = np.repeat(np.arange(len(block)), len(roots))
            walking = np.flatnonzero(self.leaf[node] < 0)
            while len(walking):
                at = node[walking]
                right = block[row[walking], self.feature[at]] > self.threshold[at]
                node[walking] = self.children[at, right.astype(np.intp)]
                walking = walking[self.leaf[node[walking]] < 0]
            found[start : start + step] = self.leaf[node].reshape(len(block), -1)
        return found

    def means(self, X: Any) -> _Floats:
        """Return the mean share of every label over the trees, ``(n_documents, n_labels)``."""
        leaves = self.leaves(X)
        total = np.zeros((len(leaves), self.shares.shape[1]))
        for column in leaves.T:
            total += self.shares[column]
        return total / leaves.shape[1]


def _are_within(values: NDArray[Any], least: float, below: float) -> bool:
    return bool(((values >= least) & (values < below)).all())


class RandomForest(LogOddsClassifier):
    """A random forest of multilabel trees, for dense numbers on any scale.

    Splits minimise the Gini impurity, summed over the labels. Out-of-fold log-odds are out-of-bag:
    those of the trees whose sample does not contain the document.

    Parameters
    ----------
    n_trees : int, default 150
        Number of trees.
    max_features : "sqrt" or float, default "sqrt"
        Number of features for a split: the square root of their number, or a share of them.
    min_documents_leaf : int, default 2
        Minimum number of documents of a leaf.
    n_jobs : int, optional
        Number of jobs.
    random_state : int or RandomState, optional
        Seed of the samples and features of the trees.

    Attributes
    ----------
    nodes_ : TreeNodes or None
        ``None`` where all labels are constant.
    fitted_labels_ : array of int
        Columns of the labels that are not constant.
    prior_log_odds_ : array of shape (n_labels,)

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["low"], ["low"], ["high"], ["high"]] * 5
    >>> RandomForest(20, random_state=0).fit(X, Y).predict_labels([[0.0], [3.0]])
    [('low',), ('high',)]
    """

    def __init__(
        self,
        n_trees: int = 150,
        *,
        max_features: str | float = "sqrt",
        min_documents_leaf: int = 2,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.max_features = max_features
        self.min_documents_leaf = min_documents_leaf
        self.n_jobs = n_jobs
        self.random_state = random_state

    # As in PlattSVM: a weight is not a repetition, but metadata routing must know it.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012 (read by scikit-learn)

    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Numbers on any scale.
        y : any kind of labels
            Unknown cells (NaN) have the value of the prior, because trees learn all labels.
        **metadata
            ``sample_weight``, ``(n_documents,)``.

        Returns
        -------
        self
        """
        self._grow(X, y, metadata)
        return self

    def fit_out_of_fold(self, X: Any, y: Any, **metadata: Any) -> _Floats:
        """Grow the trees, and return out-of-bag log-odds of the training documents.

        A document in the samples of all trees has the log-odds of the prior.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Training documents, as in :meth:`fit`.
        y : any kind of labels
            Labels of the training documents.
        **metadata
            As in :meth:`fit`.

        Returns
        -------
        array of shape (n_documents, n_labels)
        """
        X, labels, seen = self._grow(X, y, metadata)
        result = np.tile(self.prior_log_odds_, (labels.shape[0], 1))
        if self.nodes_ is None:
            return result
        total, votes = np.zeros((labels.shape[0], len(self.fitted_labels_))), np.zeros(len(seen))
        for tree in range(seen.shape[1]):
            rows = np.flatnonzero(~seen[:, tree])
            if len(rows):
                found = self.nodes_.leaves(X[rows], slice(tree, tree + 1))[:, 0]
                total[rows] += self.nodes_.shares[found]
                votes[rows] += 1
        some = np.flatnonzero(votes)
        share = total[some] / votes[some, None]
        result[np.ix_(some, self.fitted_labels_)] = self._smoothed(share, votes[some, None])
        return result

    def _grow(self, X: Any, y: Any, metadata: dict[str, Any]) -> tuple[Any, LabelMatrix, Any]:
        """Grow the trees; return documents, labels, and which documents each tree has seen."""
        check_metadata(self, metadata, "sample_weight")
        if not self.n_trees >= 1:
            raise ValueError(f"n_trees must be at least 1, got {self.n_trees!r}.")
        X, labels = self._read(X, y)
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        weight = read_sample_weight(X, metadata.get("sample_weight"))
        positive, known = labels.counts(weight)
        self.prior_log_odds_ = count_log_odds(positive, known)
        self.fitted_labels_ = np.flatnonzero(~labels.constant(weight))
        self.nodes_: TreeNodes | None = None
        if not len(self.fitted_labels_):
            return X, labels, np.zeros((len(X), 0), dtype=np.bool_)
        # For 0/1 labels squared error is the Gini impurity; regression also accepts priors.
        targets = labels.positive[:, self.fitted_labels_].toarray()
        if labels.unknown is not None:
            is_unknown = labels.unknown[:, self.fitted_labels_].toarray() > 0
            targets = np.where(is_unknown, self._prior(), targets)
        random = check_random_state(self.random_state)
        forest = RandomForestRegressor(
            n_estimators=self.n_trees,
            max_features=self.max_features,
            min_samples_leaf=self.min_documents_leaf,
            n_jobs=self.n_jobs,
            random_state=random.randint(2**31 - 1),
        ).fit(X, targets.ravel() if targets.shape[1] == 1 else targets, sample_weight=weight)
        self.nodes_ = TreeNodes.of(forest, len(self.fitted_labels_))
        seen = np.zeros((len(X), self.n_trees), dtype=np.bool_)
        for tree, drawn in enumerate(forest.estimators_samples_):
            seen[drawn, tree] = True
        return X, labels, seen

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        self._grow(X, labels, {})

    def _log_odds(self, X: Any) -> _Floats:
        result = np.tile(self.prior_log_odds_, (X.shape[0], 1))
        if self.nodes_ is not None:
            share = self.nodes_.means(X)
            result[:, self.fitted_labels_] = self._smoothed(share, float(self.n_trees))
        return result

    def _smoothed(self, share: _Floats, votes: Any) -> _Floats:
        """Return the log-odds of shares of votes; the prior adds one vote to keep them finite."""
        return to_log_odds((votes * share + self._prior()) / (votes + 1))

    def _prior(self) -> _Floats:
        return np.asarray(expit(self.prior_log_odds_[self.fitted_labels_]))
