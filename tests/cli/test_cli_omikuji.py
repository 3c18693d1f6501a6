"""``labelkin train --content omikuji``, and what reads its model files when asked for by name."""

import json

import pytest
from in_process import call

from labelkin.storage import read_header

pytest.importorskip("omikuji", reason="needs the extra omikuji")

TEXT = "Wheat exports rose after the harvest."
TRUST = ("--trusted", "omikuji")


@pytest.fixture(scope="module")
def model(news_file, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "trees.labelkin"
    call("train", news_file, "-o", path, "--content", "omikuji", "--top", 20, "-q").done()
    return path


def test_the_file_says_what_is_in_it(model):
    header = read_header(model)
    assert {"OmikujiContent", "OmikujiForest"} <= set(header.class_names)
    assert header.summary["options"]["content"] == "omikuji"


def test_one_suggestion(model):
    found = json.loads(call("suggest", model, TEXT, *TRUST, "--json").done())
    assert len(found["suggestions"]) == 10
    assert found["suggestions"][0]["label"] in ("grain", "wheat", "trade")


@pytest.mark.parametrize("command", [("suggest", TEXT), ("evaluate",), ("predict",)], ids=str)
def test_commands_that_ask_a_model_name_what_it_holds(model, news_file, command):
    name, *text = command
    rest = text or [news_file]
    assert "--trusted omikuji" in call(name, model, *rest).refused()
    assert "trusted must be names" in call(name, model, *rest, "--trusted", "all").refused()


def test_inspect_asks_nothing_of_it(model):
    assert "OmikujiContent(" in call("inspect", model).done()


def test_many_documents(model, news_file, tmp_path):
    out = tmp_path / "labels.jsonl"
    call("predict", model, news_file, "--out", out, *TRUST, "-q").done()
    assert len(out.read_text().splitlines()) == 420
    scores = json.loads(call("evaluate", model, news_file, *TRUST, "--json", "-q").done())
    assert scores["scores"]["micro_f1"] > 0.3


def test_the_service_is_asked_by_name(model, tmp_path):
    pytest.importorskip("fastapi", reason="needs the extra serve")
    from fastapi.testclient import TestClient

    from labelkin.service import create_app

    with pytest.raises(ValueError, match="--trusted omikuji"):
        create_app([model], saved_work=tmp_path / "j.sqlite")
    app = create_app([model], saved_work=tmp_path / "j.sqlite", trusted=["omikuji"])
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answer = client.post("/v1/projects/trees/suggest", data={"text": TEXT, "limit": 3})
        assert answer.status_code == 200
        assert len(answer.json()["results"]) == 3
