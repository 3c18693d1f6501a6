"""Results of a cluster equal those of one machine, also if a worker dies."""

import time
from operator import add

import joblib
import numpy as np
import pytest
from scipy import sparse

from labelkin import (
    LabelRescorer,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PlattSVM,
)
from labelkin.evaluation.metrics import evaluate_blocks
from labelkin.prediction import evaluate_model_blocks, predict_blocks, rescore_blocks
from labelkin.scaling.blocks import Local, row_blocks
from labelkin.scaling.distributed import OnDask, engine_in_use, partitions, using

WITHOUT = 'a cluster needs Dask: pip install "labelkin[dask]"'
da = pytest.importorskip("dask.array", reason=WITHOUT)
db = pytest.importorskip("dask.bag", reason=WITHOUT)
pytest.importorskip("distributed", reason=WITHOUT)
#: One cluster for all: one for each process would take longer than the tests.
pytestmark = pytest.mark.xdist_group("dask")

RANDOM = np.random.default_rng(7)
N, P, V = 600, 40, 60
Y = (RANDOM.random((N, P)) < 0.1).astype(float)
Y[:, 1] = np.maximum(Y[:, 0], Y[:, 1])
# Words depend on labels; weights are not integers, so that sums depend on their order.
X = sparse.csr_array(
    (RANDOM.random((N, V)) < 0.02 + 0.4 * (Y @ (RANDOM.random((P, V)) < 0.1))) * RANDOM.random(V)
)
BLOCKS = list(row_blocks(X, Y, size=50))
FITTED = NaiveBayes().fit(X, Y)


def same(one, other):
    """Equal to the last bit, sparse matrices included."""
    if sparse.issparse(one):
        parts = ("indptr", "indices", "data")
        return all(np.array_equal(getattr(one, p), getattr(other, p)) for p in parts)
    return np.array_equal(one, other)


def slow_sum(block, wait=0.0):
    time.sleep(wait)
    return float(block.sum())


def divide(block):
    return 1 // block


def test_sums_are_equal_and_results_in_order(client):
    engine = OnDask(client)
    values = RANDOM.normal(size=(23, 100)) * 10.0 ** np.arange(23)[:, None]
    here = Local().fold(slow_sum, add, values)
    assert engine.fold(slow_sum, add, iter(values)) == here
    assert engine.fold(slow_sum, add, list(values)) == here  # more of them in a row
    assert engine.fold(slow_sum, add, list(values[:3])) == Local().fold(slow_sum, add, values[:3])
    assert list(engine.map(slow_sum, values)) == [float(row.sum()) for row in values]
    with pytest.raises(ValueError, match="at least one block"):
        engine.fold(slow_sum, add, [])


@pytest.mark.parametrize("n", [1, 3, 4, 7, 8, 11, 16, 21])
def test_fold_of_neighbours_equals_fold_of_blocks(client, n):
    here = Local().fold(str, "({}{})".format, range(n))
    assert OnDask(client).fold(str, "({}{})".format, range(n)) == here
    assert OnDask(client).fold(str, "({}{})".format, iter(range(n))) == here


def test_few_blocks_are_submitted_ahead(client):
    seen = []
    answers = OnDask(client).map(slow_sum, (seen.append(i) or np.ones(1) for i in range(100)))
    next(answers)
    assert len(seen) <= 6
    answers.close()


def test_error_on_a_worker_is_raised(client):
    with pytest.raises(ZeroDivisionError):
        list(OnDask(client, retries=0).map(divide, [1, 0]))


def test_label_sets_of_a_bag_and_neighbourhoods_are_equal(client):
    sets = [[f"l{j}" for j in np.flatnonzero(row)] for row in Y]
    names = sorted(f"l{j}" for j in range(P))
    rescorer = LabelRescorer(LogisticLabels(neighbours=6))
    bag = db.from_sequence(sets, npartitions=5)
    found = rescorer.fit_blocks(bag, classes=names, engine=OnDask(client))
    here = LabelRescorer(LogisticLabels(neighbours=6)).fit_blocks([sets], classes=names)
    assert same(found.label_weights_, here.label_weights_)
    for name in ("bias_", "rest_", "prior_"):
        assert same(getattr(found.labels_, name), getattr(here.labels_, name)), name


@pytest.mark.parametrize("prune", [0.0, 0.1])
def test_svms_of_blocks_of_labels_are_equal(client, prune):
    svm = PlattSVM(random_state=0, prune=prune)
    here = svm.fit_out_of_fold(X, Y)
    weights, intercept = svm.coef_, svm.intercept_
    with using(OnDask(client)):
        assert same(svm.fit_out_of_fold(X, Y), here)
    assert same(svm.coef_, weights)
    assert same(svm.intercept_, intercept)


def test_joblib_backend_distributes_blocks(client):
    nearest = NearestNeighbours(5).fit(X, Y)
    many = sparse.vstack([X] * 8, format="csr")
    with joblib.parallel_config(backend="dask", client=client):
        assert isinstance(engine_in_use(), OnDask)
        found = PlattSVM(random_state=0).fit(X, Y), nearest.log_odds(many)
    done = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))
    assert {"solve_labels", "search_span"} <= done
    assert same(found[0].coef_, PlattSVM(random_state=0).fit(X, Y).coef_)
    assert same(found[1], nearest.log_odds(many))
    assert isinstance(engine_in_use(), Local)


