"""Nothing that was acknowledged is lost when the server is killed."""

import random
import sqlite3
from threading import Thread

import httpx
import pytest
from live_server import SLOW_DISK, server_process

from labelkin.curation.saved_work import read_saved_documents

pytestmark = pytest.mark.xdist_group("service")
N_CLIENTS = 8


class Clients:
    """Clients that have documents learned, and note which were acknowledged."""

    def __init__(self, address, n_calls, when_enough):
        self.address, self.n_calls, self.when_enough = address, n_calls, when_enough
        self.acknowledged, self.sent = [], []

    def run(self, enough):
        """Send all documents; at so many acknowledged ones, call the executioner."""
        threads = [Thread(target=self._send, args=(i, enough)) for i in range(N_CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _send(self, i, enough):
        with httpx.Client(base_url=self.address, timeout=30) as client:
            for j in range(i, self.n_calls, N_CLIENTS):
                document = {"text": f"document {j}", "subjects": [{"uri": "gas"}]}
                self.sent.append(document["text"])
                try:
                    answer = client.post("v1/projects/news/learn", json=[document])
                except httpx.TransportError:
                    return
                assert answer.status_code == 204
                self.acknowledged.append(document["text"])
                if len(self.acknowledged) == enough:
                    self.when_enough()


@pytest.mark.long
@pytest.mark.parametrize("slow_disk", [False, True])
def test_every_acknowledged_document_survives_a_kill(news_file, tmp_path, long_proofs, slow_disk):
    """On a slow disk the kill falls into a commit: an answer that came too early would show."""
    n_rounds, n_calls = (3 if slow_disk else 10, 1_000) if long_proofs else (1, 200)
    rng = random.Random(0)
    for i in range(n_rounds):
        saved_work = tmp_path / f"{i}.sqlite"
        with server_process(news_file, saved_work, before=SLOW_DISK if slow_disk else "") as server:
            clients = Clients(server.address, n_calls, server.process.kill)
            clients.run(enough=rng.randrange(n_calls // 10, n_calls * 9 // 10))
            assert server.process.wait(timeout=30) < 0
        kept = read_saved_documents(saved_work).documents
        assert len(clients.acknowledged) < n_calls, "the kill came too late"
        assert set(clients.acknowledged) <= set(kept) <= set(clients.sent)
        assert len(set(kept)) == len(kept)
        with sqlite3.connect(saved_work) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_killed_server_starts_again_with_all_it_had(news_file, tmp_path):
    saved_work = tmp_path / "saved.sqlite"
    with server_process(news_file, saved_work) as server:
        clients = Clients(server.address, 40, server.process.kill)
        clients.run(enough=20)
    kept = read_saved_documents(saved_work).documents
    with server_process(news_file, saved_work) as server:
        state = httpx.get(f"{server.address}api/models/news/saved").json()
    assert state["documents"] == state["learned"] == len(kept) >= 20
