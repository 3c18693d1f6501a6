"""A random forest as arrays of nodes."""

import re

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.ensemble import RandomForestRegressor

from labelkin import RandomForest, load, save
from labelkin.content.forest import TreeNodes


def world(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    noisy = X + 0.4 * rng.normal(size=X.shape)
    return X, np.column_stack([noisy[:, 0] > 0, noisy[:, 1] * noisy[:, 2] > 0, noisy[:, 3] > 1])


def test_leaves_equal_those_of_scikit_learn():
    X, Y = world()
    forest = RandomForestRegressor(20, min_samples_leaf=2, random_state=0).fit(X, Y.astype(float))
    nodes = TreeNodes.of(forest, 3)
    nodes.check()
    new = world(seed=1)[0]
    assert nodes.means(new) == pytest.approx(forest.predict(new), abs=1e-6)
    assert nodes.means(sparse.csr_array(new)) == pytest.approx(forest.predict(new), abs=1e-6)


def test_out_of_bag_evidence_uses_trees_without_the_document():
    X, Y = world()
    rng = np.random.default_rng(5)
    chance = rng.random(Y.shape) < 0.5
    model = RandomForest(random_state=0)
    agreement = ((model.fit_out_of_fold(X, chance) > 0) == chance).mean()
    assert 0.4 < agreement < 0.6
    assert ((model.log_odds(X) > 0) == chance).mean() > 0.9
    unseen = RandomForest(random_state=0).fit_out_of_fold(X, Y)
    assert 0.8 < ((unseen > 0) == Y).mean() < 0.95


def test_no_share_is_0_or_1_and_constant_labels_have_their_priors():
    X, Y = world()
    Y = np.column_stack([Y, np.zeros(len(Y)), np.ones(len(Y))]).astype(float)
    found = RandomForest(10, random_state=0).fit(X, Y).log_odds(X)
    assert np.isfinite(found).all()
    assert expit(found[:, 3]) == pytest.approx(expit(found[0, 3]))
    assert found[0, 3] < -4 < 4 < found[0, 4]


def test_unknown_cells_have_the_value_of_the_prior():
    X, Y = world()
    Y = Y.astype(float)
    Y[::2, 0] = np.nan
    model = RandomForest(random_state=0).fit(X, Y)
    found = model.log_odds(X)
    known = ~np.isnan(Y[:, 0])
    assert ((found[known, 0] > 0) == Y[known, 0]).mean() > 0.9
    prior = np.nanmean(Y[:, 0])
    assert model.prior_log_odds_[0] == pytest.approx(logit(prior), abs=0.05)


def forged(change):
    """Return the error of a forest that was changed before it was written."""
    X, Y = world(60)
    model = RandomForest(3, random_state=0).fit(X, Y)
    change(model.nodes_)
    with pytest.raises(ValueError) as error:
        model.nodes_.check()
    return model, str(error.value)


def _set(name, place, value):
    def change(nodes):
        getattr(nodes, name)[place] = value

    return change


def _replace(name, make):
    return lambda nodes: object.__setattr__(nodes, name, make(getattr(nodes, name)))


FORGED = [
    (_set("children", (0, 0), 0), "after their parents"),  # a circle of one
    (_set("children", (1, 1), 0), "after their parents"),
    (_set("children", (0, 1), 10**6), "after their parents"),
    (_set("children", (0, 0), -1), "after their parents"),
    (_set("children", (0, 0), -5), "after their parents"),
    (_set("feature", 0, 5), "a forest of other features"),
    (_set("feature", 0, -1), "a forest of other features"),
    (_set("roots", 0, -1), "roots"),
    (_set("roots", 0, 10**6), "roots"),
    (_set("leaf", 0, 0), "after their parents"),  # a leaf that has children
    (_set("leaf", -1, 10**6), "leaves without shares"),
    (_set("leaf", 0, -2), "leaves without shares"),
    (_set("threshold", 0, np.nan), "invalid"),
    (_set("shares", (0, 0), 1.5), "invalid"),
    (_replace("feature", lambda a: a[:-1]), "do not fit|features"),
    (_replace("roots", lambda a: a[:0]), "roots"),
    (_replace("shares", lambda a: a[:, 0]), "do not fit"),
    (_replace("leaf", lambda a: a.astype(np.int64)), "not an array of their kind"),
    (_replace("children", lambda a: a.tolist()), "not an array of their kind"),
    (_replace("n_features", lambda n: 0), "other features"),
]


@pytest.mark.parametrize(("change", "message"), FORGED)
def test_forged_nodes_raise(change, message, tmp_path, monkeypatch):
    model, error = forged(change)
    assert re.search(message, error)
    with pytest.raises(ValueError):
        save(model, tmp_path / "m")
    monkeypatch.setattr("labelkin.storage.trusted.check_state", lambda name, state: None)
    save(model, tmp_path / "m")  # by a program that does not check it
    monkeypatch.undo()
    with pytest.raises(ValueError):
        load(tmp_path / "m")


def test_trees_of_other_labels_or_features_are_an_error(tmp_path, monkeypatch):
    X, Y = world(60)
    model = RandomForest(3, random_state=0).fit(X, Y)
    for name, value in [
        ("fitted_labels_", np.arange(2)),
        ("fitted_labels_", np.array([0, 1, 9])),
        ("n_features_in_", 9),
        ("nodes_", "trees"),
        ("prior_log_odds_", None),
    ]:
        before = getattr(model, name)
        setattr(model, name, value)
        monkeypatch.setattr("labelkin.storage.trusted.check_state", lambda name, state: None)
        save(model, tmp_path / "m")
        monkeypatch.undo()
        with pytest.raises(ValueError, match="RandomForest"):
            load(tmp_path / "m")
        (tmp_path / "m").unlink()
        setattr(model, name, before)
