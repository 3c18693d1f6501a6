"""The script of the interactive page computes what the model does."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from docs.make import interactive
from sklearn.feature_extraction.text import CountVectorizer

from labelkin import LabelDependenceClassifier, NaiveBayes, corpora

TOP = Path(__file__).parents[2]
FOLDER = TOP / "docs" / "_static" / "interactive"


@pytest.fixture(scope="module")
def small():
    """Train a model with other weights than that of the page."""
    news = corpora.newsroom(n_documents=400, seed=1)
    counts = CountVectorizer()
    X = counts.fit_transform(news.documents[news.train])
    model = LabelDependenceClassifier(NaiveBayes()).fit(X, news.label_sets(news.train))
    return model, counts.transform(news.documents[news.test][:4])


def by_script(layer, contents, answers):
    """Return what the script says, for every answer a list of labels with their parts."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node, which runs JavaScript")
    given = {"layer": layer, "contents": contents, "answers": answers}
    done = subprocess.run(
        [node, str(Path(__file__).with_name("compare_layer.js")), str(FOLDER / "layer.js")],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return json.loads(done.stdout)


def assert_same(taken, answers):
    compared = 0
    for labels, said in zip(taken, answers, strict=True):
        found = {label["label"]: label for label in labels}
        for name, log_odds in said["suggested"].items():
            assert found[name]["logOdds"] == pytest.approx(log_odds, abs=1e-7)
            assert sum(found[name]["parts"].values()) == pytest.approx(log_odds, abs=1e-7)
            compared += 1
        answered = {*said["accepted"], *said["rejected"]}
        assert {name for name, label in found.items() if label["logOdds"] is None} == answered
    assert compared > 500


def test_the_script_computes_the_posterior_of_the_model_of_the_page():
    text = (FOLDER / "newsroom.js").read_text(encoding="utf-8")
    layer = json.loads(text.partition("= ")[2].partition(";\n")[0])
    answers = json.loads((TOP / interactive.ANSWERS).read_text(encoding="utf-8"))
    assert {said["document"] for said in answers} == set(range(len(layer["documents"])))
    assert_same(by_script(layer, [d["content"] for d in layer["documents"]], answers), answers)


def test_the_script_computes_the_posterior_of_another_model(small):
    model, X = small
    contents = model.content_.log_odds(X).tolist()
    answers = [said for i in range(len(contents)) for said in interactive.answers(model, X[[i]], i)]
    taken = by_script(interactive.layer_of(model), contents, answers)
    assert_same(taken, answers)
