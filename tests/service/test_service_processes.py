"""Several processes answer as one does: the same answers, one journal, nothing lost."""

import os
import re
import signal
import socket
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest
from issue_list import write_issues
from live_server import SLOW_DISK, server_process, wait_until

from labelkin.service import journal_upkeep, processes, read_journal, serve
from labelkin.service.serving import listen

pytestmark = [
    pytest.mark.xdist_group("service"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]
DOCUMENT = {"text": "gas and wheat", "accepted": ["wheat"]}


def children(pid):
    listed = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return sorted(int(child) for some in listed for child in some)


@pytest.fixture(scope="module")
def served(ruled_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    review = write_issues(folder)
    options = {"workers": 2, "review": review}
    with server_process(ruled_file, folder / "journal.sqlite", **options) as server:
        yield server


def ask(server, path, **content):
    """Ask by a connection of its own, which any of the processes may get."""
    with httpx.Client(base_url=server.address, timeout=30, verify=False) as client:
        answer = client.request("POST" if content else "GET", path, **content)
    assert answer.status_code < 300, answer.text
    return answer.json() if "json" in answer.headers.get("content-type", "") else answer.text


def suggested(server):
    return ask(server, "api/models/ruled/suggest", json={"text": "gas and oil"})


def test_all_processes_answer_and_count_as_one(served):
    assert len(children(served.process.pid)) == 2
    before = suggested(served)
    for _ in range(20):
        assert suggested(served) == before
    counted = ask(served, "metrics")
    found = re.search(r'route="/api/models/\{model_id\}/suggest",status="200"\} (\d+)', counted)
    assert found[1] == "21"
    assert ask(served, "ready") == {"status": "ready"}


def test_what_one_has_saved_all_have_and_learn_at_one_moment(served):
    """Never does an answer come from less than the one before it, whoever gives it."""
    n_before = ask(served, "api/models/ruled/journal")["documents"]
    seen, ends = [], Event()

    def watch():
        while not ends.is_set():
            seen.append(suggested(served)["learned"])

    watcher = Thread(target=watch)
    watcher.start()
    for i in range(1, 31):
        document = DOCUMENT | {"text": f"{DOCUMENT['text']} {i}"}
        assert ask(served, "api/models/ruled/documents", json=document)["id"] == n_before + i
        assert ask(served, "api/models/ruled/journal")["documents"] == n_before + i
    wait_until(lambda: suggested(served)["learned"] == n_before + 30)
    ends.set()
    watcher.join()
    assert seen == sorted(seen)
    assert len(set(seen)) > 1
    last = suggested(served)
    assert all(suggested(served) == last for _ in range(20))


def test_a_review_is_one(served):
    ask(served, "api/review/answers", json={"number": 1, "answer": "keep"})
    for _ in range(10):
        assert ask(served, "api/review")["keep"] == 1
        assert ask(served, "api/review/issues/1")["answer"] == "keep"
    with httpx.Client(base_url=served.address) as client:
        answer = client.get("api/review/issues/99999")
    assert answer.json()["type"].endswith("no-such-issue")


class Savers:
    """Clients that save until told to stop, each by new connections; what was acknowledged."""

    def __init__(self, server, n=4):
        self.server, self.ends, self.acknowledged, self.wrong = server, Event(), [], []
        self.threads = [Thread(target=self._save, args=(i,)) for i in range(n)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        for thread in self.threads:
            thread.join()

    def _save(self, i):
        count = 0
        while not self.ends.is_set():
            count += 1
            text = f"client {i}, document {count}"
            try:
                with httpx.Client(base_url=self.server.address, timeout=30, verify=False) as client:
                    document = {**DOCUMENT, "text": text}
                    answer = client.post("api/models/ruled/documents", json=document)
            except httpx.TransportError:
                time.sleep(0.02)
                continue
            if answer.status_code == 201:
                self.acknowledged.append(text)
            elif answer.status_code != 503:
                self.wrong.append(answer.text)


def kept_once(journal, savers):
    found = Counter(read_journal(journal).documents)
    assert {text: found[text] for text in savers.acknowledged if found[text] != 1} == {}
    assert savers.wrong == []
    assert journal_upkeep.check(journal).is_whole


def test_a_process_that_is_killed_is_begun_anew_and_nothing_is_lost(ruled_file, tmp_path):
    journal, log = tmp_path / "journal.sqlite", tmp_path / "log"
    with (
        log.open("w") as stderr,
        server_process(ruled_file, journal, workers=2, stderr=stderr) as server,
    ):
        before = children(server.process.pid)
        with Savers(server) as savers:
            wait_until(lambda: len(savers.acknowledged) > 20, 60)
            os.kill(before[0], signal.SIGKILL)
            wait_until(lambda: len(set(children(server.process.pid)) | set(before)) == 3, 60)
            n_saved = len(savers.acknowledged)
            wait_until(lambda: len(savers.acknowledged) > n_saved + 20, 60)
        # The new one has learned what was saved before it was there.
        n_kept = len(read_journal(journal).documents)
        wait_until(lambda: ask(server, "api/models/ruled/journal")["learned"] == n_kept, 60)
        last = suggested(server)
        assert all(suggested(server) == last for _ in range(20))
        assert server.stop() == 0
    kept_once(journal, savers)
    assert "has ended with status -9; another is begun" in log.read_text()
    assert "Traceback" not in log.read_text()


def test_asked_to_end_it_finishes_what_was_taken(ruled_file, tmp_path):
    journal = tmp_path / "journal.sqlite"
    with server_process(ruled_file, journal, workers=2, before=SLOW_DISK) as server:
        pids = children(server.process.pid)
        with Savers(server) as savers:
            wait_until(lambda: len(savers.acknowledged) > 5, 60)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(60) == 0
    kept_once(journal, savers)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_without_the_one_that_writes_the_others_end(ruled_file, tmp_path):
    journal = tmp_path / "journal.sqlite"
    with server_process(ruled_file, journal, workers=2) as server:
        pids = children(server.process.pid)
        with Savers(server) as savers:
            wait_until(lambda: len(savers.acknowledged) > 5, 60)
            server.kill()
            wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), 60)
    kept_once(journal, savers)


def test_processes_that_cannot_work_are_given_up(ruled_file, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_PROGRAM", "raise SystemExit(3)")
    with pytest.raises(ChildProcessError, match="3 times in a row, the last time with status 3"):
        serve([ruled_file], port=0, workers=2, journal=tmp_path / "journal.sqlite")


def test_a_port_that_another_has_is_an_error(ruled_file, tmp_path):
    with listen("127.0.0.1", 0) as taken, pytest.raises(OSError, match="cannot listen"):
        port = taken.getsockname()[1]
        serve([ruled_file], port=port, workers=2, journal=tmp_path / "journal.sqlite")


def test_a_single_service_cannot_come_beside_several_processes(served):
    port = httpx.URL(served.address).port
    with pytest.raises(OSError, match="cannot listen"):
        listen("127.0.0.1", port)
    with socket.create_connection(("127.0.0.1", port)):
        pass


@pytest.mark.parametrize("workers", [0, -1])
def test_there_must_be_a_process(ruled_file, workers):
    with pytest.raises(ValueError, match="workers must be at least 1"):
        serve([ruled_file], workers=workers)
