"""Omikuji's trees as a content classifier."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelkin.evaluation import metrics
from labelkin_omikuji import OmikujiContent, OmikujiForest

#: They fit twice and compare the answers; Omikuji takes no seed.
FIT_TWICE = (
    *("check_fit_idempotent", "check_supervised_y_2d", "check_classifier_data_not_an_array"),
    "check_classifiers_multilabel_representation_invariance",
)


@parametrize_with_checks([OmikujiContent(n_trees=1, cv=2)])
def test_scikit_learn_checks_pass(estimator, check):
    if check.func.__name__ in FIT_TWICE:
        pytest.skip("two fits of Omikuji differ")
    check(estimator)


def documents(n=160, p=6, seed=0):
    """Words that follow the labels."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.3).astype(int)
    return rng.poisson(0.3 + 2 * np.repeat(Y, 3, axis=1)).astype(float), Y


X, Y = documents()


@pytest.fixture(scope="module")
def fitted():
    return OmikujiContent(random_state=0).fit(X, Y)


def test_candidates_are_the_best_cells_of_all_labels(fitted):
    some = copy.deepcopy(fitted).set_params(top=3)
    all_labels, candidates = fitted.log_odds(X[:20]), some.log_odds(X[:20])
    assert isinstance(candidates, sparse.csr_array)
    for row, found in zip(all_labels, candidates, strict=True):
        best = np.sort(np.argsort(-row, kind="stable")[:3])
        np.testing.assert_array_equal(found.indices, best)
        np.testing.assert_array_equal(found.data, row[best])


def test_out_of_fold_evidence_is_independent_of_the_document():
    noise = (np.random.default_rng(5).random((120, 4)) < 0.5).astype(int)
    words = np.random.default_rng(6).random((120, 200))
    model = OmikujiContent(random_state=0)
    unseen = model.fit_out_of_fold(words, noise)
    assert unseen.shape == noise.shape
    assert ((model.log_odds(words) > 0) == noise).mean() > 0.75
    assert ((unseen > 0) == noise).mean() < 0.65


def test_labels_of_no_or_of_all_documents_have_their_prior():
    wider = np.column_stack([Y, np.zeros(len(Y)), np.ones(len(Y))]).astype(int)
    found = OmikujiContent(cv=2).fit(X, wider).log_odds(X[:5])
    assert (found[:, 6:] == found[0, 6:]).all()
    assert found[0, 6] < -5 < 5 < found[0, 7]
    model = OmikujiContent(random_state=0).fit(X, np.zeros((len(X), 2)))
    assert model.forest_ is None
    assert (model.log_odds(X) < 0).all()


def test_documents_without_words_and_words_of_any_size(fitted):
    strange = np.array([X[0] * 1e300, X[0] * 1e-300, X[0], X[0] * 0])
    found = fitted.log_odds(strange)
    np.testing.assert_allclose(found[:2], found[[2, 2]], atol=1e-4)
    assert np.isfinite(found).all()
    with_empty = np.vstack([X, np.zeros((2, X.shape[1]))])
    OmikujiContent(cv=2).fit(with_empty, np.vstack([Y, Y[:2]]))


def test_unknown_cells_are_an_error_with_a_hint():
    unknown = Y.astype(float)
    unknown[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"cannot leave out unknown cells, got 1 .*PlattSVM"):
        OmikujiContent().fit(X, unknown)


def test_copy_returns_the_same_scores_and_nothing_is_printed(capfd):
    model = OmikujiContent(cv=2).fit(X, Y)
    new, truth = documents(seed=1)
    assert metrics.evaluate(truth, model.log_odds(new)).scores()["micro_f1"] > 0.7
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.log_odds(X), model.log_odds(X))
    assert capfd.readouterr() == ("", "")


def test_crash_of_omikuji_is_an_error():
    with pytest.raises(ValueError, match=r"could not be trained on 3 documents .*panicked"):
        OmikujiForest.train(np.eye(3), sparse.csr_array((3, 2)), 1, 1)
