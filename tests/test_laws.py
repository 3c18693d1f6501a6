"""Properties of every fitted classifier of the library."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from labelkin import (
    LabelDependenceClassifier,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
    SVMLabels,
)
from labelkin.content import cross_val_log_odds
from labelkin.evaluation.splits import stratified_folds

CONTENT = [
    NaiveBayes(),
    NearestNeighbours(n_neighbors=7),
    PlattSVM(random_state=0),
    PerLabel(LogisticRegression(tol=1e-10, max_iter=1000), random_state=0),
]
WHOLE = [
    LabelDependenceClassifier(content=content, labels=labels, variant=variant)
    for content in CONTENT[:3]
    for labels, variant in [(LogisticLabels(), "soft"), (SVMLabels(), "hard")]
]
laws = settings(max_examples=8, deadline=None)
seeds = st.integers(0, 10**6)


def documents(seed, n=40, p=4, d=8):
    """Term counts and correlated labels, each label with both sides."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, (n, d)) + rng.random((n, d)) * 0.01  # no ties
    Y = (X[:, :p] + rng.normal(0, 0.8, (n, p)) > 1.3).astype(int)
    Y[:, 1] |= Y[:, 0]
    Y[:2] = [[0] * p, [1] * p]
    return X, Y


@pytest.mark.parametrize("estimator", [*CONTENT, *WHOLE[::2]], ids=repr)
@given(seed=seeds)
@laws
def test_permuting_labels_permutes_columns(estimator, seed):
    X, Y = documents(seed)
    order = np.random.default_rng(seed).permutation(Y.shape[1])
    plain = clone(estimator).fit(X, Y).log_odds(X)
    permuted = clone(estimator).fit(X, Y[:, order]).log_odds(X)
    np.testing.assert_allclose(permuted, plain[:, order], atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("estimator", [*CONTENT, *WHOLE], ids=repr)
@given(seed=seeds)
@laws
def test_fit_and_predict_change_no_parameter_or_input(estimator, seed):
    X, Y = documents(seed)
    model = clone(estimator)
    before, X_before, Y_before = repr(model), X.copy(), Y.copy()
    first = model.fit(X, Y).log_odds(X)
    model.predict(X), model.predict_proba(X)
    np.testing.assert_array_equal(model.log_odds(X), first)
    assert repr(model) == before
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(Y, Y_before)


@pytest.mark.parametrize("estimator", [*CONTENT, *WHOLE], ids=repr)
def test_n_jobs_does_not_change_bytes(estimator):
    X, Y = documents(1, n=300, p=6)
    answers = []
    for n_jobs in (1, 2):
        model = clone(estimator)
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=n_jobs)
        answers.append(model.fit(X, Y).log_odds(X).tobytes())
    assert answers[0] == answers[1]


@pytest.mark.parametrize("estimator", CONTENT, ids=repr)
def test_fitting_out_of_fold_fits_the_same_model(estimator):
    X, Y = documents(2)
    plain = clone(estimator).fit(X, Y)
    model = clone(estimator)
    out_of_fold = model.fit_out_of_fold(X, Y)
    assert out_of_fold.shape == Y.shape
    np.testing.assert_array_equal(model.log_odds(X), plain.log_odds(X))
    # Out-of-fold evidence is less extreme than in-sample evidence.
    sign = np.where(Y == 1, 1, -1)
    assert (sign * out_of_fold).mean() < (sign * model.log_odds(X)).mean()


@pytest.mark.parametrize("model", WHOLE, ids=repr)
@given(seed=seeds, weight=st.sampled_from([0.3, 1.0]))
@laws
def test_all_other_labels_known_is_equation_2_on_true_labels(model, seed, weight):
    X, Y = documents(seed)
    fitted = clone(model).set_params(evidence_weight=weight).fit(X, Y)
    prior = logit(Y.mean(axis=0))
    said = fitted.rescorer_.labels_.log_odds(Y) - prior
    expected = fitted.content_.log_odds(X) + weight * said
    for j in range(Y.shape[1]):
        known = Y.astype(float)
        known[:, j] = np.nan
        np.testing.assert_allclose(fitted.log_odds(X, known)[:, j], expected[:, j], atol=1e-9)


@pytest.mark.parametrize("model", WHOLE, ids=repr)
@given(seed=seeds)
@laws
def test_known_labels_are_certain(model, seed):
    X, Y = documents(seed)
    rng = np.random.default_rng(seed)
    known = np.where(rng.random(Y.shape) < 0.4, rng.integers(0, 2, Y.shape), np.nan)
    stated = ~np.isnan(known)
    fitted = clone(model).fit(X, Y)
    np.testing.assert_array_equal(fitted.predict(X, known)[stated], known[stated])
    np.testing.assert_array_equal(fitted.predict_proba(X, known)[stated], known[stated])
    for row, suggestions in zip(stated, fitted.suggest(X, known=known), strict=True):
        assert {s.label for s in suggestions} == set(np.flatnonzero(~row))


@pytest.mark.parametrize("estimator", [*CONTENT, WHOLE[0]], ids=repr)
def test_documents_are_predicted_independently(estimator):
    X, Y = documents(3)
    model = clone(estimator).fit(X, Y)
    blocks = np.vstack([model.log_odds(X[i : i + 7]) for i in range(0, len(X), 7)])
    np.testing.assert_allclose(blocks, model.log_odds(X), atol=1e-6)


@pytest.mark.parametrize("estimator", [*CONTENT, WHOLE[0]], ids=repr)
def test_cross_validated_log_odds_are_out_of_fold(estimator):
    X, Y = documents(4)
    named = [[f"label{j}" for j in np.flatnonzero(row)] for row in Y]
    log_odds = cross_val_log_odds(estimator, X, named, cv=4, random_state=0)
    fold = stratified_folds(Y, 4, random_state=0)
    train = fold != fold[5]
    expected = clone(estimator).fit(X[train], Y[train]).log_odds(X[[5]])
    np.testing.assert_allclose(log_odds[[5]], expected, atol=1e-6)
