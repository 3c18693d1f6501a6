"""Annif's own client against a running server."""

import asyncio
import io

import httpx
import pytest
from live_server import serving, wait_until

from labelkin.curation.saved_work import read_saved_documents

annif_client = pytest.importorskip("annif_client", reason="annif-client is a test dependency")
pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture(scope="module")
def saved_work(tmp_path_factory):
    return tmp_path_factory.mktemp("annif") / "saved.sqlite"


@pytest.fixture(scope="module")
def annif(news_file, saved_work):
    with serving(news_file, saved_work=saved_work) as client:
        yield annif_client.AnnifClient(f"{client.address}v1/")


def test_models_are_projects(annif):
    (project,) = annif.projects
    assert project["project_id"] == "news"
    assert project["language"] == "en"
    assert project["backend"] == {"backend_id": "labelkin"}
    assert project["is_trained"] is True
    assert annif.get_project("news") == project


def test_a_missing_project_is_a_value_error(annif):
    with pytest.raises(ValueError, match="There is no model 'none'"):
        annif.get_project("none")


def test_suggestions_are_the_models_probabilities(annif, newsroom, news_model):
    text = newsroom.documents[newsroom.test[0]]
    (expected,) = news_model[-1].suggest(news_model[:-1].transform([text]), top=10)
    results = annif.suggest("news", text)
    assert [item["label"] for item in results] == [item.label for item in expected]
    assert [item["score"] for item in results] == pytest.approx([p.probability for p in expected])
    assert all(item["uri"] == item["label"] and item["notation"] is None for item in results)


def test_limit_and_threshold_are_kept(annif, newsroom):
    text = newsroom.documents[newsroom.test[1]]
    everything = annif.suggest("news", io.StringIO(text), limit=1000)
    assert len(everything) == 38
    assert annif.suggest("news", text, limit=0) == []
    assert annif.suggest("news", text, limit=3) == everything[:3]
    above = annif.suggest("news", text, limit=1000, threshold=0.2)
    assert above == [item for item in everything if item["score"] >= 0.2]


def test_a_batch_is_its_documents(annif, newsroom):
    texts = newsroom.documents[newsroom.test[:7]]
    documents = [{"document_id": f"d{i}", "text": text} for i, text in enumerate(texts)]
    results = annif.suggest_batch("news", [*documents, {"text": ""}], limit=4, threshold=0.01)
    assert [item["document_id"] for item in results] == [*(f"d{i}" for i in range(7)), None]
    for text, item in zip(texts, results, strict=False):
        alone = annif.suggest("news", text, limit=4, threshold=0.01)
        assert [found["label"] for found in item["results"]] == [found["label"] for found in alone]
        assert [found["score"] for found in item["results"]] == pytest.approx(
            [found["score"] for found in alone]
        )
    assert annif.suggest_batch("news", []) == []


def test_concurrent_suggestions_are_those_of_single_requests(client, newsroom):
    texts = [{"text": text, "limit": str(3 + i % 2)} for i, text in enumerate(newsroom.documents)]
    texts[7]["metadata_accepted"] = "wheat"
    texts[8]["include"] = "no such label"

    async def ask_together():
        async with httpx.AsyncClient(base_url=client.base_url) as many:
            posts = [many.post("/v1/projects/news/suggest", data=one) for one in texts[:30]]
            return await asyncio.gather(*posts)

    for form, together in zip(texts[:30], asyncio.run(ask_together()), strict=True):
        alone = client.post("/v1/projects/news/suggest", data=form)
        assert together.status_code == alone.status_code == (422 if "include" in form else 200)
        for one, other in zip(
            *(x.json().get("results", []) for x in (together, alone)), strict=True
        ):
            assert (one["label"], one["score"]) == (other["label"], pytest.approx(other["score"]))


def test_learned_documents_are_saved_and_change_suggestions(annif, saved_work):
    before = {item["label"]: item["score"] for item in annif.suggest("news", "", limit=100)}
    documents = [
        {"text": f"Chess {i}", "subjects": [{"uri": "tennis", "label": "Tennis"}]}
        for i in range(200)
    ]
    answer = annif.learn("news", documents)
    assert answer.status_code == 204
    assert answer.content == b""
    texts, label_sets, _ = read_saved_documents(saved_work)
    assert texts == [document["text"] for document in documents]
    assert set(label_sets) == {("tennis",)}

    def grown():
        after = {item["label"]: item["score"] for item in annif.suggest("news", "", limit=100)}
        return after != before

    wait_until(grown)


def test_an_unknown_uri_is_known_by_its_name(annif, saved_work):
    subjects = [{"uri": "http://example.org/gas", "label": "gas"}, {"uri": "http://example.org/x"}]
    annif.learn("news", [{"text": "both", "subjects": subjects}])
    assert read_saved_documents(saved_work).label_sets[-1] == ("gas", "http://example.org/x")


def test_another_language_is_a_problem(client):
    form = {"text": "a", "language": "fi"}
    answer = client.post("/v1/projects/news/suggest", data=form)
    assert answer.status_code == 422
    assert "names in 'en', got 'fi'" in answer.json()["detail"]
    assert client.post("/v1/projects/news/suggest", data={**form, "language": "en"}).is_success


@pytest.mark.parametrize(
    "form",
    [b"", b"limit=3", b"text=a&limit=-1", b"text=a&limit=x", b"text=a&threshold=2",
     b"text=a&threshold=nan", b"text=%ff", b"text=\xff", b"&".join([b"text=a"] * 3001)],
)  # fmt: skip
def test_invalid_forms_are_a_problem(client, form):
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post("/v1/projects/news/suggest", content=form, headers=kind)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


def test_metadata_name_known_labels(client):
    def scores(**metadata):
        answer = client.post(
            "/v1/projects/news/suggest", data={"text": "The harvest.", "limit": 100, **metadata}
        )
        assert answer.status_code == 200, answer.text
        return {one["uri"]: one["score"] for one in answer.json()["results"]}

    before = scores()
    after = scores(metadata_accepted="wheat; unknown subject", metadata_rejected="corn\ngas")
    assert after["wheat"] == 1
    assert not {"corn", "gas"} & set(after)
    assert set(before) - set(after) == {"corn", "gas"}
    assert after["grain"] > before["grain"]
    assert next(iter(after)) == "wheat"
    both = scores(metadata_accepted=["wheat", "grain"])  # a field per item, as Annif sends lists
    assert both == scores(metadata_accepted="<wheat> <grain>")
    assert both["wheat"] == both["grain"] == 1
    batch = [
        {"text": "The harvest.", "metadata": {"accepted": ["wheat"], "rejected": "gas; corn"}},
        {"text": "The harvest.", "metadata": {"accepted": None, "author": "A. Person"}},
        {"text": "The harvest."},
    ]
    answer = client.post(
        "/v1/projects/news/suggest-batch", params={"limit": 100}, json={"documents": batch}
    )
    found = [{one["uri"]: one["score"] for one in row["results"]} for row in answer.json()]
    assert found[0] == pytest.approx(after)
    assert found[1] == pytest.approx(before)
    assert found[2] == pytest.approx(before)


def test_a_subject_without_a_name_is_a_problem(client):
    body = [{"text": "a", "subjects": [{"uri": " ", "label": ""}]}]
    answer = client.post("/v1/projects/news/learn", json=body)
    assert (answer.status_code, "must have a name" in answer.json()["detail"]) == (422, True)
