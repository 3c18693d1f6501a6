"""Suggestions and explanations over HTTP are the model's own, and their parts add up."""

import numpy as np
import pytest

from labelkin import storage

pytestmark = pytest.mark.xdist_group("service")
NEWS, RULED = "/api/models/news", "/api/models/ruled"
KNOWN = [
    {},
    {"accepted": ["grain"]},
    {"accepted": ["telecoms", "domestic"], "rejected": ["software"]},
    {"rejected": ["wheat", "gas"]},
]


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("name", ["news", "ruled"])
def test_suggestions_are_the_models_own(client, newsroom, news_file, ruled_file, name, known):
    pipeline = storage.load({"news": news_file, "ruled": ruled_file}[name])
    for text in ["", *newsroom.documents[newsroom.test[:5]]]:
        answer = client.post(
            f"/api/models/{name}/suggest", json={"text": text, **known, "limit": 1000}
        ).json()
        expected = pipeline[-1].log_odds(pipeline[:-1].transform([text]), known=known or None)[0]
        found = {item["label"]: item["log_odds"] for item in answer["suggestions"]}
        open_labels = np.isfinite(expected)
        names = pipeline[-1].label_names_
        assert set(found) == set(names[open_labels].tolist())
        got = np.array([found[label] for label in names[open_labels]])
        np.testing.assert_allclose(got, expected[open_labels], atol=1e-12)
        known_labels = {item["label"] for item in answer["known"]}
        assert known_labels == set(names[~open_labels].tolist())
        assert answer["n_open"] == len(answer["suggestions"]) == open_labels.sum()
        values = [item["log_odds"] for item in answer["suggestions"]]
        assert values == sorted(values, reverse=True)
        for item in answer["suggestions"]:
            assert sum(item["parts"].values()) == pytest.approx(item["log_odds"], abs=1e-9)
            assert item["probability"] == pytest.approx(1 / (1 + np.exp(-item["log_odds"])))


def test_labels_implied_by_a_rule_are_known(client):
    request = {"text": "Sport.", "accepted": ["wheat", "tennis"]}
    answer = client.post(f"{RULED}/suggest", json=request).json()
    assert {tuple(item.values()) for item in answer["known"]} == {
        ("wheat", "accepted", None),
        ("grain", "accepted", "rule"),
        ("tennis", "accepted", None),
        ("football", "rejected", "rule"),
    }


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("path", [NEWS, RULED])
def test_an_explanation_adds_up_in_every_part(client, newsroom, path, known):
    text = str(newsroom.documents[newsroom.test[7]])
    request = {"text": text, **known}
    suggested = client.post(f"{path}/suggest", json={**request, "limit": 8}).json()["suggestions"]
    for item in suggested:
        reasons = client.post(f"{path}/explain", json={**request, "label": item["label"]}).json()
        assert reasons["log_odds"] == pytest.approx(item["log_odds"], abs=1e-9)
        for part, value in item["parts"].items():
            assert reasons["parts"][part] == pytest.approx(value, abs=1e-9)
        labels = sum(one["log_odds"] for one in reasons["labels"])
        assert labels + reasons["labels_rest"] + reasons["constant"] == pytest.approx(
            sum(reasons["parts"].get(f"{kind} labels", 0) for kind in ("predicted", "known")),
            abs=1e-9,
        )
        terms = sum(one["log_odds"] for one in reasons["terms"])
        assert terms + reasons["terms_rest"] + reasons["content_constant"] == pytest.approx(
            reasons["parts"]["content"], abs=1e-9
        )
        assert len(reasons["labels"]) <= 30


def test_an_explanation_names_the_words_as_they_are_written(client):
    request = {"text": "Wheat! The WHEAT harvests.", "label": "wheat"}
    terms = client.post(f"{NEWS}/explain", json=request).json()["terms"]
    assert {"Wheat", "WHEAT"} in [set(term["words"]) for term in terms]


def test_a_label_that_follows_by_a_rule_has_no_explanation(client):
    request = {"text": "Wheat.", "label": "grain", "accepted": ["wheat"]}
    answer = client.post(f"{RULED}/explain", json=request)
    assert answer.status_code == 409
    assert "follows by a rule" in answer.json()["detail"]


