"""Health, readiness, metrics, the page, and how the service starts and ends."""

import shutil
import signal
import socket
from pathlib import Path
from threading import Thread

import httpx
import pytest
from live_server import ServerProcess, serving, wait_until
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from labelkin import (
    LabelDependenceClassifier,
    LabelRescorer,
    NearestNeighbours,
    storage,
)
from labelkin.curation import saved_work as saved_work_module
from labelkin.curation.saved_work import read_saved_documents
from labelkin.service import Limits, create_app, serve

pytestmark = pytest.mark.xdist_group("service")


def test_read_only_disk_is_a_problem_and_nothing_is_saved(news_file, tmp_path):
    with serving(news_file, saved_work=tmp_path / "saved.sqlite") as client:
        service = client.app.state.service
        (saved_work,) = service._files.values()
        saved_work._database.execute("PRAGMA query_only=1")
        for answer in (
            client.post("/api/models/news/documents", json={"text": "a"}),
            client.post("/v1/projects/news/learn", json=[{"text": "a", "subjects": []}]),
        ):
            assert answer.status_code == 503
            assert "readonly database. Nothing was saved" in answer.json()["detail"]
            assert answer.headers["retry-after"] == "10"
        assert client.get("/health").status_code == 200
        assert client.post("/api/models/news/suggest", json={"text": "a"}).status_code == 200


@pytest.mark.parametrize("what", ["a full disk", "a read-only file"])
def test_service_is_not_ready_without_a_writable_disk(news_file, tmp_path, monkeypatch, what):
    with serving(news_file, saved_work=tmp_path / "saved.sqlite") as client:
        assert client.get("/ready").status_code == 200
        if what == "a full disk":
            monkeypatch.setattr(saved_work_module, "_LEAST_FREE", 2**80)
        else:
            monkeypatch.setattr(saved_work_module.os, "access", lambda *_: False)
        answer = client.get("/ready")
        assert answer.status_code == 503
        assert "saved.sqlite" in answer.json()["detail"]


def test_metrics_count_by_route_and_status(news_file, tmp_path):
    with serving(news_file, saved_work=tmp_path / "saved.sqlite") as client:
        client.post("/api/models/news/documents", json={"text": "a", "accepted": ["gas"]})
        for _ in range(3):
            client.post("/api/models/news/suggest", json={"text": "a"})
        client.post("/api/models/none/suggest", json={"text": "a"})
        client.get("/no/such/path")
        text = client.get("/metrics").text
    route = 'method="POST",route="/api/models/{model_id}/suggest"'
    assert f'labelkin_requests_total{{{route},status="200"}} 3.0' in text
    assert f'labelkin_requests_total{{{route},status="404"}} 1.0' in text
    assert 'labelkin_requests_total{method="any",route="none",status="404"} 1.0' in text
    assert f"labelkin_request_seconds_count{{{route}}} 4.0" in text
    assert 'labelkin_saved_documents{file="saved.sqlite"} 1.0' in text
    (size,) = [line for line in text.splitlines() if line.startswith("labelkin_saved_bytes{")]
    assert float(size.split()[1]) > 1000


def test_unknown_paths_and_methods_are_problems(client):
    assert client.get("/api/nothing").status_code == 404
    answer = client.put("/health")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET"
    assert answer.headers["content-type"] == "application/problem+json"


