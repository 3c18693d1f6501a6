"""Trees: Clare & King's split computed by hand, and the mean that chooses the same."""

import numpy as np
import pytest

from labelkin.research.related import MultilabelForest, MultilabelTree
from labelkin.storage import save

# Six documents, two features. Feature 0 parts label a, feature 1 parts labels b and c.
X = np.array([[0, 0], [0, 1], [0, 5], [9, 6], [9, 7], [9, 2]], dtype=float)
Y = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1], [0, 1, 1], [0, 0, 0]])


def clare_and_king(Y):
    """Entropy of a set of documents: C4.5's, summed over labels, yes and no."""
    p = Y.mean(axis=0)
    terms = [-q * np.log2(q) for q in (*p, *(1 - p)) if q > 0]
    return sum(terms)


def gain_of(X, Y, feature, threshold):
    left = X[:, feature] <= threshold
    parts = [(left.mean(), Y[left]), ((~left).mean(), Y[~left])]
    return clare_and_king(Y) - sum(share * clare_and_king(part) for share, part in parts)


def best_split(X, Y):
    """Return gain, feature and threshold of the largest gain, by trying all."""
    found = []
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        for threshold in (values[:-1] + values[1:]) / 2:
            found.append((gain_of(X, Y, feature, threshold), feature, threshold))
    return max(found)


def test_the_sum_over_labels_and_scikit_learns_mean_choose_the_same_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X[:, :3] + rng.normal(0, 0.7, (120, 3)) > 0.2).astype(int)
    tree = MultilabelTree(min_documents_leaf=1, max_depth=3, random_state=0).fit(X, Y).trees_.tree_
    where = np.ones(120, dtype=bool)
    inside = {0: where}
    for node in range(tree.node_count):
        here = inside[node]
        # scikit-learn's impurity is the mean over labels of the same entropies
        np.testing.assert_allclose(tree.impurity[node] * 3, clare_and_king(Y[here]), atol=1e-9)
        if tree.children_left[node] < 0:
            continue
        feature, threshold = tree.feature[node], tree.threshold[node]
        best, _, _ = best_split(X[here], Y[here])  # another split may be as good
        assert abs(gain_of(X[here], Y[here], feature, threshold) - best) < 1e-9
        left = here & (X[:, feature] <= threshold)
        inside[tree.children_left[node]], inside[tree.children_right[node]] = left, here & ~left


def test_saving_a_tree_is_an_error(tmp_path):
    model = MultilabelForest(3, random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match=r"Compiled trees follow the numbers .* train again"):
        save(model, tmp_path / "model.labelkin")
