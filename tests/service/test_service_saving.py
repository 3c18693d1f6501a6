"""Saving over HTTP: one entry per document, and the model learns from it once."""

import pytest
from live_server import serving, wait_until

from labelkin.curation.saved_work import read_saved_documents

TEXT = "The river rose again, and crews brought food."
EDITED = f"{TEXT} More rain is expected."


@pytest.fixture
def desk(news_file, ruled_file, tmp_path):
    """Return a function that saves, one that reads what is saved, and one that counts documents."""
    saved_work = tmp_path / "saved.sqlite"
    with serving(news_file, ruled_file, saved_work=saved_work) as client:

        def save(text, *labels, record=None, model="news"):
            body = {"text": text, "accepted": labels, "record": record}
            answer = client.post(f"/api/models/{model}/documents", json=body)
            assert answer.status_code == 201, answer.text
            return answer.json()["record"]

        def saved():
            found = read_saved_documents(saved_work)
            return list(zip(found.documents, found.label_sets, strict=True))

        def counts():
            state = client.get("/api/models/news/saved").json()
            return state["documents"], state["learned"]

        yield save, saved, counts


def test_saving_the_same_text_again_replaces_the_entry_and_the_model_learns_once(desk):
    save, saved, counts = desk
    save(TEXT, "floods")
    save("Football fans sang.", "football")
    wait_until(lambda: counts() == (2, 2))
    save(TEXT, "floods", "weather")
    assert saved() == [("Football fans sang.", ("football",)), (TEXT, ("floods", "weather"))]
    wait_until(lambda: counts() == (2, 2))


def test_an_edited_text_replaces_the_document_of_its_record(desk):
    save, saved, counts = desk
    record = save(TEXT, "floods")
    edited = save(EDITED, "floods", record=record)
    assert saved() == [(EDITED, ("floods",))]
    assert save(EDITED, "weather") == edited
    assert saved() == [(EDITED, ("weather",))]
    wait_until(lambda: counts() == (1, 1))


def test_two_models_keep_their_own_entry_of_one_text(desk):
    save, saved, _ = desk
    save(TEXT, "floods")
    save(TEXT, "weather", model="ruled")
    assert saved() == [(TEXT, ("floods",)), (TEXT, ("weather",))]