def test_termination_finishes_accepted_requests(news_file, tmp_path):
    saved_work = tmp_path / "saved.sqlite"
    server = ServerProcess(news_file, saved_work)
    acknowledged = []

    def save(i):
        with httpx.Client(base_url=server.address) as client:
            for j in range(50):
                text = f"{i}-{j}"
                try:
                    answer = client.post("/api/models/news/documents", json={"text": text})
                except httpx.TransportError:
                    return
                if answer.status_code == 201:
                    acknowledged.append(text)
                else:
                    assert answer.status_code == 503

    threads = [Thread(target=save, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(acknowledged) >= 20)
    helpers = Path(f"/proc/{server.process.pid}").glob("task/*/children")
    assert [path.read_text() for path in helpers if path.read_text()] == []  # one process
    status = server.stop()
    for thread in threads:
        thread.join()
    assert status in (0, -signal.SIGTERM)
    assert set(acknowledged) <= set(read_saved_documents(saved_work).documents)
    assert not saved_work.with_name("saved.sqlite-wal").exists()  # closed in order


def test_a_port_in_use_is_named(news_file, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot use 127.0.0.1, port {port}"):
            serve([news_file], port=port, saved_work=tmp_path / "saved.sqlite")


def test_model_without_texts_is_an_error(newsroom, tmp_path):
    rescorer = LabelRescorer().fit([["a", "b"], ["a"], ["b"]])
    path = storage.save(rescorer, tmp_path / "rescorer.labelkin")
    with pytest.raises(ValueError, match=r"a pipeline that ends in one, got a LabelRescorer"):
        create_app([path])


def test_model_id_is_made_of_the_file_name(news_file, tmp_path):
    path = shutil.copy(news_file, tmp_path / "müller & söhne?.labelkin")
    with serving(path) as client:
        (model,) = client.get("/api/models").json()["models"]
        assert model["id"] == "m-ller-s-hne"
        assert client.get(f"/v1/projects/{model['id']}").status_code == 200


def test_neighbours_explain_and_numbers_are_label_names(newsroom, tmp_path):
    """A model of another kind: nearest neighbours, scikit-learn's words, numbers as labels."""
    train = newsroom.train[:300]
    labels = [{newsroom.label_names.tolist().index(name) for name in names}
              for names in newsroom.label_sets(train)]  # fmt: skip
    model = make_pipeline(TfidfVectorizer(), LabelDependenceClassifier(NearestNeighbours()))
    path = storage.save(model.fit(newsroom.documents[train], labels), tmp_path / "near.labelkin")
    with serving(path) as client:
        request = {"text": str(newsroom.documents[train[0]]), "accepted": ["3"]}
        answer = client.post("/api/models/near/suggest", json=request).json()
        assert answer["n_words"] is None
        label = answer["suggestions"][0]["label"]
        reasons = client.post("/api/models/near/explain", json={**request, "label": label}).json()
        assert reasons["terms"] is None
        assert reasons["neighbours"][0]["document"] == 0
        assert reasons["neighbours"][0]["similarity"] == pytest.approx(1)
        assert reasons["content_constant"] == pytest.approx(reasons["parts"]["content"], abs=1e-9)
        related = client.get("/api/models/near/related", params={"label": label})
        assert related.status_code == 200


def test_a_deleted_file_is_noticed_by_saving_and_by_ready(news_file, tmp_path):
    path = tmp_path / "saved.sqlite"
    with serving(news_file, saved_work=path) as client:
        assert client.post("/api/models/news/documents", json={"text": "a"}).status_code == 201
        assert client.get("/ready").status_code == 200
        for file in tmp_path.iterdir():
            file.unlink()
        for answer in (
            client.get("/ready"),
            client.post("/api/models/news/documents", json={"text": "a"}),
        ):
            assert answer.status_code == 503
            assert "saved.sqlite" in answer.json()["detail"]
            assert "was moved, deleted or replaced" in answer.json()["detail"]


def test_saved_work_of_the_maximum_size_is_a_problem(news_file, tmp_path):
    limits = Limits(saved_work_bytes=1)
    with serving(news_file, saved_work=tmp_path / "saved.sqlite", limits=limits) as client:
        answer = client.post("/api/models/news/documents", json={"text": "a" * 200_000})
        assert answer.status_code == 503
        assert "full" in answer.json()["detail"]
        assert client.post("/api/models/news/suggest", json={"text": "a"}).status_code == 200
