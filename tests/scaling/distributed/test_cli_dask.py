"""``--dask``: the same bytes from a cluster, and one line of error without a scheduler."""

import json
import sys

import numpy as np
import pytest
from in_process import call

from labelkin.corpora import newsroom

pytest.importorskip("distributed", reason='a cluster needs Dask: pip install "labelkin[dask]"')
#: One cluster for all: one for each process would take longer than the tests.
pytestmark = pytest.mark.xdist_group("dask")


@pytest.fixture(scope="module")
def news_file(tmp_path_factory):
    news = newsroom(160)
    path = tmp_path_factory.mktemp("corpus") / "news.jsonl"
    rows = zip(news.documents, news.label_sets(), strict=True)
    lines = [{"id": f"n{i}", "text": t, "labels": list(s)} for i, (t, s) in enumerate(rows)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def model(news_file):
    path = news_file.with_suffix(".labelkin")
    call("train", news_file, "-o", path, "--content", "naive_bayes", "-q").done()
    return path


def test_predict_writes_the_same_bytes_if_a_worker_dies(
    model, news_file, address, killing, tmp_path
):
    arguments = ("predict", model, news_file, "--batch", 4, "-q", "--out")
    call(*arguments, tmp_path / "here.jsonl").done()
    killing("answer")
    call(*arguments, tmp_path / "cluster.jsonl", "--dask", address).done()
    assert (tmp_path / "cluster.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert not (tmp_path / "cluster.jsonl.resume.json").exists()


def test_evaluate_prints_the_same(model, news_file, address, client):
    arguments = ("evaluate", model, news_file, "--json", "-q")
    assert call(*arguments, "--dask", address).done() == call(*arguments).done()


@pytest.mark.parametrize("kind", [".csv", ".npy", ".npz"])
def test_rescore_writes_the_same_bytes(news_file, address, client, tmp_path, kind):
    labels = {label for line in news_file.open() for label in json.loads(line)["labels"]}
    scores = tmp_path / "scores.npy"
    np.save(scores, np.random.default_rng(0).random((50, len(labels))))
    arguments = ("rescore", scores, "--train", news_file, "-q", "--out")
    call(*arguments, tmp_path / f"here{kind}").done()
    call(*arguments, tmp_path / f"cluster{kind}", "--dask", address).done()
    assert (tmp_path / f"cluster{kind}").read_bytes() == (tmp_path / f"here{kind}").read_bytes()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x"])
def test_missing_scheduler_is_one_line_with_hint(model, news_file, tmp_path, monkeypatch, address):
    monkeypatch.setattr("labelkin.scaling.distributed._PATIENCE", 0.5)
    out = tmp_path / "labels.jsonl"
    line = call("predict", model, news_file, "--out", out, "--dask", address).refused()
    assert f"--dask must be the address of a Dask scheduler with workers, got '{address}'" in line
    assert "leave --dask out to work here" in line
    assert not out.exists()


def test_lost_cluster_is_one_line(model, news_file, address, monkeypatch):
    from distributed import KilledWorker

    def lost(*_, **__):
        raise KilledWorker("answer-1", None, 3)

    module = sys.modules["labelkin.prediction.fitted_model"]  # also the name of a function
    monkeypatch.setattr(module, "answer_batches", lost)
    line = call("predict", model, news_file, "--dask", address).refused(code=1)
    assert f"The Dask cluster at {address} must stay until the work is done" in line
