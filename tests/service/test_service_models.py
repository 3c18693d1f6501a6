"""Saved documents are learned at once and again after a restart; the model file is unchanged."""

import threading

import numpy as np
import pytest
from live_server import serving, wait_until
from prometheus_client import generate_latest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, NaiveBayes, storage
from labelkin.curation.saved_work import Entry, SavedWork, Withdrawal, read_saved_documents
from labelkin.service import create_app
from labelkin.service.models import ServedModel
from labelkin.service.running_service import Learner, Telemetry
from labelkin.text import WordCounts

pytestmark = pytest.mark.xdist_group("service")
NEWS = "/api/models/news"
SAVED = [
    {"text": "First.", "accepted": ["tennis", "gas"], "rejected": ["wheat"]},
    {"text": "Second.", "accepted": ["tennis", "gas", "brand-new"]},
    {"text": "Third.", "accepted": []},
]


def suggested(client, **request):
    request = {"text": "Tennis.", "accepted": ["gas"], "limit": 50, **request}
    return client.post(f"{NEWS}/suggest", json=request).json()


def learned(client, n_documents):
    return lambda: suggested(client)["learned"] == n_documents


@pytest.fixture
def saved_work(tmp_path):
    return tmp_path / "saved.sqlite"


def test_saved_documents_are_learned_and_learned_again_at_the_next_start(news_file, saved_work):
    file = news_file.read_bytes()
    with serving(news_file, saved_work=saved_work) as client:
        before = suggested(client)
        answers = [client.post(f"{NEWS}/documents", json=document) for document in SAVED]
        assert [answer.status_code for answer in answers] == [201] * 3
        assert [answer.json()["id"] for answer in answers] == [1, 2, 3]
        assert [answer.json()["unknown"] for answer in answers] == [[], ["brand-new"], []]
        wait_until(learned(client, 3))
        after = suggested(client)
        assert after["suggestions"] != before["suggestions"]
        state = client.get(f"{NEWS}/saved").json()
    assert state == {"documents": 3, "learned": 3}
    assert read_saved_documents(saved_work).documents == ["First.", "Second.", "Third."]
    with serving(news_file, saved_work=saved_work) as client:
        again = suggested(client)
        assert client.get(f"{NEWS}/saved").json() == state
    assert again["learned"] == 3
    for one, other in zip(again["suggestions"], after["suggestions"], strict=True):
        assert one["label"] == other["label"]
        assert one["log_odds"] == pytest.approx(other["log_odds"], abs=1e-9)
    assert news_file.read_bytes() == file


def test_learning_equals_fitting_on_both(news_model, newsroom, news_file, saved_work):
    """The oracle: label evidence fitted on training and saved documents together."""
    with serving(news_file, saved_work=saved_work) as client:
        for document in SAVED:
            client.post(f"{NEWS}/documents", json=document)
        wait_until(learned(client, 3))
        counts = client.get(f"{NEWS}/labels", params={"limit": 100}).json()["labels"]
        related = client.get(f"{NEWS}/related", params={"label": "gas", "limit": 100}).json()
    names = newsroom.label_names.tolist()
    sets = newsroom.label_sets(newsroom.train)
    sets += [[name for name in document["accepted"] if name in names] for document in SAVED]
    together = np.array([[name in labels for name in names] for labels in sets], dtype=float)
    expected = dict(zip(names, together.sum(axis=0), strict=True))
    assert {item["label"]: item["documents"] for item in counts} == expected
    fitted = type(news_model[-1].rescorer_.labels_)().fit(together)
    said = {item["first"]: item["to_second"] for item in related["related"]}
    gas = names.index("gas")
    for name, value in said.items():
        assert value == pytest.approx(fitted.weights_[names.index(name), gas], abs=1e-5)


def test_a_model_trained_on_saved_work_does_not_learn_it_twice(news_model, tmp_path, saved_work):
    path = tmp_path / "news.labelkin"
    storage.save(news_model, path)
    with serving(path, saved_work=saved_work) as client:
        client.post(f"{NEWS}/documents", json=SAVED[0])
    mark = read_saved_documents(saved_work).mark
    storage.save(news_model, path, summary={"saved_work": mark})
    with serving(path, saved_work=saved_work) as client:
        assert suggested(client)["learned"] == 0
        client.post(f"{NEWS}/documents", json=SAVED[1])
        wait_until(learned(client, 1))
    with serving(path, saved_work=saved_work) as client:
        assert suggested(client)["learned"] == 1


