"""Results of blocks equal those of the whole, with a few blocks in memory."""

import gc
import weakref

import numpy as np
import pytest
from scipy import sparse

from labelkin import LabelDependenceClassifier, LabelRescorer, NaiveBayes
from labelkin.evaluation.metrics import evaluate, evaluate_blocks
from labelkin.prediction import evaluate_model_blocks, predict_blocks, rescore_blocks
from labelkin.scaling.blocks import row_blocks
from labelkin.thresholds import PCut

RANDOM = np.random.default_rng(5)
Y = (RANDOM.random((90, 6)) < 0.3).astype(float)
X = (RANDOM.random((90, 12)) < 0.1 + 0.5 * (Y @ RANDOM.random((6, 12)) > 1)).astype(float)
MODEL = LabelDependenceClassifier(NaiveBayes(), evidence_weight=0.5).fit(X, Y)


class Rows(np.ndarray):
    """Rows with weak references."""


def watched(matrix, size, most):
    """Yield blocks; there are never more than ``most`` of them."""
    given = []
    for start in range(0, len(matrix), size):
        gc.collect()
        assert sum(block() is not None for block in given) < most
        block = matrix[start : start + size].copy().view(Rows)
        given.append(weakref.ref(block))
        yield block
        del block


@pytest.mark.parametrize("wanted", ["log_odds", "probabilities", "decisions"])
def test_memory_mapped_file_is_predicted_in_blocks(tmp_path, wanted):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = np.concatenate(list(predict_blocks(MODEL, row_blocks(mapped, size=20), wanted)))
    whole = {"log_odds": MODEL.log_odds, "probabilities": MODEL.predict_proba}
    expected = whole.get(wanted, MODEL.predict)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_memory_contains_one_block():
    for _ in predict_blocks(MODEL, watched(X, 10, 2)):
        pass
    rescorer = LabelRescorer().fit(Y)
    for _ in rescore_blocks(rescorer, watched(MODEL.predict_proba(X), 10, 2)):
        pass


def test_candidates_are_written_to_a_folder(tmp_path):
    few = NaiveBayes(top=2).fit(X, Y)
    paths = list(predict_blocks(few, row_blocks(X, size=40), "log_odds", folder=tmp_path / "new"))
    assert [path.name for path in paths] == ["000000.npz", "000001.npz", "000002.npz"]
    scores = few.log_odds(X)
    assert (sparse.vstack(list(map(sparse.load_npz, paths))) != scores).nnz == 0
    rescorer = LabelRescorer(scale="log_odds").fit(Y)
    better = sparse.vstack(list(rescore_blocks(rescorer, paths)))
    np.testing.assert_allclose(better.toarray(), rescorer.rescore(scores).toarray(), rtol=1e-12)


def test_evaluation_of_blocks_equals_the_whole():
    log_odds = MODEL.log_odds(X)
    whole = evaluate(Y, log_odds, MODEL.predict(X)).scores()
    scored = evaluate_blocks(row_blocks(Y, log_odds, MODEL.predict(X), size=7)).scores()
    evaluated = evaluate_model_blocks(MODEL, row_blocks(X, Y, size=7)).scores()
    for found in (scored, evaluated):
        assert found == pytest.approx(whole, rel=1e-12, abs=1e-12)


def test_rules_of_a_batch_are_an_error():
    model = LabelDependenceClassifier(NaiveBayes(), thresholds=PCut()).fit(X, Y)
    with pytest.raises(ValueError, match="document by document, and PCut"):
        predict_blocks(model, [X])
    assert len(next(predict_blocks(model, [X], "log_odds"))) == 90
    with pytest.raises(ValueError, match="wanted must be"):
        predict_blocks(MODEL, [X], "labels")
