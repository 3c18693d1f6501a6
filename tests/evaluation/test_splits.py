"""Iterative stratification: exact sizes, even labels, and the paper's algorithm as the oracle."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier

from labelkin.evaluation.splits import (
    MultilabelStratifiedKFold,
    round_robin_folds,
    stratified_folds,
    stratified_split,
)
from labelkin.label_matrix import read_labels

label_matrices = st.tuples(st.integers(2, 30), st.integers(0, 6)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.integers(0, 1))
)


def folds_by_the_paper(Y, n_folds):
    """Algorithm 1 of Sechidis et al. in fractions, with fold sizes as limits and no randomness."""
    n, p = Y.shape
    size = [n // n_folds + (k < n % n_folds) for k in range(n_folds)]
    wish = [[Fraction(int(Y[:, j].sum()), n_folds) for _ in range(n_folds)] for j in range(p)]
    taken = [0] * n_folds
    fold = [None] * n
    while True:
        left = {j: [i for i in range(n) if Y[i, j] and fold[i] is None] for j in range(p)}
        left = {j: rows for j, rows in left.items() if rows}
        if not left:
            break
        rarest = min(left, key=lambda j: (len(left[j]), j))
        for i in left[rarest]:
            mine = [j for j in range(p) if Y[i, j]]
            handed_out = sum(taken) + 1

            def want(k, rarest=rarest, mine=mine, handed_out=handed_out):
                room = Fraction(size[k] * handed_out, n) - taken[k]
                return wish[rarest][k], sum(wish[j][k] for j in mine), room, -k

            best = max((k for k in range(n_folds) if taken[k] < size[k]), key=want)
            fold[i] = best
            taken[best] += 1
            for j in mine:
                wish[j][best] -= 1
    spare = iter([k for k in range(n_folds) for _ in range(size[k] - taken[k])])
    return [next(spare) if k is None else k for k in fold]


def fold_of(splitter, Y):
    fold = np.full(len(Y), -1)
    for k, (_, test) in enumerate(splitter.split(Y, Y)):
        fold[test] = k
    return fold


def counts_per_fold(Y, fold, n_folds):
    return np.array([Y[fold == k].sum(axis=0) for k in range(n_folds)])


def skewed_labels(n, p, cardinality, seed):
    """Independent labels with prior ~ 1/rank."""
    prior = 1 / np.arange(1, p + 1)
    prior = np.minimum(prior * cardinality / prior.sum(), 0.9)
    return (np.random.default_rng(seed).random((n, p)) < prior).astype(int)


@given(label_matrices, st.data())
@settings(max_examples=30, deadline=None)
def test_folds_without_shuffling_equal_published_algorithm(Y, data):
    n_folds = data.draw(st.integers(2, min(len(Y), 6)))
    splitter = MultilabelStratifiedKFold(n_folds, shuffle=False)
    assert fold_of(splitter, Y).tolist() == folds_by_the_paper(Y, n_folds)


@given(label_matrices, st.data(), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_fold_sizes_differ_by_at_most_one(Y, data, seed):
    n_folds = data.draw(st.integers(2, len(Y)))
    fold = stratified_folds(Y, n_folds, random_state=seed)
    sizes = np.bincount(fold, minlength=n_folds)
    assert fold.shape == (len(Y),)
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= 1


@given(label_matrices, st.floats(0.02, 0.98), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_split_has_exact_test_size(Y, test_size, seed):
    n_test = round(test_size * len(Y))
    if not 0 < n_test < len(Y):
        n_test = test_size = 1
    train, test = stratified_split(Y, test_size, random_state=seed)
    assert len(test) == n_test
    assert sorted([*train, *test]) == list(range(len(Y)))


@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_independent_labels_are_spread_within_one_document(n_folds):
    Y = skewed_labels(2000, 40, 2.0, 0)
    fold = stratified_folds(Y, n_folds, random_state=0)
    random = fold_of(KFold(n_folds, shuffle=True, random_state=0), Y)
    off = np.abs(counts_per_fold(Y, fold, n_folds) - Y.sum(axis=0) / n_folds)
    off_at_random = np.abs(counts_per_fold(Y, random, n_folds) - Y.sum(axis=0) / n_folds)
    assert off.max() <= 1
    assert off.mean() < off_at_random.mean() / 4


@pytest.mark.parametrize("labels", ["skewed", "uniform", "one each"])
@pytest.mark.parametrize("test_size", [0.1, 0.4])
def test_split_spreads_labels_within_one_document(labels, test_size):
    rng = np.random.default_rng(0)
    Y = {
        "skewed": skewed_labels(2000, 40, 2.0, seed=0),
        "uniform": (rng.random((2000, 60)) < 0.03).astype(int),
        "one each": np.eye(60, dtype=int)[rng.integers(0, 60, 2000)],
    }[labels]
    _, test = stratified_split(Y, test_size, random_state=0)
    assert np.abs(Y[test].sum(axis=0) - test_size * Y.sum(axis=0)).max() <= 1


@pytest.mark.parametrize(
    "Y",
    [
        np.zeros((7, 0)),
        np.zeros((7, 2)),
        np.ones((7, 2)),
        np.eye(7),
        [[], [], ["a"], [], [], [], []],
    ],
    ids=["no labels", "no positives", "only positives", "one document each", "one positive"],
)
@pytest.mark.parametrize("n_folds", [2, 7])
def test_constant_and_missing_labels_give_even_folds(Y, n_folds):
    sizes = np.bincount(stratified_folds(Y, n_folds, random_state=0), minlength=n_folds)
    assert sizes.sum() == 7
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("n_folds", [0, 1, 5, 2.0, "3"])
def test_impossible_number_of_folds_raises(n_folds):
    message = f"from 2 to the number of documents, got {n_folds!r} folds and n_samples=4. Use fewer"
    with pytest.raises(ValueError, match=message):
        stratified_folds(np.eye(4), n_folds)


@pytest.mark.parametrize("test_size", [0.05, 1.5, -0.2, 0, 4])
def test_split_with_empty_part_raises(test_size):
    with pytest.raises(ValueError, match=f"got test_size={test_size} and n_samples=4.*Choose a"):
        stratified_split(np.eye(4), test_size)


def test_seed_without_shuffling_raises():
    with pytest.raises(ValueError, match=r"only with shuffle=True.*random_state=0"):
        MultilabelStratifiedKFold(3, shuffle=False, random_state=0)


def test_folds_work_in_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    Y = (X[:, :3] + rng.normal(size=(90, 3)) > 0.5).astype(int)
    model = OneVsRestClassifier(LogisticRegression())
    folds = MultilabelStratifiedKFold(3, random_state=0)
    by_hand = [
        model.fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in folds.split(X, Y)
    ]
    np.testing.assert_array_equal(cross_val_score(model, X, Y, cv=folds), by_hand)
    search = GridSearchCV(model, {"estimator__C": [0.01, 1.0]}, cv=folds).fit(X, Y)
    assert search.n_splits_ == folds.get_n_splits() == 3


class TestRoundRobinFolds:
    def test_every_label_is_spread_evenly(self):
        rng = np.random.default_rng(9)
        Y = (rng.random((400, 12)) < np.linspace(0.01, 0.5, 12)).astype(int)
        fold = round_robin_folds(read_labels(Y), 4)
        assert np.bincount(fold).tolist() == [100] * 4
        rarest = Y.sum(axis=0).argmin()
        counts = np.bincount(fold[Y[:, rarest] == 1], minlength=4)
        assert counts.max() - counts.min() <= 1

    def test_the_order_of_labels_does_not_matter(self):
        rng = np.random.default_rng(10)
        Y = (rng.random((100, 9)) < 0.2).astype(int)
        Y[:, 3] = Y[:, 7]
        fold = round_robin_folds(read_labels(Y))
        again = round_robin_folds(read_labels(Y[:, rng.permutation(9)]))
        np.testing.assert_array_equal(fold, again)

    def test_documents_without_labels_are_assigned_in_turn(self):
        fold = round_robin_folds(read_labels(np.zeros((10, 2), int)), 4)
        assert np.bincount(fold).tolist() == [3, 3, 2, 2]