def test_each_model_has_its_saved_work_beside_it(news_model, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        storage.save(news_model, tmp_path / folder / "news.labelkin")
    with serving(tmp_path / "a" / "news.labelkin", tmp_path / "b" / "news.labelkin") as client:
        ids = [model["id"] for model in client.get("/api/models").json()["models"]]
        assert ids == ["news", "news-2"]
        client.post("/api/models/news-2/documents", json=SAVED[0])
        wait_until(lambda: client.get("/api/models/news-2/saved").json()["learned"] == 1)
        assert client.get("/api/models/news/saved").json()["learned"] == 0
    assert read_saved_documents(tmp_path / "a" / "news.saved.sqlite").documents == []
    assert read_saved_documents(tmp_path / "b" / "news.saved.sqlite").documents == ["First."]


@pytest.fixture
def learning(news_file, saved_work):
    """A model that learns from a file, and the file."""
    model, file, telemetry = ServedModel("news", news_file), SavedWork(saved_work), Telemetry()
    learner = Learner(model, file, telemetry)
    yield model, file, learner, telemetry
    learner.close()
    file.close()
    assert not any(thread.name.startswith("learning news") for thread in threading.enumerate())


def test_documents_saved_together_are_learned_in_few_refits(learning, monkeypatch):
    model, file, learner, _ = learning
    batches = []
    monkeypatch.setattr(model, "learn", lambda entries, from_start: batches.append(len(entries)))
    for i in range(200):
        file.save([Entry("news", str(i), ("gas",))])
        learner.notify()
    wait_until(lambda: sum(batches) == 200)
    assert len(batches) < 50


def test_replacement_learns_all_documents_again(learning):
    model, file, learner, _ = learning
    gas = model.column["gas"]
    before = model.snapshot.rescorer.label_sets_.positives()[gas]
    for i in range(5):
        file.save([Entry("news", str(i), ("gas",), origin=f"o{i}")])
        learner.notify()
    wait_until(lambda: model.snapshot.learned == 5)
    file.save([Entry("news", "0", ("tennis",), origin="o0"), Withdrawal("news", "o1")])
    learner.notify()
    wait_until(lambda: model.snapshot.learned == 4)
    assert model.snapshot.rescorer.label_sets_.positives()[gas] == before + 3


def test_labels_implied_by_a_rule_are_learned(ruled_file):
    model = ServedModel("ruled", ruled_file)
    before = model.snapshot.rescorer.label_sets_.positives()
    model.learn([Entry("ruled", "", ("wheat",)), Entry("ruled", "", ("football", "tennis"))])
    more = model.snapshot.rescorer.label_sets_.positives() - before
    gained = {model.names[j] for j in np.flatnonzero(more)}
    assert gained == {"wheat", "grain", "football", "tennis"}  # accepted labels are kept


def test_failed_learning_keeps_the_model(learning, monkeypatch, caplog):
    model, file, learner, telemetry = learning

    def fail(*_):
        raise RuntimeError("no such luck")

    monkeypatch.setattr(model, "learn", fail)
    file.save([Entry("news", "", ("gas",))])
    learner.notify()
    wait_until(lambda: "no such luck" in caplog.text)
    monkeypatch.undo()
    file.save([Entry("news", "", ("gas",)), Entry("another", "", ("gas",))])
    learner.notify()
    wait_until(lambda: model.snapshot.learned == 1)
    assert b'outcome="failed"} 1.0' in generate_latest(telemetry.registry)


def test_label_evidence_that_cannot_learn_is_served(newsroom, tmp_path):
    labels = LogisticRegression(C=0.1)
    classifier = LabelDependenceClassifier(NaiveBayes(), labels=labels, evidence_weight=1.0)
    pipeline = make_pipeline(WordCounts(), classifier)
    train = newsroom.train[:200]
    pipeline.fit(newsroom.documents[train], newsroom.label_sets(train))
    path = storage.save(pipeline, tmp_path / "news.labelkin")
    with serving(path) as client:
        assert suggested(client)["suggestions"]
        assert client.post(f"{NEWS}/documents", json=SAVED[0]).status_code == 201
        assert client.get(f"{NEWS}/related", params={"label": "gas"}).status_code == 409
        assert suggested(client)["learned"] == 0


def test_label_names_must_be_distinct(tmp_path):
    X, Y = ["sea wind", "town", "sea town", "wind"] * 4, [[1], ["1"], [1, "1"], []] * 4
    names = np.array([1, "1"], dtype=object)
    model = make_pipeline(WordCounts(min_documents=1), LabelDependenceClassifier(NaiveBayes()))
    model.fit(X, [[str(x) + str(type(x).__name__) for x in row] for row in Y])
    model[-1].label_names_ = names
    path = storage.save(model, tmp_path / "news.labelkin")
    with pytest.raises(ValueError, match="must have distinct names to be served, got '1' twice"):
        create_app(path)


def test_model_in_memory_is_an_error_with_a_hint():
    with pytest.raises(TypeError, match=r"got Pipeline\. Save it first: labelkin\.save"):
        create_app(make_pipeline(NaiveBayes()))
