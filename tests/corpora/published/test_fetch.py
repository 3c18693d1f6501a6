"""Downloads from a local server with errors of every kind."""

import hashlib
import io
import socket
import tarfile
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType

import pytest

from labelkin.corpora import FetchError, fetch, find, published
from labelkin.corpora.published import RemoteFile, download

CONTENT = bytes(range(256)) * 1200
BIN = RemoteFile(name="file.bin", urls=())


class Server(ThreadingHTTPServer):
    """A server of ``files``; ``troubles`` are the errors of the first requests."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {"/file.bin": CONTENT}
        self.troubles = []
        self.asked = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    timeout = 5

    def do_GET(self):
        self.server.asked.append(self.path)
        trouble = self.server.troubles.pop(0) if self.server.troubles else None
        content = self.server.files.get(self.path)
        if isinstance(trouble, int) or content is None:
            self.send_error(trouble or 404)
            return
        self.send_response(200)
        if trouble != "no length":
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if trouble == "cut" else content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(published, "TIMEOUT", 5)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def get(server, tmp_path):
    """Download ``file.bin`` from the server."""

    def get_file(file=BIN, progress=lambda *_: None):
        urls = file.urls or (f"{server.url}/{file.name}",)
        download(replace(file, urls=urls), tmp_path, progress)
        return tmp_path / file.name

    return get_file


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_once_without_leftovers(get, server, tmp_path):
    for _ in range(2):
        assert get().read_bytes() == CONTENT
    assert files_in(tmp_path) == ["file.bin"]
    assert server.asked == ["/file.bin"]


@pytest.mark.parametrize(
    ("trouble", "known", "message"),
    [
        ("cut", {}, r"must have 307200 bytes, got \d+"),
        (503, {}, r"HTTP Error 503"),
        ("no length", {}, "must have a declared number of bytes"),
        (None, {"name": "missing.bin"}, r"/missing\.bin: HTTP Error 404"),
        (None, {"sha256": "0" * 64}, r"sha256 must be 0{64} \(a book\), got [0-9a-f]{64}"),
    ],
)
def test_an_incomplete_or_wrong_file_is_discarded(get, server, tmp_path, trouble, known, message):
    server.troubles = [trouble]
    with pytest.raises(FetchError, match=message):
        get(replace(BIN, sha256_source="a book", **known))
    assert files_in(tmp_path) == []


def test_the_next_address_is_tried_when_the_first_has_other_bytes(get, server):
    server.files["/wrong/file.bin"] = b"wrong"
    known = replace(
        BIN,
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        urls=(f"{server.url}/wrong/file.bin", f"{server.url}/file.bin"),
    )
    assert get(known).read_bytes() == CONTENT


def test_a_web_page_is_rejected_as_an_archive(get, server):
    server.files["/file.tar.gz"] = b"<!doctype html>Please sign in"
    with pytest.raises(FetchError, match=r"must begin with b'\\x1f\\x8b', got b'<!doctype"):
        get(RemoteFile(name="file.tar.gz", urls=()))


def test_a_full_disk_is_not_reported_as_a_network_error(get, server, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(published, "atomic_replace", full)
    with pytest.raises(OSError, match="No space left"):
        get()
    assert len(server.asked) == 1


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty data folder of a user without any other."""
    monkeypatch.delenv("LABELKIN_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "labelkin"


@pytest.fixture
def tiny_reuters(server, monkeypatch):
    """Reuters-21578 with an archive of two small files, and its checksum."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in ("reut2-000.sgm", "README.txt", "folder/inside.txt"):
            info = tarfile.TarInfo(name)
            info.size = 5
            archive.addfile(info, io.BytesIO(b"hello"))
    content = packed.getvalue()
    server.files["/copy/reuters21578.tar.gz"] = content
    file = replace(
        published.KNOWN["reuters21578"].files[0],
        urls=(f"{server.url}/copy/reuters21578.tar.gz",),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    corpora = {**published.KNOWN, "reuters21578": replace(
        published.KNOWN["reuters21578"], files=(file,)
    )}  # fmt: skip
    monkeypatch.setattr(published, "KNOWN", MappingProxyType(corpora))


@pytest.mark.usefixtures("tiny_reuters")
def test_a_corpus_is_fetched_and_unpacked_where_load_finds_it(home):
    assert find("reuters21578") is None
    fetched = fetch("reuters21578")
    assert fetched.folder == home / "reuters21578" == find("reuters21578")
    assert fetched.by_hand == ""
    assert files_in(fetched.folder) == [
        "README.txt",
        "folder",
        "reut2-000.sgm",
        "reuters21578.tar.gz",
    ]
    assert (fetched.folder / "reut2-000.sgm").read_bytes() == b"hello"


@pytest.mark.usefixtures("tiny_reuters", "home")
def test_fetching_again_restores_missing_files_from_the_archive(server):
    folder = fetch("reuters21578").folder
    (folder / "reut2-000.sgm").unlink()
    fetch("reuters21578")
    assert len(server.asked) == 1
    assert (folder / "reut2-000.sgm").read_bytes() == b"hello"
    assert files_in(folder / "folder") == ["inside.txt"]


@pytest.mark.usefixtures("tiny_reuters")
def test_an_archive_that_cannot_be_unpacked_is_named(tmp_path):
    (tmp_path / "reuters21578.tar.gz").write_bytes(b"\x1f\x8b broken")
    with pytest.raises(FetchError, match=r"reuters21578\.tar\.gz cannot be unpacked .*Delete it"):
        fetch("reuters21578", tmp_path)
    assert files_in(tmp_path) == ["reuters21578.tar.gz"]


def test_without_a_network_the_steps_by_hand_are_given(tmp_path, monkeypatch):
    def no_network(*_, **__):
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(
        FetchError,
        match=r"(?s)kdd\.ics\.uci\.edu.*name resolution.*daviddlewis\.com.*name resolution"
        r".*By hand: Download https://kdd.* as .*reuters21578\.tar\.gz\. Run tar -xzf",
    ):
        fetch("reuters21578", tmp_path)