def test_removing_a_word_changes_the_content_by_its_contribution(client):
    """The oracle: log-odds of two texts, no contributions involved."""
    with_word = {"text": "good corn in the rain", "label": "corn"}
    without = {"text": "good in the rain", "label": "corn"}
    reasons = client.post(f"{RULED}/explain", json=with_word).json()
    added = next(term["log_odds"] for term in reasons["terms"] if term["term"] == "corn")
    less = client.post(f"{RULED}/explain", json=without).json()
    assert reasons["parts"]["content"] - less["parts"]["content"] == pytest.approx(added, abs=1e-9)


@pytest.mark.parametrize(
    ("known", "detail"),
    [
        ({"accepted": ["nonsense", "more"]}, "got 'more', 'nonsense'"),
        ({"accepted": ["gas"], "rejected": ["gas"]}, "'gas' as both"),
        ({"accepted": ["x" * 1001]}, "got one of 1,001"),
        ({"rejected": ["gas"] * 1001}, "may be rejected, got 1,001"),
    ],
)
def test_invalid_known_labels_are_a_problem(client, known, detail):
    answer = client.post(f"{NEWS}/suggest", json={"text": "Gas.", **known})
    assert answer.status_code == 422
    assert detail in answer.json()["detail"]


def test_known_labels_that_break_a_rule_are_a_problem(client):
    request = {"text": "Sport.", "accepted": ["football", "tennis"]}
    answer = client.post(f"{RULED}/suggest", json=request)
    assert answer.status_code == 422
    assert "football" in answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"text": 3}',
        b'{"text": "\\ud800"}',
        b'{"text": "a", "accepted": [NaN]}',
        b'{"text": "a", "limit": 0}',
        b'{"text": "\xff"}',
        b"[" * 100_000,
    ],
)
def test_invalid_bodies_are_a_problem(client, body):
    answer = client.post(
        f"{NEWS}/suggest", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()) == {"type", "title", "status", "detail"}


def test_unusual_characters_are_accepted(client):
    for text in ["", "\0", "a\0b", "𝕎heat 🌾", "\u202e", " " * 1000, "<script>alert(1)</script>"]:
        assert client.post(f"{NEWS}/suggest", json={"text": text}).status_code == 200


def test_unknown_model_is_a_problem(client):
    answer = client.post("/api/models/nothing/suggest", json={"text": "a"})
    assert answer.status_code == 404
    assert answer.json()["detail"] == "There is no model 'nothing'. There is 'news', 'ruled'."


def test_labels_are_searched_in_any_case_and_beginnings_come_first(client, newsroom):
    found = client.get(f"{NEWS}/labels", params={"q": "IN", "limit": 100}).json()
    names = [item["label"] for item in found["labels"]]
    expected = [name for name in newsroom.label_names.tolist() if "in" in name]
    assert sorted(names) == sorted(expected)
    assert found["total"] == len(expected)
    begins = [name.startswith("in") for name in names]
    assert begins == sorted(begins, reverse=True)
    second = client.get(f"{NEWS}/labels", params={"q": "IN", "limit": 1, "offset": 1}).json()
    assert [item["label"] for item in second["labels"]] == names[1:2]


def test_map_has_the_strongest_edges(client):
    answer = client.get(f"{NEWS}/graph", params={"attractions": 12, "repulsions": 6}).json()
    assert [edge["strength"] > 0 for edge in answer["edges"]] == [True] * 12 + [False] * 6
    names = {node["label"] for node in answer["nodes"]}
    assert {edge[end] for edge in answer["edges"] for end in ("first", "second")} == names
    for side in (answer["edges"][:12], answer["edges"][12:]):
        bounds = [abs(edge["bound"]) for edge in side]
        assert bounds == sorted(bounds, reverse=True)


def test_search_without_a_match_finds_similar_names(client):
    found = client.get(f"{NEWS}/labels", params={"q": "wheet"}).json()
    assert (found["similar"], found["total"]) == (True, 1)
    assert [one["label"] for one in found["labels"]] == ["wheat"]
    exact = client.get(f"{NEWS}/labels", params={"q": "whea"}).json()
    assert "similar" not in exact and [one["label"] for one in exact["labels"]] == ["wheat"]
    none = client.get(f"{NEWS}/labels", params={"q": "no such thing"}).json()
    assert none == {"labels": [], "total": 0}
