"""``labelkin optimize``: limits and thresholds, scored on unseen documents."""

import json

import pytest
from in_process import call


@pytest.fixture(scope="module")
def found(model, news_file):
    return json.loads(call("optimize", model, news_file, "--json", "-q").done())


def test_the_best_is_what_predict_then_scores(model, news, news_file, found, tmp_path):
    best = found["best"]["micro_f1"]
    options = ["--top", best["limit"], "--threshold", best["threshold"], "-q"]
    answers = call("predict", model, news_file, *options).done().splitlines()
    pairs = list(zip(map(json.loads, answers), news.label_sets(), strict=True))[300:]
    right = sum(len(set(answer["labels"]) & set(labels)) for answer, labels in pairs)
    n_given = sum(len(answer["labels"]) for answer, _ in pairs)
    n_true = sum(len(labels) for _, labels in pairs)
    assert 2 * right / (n_given + n_true) == pytest.approx(best["score"], abs=1e-9)
    assert found["documents"] == 120


def test_the_model_s_own_thresholds_stand_beside_it(model, news_file, found):
    scores = json.loads(call("evaluate", model, news_file, "--json", "-q").done())["scores"]
    assert found["own_thresholds"]["document_f1"] == pytest.approx(scores["document_f1"])


def test_table_and_pictures(model, news_file, found, tmp_path):
    for name in ("a.svg", "a.html"):
        done = call("optimize", model, news_file, "--plot", tmp_path / name)
        best = found["best"]["document_f1"]
        assert f"{best['score']:.4f}" in done.done()
        assert "F1 of documents" in (tmp_path / name).read_text()
    assert (tmp_path / "a.svg").read_text().count("<svg") == 1
    assert (tmp_path / "a.html").read_text().count("<img ") == 3
    told = call("optimize", model, news_file, "--plot", tmp_path / "a.svg").refused()
    assert "--replace overwrites it" in told
    assert ".svg or .html" in call("optimize", model, news_file, "--plot", "a.png").refused()
