"""What the page asks besides suggestions: limits, similar names, how many labels are open."""

import pytest
from live_server import serving

from labelkin.service import Limits

NEWS = "/api/models/news"


def test_the_limits_are_told_with_the_models(news_file, tmp_path):
    limits = Limits(text_characters=1234, known_labels=5, label_characters=6)
    with serving(news_file, saved_work=tmp_path / "j.sqlite", limits=limits) as client:
        answer = client.get("/api/models").json()
        assert answer["limits"] == {
            "text_characters": 1234,
            "known_labels": 5,
            "label_characters": 6,
        }
        assert answer["models"][0]["text_language"] == "en"
        problem = client.post(f"{NEWS}/suggest", json={"text": "x" * 2000})
        assert "A text may have 1,234 characters, got 2,000." in problem.json()["detail"]


def test_a_search_without_a_hit_finds_names_spelled_nearly_so(client):
    found = client.get(f"{NEWS}/labels", params={"q": "wheet"}).json()
    assert found["similar"] is True
    assert [one["label"] for one in found["labels"]] == ["wheat"]
    assert found["total"] == 1
    exact = client.get(f"{NEWS}/labels", params={"q": "whea"}).json()
    assert "similar" not in exact and [one["label"] for one in exact["labels"]] == ["wheat"]
    none = client.get(f"{NEWS}/labels", params={"q": "no such thing"}).json()
    assert none == {"labels": [], "total": 0}


def test_how_many_labels_are_open_is_told(client):
    text = {"text": "Crude oil tankers."}
    n_labels = client.get("/api/models").json()["models"][0]["n_labels"]
    assert client.post(f"{NEWS}/suggest", json={**text, "limit": 3}).json()["n_open"] == n_labels
    known = {"accepted": ["wheat"], "rejected": ["gas"]}
    answer = client.post(f"{NEWS}/suggest", json={**text, **known, "limit": 100}).json()
    assert answer["n_open"] == len(answer["suggestions"]) == n_labels - 2


def test_edges_are_sorted_by_support(client):
    edges = client.get(f"{NEWS}/graph").json()["edges"]
    for sign in (1, -1):
        side = [edge for edge in edges if sign * edge["strength"] > 0]
        bounds = [sign * edge["bound"] for edge in side]
        assert bounds == sorted(bounds, reverse=True)
        assert all(0 <= b <= sign * e["strength"] for b, e in zip(bounds, side, strict=True))


@pytest.mark.parametrize("path", ["/docs", "/v1/ui/", "/page/words/fi.json", "/page/docs.js"])
def test_the_routes_have_a_page_under_the_same_policy(client, path):
    answer = client.get(path, follow_redirects=True)
    assert answer.status_code == 200
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "http://" not in answer.text.replace("http://www.w3.org", "")
    assert "https://" not in answer.text
