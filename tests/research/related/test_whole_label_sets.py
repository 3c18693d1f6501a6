"""Powersets: multiclass classification of label sets, and votes of small ones."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from labelkin.research.related import LabelPowerset, RAkEL
from labelkin.research.related.whole_label_sets import draw_subsets

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
Y = (X[:, :4] + 0.6 * rng.normal(size=(200, 4)) > 0.4).astype(int)
NEW = rng.normal(size=(40, 5))


def test_a_powerset_is_multiclass_classification_of_label_sets():
    names = np.array(["".join(map(str, row)) for row in Y])
    theirs = LogisticRegression().fit(X, names)
    sets = np.array([[int(c) for c in name] for name in theirs.classes_])
    ours = LabelPowerset(LogisticRegression()).fit(X, Y)
    share = theirs.predict_proba(NEW)
    np.testing.assert_allclose(ours.predict_proba(NEW), share @ sets, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(NEW), sets[share.argmax(axis=1)])
    by_labels = LabelPowerset(LogisticRegression(), decide="labels").fit(X, Y)
    np.testing.assert_array_equal(by_labels.predict(NEW), share @ sets > 0.5)


def test_rare_label_sets_count_as_their_largest_frequent_subsets():
    sets = [["a"]] * 4 + [["b", "c"]] * 3 + [["a", "b", "c"]] + [["d"]]
    X = np.arange(9.0)[:, None]
    model = LabelPowerset(LogisticRegression(), min_documents=2).fit(X, sets)
    assert sorted(map(tuple, model.label_sets_.astype(int).tolist())) == [
        (0, 1, 1, 0),
        (1, 0, 0, 0),
    ]
    one = LabelPowerset(LogisticRegression(), min_documents=2, keep_subsets=1).fit(X, sets)
    assert len(one.label_sets_) == 2
    everything = LabelPowerset(LogisticRegression(), min_documents=100).fit(X, sets)
    assert len(everything.label_sets_) == 4  # none is frequent: nothing is pruned


@pytest.mark.parametrize("variant", ["hard", "soft"])
def test_rakel_is_the_mean_of_its_powersets_votes(variant):
    model = RAkEL(LogisticRegression(), subset_size=2, variant=variant, random_state=0).fit(X, Y)
    votes, voters = np.zeros((40, 4)), np.zeros(4)
    for subset in model.subsets_:
        one = LabelPowerset(LogisticRegression()).fit(X, Y[:, subset])
        votes[:, subset] += one.predict(NEW) if variant == "hard" else one.predict_proba(NEW)
        voters[subset] += 1
    expected = np.clip(votes / voters, 1e-6, 1 - 1e-6)
    np.testing.assert_allclose(model.predict_proba(NEW), expected, atol=1e-6)


def test_subsets_differ_and_hold_every_label():
    random = np.random.RandomState(0)
    for n_labels, size, n_subsets in [(6, 3, None), (40, 3, 5), (5, 2, 100), (2, 3, None)]:
        subsets = [tuple(s) for s in draw_subsets(n_labels, size, n_subsets, random)]
        assert len(set(subsets)) == len(subsets)
        assert {j for subset in subsets for j in subset} == set(range(n_labels))
    assert len(draw_subsets(6, 3, None, random)) == 12
    assert len(draw_subsets(5, 2, 100, random)) == 10
