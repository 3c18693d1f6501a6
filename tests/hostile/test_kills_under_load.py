"""Clients that suggest and save while the service is killed again and again: nothing is lost."""

import asyncio
import json
import time
from collections import Counter
from itertools import cycle
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from live_server import SLOW_DISK, ServerProcess, read_answer

from labelkin.curation.saved_work import check_saved_work, read_saved_documents

pytestmark = pytest.mark.xdist_group("service")
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    from sklearn.pipeline import make_pipeline

    from labelkin import LabelDependenceClassifier, NaiveBayes, corpora, storage
    from labelkin.text import WordCounts

    news = corpora.newsroom(200)
    model = make_pipeline(WordCounts(), LabelDependenceClassifier(NaiveBayes(), evidence_weight=1))
    model.fit(news.documents, news.label_sets())
    return storage.save(model, tmp_path_factory.mktemp("models") / "news.labelkin")


class Seen:
    """What all clients together have seen, and where the service is just now."""

    def __init__(self, address):
        self.address = address
        self.acknowledged, self.strange, self.latencies = [], [], []
        self.statuses, self.n_cut, self.is_over = Counter(), 0, False


async def client(number, seen):
    """Ask four times and save once, again and again; note what was acknowledged."""
    count = 0
    while not seen.is_over:
        place = urlsplit(seen.address)
        try:
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
        except OSError:
            await asyncio.sleep(0.1)  # it was killed just now
            continue
        try:
            while not seen.is_over:
                count += 1
                text = f"gas and oil {number} {count}"
                path, body, kind, wanted = "/v1/projects/news/suggest", {"text": text}, FORM, 200
                if count % 5 == 0:
                    path, body = "/api/models/news/documents", {"text": text, "accepted": ["gas"]}
                    kind, wanted = JSON, 201
                payload = (urlencode(body) if kind == FORM else json.dumps(body)).encode()
                head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
                start = time.perf_counter()
                writer.write(f"{head}Content-Length: {len(payload)}\r\n\r\n".encode() + payload)
                status, answer = await asyncio.wait_for(read_answer(reader), 60)
                seen.latencies.append(time.perf_counter() - start)
                seen.statuses[status] += 1
                if status == 201:
                    seen.acknowledged.append(text)
                elif status not in (wanted, 503):
                    seen.strange.append((status, answer[:300]))
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            seen.n_cut += 1
        finally:
            writer.close()


async def story(start_server, n_clients, n_kills, seconds):
    """Kill the service at intervals and restart it; return what clients have seen."""
    server = await asyncio.to_thread(start_server)
    seen = Seen(server.address)
    clients = [asyncio.create_task(client(i, seen)) for i in range(n_clients)]
    try:
        for _ in range(n_kills):
            await asyncio.sleep(seconds)
            await asyncio.to_thread(server.kill)
            server = await asyncio.to_thread(start_server)
            seen.address = server.address
        n_before = len(seen.acknowledged)
        for _ in range(600):  # until the last one has saved something, too
            await asyncio.sleep(0.1)
            if len(seen.acknowledged) > n_before:
                break
    finally:
        seen.is_over = True
        await asyncio.gather(*clients)
        await asyncio.to_thread(server.stop)
    return seen


@pytest.mark.long
def test_every_acknowledged_document_is_there_once(small_model, tmp_path, long_proofs, capsys):
    """At full size: a hundred clients and ten minutes, with a kill every minute."""
    n_clients, n_kills, seconds = (100, 10, 60) if long_proofs else (20, 10, 1.0)
    saved_work, disks = tmp_path / "saved.sqlite", cycle((SLOW_DISK, ""))

    def start():  # on a slow disk the kill comes within a commit
        return ServerProcess(small_model, saved_work, before=next(disks))

    seen = asyncio.run(story(start, n_clients, n_kills, seconds))
    found = Counter(read_saved_documents(saved_work).documents)
    with capsys.disabled():
        slowest = sorted(seen.latencies)[int(0.99 * len(seen.latencies))]
        print(
            f"\n{n_kills} kills, {len(seen.acknowledged)} saved, {len(found)} "
            f"in the file, answers {dict(seen.statuses)}, {seen.n_cut} connections cut, "
            f"p99 {1000 * slowest:.0f} ms"
        )
    assert seen.strange == []
    assert len(seen.acknowledged) > n_kills
    assert {text: found[text] for text in seen.acknowledged if found[text] != 1} == {}
    assert set(found.values()) == {1}
    assert check_saved_work(saved_work) == len(found)
    server = ServerProcess(small_model, saved_work)
    state = httpx.get(f"{server.address}api/models/news/saved").json()
    server.stop()
    assert state == {"documents": len(found), "learned": len(found)}
