"""A hundred clients at once: no error, no lost acknowledgement."""

from collections import Counter

import pytest
from live_server import server_process
from load import run_clients

from labelkin.curation.saved_work import read_saved_documents

pytestmark = pytest.mark.xdist_group("service")


@pytest.mark.long
def test_a_hundred_clients_get_answers_and_lose_nothing(
    news_file, newsroom, tmp_path, long_proofs, capsys
):
    saved_work = tmp_path / "saved.sqlite"
    texts = [str(text) for text in newsroom.documents[newsroom.test]]
    with server_process(news_file, saved_work) as server:
        load = run_clients(
            server.address,
            texts,
            newsroom.label_names.tolist(),
            n_clients=100,
            seconds=60 if long_proofs else 5,
        )
        server.stop()
    with capsys.disabled():
        print(f"\n100 clients: {load}, {len(load.acknowledged)} saved")
    assert load.faults == []
    assert set(load.statuses) <= {200, 201, 204}
    assert len(load.acknowledged) > 0
    assert Counter(read_saved_documents(saved_work).documents) == Counter(load.acknowledged)
