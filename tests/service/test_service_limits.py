"""Each limit of the service has its problem, and accepted requests are finished."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from live_server import server_process, serving, wait_until

from labelkin.service import Limits, answers

pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture(scope="module")
def small(news_file, tmp_path_factory):
    saved_work = tmp_path_factory.mktemp("small") / "saved.sqlite"
    limits = Limits(text_characters=100, batch_documents=3, known_labels=2, label_characters=30)
    with serving(news_file, saved_work=saved_work, limits=limits) as client:
        yield client


def kind(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    return answer.status_code, answer.json()["type"].removeprefix("urn:labelkin:problem:")


LONG = {"text": "x" * 101}


@pytest.mark.parametrize(
    ("path", "body", "problem"),
    [
        ("/api/models/news/suggest", LONG, (413, "text-too-long")),
        ("/api/models/news/explain", {**LONG, "label": "gas"}, (413, "text-too-long")),
        ("/api/models/news/documents", LONG, (413, "text-too-long")),
        ("/v1/projects/news/suggest-batch", {"documents": [LONG]}, (413, "text-too-long")),
        ("/v1/projects/news/learn", [{**LONG, "subjects": []}], (413, "text-too-long")),
        ("/v1/projects/news/learn", [{"text": "", "subjects": []}] * 4, (413, "batch-too-large")),
        (
            "/api/models/news/suggest",
            {"text": "", "accepted": ["gas", "wheat", "corn"]},
            (422, "too-many-labels"),
        ),
        (
            "/api/models/news/documents",
            {"text": "", "rejected": ["y" * 31]},
            (422, "label-too-long"),
        ),
    ],
)
def test_each_limit_has_its_problem(small, path, body, problem):
    assert kind(small.post(path, json=body)) == problem
    assert small.get("/api/models/news/saved").json()["documents"] == 0


def test_limits_are_listed_with_the_models(small):
    limits = {"text_characters": 100, "known_labels": 2, "label_characters": 30}
    assert small.get("/api/models").json()["limits"] == limits


class Door:
    """Work in a thread that takes as long as the test wants."""

    def __init__(self):
        self.entered, self.open = threading.Semaphore(0), threading.Event()

    def work(self, *_):
        self.entered.release()
        assert self.open.wait(10)
        return {"labels": [], "total": 0}


SEARCH = "/api/models/news/labels"


def test_a_request_that_takes_too_long_is_a_problem(news_file, tmp_path, monkeypatch):
    door = Door()
    monkeypatch.setattr(answers, "search_labels", door.work)
    limits = Limits(workers=1, seconds=0.2)
    with serving(news_file, saved_work=tmp_path / "saved.sqlite", limits=limits) as client:
        with ThreadPoolExecutor(2) as clients:
            found = list(clients.map(client.get, [SEARCH] * 2))
        assert [kind(answer) for answer in found] == [(504, "too-slow")] * 2
        assert "within 0.2 s" in found[0].json()["detail"]
        door.open.set()
        wait_until(lambda: client.get(SEARCH).status_code == 200)


def test_internal_error_is_a_problem_without_details(news_file, tmp_path, monkeypatch):
    def work(*_):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(answers, "suggest_open_labels", work)
    with serving(news_file, saved_work=tmp_path / "saved.sqlite") as client:
        answer = client.post("/api/models/news/suggest", json={"text": "a"})
        assert kind(answer) == (500, "fault")
        assert "secret" not in answer.text
        assert 'status="500"} 1.0' in client.get("/metrics").text


def test_size_of_all_bodies_is_limited(news_file, tmp_path):
    limits = Limits(body_bytes=200_000, bodies_bytes=500_000)
    with serving(news_file, saved_work=tmp_path / "saved.sqlite", limits=limits) as client:
        place = client.base_url.host, client.base_url.port
        head = (
            b"POST /v1/projects/news/suggest HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 190000\r\n\r\n"
        )
        begun = [socket.create_connection(place, timeout=10) for _ in range(4)]
        for connection in begun:
            connection.sendall(head + b"x" * 150_000)
            time.sleep(0.2)
        assert begun[-1].recv(65536).startswith(b"HTTP/1.1 503 ")
        for connection in begun:
            connection.close()
        ask = {"url": "/v1/projects/news/suggest", "data": {"text": "a"}}
        wait_until(lambda: client.post(**ask).is_success)


def test_number_of_connections_is_limited(news_file, tmp_path):
    with server_process(news_file, tmp_path / "saved.sqlite", limits="connections=3") as server:
        place = httpx.URL(server.address)
        idle = [socket.create_connection((place.host, place.port)) for _ in range(3)]
        wait_until(lambda: httpx.get(f"{server.address}health").status_code == 503)
        for connection in idle:
            connection.close()
        wait_until(lambda: httpx.get(f"{server.address}health").status_code == 200)
