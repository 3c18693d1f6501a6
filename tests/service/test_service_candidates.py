"""A model that names candidates, as one of thousands of labels does, serves them like any other."""

import numpy as np
import pytest
from live_server import serving

from labelkin.explain.graph import label_graph

pytestmark = pytest.mark.xdist_group("service")
SOME = "/api/models/some"


@pytest.fixture(scope="module")
def some(candidates_file, tmp_path_factory):
    saved_work = tmp_path_factory.mktemp("saved") / "some.sqlite"
    with serving(candidates_file, saved_work=saved_work) as asking:
        yield asking


@pytest.fixture(scope="module")
def text(newsroom):
    return str(newsroom.documents[newsroom.test[0]])


def candidates_of(model, text):
    """Return the candidates of a text, and all other labels, as the model has them."""
    stored = model[-1].content_.log_odds(model[:-1].transform([text]))
    names = model[-1].label_names_
    return names[stored.indices].tolist(), np.delete(names, stored.indices).tolist()


def suggested(client, text, **known):
    answer = client.post(f"{SOME}/suggest", json={"text": text, "limit": 1000, **known})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_candidates_are_suggested_and_nothing_else(some, candidates_model, text):
    names, _ = candidates_of(candidates_model, text)
    assert len(names) == 8
    answer = suggested(some, text)
    assert {item["label"] for item in answer["suggestions"]} == set(names)
    assert answer["known"] == []
    found = candidates_model[-1].log_odds(candidates_model[:-1].transform([text]))
    expected = dict(zip(candidates_model[-1].label_names_[found.indices], found.data, strict=True))
    for item in answer["suggestions"]:
        assert item["log_odds"] == pytest.approx(expected[item["label"]], abs=1e-12)
        assert sum(item["parts"].values()) == pytest.approx(item["log_odds"], abs=1e-9)


def test_a_label_that_is_no_candidate_is_accepted_and_the_candidates_react(
    some, candidates_model, text
):
    names, others = candidates_of(candidates_model, text)
    graph = label_graph(candidates_model)
    # A label that says something of a candidate, and is none.
    speaking = {edge.first for name in names for edge in graph.related(name, 3)}
    accepted, rejected = [name for name in others if name in speaking][:2]
    before = suggested(some, text)
    after = suggested(some, text, accepted=[accepted], rejected=[rejected])
    states = {item["label"]: item["state"] for item in after["known"]}
    assert states == {accepted: "accepted", rejected: "rejected"}
    assert {item["label"] for item in after["suggestions"]} == set(names)
    moved = {item["label"]: item["log_odds"] for item in before["suggestions"]}
    assert any(item["log_odds"] != moved[item["label"]] for item in after["suggestions"])
    for item in after["suggestions"]:
        assert sum(item["parts"].values()) == pytest.approx(item["log_odds"], abs=1e-9)
    expected = candidates_model[-1].log_odds(
        candidates_model[:-1].transform([text]),
        known={"accepted": [accepted], "rejected": [rejected]},
    )
    by_name = dict(
        zip(candidates_model[-1].label_names_[expected.indices], expected.data, strict=True)
    )
    assert by_name[accepted] == np.inf
    for item in after["suggestions"]:
        assert item["log_odds"] == pytest.approx(by_name[item["label"]], abs=1e-12)


def test_an_explanation_adds_up_and_names_known_labels_that_are_no_candidates(
    some, candidates_model, text
):
    names, others = candidates_of(candidates_model, text)
    graph = label_graph(candidates_model)
    pairs = [(n, e.first) for n in names for e in graph.related(n, 3) if e.first in others]
    label, accepted = pairs[0]
    body = {"text": text, "label": label, "accepted": [accepted]}
    explained = some.post(f"{SOME}/explain", json=body).json()
    assert sum(explained["parts"].values()) == pytest.approx(explained["log_odds"], abs=1e-9)
    assert any(one["label"] == accepted and one["known"] for one in explained["labels"])
    evidence = explained["parts"]["predicted labels"] + explained["parts"]["known labels"]
    listed = sum(one["log_odds"] for one in explained["labels"])
    assert listed + explained["labels_rest"] + explained["constant"] == pytest.approx(evidence)
    content = sum(one["log_odds"] for one in explained["terms"]) + explained["terms_rest"]
    assert content + explained["content_constant"] == pytest.approx(explained["parts"]["content"])


def test_a_label_that_is_no_candidate_has_no_explanation_and_the_way_out_is_named(
    some, candidates_model, text
):
    _, others = candidates_of(candidates_model, text)
    answer = some.post(f"{SOME}/explain", json={"text": text, "label": others[0]})
    assert answer.status_code == 409
    assert "Accept it" in answer.json()["detail"]


def test_the_map_of_a_neighbourhood_has_a_label_and_its_neighbours(some, candidates_model):
    wanted = {"label": "grain", "attractions": 5, "repulsions": 2}
    answer = some.get(f"{SOME}/graph", params=wanted).json()
    expected = label_graph(candidates_model).around("grain", 5, 2)
    pairs = [(edge["first"], edge["second"]) for edge in answer["edges"]]
    assert pairs == [(edge.first, edge.second) for edge in expected.edges]
    neighbours = {second for first, second in pairs if first == "grain"}
    assert "wheat" in neighbours
    assert {node["label"] for node in answer["nodes"]} == {"grain", *neighbours}
    assert len(neighbours) <= 7
    middle = next(node for node in answer["nodes"] if node["label"] == "grain")
    assert (middle["x"], middle["y"]) == (0.5, 0.5)
    ends = {frozenset(pair) for pair in pairs}
    assert len(ends) == len(pairs)  # each edge once
    unknown = some.get(f"{SOME}/graph", params={"label": "no such label"})
    assert unknown.status_code == 422
