"""Slow headers, many connections, large bodies and odd requests keep nobody else out."""

import asyncio
import gc
import select
import signal
import socket
import time

import httpx
import pytest
from live_server import serving, wait_until

from labelkin.service import Limits, serve
from labelkin.service import serving as serving_module
from labelkin.service.serving import listen

pytestmark = pytest.mark.xdist_group("service")
LIMITS = Limits(
    header_seconds=1.5, connections=20, body_bytes=200_000, bodies_bytes=500_000, seconds=5
)


@pytest.fixture(scope="module")
def service(news_file, tmp_path_factory):
    journal = tmp_path_factory.mktemp("journal") / "journal.sqlite"
    with serving(news_file, journal=journal, limits=LIMITS) as client:
        yield client


def connect(client, *lines):
    """Open a connection, and send the beginning of a request."""
    connection = socket.create_connection((client.base_url.host, client.base_url.port), timeout=10)
    connection.sendall("".join(lines).encode())
    return connection


def read(connection):
    """Return all that comes until the service closes the connection."""
    pieces = []
    try:
        while piece := connection.recv(65536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def is_closed(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1000).startswith(b"HTTP/1.1 408") or not connection.recv(1)
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


HALF = "GET /health HTTP/1.1\r\nHost: localhost\r\n"


def test_a_header_that_does_not_come_is_not_waited_for(service):
    for beginning in ("", "GET", HALF):
        start = time.monotonic()
        with connect(service, beginning) as connection:
            answer = read(connection)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 408 ")
        assert 1 < time.monotonic() - start < 8


def test_a_second_header_that_does_not_come_is_not_waited_for(service):
    with connect(service, HALF, "\r\n", HALF) as connection:
        start = time.monotonic()
        assert read(connection).startswith(b"HTTP/1.1 200 ")
        assert time.monotonic() - start < 8


def test_many_slow_connections_keep_nobody_out(service):
    """Five times as many as there may be: the oldest make room."""
    slow = [connect(service, HALF) for _ in range(5 * LIMITS.connections)]
    with httpx.Client(base_url=service.base_url, timeout=10) as client:
        for _ in range(10):
            start = time.monotonic()
            assert client.get("/health").status_code == 200
            assert time.monotonic() - start < 3
    wait_until(lambda: all(map(is_closed, slow)))
    for connection in slow:
        connection.close()


@pytest.fixture
def patient(news_file, tmp_path):
    """A service that waits long for headers, so that only the number of connections is bounded."""
    limits = Limits(header_seconds=120, connections=20)
    with serving(news_file, journal=tmp_path / "journal.sqlite", limits=limits) as client:
        yield client


def test_there_are_never_more_connections_than_there_may_be(patient):
    slow = [connect(patient, HALF) for _ in range(50)]
    wait_until(lambda: sum(map(is_closed, slow)) >= 30)
    assert patient.get("/health").status_code == 200
    for connection in slow:
        connection.close()


def test_connections_that_were_answered_and_ask_no_more_make_room(patient):
    idle = [connect(patient, HALF, "\r\n") for _ in range(20)]
    for connection in idle:
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
    with connect(patient, HALF, "Connection: close\r\n\r\n") as one_more:
        assert read(one_more).startswith(b"HTTP/1.1 200 ")
    for connection in idle:
        connection.close()


def test_who_comes_later_does_not_wait_for_as_many_rounds(news_file, tmp_path, monkeypatch):
    """A hundred clients wait when it starts: all are taken up and answered in a few rounds."""
    waiting = []

    def listen_and_wait(*args):
        listening = listen(*args)
        place = listening.getsockname()
        waiting.extend(socket.create_connection(place, timeout=10) for _ in range(100))
        for connection in waiting:
            connection.sendall(f"{HALF}\r\n".encode())
        return listening

    async def stop_soon():
        for _ in range(40):
            await asyncio.sleep(0)
        has_come = select.select(waiting, [], [], 0)[0]
        answers.extend(connection.recv(12) for connection in has_come)
        signal.raise_signal(signal.SIGINT)

    begun, answers = [], []
    monkeypatch.setattr(serving_module, "listen", listen_and_wait)
    serve(
        [news_file],
        port=0,
        journal=tmp_path / "journal.sqlite",
        announce=lambda _: begun.append(asyncio.create_task(stop_soon())),
    )
    assert answers == [b"HTTP/1.1 200"] * 100
    for connection in waiting:
        connection.close()


def test_what_stays_is_not_looked_through_for_garbage(news_file, tmp_path):
    """It takes a tenth of a second where a model is large, in which nobody is answered."""
    kept = []

    def stop(_):
        kept.append(gc.get_freeze_count())
        signal.raise_signal(signal.SIGINT)

    serve([news_file], port=0, journal=tmp_path / "journal.sqlite", announce=stop)
    assert kept[0] > 10_000
    assert gc.get_freeze_count() == 0


def test_bodies_are_bounded_together(service):
    """Three bodies of 150 kB are on their way; there is no room for a fourth."""
    head = (
        "POST /v1/projects/news/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 190000\r\n"
    )
    begun = [connect(service, head, "\r\n", "x" * 150_000) for _ in range(3)]
    time.sleep(0.5)
    with connect(service, head, "\r\n", "x" * 150_000) as one_more:
        answer = read(one_more)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"may have 500000 bytes" in answer
    for connection in begun:
        connection.close()
    wait_until(lambda: service.post("/v1/projects/news/suggest", data={"text": "a"}).is_success)


@pytest.mark.parametrize(
    "beginning",
    [
        "GET /health HTTP/1.1\r\nHost: localhost\r\nLong: ",
        "GET /health?",
        "GET /health HTTP/1.1\r\nHost: localhost\r\n" + "Many: x\r\n" * 20_000,
        "POST /v1/projects/news/suggest HTTP/1.1\r\nHost: localhost\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5\r\ntext=\r\n0\r\nAfter: ",
        "POST /v1/projects/news/suggest HTTP/1.1\r\nHost: localhost\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5;extension=",
    ],
    ids=["one", "address", "many", "after the body", "of a chunk"],
)
def test_a_header_without_end_is_not_kept(service, beginning):
    """It would be in memory, and as much of it as comes in the time that there is."""
    sent = 0
    with connect(service, beginning) as connection:
        try:
            while sent < 50_000_000:
                sent += connection.send(b"x" * 100_000)
        except ConnectionError:
            pass
        else:
            pytest.fail("all of it was taken")
    assert sent < 20_000_000  # what the system holds on the way is much of it
    assert service.get("/health").status_code == 200


def test_bodies_in_small_pieces_are_taken_and_what_follows_them_is_no_header(service):
    head = "POST /v1/projects/news/suggest HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    form = "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = "text=" + "gas+" * 4_000
    pieces = "".join(f"1\r\n{sign}\r\n" for sign in body)
    end = "0\r\nOrigin: http://evil.example\r\n\r\n"
    with connect(service, head, form, pieces, end) as connection:
        assert read(connection).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("order", [1, -1])
def test_two_lengths_are_an_error_and_nothing_after_them_is_answered(service, order):
    lengths = ["Content-Length: 6\r\n", "Transfer-Encoding: chunked\r\n"][::order]
    smuggled = "0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = "POST /v1/projects/news/suggest HTTP/1.1\r\nHost: localhost\r\n"
    with connect(service, head, *lengths, "\r\n", smuggled) as connection:
        answer = read(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"labelkin_requests" not in answer


@pytest.mark.parametrize("path", ["/", "/health", "/ready", "/openapi.json", "/api/models"])
def test_head_is_get_without_a_body(service, path):
    head, get = service.head(path), service.get(path)
    assert head.status_code == get.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(get.content))
    assert service.head("/v1/projects/news/suggest").status_code == 405


def test_absolute_form_is_taken_and_its_host_counts(service):
    end = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with connect(service, f"GET http://localhost/health {end}") as connection:
        assert read(connection).startswith(b"HTTP/1.1 200 ")
    with connect(service, f"GET http://localhost {end}") as connection:
        assert read(connection).startswith(b"HTTP/1.1 200 ")


def test_only_pages_of_the_web_are_origins(service):
    host = service.base_url.netloc.decode()
    for origin, status in (
        (f"http://{host}", 200),
        (f"https://{host}", 200),
        (f"javascript://{host}", 403),
        (f"file://{host}", 403),
    ):
        assert service.get("/api/models", headers={"Origin": origin}).status_code == status
    twice = [("Origin", f"http://{host}"), ("Origin", "http://evil.example")]
    assert service.get("/api/models", headers=twice).status_code == 403


def test_what_is_no_number_is_none(service):
    request = {"text": "a", "limit": True}
    assert service.post("/api/models/news/suggest", json=request).status_code == 400
    again = service.post(
        "/v1/projects/news/suggest",
        content="text=a&text=b",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert again.status_code == 400
    assert "comes again" in again.json()["detail"]


def test_what_is_no_field_of_a_form_is_left_alone_however_often_it_comes(service):
    other = service.post(
        "/v1/projects/news/suggest",
        content="text=a&other=1&other=2",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert other.status_code == 200


@pytest.mark.parametrize(
    "query",
    ["attractions=1&attractions=2", "attraction%73=1&attractions=2", "attractions&attractions="],
)
def test_a_parameter_comes_once(service, query):
    answer = service.get(f"/api/models/news/graph?{query}")
    assert answer.status_code == 400
    assert "'attractions' 2 times" in answer.json()["detail"]
