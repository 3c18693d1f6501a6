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

from labelkin.corpora import FetchError, fetch, find, known
from labelkin.corpora import published as downloading
from labelkin.corpora.published import DownloadError, RemoteFile, download

CONTENT = bytes(range(256)) * 1200
BIN = RemoteFile(name="file.bin", urls=())


class Server(ThreadingHTTPServer):
    """Serves ``files`` and, for the first ``troubles``, what they say in place of it."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {"/file.bin": CONTENT}
        self.troubles = []
        self.version = '"1"'
        self.asked = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    timeout = 5

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Range")))
        trouble = self.server.troubles.pop(0) if self.server.troubles else None
        content, start = self.server.files.get(self.path), self.first_byte() or 0
        if isinstance(trouble, int):
            self.send_error(trouble)
        elif content is None:
            self.send_error(404)
        elif start >= len(content):
            self.send_error(416)
        else:
            self.send_head(content, self.first_byte(), trouble)
            end = len(content) // 2 if trouble == "cut" else len(content)
            self.wfile.write(content[start : max(end, start)])

    def first_byte(self):
        """Where the answer may begin, if the file is still the one that was begun."""
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        unchanged = self.headers.get("If-Range") == self.server.version
        return int(asked[1]) if asked and unchanged else None

    def send_head(self, content, start, trouble):
        self.send_response(200 if start is None else 206)
        if self.server.version:
            self.send_header("ETag", self.server.version)
        if trouble != "no length":
            self.send_header("Content-Length", str(len(content) - (start or 0)))
        if start is not None:
            begin = start + (trouble == "wrong range")
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(downloading, "PAUSES", (0, 0, 0))
    monkeypatch.setattr(downloading, "TIMEOUT", 5)
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

    def get_file(file=BIN, **options):
        return download(file, tmp_path, urls=[f"{server.url}/{file.name}"], **options)

    return get_file


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_once_and_nothing_else_is_left(get, server, tmp_path):
    for _ in range(2):
        assert get().read_bytes() == CONTENT
    assert files_in(tmp_path) == ["file.bin"]
    assert server.asked == [("/file.bin", None)]


def test_progress_counts_up_to_the_whole(get):
    calls = []
    get(progress=lambda *called_with: calls.append(called_with))
    assert {name for name, _, _ in calls} == {"file.bin"}
    assert {total for _, _, total in calls} == {len(CONTENT)}
    counts = [done for _, done, _ in calls]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, len(CONTENT))
    assert len(counts) > 3


def test_a_cut_connection_is_taken_up_where_it_broke(get, server):
    server.troubles = ["cut"]
    calls = []
    assert get(progress=lambda _, done, __: calls.append(done)).read_bytes() == CONTENT
    half = len(CONTENT) // 2
    assert server.asked == [("/file.bin", None), ("/file.bin", f"bytes={half}-")]
    assert calls == sorted(calls)


def test_a_download_that_failed_goes_on_in_the_next_call(get, server, tmp_path):
    server.troubles = ["cut", 503, 503, 503]
    with pytest.raises(DownloadError, match=r"HTTP 503 .*, at the last of 4 attempts"):
        get()
    assert files_in(tmp_path) == ["file.bin.part", "file.bin.part.json"]
    assert (tmp_path / "file.bin.part").read_bytes() == CONTENT[: len(CONTENT) // 2]
    assert get().read_bytes() == CONTENT
    assert server.asked[-1] == ("/file.bin", f"bytes={len(CONTENT) // 2}-")
    assert files_in(tmp_path) == ["file.bin"]


def test_a_file_that_changed_meanwhile_is_fetched_anew(get, server):
    server.troubles = ["cut", 503, 503, 503]
    with pytest.raises(DownloadError):
        get()
    server.files["/file.bin"], server.version = CONTENT[::-1], '"2"'
    assert get().read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("version", [None, 'W/"1"'])
def test_without_a_version_nothing_is_pieced_together(get, server, version):
    server.version = version
    server.troubles = ["cut"]
    assert get().read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == [None, None]


def test_bytes_of_another_address_are_not_taken_up(server, tmp_path):
    server.files["/other/file.bin"] = CONTENT[::-1]
    server.troubles = ["cut", 404]
    urls = [f"{server.url}/file.bin", f"{server.url}/other/file.bin"]
    assert download(BIN, tmp_path, urls=urls).read_bytes() == CONTENT[::-1]
    assert server.asked[-1] == ("/other/file.bin", None)


def test_a_wrong_piece_is_thrown_away(get, server):
    server.troubles = ["cut", "wrong range"]
    assert get().read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == [None, f"bytes={len(CONTENT) // 2}-", None]


def test_a_part_longer_than_the_file_is_thrown_away(get, server, tmp_path):
    server.troubles = ["cut", 503, 503, 503]
    with pytest.raises(DownloadError):
        get()
    (tmp_path / "file.bin.part").write_bytes(CONTENT * 2)
    assert get().read_bytes() == CONTENT


def test_a_damaged_note_means_a_new_start(get, server, tmp_path):
    server.troubles = ["cut", 503, 503, 503]
    with pytest.raises(DownloadError):
        get()
    (tmp_path / "file.bin.part.json").write_text('{"url": ')
    assert get().read_bytes() == CONTENT
    assert server.asked[-1] == ("/file.bin", None)


def test_a_server_that_always_cuts_is_left_alone_in_the_end(get, server, tmp_path):
    server.troubles = ["cut"] * 9
    with pytest.raises(DownloadError, match=r"cut after \d+ of \d+ bytes, at the last of 4 att"):
        get()
    assert len(server.asked) == 4
    assert not (tmp_path / "file.bin").exists()


def test_an_answer_without_an_end_is_not_taken_for_whole(get, server, tmp_path):
    server.troubles = ["no length"]
    with pytest.raises(DownloadError, match="the server does not say where the file ends"):
        get()
    assert not (tmp_path / "file.bin").exists()


def test_a_missing_file_is_not_asked_for_again(get, server):
    with pytest.raises(DownloadError, match=r"/missing\.bin: HTTP 404"):
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
    with pytest.raises(DownloadError, match=message):
        get(replace(BIN, vouched_by="a book", **known))
    assert files_in(tmp_path) == []


def test_right_bytes_pass_the_check(get):
    known = replace(BIN, size=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
    assert get(known).read_bytes() == CONTENT


def test_the_next_address_is_tried_when_the_first_has_other_bytes(server, tmp_path):
    server.files["/wrong/file.bin"] = b"wrong"
    known = replace(
        BIN,
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        urls=(f"{server.url}/wrong/file.bin", f"{server.url}/file.bin"),
    )
    assert download(known, tmp_path).read_bytes() == CONTENT


def test_a_web_page_is_no_archive(get, server):
    server.files["/file.tar.gz"] = b"<!doctype html>Please sign in"
    with pytest.raises(DownloadError, match=r"must begin with b'\\x1f\\x8b', got b'<!doctype"):
        get(RemoteFile(name="file.tar.gz", urls=()))


def test_a_full_disk_is_not_taken_for_the_network(get, server, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(downloading, "_write_note", full)
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
        for name in ("reut2-000.sgm", "README.txt"):
            info = tarfile.TarInfo(name)
            info.size = 5
            archive.addfile(info, io.BytesIO(b"hello"))
    content = packed.getvalue()
    server.files["/copy/reuters21578.tar.gz"] = content
    file = replace(
        known.KNOWN["reuters21578"].files[0],
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    corpora = {**known.KNOWN, "reuters21578": replace(
        known.KNOWN["reuters21578"], files=(file,)
    )}  # fmt: skip
    monkeypatch.setattr(known, "KNOWN", MappingProxyType(corpora))
    return f"{server.url}/copy/"


def test_a_corpus_is_fetched_and_unpacked_where_load_finds_it(home, tiny_reuters):
    assert find("reuters21578") is None
    fetched = fetch("reuters21578", base_url=tiny_reuters)
    assert fetched.folder == home / "reuters21578" == find("reuters21578")
    assert [path.name for path in fetched.files] == ["reuters21578.tar.gz"]
    assert fetched.by_hand == ""
    assert files_in(fetched.folder) == ["README.txt", "reut2-000.sgm", "reuters21578.tar.gz"]
    assert (fetched.folder / "reut2-000.sgm").read_bytes() == b"hello"


def test_fetching_again_asks_nobody_and_repairs_what_is_missing(home, server, tiny_reuters):
    folder = fetch("reuters21578", base_url=tiny_reuters).folder
    (folder / "reut2-000.sgm").unlink()
    fetch("reuters21578", base_url=tiny_reuters)
    assert len(server.asked) == 1
    assert (folder / "reut2-000.sgm").read_bytes() == b"hello"


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
        match=r"(?s)kdd\.ics\.uci\.edu.*no such host, or no network.*daviddlewis\.com.*no network"
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
        ("newsroom", r"cannot be fetched: .* By hand: Nothing: it is made when it is loaded"),
    ],
)
def test_corpora_without_a_file_to_fetch_say_what_to_do(tmp_path, name, message):
    with pytest.raises(FetchError, match=message):
        fetch(name, tmp_path / "folder")
    assert files_in(tmp_path) == []


def test_an_unknown_corpus_cannot_be_fetched(tmp_path):
    with pytest.raises(ValueError, match=r"name must be a known corpus, got 'reuters'"):
        fetch("reuters", tmp_path)
