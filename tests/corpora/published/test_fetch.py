"""Fetching, against a server on this machine that behaves badly in every way we know."""

import hashlib
import io
import re
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
    """Serves ``files`` and, for the first ``troubles``, what they say in place of it."""

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
    monkeypatch.setattr(published, "PAUSES", (0, 0))
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
        urls = file.urls or [f"{server.url}/{file.name}"]
        download(file, tmp_path, urls, progress)
        return tmp_path / file.name

    return get_file


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_once_and_nothing_else_is_left(get, server, tmp_path):
    for _ in range(2):
        assert get().read_bytes() == CONTENT
    assert files_in(tmp_path) == ["file.bin"]
    assert server.asked == ["/file.bin"]


def test_progress_counts_up_to_the_whole(get):
    calls = []
    get(progress=lambda *called_with: calls.append(called_with))
    assert {name for name, _, _ in calls} == {"file.bin"}
    assert {total for _, _, total in calls} == {len(CONTENT)}
    counts = [done for _, done, _ in calls]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, len(CONTENT))
    assert len(counts) > 3


@pytest.mark.parametrize("trouble", ["cut", 503])
def test_a_temporary_failure_is_tried_again(get, server, tmp_path, trouble):
    server.troubles = [trouble]
    assert get().read_bytes() == CONTENT
    assert len(server.asked) == 2
    assert files_in(tmp_path) == ["file.bin"]


@pytest.mark.parametrize(
    ("troubles", "message", "n_asked"),
    [
        (["cut"] * 9, r"cut after \d+ of \d+ bytes", 3),
        ([503] * 9, r"HTTP Error 503", 3),
        (["no length"], "the server does not declare the size of the file", 1),
    ],
)
def test_a_file_that_is_not_whole_is_discarded(get, server, tmp_path, troubles, message, n_asked):
    server.troubles = troubles
    with pytest.raises(FetchError, match=message):
        get()
    assert len(server.asked) == n_asked
    assert files_in(tmp_path) == []


def test_a_missing_file_is_not_asked_for_again(get, server):
    with pytest.raises(FetchError, match=r"/missing\.bin: HTTP Error 404"):
        get(replace(BIN, name="missing.bin"))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"size": 3}, rf"must have 3 bytes \(a book\), got {len(CONTENT)}"),
        ({"sha256": "0" * 64}, r"sha256 must be 0{64} \(a book\), got [0-9a-f]{64}"),
    ],
)
def test_wrong_bytes_are_thrown_away(get, tmp_path, known, message):
    with pytest.raises(FetchError, match=message):
        get(replace(BIN, vouched_by="a book", **known))
    assert files_in(tmp_path) == []


def test_right_bytes_pass_the_check(get):
    known = replace(BIN, size=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
    assert get(known).read_bytes() == CONTENT


def test_the_next_address_is_tried_when_the_first_has_other_bytes(get, server):
    server.files["/wrong/file.bin"] = b"wrong"
    known = replace(
        BIN,
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        urls=(f"{server.url}/wrong/file.bin", f"{server.url}/file.bin"),
    )
    assert get(known).read_bytes() == CONTENT


def test_a_web_page_is_no_archive(get, server):
    server.files["/file.tar.gz"] = b"<!doctype html>Please sign in"
    with pytest.raises(FetchError, match=r"must begin with b'\\x1f\\x8b', got b'<!doctype"):
        get(RemoteFile(name="file.tar.gz", urls=()))


def test_a_full_disk_is_not_taken_for_the_network(get, server, monkeypatch):
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
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    corpora = {**published.KNOWN, "reuters21578": replace(
        published.KNOWN["reuters21578"], files=(file,)
    )}  # fmt: skip
    monkeypatch.setattr(published, "KNOWN", MappingProxyType(corpora))
    return f"{server.url}/copy/"


def test_a_corpus_is_fetched_and_unpacked_where_load_finds_it(home, tiny_reuters):
    assert find("reuters21578") is None
    fetched = fetch("reuters21578", base_url=tiny_reuters)
    assert fetched.folder == home / "reuters21578" == find("reuters21578")
    assert [path.name for path in fetched.files] == ["reuters21578.tar.gz"]
    assert fetched.by_hand == ""
    assert files_in(fetched.folder) == [
        "README.txt",
        "folder",
        "reut2-000.sgm",
        "reuters21578.tar.gz",
    ]
    assert (fetched.folder / "reut2-000.sgm").read_bytes() == b"hello"


def test_fetching_again_asks_nobody_and_repairs_what_is_missing(home, server, tiny_reuters):
    folder = fetch("reuters21578", base_url=tiny_reuters).folder
    (folder / "reut2-000.sgm").unlink()
    fetch("reuters21578", base_url=tiny_reuters)
    assert len(server.asked) == 1
    assert (folder / "reut2-000.sgm").read_bytes() == b"hello"
    assert files_in(folder / "folder") == ["inside.txt"]


def test_a_folder_can_be_named(tmp_path, tiny_reuters):
    fetched = fetch("reuters21578", tmp_path / "new" / "folder", base_url=tiny_reuters)
    assert fetched.folder == tmp_path / "new" / "folder"
    assert (fetched.folder / "README.txt").exists()


def test_an_archive_that_cannot_be_unpacked_is_named(tmp_path, tiny_reuters):
    (tmp_path / "reuters21578.tar.gz").write_bytes(b"\x1f\x8b broken")
    with pytest.raises(FetchError, match=r"reuters21578\.tar\.gz cannot be unpacked .*Delete it"):
        fetch("reuters21578", tmp_path, base_url=tiny_reuters)
    assert files_in(tmp_path) == ["reuters21578.tar.gz"]


def test_other_bytes_than_the_real_checksum_s_are_an_error(tmp_path, server):
    server.files["/reuters21578.tar.gz"] = b"\x1f\x8b" + bytes(8_150_594)
    with pytest.raises(FetchError, match=r"sha256 must be 3bae43c9.*huggingface.* By hand: Downl"):
        fetch("reuters21578", tmp_path, base_url=server.url)


def test_what_python_cannot_unpack_is_said(tmp_path, server):
    server.files["/emotions.rar"] = b"Rar!\x1a\x07"
    fetched = fetch("emotions", tmp_path, base_url=server.url)
    assert files_in(tmp_path) == ["emotions.rar"]
    assert re.search(r"Unpack emotions\.rar .* emotions-train\.arff", fetched.by_hand)


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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "rcv1-sample",
            r"cannot be fetched: .* By hand: It has no official home\. Put rcv1",
        ),
        (
            "tmc2007-500",
            r"cannot be fetched: .* By hand: Put tmc2007-500\.xml, .* See tmc2007",
        ),
        ("newsroom", r"cannot be fetched: .* By hand: Nothing: it is generated when it is loaded"),
    ],
)
def test_corpora_without_a_file_to_fetch_say_what_to_do(tmp_path, name, message):
    with pytest.raises(FetchError, match=message):
        fetch(name, tmp_path / "folder")
    assert files_in(tmp_path) == []


def test_an_unknown_corpus_cannot_be_fetched(tmp_path):
    with pytest.raises(ValueError, match=r"name must be a known corpus, got 'reuters'"):
        fetch("reuters", tmp_path)
