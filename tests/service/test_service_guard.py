"""Foreign hosts, foreign pages, missing tokens and large bodies stay outside."""

import base64
import socket

import pytest
from live_server import serving

from labelkin.service import Limits, create_app, serve

pytestmark = pytest.mark.xdist_group("service")
SAVE = "/api/models/news/documents"
DOCUMENT = {"text": "Evil.", "accepted": ["gas"]}


def n_saved(client):
    return client.get("/api/models/news/saved").json()["documents"]


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8000", "[::1]", "LOCALHOST"])
def test_local_host_names_are_accepted_with_any_port(client, host):
    assert client.get("/api/models", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
     "evil@localhost", "", "[::2]", "localhost evil.example"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/api/models", "/v1/projects", "/page/app.js", "/metrics"])
def test_other_host_names_are_rejected(client, host, path):
    answer = client.get(path, headers={"Host": host})
    assert answer.status_code in (400, 421)  # an empty or broken Host may not get that far
    if answer.status_code == 421:
        assert "This service answers to" in answer.json()["detail"]


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1:1",
     "http://[", "", "file://"],
)  # fmt: skip
def test_pages_of_other_origins_cannot_write(client, origin):
    before = n_saved(client)
    answer = client.post(SAVE, json=DOCUMENT, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "own page" in answer.json()["detail"]
    assert n_saved(client) == before


def test_own_page_can_write(client):
    origin = str(client.base_url).rstrip("/")
    assert client.post(SAVE, json=DOCUMENT, headers={"Origin": origin}).status_code == 201
    tunnel = {"Host": "localhost:9999", "Origin": "http://localhost:9999"}
    assert client.post(SAVE, json=DOCUMENT, headers=tunnel).status_code == 201


@pytest.fixture(scope="module")
def locked(news_file, tmp_path_factory):
    saved_work = tmp_path_factory.mktemp("locked") / "saved.sqlite"
    with serving(
        news_file, saved_work=saved_work, token="open-sesame", hosts=["labels.org"]
    ) as client:
        yield client


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer open", "Basic open-sesame", "Basic /w==", "open-sesame",
     "Bearer open-sesame2", "Bearer öpen-sesame".encode()],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/api/models", "/v1/projects/news", "/metrics", "/api/nothing"])
def test_requests_without_the_token_are_rejected(locked, authorization, path):
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = locked.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "open-sesame" not in answer.text


def test_requests_with_the_token_are_accepted(locked):
    password = base64.b64encode(b"anyone:open-sesame").decode()
    for credentials in ("Bearer open-sesame", "bearer open-sesame", f"Basic {password}"):
        headers = {"Authorization": credentials}
        assert locked.get("/api/models", headers=headers).status_code == 200
    assert locked.post(SAVE, json=DOCUMENT).status_code == 401


@pytest.mark.parametrize("path", ["/", "/health", "/ready", "/openapi.json"])
def test_the_page_and_health_need_no_token(locked, path):
    assert locked.get(path).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/api/models", "/v1/projects", "/metrics"])
def test_pictures_and_scripts_for_other_pages_are_rejected(client, path, site):
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    answer = client.get(path, headers=headers)
    assert answer.status_code == 403
    assert "own page" in answer.json()["detail"]
    assert client.get(path, headers={**headers, "Sec-Fetch-Mode": "navigate"}).status_code == 200
    for ours in ("same-origin", "none"):
        assert client.get(path, headers={**headers, "Sec-Fetch-Site": ours}).status_code == 200
    assert client.get("/", headers=headers).status_code == 200


def test_allowed_host_names_are_accepted(locked):
    assert locked.get("/health", headers={"Host": "labels.org:443"}).status_code == 200
    assert locked.get("/health", headers={"Host": "other.org"}).status_code == 421


def test_every_response_has_the_security_headers(client):
    for path in ("/", "/docs", "/api/models", "/nothing", "/page/app.js"):
        headers = client.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers


def test_nothing_outside_the_page_is_served(client):
    for path in ("../app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd"):
        assert client.get(f"/page/{path}").status_code == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "library.example"])
def test_addresses_beyond_this_machine_need_a_token(news_file, host):
    with pytest.raises(
        ValueError, match=r"beyond this machine needs a token.*LABELKIN_TOKEN.*--insecure"
    ):
        serve([news_file], host=host)


@pytest.mark.parametrize("token", ["", "  ", "two words", "schlüssel"])
def test_a_token_must_be_one_ascii_word(news_file, token):
    with pytest.raises(ValueError, match="ASCII without blanks"):
        create_app([news_file], token=token)


def test_wildcard_address_accepts_any_host_and_no_foreign_origin(news_file, tmp_path):
    saved_work = tmp_path / "saved.sqlite"
    with serving(news_file, saved_work=saved_work, hosts=["0.0.0.0"], token="t") as client:
        assert client.get("/health", headers={"Host": "machine.lan:8000"}).status_code == 200
        foreign = {"Host": "machine.lan", "Origin": "http://evil.example"}
        assert client.get("/health", headers=foreign).status_code == 403


@pytest.fixture(scope="module")
def narrow(news_file, tmp_path_factory):
    saved_work = tmp_path_factory.mktemp("narrow") / "saved.sqlite"
    with serving(
        news_file, saved_work=saved_work, limits=Limits(body_bytes=5000, seconds=1)
    ) as client:
        yield client


def test_large_content_length_is_rejected(narrow):
    answer = narrow.post(SAVE, content=b"x" * 5001)
    assert answer.status_code == 413
    assert "may have 5000 bytes, got 5001 bytes" in answer.json()["detail"]


def test_large_body_without_a_length_is_rejected(narrow):
    def endless():
        for _ in range(100):
            yield b"x" * 1000

    answer = narrow.post(SAVE, content=endless())
    assert answer.status_code == 413
    assert "got more" in answer.json()["detail"]


def test_slow_body_is_rejected(narrow):
    with socket.create_connection((narrow.base_url.host, narrow.base_url.port)) as connection:
        connection.sendall(
            b"POST /api/models/news/suggest HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        connection.settimeout(10)
        assert connection.recv(4096).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("order", [1, -1])
def test_request_smuggling_is_rejected(narrow, order):
    lengths = [b"Content-Length: 6\r\n", b"Transfer-Encoding: chunked\r\n"][::order]
    smuggled = b"0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /v1/projects/news/suggest HTTP/1.1\r\nHost: localhost\r\n"
    with socket.create_connection((narrow.base_url.host, narrow.base_url.port)) as connection:
        connection.sendall(b"".join([head, *lengths, b"\r\n", smuggled]))
        connection.settimeout(10)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"labelkin_requests" not in answer


def test_origins_other_than_http_are_rejected(client):
    host = client.base_url.netloc.decode()
    for scheme, status in {"http": 200, "https": 200, "javascript": 403, "file": 403}.items():
        headers = {"Origin": f"{scheme}://{host}"}
        assert client.get("/api/models", headers=headers).status_code == status
    twice = [("Origin", f"http://{host}"), ("Origin", "http://evil.example")]
    assert client.get("/api/models", headers=twice).status_code == 403
