"""Suggestions and explanations of a model with candidates."""

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


def test_only_candidates_are_suggested(some, candidates_model, text):
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


def test_label_outside_the_candidates_can_be_accepted(some, candidates_model, text):
    names, others = candidates_of(candidates_model, text)
    graph = label_graph(candidates_model)
    # A label that is evidence for a candidate, outside the candidates.
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


def test_label_outside_the_candidates_has_no_explanation(some, candidates_model, text):
    _, others = candidates_of(candidates_model, text)
    answer = some.post(f"{SOME}/explain", json={"text": text, "label": others[0]})
    assert answer.status_code == 409
    assert "Accept it" in answer.json()["detail"]
