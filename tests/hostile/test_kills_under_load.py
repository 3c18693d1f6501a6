"""Clients that suggest and save while the service is killed again and again: nothing is lost."""

import threading
import time
from collections import Counter

import httpx
import pytest
from live_server import ServerProcess

from labelkin.service import journal_upkeep, read_journal

pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    from sklearn.pipeline import make_pipeline

    from labelkin import LabelDependenceClassifier, NaiveBayes, corpora, storage
    from labelkin.text import WordCounts

    news = corpora.newsroom(200)
    model = make_pipeline(WordCounts(), LabelDependenceClassifier(NaiveBayes(), evidence_weight=1))
    model.fit(news.documents, news.Y.label_sets())
    return storage.save(model, tmp_path_factory.mktemp("models") / "news.labelkin")


class Client(threading.Thread):
    """Asks four times and saves once, again and again; notes what was acknowledged."""

    def __init__(self, number, address, ends):
        super().__init__()
        self.number, self.address, self.ends = number, address, ends
        self.acknowledged, self.answered, self.strange = [], 0, []

    def run(self):
        count = 0
        while not self.ends.is_set():
            count += 1
            text = f"gas and oil {self.number} {count}"
            try:
                with httpx.Client(base_url=self.address(), timeout=10) as client:
                    for _ in range(4):
                        answer = client.post("/v1/projects/news/suggest", data={"text": text})
                        self.note(answer, 200)
                    saved = {"text": text, "accepted": ["gas"]}
                    answer = client.post("/api/models/news/documents", json=saved)
                    if self.note(answer, 201):
                        self.acknowledged.append(text)
            except httpx.TransportError:
                time.sleep(0.05)  # it was killed just now

    def note(self, answer, wanted):
        self.answered += answer.status_code == wanted
        if answer.status_code not in (wanted, 503, 504):
            self.strange.append((answer.status_code, answer.text))
        return answer.status_code == wanted


@pytest.mark.long
def test_every_acknowledged_document_is_there_once(small_model, tmp_path, long_proofs):
    if not long_proofs:
        pytest.skip("test_service_kill.py has the small one")
    n_clients, n_kills, seconds = 100, 10, 60
    journal, ends = tmp_path / "journal.sqlite", threading.Event()
    server = ServerProcess(small_model, journal)
    address = [server.address]
    clients = [Client(i, lambda: address[0], ends) for i in range(n_clients)]
    for client in clients:
        client.start()
    try:
        for _ in range(n_kills):
            time.sleep(seconds)
            server.kill()
            server = ServerProcess(small_model, journal)
            address[0] = server.address
        time.sleep(1)
    finally:
        ends.set()
        for client in clients:
            client.join()
        status = server.stop()
    assert status == 0
    acknowledged = [text for client in clients for text in client.acknowledged]
    found = Counter(read_journal(journal).documents)
    print(
        f"{n_kills} kills, {len(acknowledged)} saved, {sum(c.answered for c in clients)} answered"
    )
    assert [client.strange for client in clients if client.strange] == []
    assert len(acknowledged) > n_kills
    assert {text: found[text] for text in acknowledged if found[text] != 1} == {}
    assert journal_upkeep.check(journal).is_whole