def test_arrays_are_predicted_rescored_and_evaluated(client):
    dense = X.toarray()
    documents = da.from_array(dense, chunks=(100, V))
    labels = da.from_array(Y, chunks=(100, P))
    engine = OnDask(client)
    found = list(predict_blocks(FITTED, documents, "log_odds", engine=engine))
    here = list(predict_blocks(FITTED, row_blocks(dense, size=100), "log_odds"))
    assert len(found) == 6
    assert all(map(same, found, here))
    rescorer = LabelRescorer(scale="log_odds").fit(Y)
    better = list(rescore_blocks(rescorer, da.from_array(np.concatenate(here)), engine=engine))
    whole = rescorer.rescore(np.concatenate(here))
    np.testing.assert_allclose(np.concatenate(better), whole, rtol=1e-12, atol=1e-12)
    judged = evaluate_model_blocks(FITTED, partitions(documents, labels), engine=engine)
    assert judged.scores() == evaluate_model_blocks(FITTED, row_blocks(dense, Y, size=100)).scores()
    scored = list(row_blocks(Y, np.concatenate(here), size=100))
    assert evaluate_blocks(scored, engine=engine).scores() == evaluate_blocks(scored).scores()


def test_dataframes_and_folders_of_blocks(client, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    engine = OnDask(client)
    frame = pd.DataFrame(X.toarray(), columns=[f"t{j}" for j in range(V)])
    model = NaiveBayes().fit(frame, Y)
    parts = dd.from_pandas(frame, npartitions=4)
    found = np.concatenate(list(predict_blocks(model, parts, "probabilities", engine=engine)))
    np.testing.assert_allclose(found, model.predict_proba(frame), rtol=1e-12)
    for number, (some, labels) in enumerate(BLOCKS):
        sparse.save_npz(tmp_path / f"x{number:02}.npz", some)
        np.save(tmp_path / f"y{number:02}.npy", labels)
    files = sorted(tmp_path.glob("x*")), sorted(tmp_path.glob("y*"))
    counted = NaiveBayes().fit_blocks(zip(*files, strict=True), engine=engine)
    assert same(counted.counts_.inside, NaiveBayes().fit_blocks(BLOCKS).counts_.inside)
    judged = evaluate_model_blocks(FITTED, zip(*files, strict=True), engine=engine)
    assert judged.scores() == evaluate_model_blocks(FITTED, BLOCKS).scores()


def test_parts_that_do_not_match_raise():
    wide = da.zeros((10, 8), chunks=(5, 4))
    with pytest.raises(ValueError, match=r"whole documents.*2 chunks"):
        list(partitions(wide))
    with pytest.raises(ValueError, match=r"as many parts, got \[2, 5\]"):
        list(partitions(da.zeros((10, 8), chunks=(5, 8)), da.zeros((10, 8), chunks=(2, 8))))
    with pytest.raises(TypeError, match=r"engine=labelkin\.scaling\.distributed\.OnDask"):
        list(predict_blocks(FITTED, partitions(da.zeros((10, V), chunks=(5, V)))))


def test_dead_worker_with_counts_is_survived(client, kill_worker):
    deaths = []

    def blocks():
        for number, block in enumerate(BLOCKS):
            if number == 8:  # some are counted, and their sums are on the workers alone
                deaths.append(kill_worker("fit_block", client.has_what))
            yield block

    found = NaiveBayes().fit_blocks(blocks(), engine=OnDask(client))
    here = NaiveBayes().fit_blocks(BLOCKS)
    assert len(deaths) == 1
    assert same(found.counts_.inside, here.counts_.inside)
    assert same(found.counts_.total, here.counts_.total)


def test_dead_worker_with_labels_is_survived(client, killing):
    svm = PlattSVM(random_state=0)
    many = np.hstack([Y] * 3)
    with using(OnDask(client)):
        killing("solve_labels")
        found = svm.fit(X, many).coef_
    assert same(found, PlattSVM(random_state=0).fit(X, many).coef_)


def test_dead_worker_with_documents_leaves_no_gap(client, kill_worker, tmp_path):
    blocks = [some for some, _ in BLOCKS]
    settings = {"folder": tmp_path / "cluster", "engine": OnDask(client)}
    found = predict_blocks(FITTED, blocks, "probabilities", **settings)
    written = [next(found) for _ in range(3)]
    kill_worker("write", client.has_what)
    written += found
    here = list(predict_blocks(FITTED, blocks, "probabilities", folder=tmp_path / "here"))
    assert [path.name for path in written] == [path.name for path in here]
    # files that the dead worker had not finished are hidden
    assert sorted(p for p in settings["folder"].iterdir() if p.suffix != ".part") == written
    assert [p.read_bytes() for p in written] == [p.read_bytes() for p in here]
