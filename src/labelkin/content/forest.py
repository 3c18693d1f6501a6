"""Content evidence by a random forest of multilabel trees, kept as plain arrays of nodes.

scikit-learn grows the trees, each on documents drawn with replacement; the documents that a tree
has not seen are judged by it as if new, so that out-of-fold evidence costs nothing more. What is
kept are the nodes, and :class:`TreeNodes` walks them: a model file can hold it, for every number in
it can be checked.
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
from labelkin.scikit_learn import read_sample_weight

_Floats = NDArray[np.float64]

#: Documents × trees that walk together.
_WALKERS = 2**18


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """The nodes of all trees of a forest, one after the other; children come after parents.

    Attributes
    ----------
    roots : int32 array of shape (n_trees,)
        The first node of every tree.
    children : int32 array of shape (n_nodes, 2)
        Where a document goes whose feature is at most the threshold, and where all others go; both
        −1 at a leaf.
    feature : int32 array of shape (n_nodes,)
        The feature that is looked at; 0 at a leaf.
    threshold : float32 or float64 array of shape (n_nodes,)
    leaf : int32 array of shape (n_nodes,)
        The row of a leaf in ``shares``; −1 at other nodes.
    shares : float32 array of shape (n_leaves, n_labels)
        The share of a leaf's documents that have each label.
    n_features : int
        Features of a document.
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
        roots, parts, shares, n_nodes, n_leaves = [], [], [], 0, 0
        for tree in (estimator.tree_ for estimator in forest.estimators_):
            children = np.column_stack([tree.children_left, tree.children_right])
            is_leaf = children[:, 0] < 0
            leaf = np.full(tree.node_count, -1)
            leaf[is_leaf] = n_leaves + np.arange(is_leaf.sum())
            roots.append(n_nodes)
            parts.append(
                (
                    np.where(is_leaf[:, None], -1, children + n_nodes),
                    np.where(is_leaf, 0, tree.feature),
                    np.where(is_leaf, 0.0, tree.threshold),
                    leaf,
                )
            )
            shares.append(tree.value[is_leaf].reshape(-1, n_labels))
            n_nodes, n_leaves = n_nodes + tree.node_count, n_leaves + int(is_leaf.sum())
        children, feature, threshold, leaf = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        return cls(
            np.array(roots, dtype=np.int32),
            children.astype(np.int32),
            feature.astype(np.int32),
            threshold.astype(np.float64),
            leaf.astype(np.int32),
            np.clip(np.concatenate(shares), 0.0, 1.0).astype(np.float32),
            int(forest.n_features_in_),
        )

    def check(self) -> None:
        """Raise for nodes that would lead outside the arrays, or round in a circle."""
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
        """Return the leaf that each document comes to, ``(n_documents, n_trees)``."""
        documents = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float32)
        roots = self.roots[trees]
        found = np.empty((len(documents), len(roots)), dtype=np.intp)
        step = max(_WALKERS // max(len(roots), 1), 1)
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
    """A random forest of trees that each know all labels; for dense numbers, on any scale.

    Trees split where the Gini impurity, summed over the labels, falls most. Log-odds of training
    documents as if unseen are those of the trees that have not seen them.

    Parameters
    ----------
    n_trees : int, default 150
        How many trees; as many votes.
    max_features : "sqrt" or float, default "sqrt"
        Features that a split may choose from: the root of their number, or a share of them.
    min_documents_leaf : int, default 2
        Documents that a leaf has at least.
    n_jobs : int, optional
        Trees grown at a time.
    random_state : int or RandomState, optional
        Of the documents and features of each tree.

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

    # As for PlattSVM: weights are not repetition, and metadata routing knows them all the same.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012 (read by scikit-learn)

    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Numbers on any scale.
        y : any kind of labels
            Trees grow for all labels together: an unknown cell (NaN) counts as the label's prior.
        **metadata
            ``sample_weight``, ``(n_documents,)``.

        Returns
        -------
        self
        """
        self._grow(X, y, metadata)
        return self

    def fit_out_of_fold(self, X: Any, y: Any, **metadata: Any) -> _Floats:
        """Grow the trees, and return log-odds by those that have not seen the document.

        Of a document that all trees have seen: the prior.
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
        """Grow the trees; return checked documents and labels, and which tree has seen which."""
        unknown = sorted(metadata.keys() - {"sample_weight"})
        if unknown:
            raise TypeError(f"fit takes sample_weight beside X and y, got {unknown[0]!r}.")
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
        # For labels the squared error of regression is the Gini impurity, and it accepts priors.
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
        """Return shares of votes as log-odds; the prior has one vote, so that none is 0 or 1."""
        return to_log_odds((votes * share + self._prior()) / (votes + 1))

    def _prior(self) -> _Floats:
        return np.asarray(expit(self.prior_log_odds_[self.fitted_labels_]))
