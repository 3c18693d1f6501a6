"""A review: issues come one by one, answers are durable, and undo takes back the last one."""

import json

import pytest
from issue_list import FIRST, write_issues
from live_server import serving

from labelkin.curation.corrections import Decision
from labelkin.curation.saved_work import read_answers
from labelkin.service import create_app

pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture
def issues(tmp_path):
    return write_issues(tmp_path)


@pytest.fixture
def client(issues):
    with serving(review=issues) as asking:
        yield asking


def say(client, number, answer):
    return client.post("/api/review/answers", json={"number": number, "answer": answer})


def test_review_without_a_model_is_saved_beside_the_issues(client, issues):
    assert client.get("/api/models").json()["models"] == []
    assert client.get("/ready").status_code == 200
    state = client.get("/api/review").json()
    assert (state["name"], state["total"], state["next"], state["last"]) == (
        "issues.jsonl", 3, 1, None,
    )  # fmt: skip
    say(client, 1, "change")
    assert read_answers(issues.with_suffix(".saved.sqlite")) == [
        Decision("n7", "grain", False, "change", pytest.approx(float("nan"), nan_ok=True),
                 "0123456789ab")
    ]  # fmt: skip


def test_issue_has_all_fields_of_the_file(client):
    found = client.get("/api/review/issues/1").json()
    assert (found.pop("number"), found.pop("answer")) == (1, None)
    assert found.pop("names") == {}
    assert found == {key: value for key, value in FIRST.items() if key != "decision"}


def test_answers_are_counted_and_undone_in_order(client, issues):
    say(client, 2, "keep")
    say(client, 1, "cannot say")
    state = say(client, 3, "change").json()
    assert (state["change"], state["keep"], state["cannot_say"]) == (1, 1, 1)
    assert (state["next"], state["last"]) == (None, 3)
    assert client.get("/api/review/issues/2").json()["answer"] == "keep"
    state = say(client, 3, None).json()
    assert (state["change"], state["next"], state["last"]) == (0, 3, 1)
    state = say(client, 1, None).json()
    assert (state["next"], state["last"]) == (1, 2)
    answers = read_answers(issues.with_suffix(".saved.sqlite"))
    assert [(one.document, one.answer) for one in answers] == [("n8", "keep")]


def test_answers_are_read_at_the_next_start(issues):
    with serving(review=issues) as client:
        say(client, 2, "change")
    with serving(review=issues) as client:
        state = client.get("/api/review").json()
        assert (state["change"], state["next"], state["last"]) == (1, 1, 2)
        assert client.get("/api/review/issues/2").json()["answer"] == "change"


def test_answers_are_in_the_saved_work_of_the_model(issues, news_file, tmp_path):
    saved_work = tmp_path / "both.sqlite"
    with serving(news_file, saved_work=saved_work, review=issues) as client:
        say(client, 1, "change")
        body = {"text": "Oil.", "accepted": ["oil"]}
        client.post("/api/models/news/documents", json=body)
        assert client.get("/api/models/news/saved").json()["documents"] == 1
        assert "labelkin" in client.get("/").text
    assert len(read_answers(saved_work)) == 1


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"number": 4, "answer": "keep"}, 404, "no-such-issue"),
        ({"number": 0, "answer": "keep"}, 400, "does-not-fit"),
        ({"number": 1, "answer": "yes"}, 400, "does-not-fit"),
        ({"number": 1}, 400, "does-not-fit"),
        ({"number": 1, "answer": "keep", "more": 1}, 400, "does-not-fit"),
    ],
)
def test_invalid_answers_are_problems(client, body, status, kind):
    problem = client.post("/api/review/answers", json=body)
    assert (problem.status_code, problem.json()["type"]) == (status, f"urn:labelkin:problem:{kind}")
    assert client.get("/api/review").json()["next"] == 1


def test_a_token_guards_the_review(issues):
    with serving(review=issues, token="secret") as client:
        assert client.get("/api/review").status_code == 401
        assert client.get("/review").status_code == 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have issues, and has none"),
        ("{", "line 1: a line must be one JSON object"),
        (json.dumps({**FIRST, "probability": 2}), "line 1: an issue must be .*probability"),
        (json.dumps({"document": 1}), "line 1: an issue must be .*label: Field required"),
    ],
)
def test_invalid_issues_are_errors_with_the_line(tmp_path, text, message):
    path = tmp_path / "issues.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        create_app([], review=path)
    assert not path.with_suffix(".saved.sqlite").exists()
