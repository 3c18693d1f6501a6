"""A model with a vocabulary over HTTP: names by language, URIs, notations, alternative labels."""

import pytest
from live_server import serving
from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, NaiveBayes, storage
from labelkin.curation.saved_work import read_saved_documents
from labelkin.text import WordCounts
from labelkin.vocabulary import Concept, Vocabulary

pytestmark = pytest.mark.xdist_group("service")

BASE = "http://example.org/"
DRINKS = Vocabulary.of(
    [
        Concept(
            BASE + "tea", {"en": "tea", "de": "Tee"}, "T1", {"en": ("cuppa",)}, (BASE + "drink",)
        ),
        Concept(BASE + "milk", {"en": "milk", "de": "Milch"}, broader=(BASE + "drink",)),
        Concept(BASE + "bread", {"en": "bread", "de": "Brot"}),
        Concept(BASE + "rare", {"en": "rare thing"}),
        Concept(BASE + "drink", {"en": "drink", "de": "Getränk"}),
    ],
    name="drinks",
    language="en",
    replaced={BASE + "chai": BASE + "tea"},
)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    texts = ["hot cup leaves", "white cow", "oven baked", "hot leaves", "cow white", "baked"] * 4
    labels = [[BASE + x] for x in ("tea", "milk", "bread")] * 8
    classifier = LabelDependenceClassifier(NaiveBayes(), evidence_weight=0.5)
    pipeline = make_pipeline(WordCounts(stem=False, min_documents=1), classifier).fit(texts, labels)
    pipeline[-1].concepts_ = DRINKS
    return storage.save(pipeline, tmp_path_factory.mktemp("models") / "drinks.labelkin")


@pytest.fixture(scope="module")
def saved_work(tmp_path_factory):
    return tmp_path_factory.mktemp("saved") / "drinks.sqlite"


@pytest.fixture(scope="module")
def drinks(model_file, news_file, saved_work):
    with serving(model_file, news_file, saved_work=saved_work) as asking:
        yield asking


def suggested(client, **form):
    answer = client.post("/v1/projects/drinks/suggest", data={"text": "hot leaves", **form})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_subjects_have_uri_name_and_notation(drinks):
    first = suggested(drinks)[0]
    assert (first["uri"], first["label"], first["notation"]) == (BASE + "tea", "tea", "T1")
    assert suggested(drinks, language="de")[0]["label"] == "Tee"
    documents = {"documents": [{"text": "white cow"}]}
    (answer,) = drinks.post(
        "/v1/projects/drinks/suggest-batch", json=documents, params={"language": "de-AT"}
    ).json()
    assert answer["results"][0]["label"] == "Milch"
    assert answer["results"][0]["notation"] is None


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ({"exclude": ["Tee"]}, {"milk", "bread"}),
        ({"exclude": ["tea", BASE + "bread"]}, {"milk"}),
        ({"include": ["Getränk"]}, {"tea", "milk"}),
        ({"include": ["drink"], "exclude": ["T1"]}, {"milk"}),
    ],
)
def test_concepts_are_included_and_excluded_with_narrower_ones(drinks, asked, left):
    labels = {BASE + name for name in left}
    assert {one["uri"] for one in suggested(drinks, **asked)} == labels
    route = "/v1/projects/drinks/suggest-batch"
    (answer,) = drinks.post(route, json={"documents": [{"text": "cow"}]}, params=asked).json()
    assert {one["uri"] for one in answer["results"]} == labels
    own = drinks.post("/api/models/drinks/suggest", json={"text": "cow", **asked}).json()
    assert {one["label"] for one in own["suggestions"]} == labels
    assert own["n_open"] == len(labels)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"exclude": ["teaa"]},
            "exclude must be one of the 3 labels of the model, got 'teaa'. Did",
        ),
        ({"include": ["rare thing"]}, "include and exclude must leave a label"),
        ({"exclude": ["t" * 2000]}, "A label may have 1,000 characters, got one of 2,000 among"),
    ],
)
def test_invalid_concepts_are_a_problem(drinks, asked, said):
    answer = drinks.post("/api/models/drinks/suggest", json={"text": "cow", **asked})
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_vocabularies_are_listed_as_annif_does(drinks):
    vocab = {"vocab_id": "drinks", "languages": ["de", "en"], "size": 5, "loaded": True}
    assert drinks.get("/v1/vocabs").json() == {"vocabs": [vocab]}
    project = drinks.get("/v1/projects/drinks").json()
    assert (project["vocab"], project["vocab_language"]) == (vocab, "en")
    plain = drinks.get("/v1/projects/news").json()
    assert plain["vocab"] is plain["vocab_language"] is None


def test_learned_subjects_are_labels_of_the_model(drinks, saved_work):
    subjects = [{"uri": BASE + "chai"}, {"uri": "urn:x", "label": "Milch"}, {"uri": "urn:y"}]
    documents = [{"text": "both", "subjects": subjects}]
    assert drinks.post("/v1/projects/drinks/learn", json=documents).status_code == 204
    assert read_saved_documents(saved_work).label_sets[-1] == (BASE + "tea", BASE + "milk", "urn:y")


def test_responses_have_the_names_of_their_labels(drinks):
    body = {"text": "hot leaves", "accepted": [BASE + "milk"], "language": "de"}
    answer = drinks.post("/api/models/drinks/suggest", json=body).json()
    assert answer["names"] == {BASE + "tea": "Tee", BASE + "milk": "Milch", BASE + "bread": "Brot"}
    assert {one["label"] for one in answer["suggestions"]} == {BASE + "tea", BASE + "bread"}
    why = drinks.post("/api/models/drinks/explain", json={**body, "label": BASE + "tea"}).json()
    assert why["names"][BASE + "tea"] == "Tee"
    for route, asked in (("related", {"label": BASE + "tea"}), ("graph", {})):
        found = drinks.get(f"/api/models/drinks/{route}", params={**asked, "language": "de"}).json()
        assert found["names"][BASE + "tea"] == "Tee"


@pytest.mark.parametrize(
    ("q", "language", "label", "name", "matched"),
    [
        ("te", "de", "tea", "Tee", None),
        ("CUPP", "de", "tea", "Tee", "cuppa"),
        ("t1", None, "tea", "tea", "T1"),
        ("Brot", "en", "bread", "bread", "Brot"),
    ],
)
def test_labels_are_found_by_every_name(drinks, q, language, label, name, matched):
    asked = {"q": q} | ({} if language is None else {"language": language})
    found = drinks.get("/api/models/drinks/labels", params=asked).json()
    assert found["labels"][0]["label"] == BASE + label
    assert found["labels"][0].get("matched") == matched
    assert found["names"][BASE + label] == name
    assert found["total"] == 1
