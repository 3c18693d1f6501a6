"""A small experiment, ``labelkin suggest`` and the service: the answers that are kept.

Only the command, the routes and public names are used. Printed lines are kept as their words and
their numbers: other words for the same numbers are another matter than other numbers.
"""

import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout

from fastapi.testclient import TestClient

from labelkin import corpora
from labelkin.cli import main
from labelkin.evaluation import metrics
from labelkin.research.experiments import read_results
from labelkin.service import create_app

EXPERIMENT = """
name = "small"
seeds = [3]
evidence_weights = [1, "auto"]
[corpus]
name = "newsroom"
options = { n_documents = 240 }
[content.NB]
classifier = "naive_bayes"
[content.kNN]
classifier = "nearest_neighbours"
weights = "tfidf"
[content.SVM]
classifier = "svm"
weights = "ltc"
[labels.BLR]
classifier = "logistic"
[thresholds.Global]
rule = "global_cut"
"""
_NUMBER = re.compile(r"(?<![\w-])[-+]?\d+(?:\.\d+)?(?![\w-])")


def call(*arguments):
    """Call ``labelkin`` in this process; return what it printed."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main([str(argument) for argument in arguments])
    except SystemExit as end:
        assert not end.code, err.getvalue()
    return out.getvalue()


def experiment_scores(folder):
    """Run the experiment; return every metric of every system."""
    (folder / "small.toml").write_text(EXPERIMENT)
    call("experiment", "run", folder / "small.toml", "--out", folder / "out", "--quiet")
    (results,) = read_results(folder / "out").corpora
    return {
        run.system: metrics.evaluate(results.Y, run.log_odds(), run.decisions()).scores()
        for run in (*results.runs, *results.threshold_runs)
    }


def write_corpus(news, path):
    """Write a corpus as JSON lines."""
    test = set(news.test.tolist())
    rows = zip(news.documents, news.label_sets(), strict=True)
    lines = [
        {"id": f"n{i}", "text": text, "labels": labels, "split": "test" if i in test else "train"}
        for i, (text, labels) in enumerate(rows)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))


def command_answers(folder, news, texts):
    """Return the output of the commands that train on a file and use the model."""
    corpus, model = folder / "news.jsonl", folder / "news.labelkin"
    write_corpus(news, corpus)
    trained = call("train", corpus, "-o", model, "--thresholds", "micro_f1", "--quiet")
    accept = ("--accept", "grain", "--accept", "domestic", "--top", 3)
    return {
        "train": printed(trained.partition("model")[0]),
        "evaluate": json.loads(call("evaluate", model, corpus, "--json", "--quiet")),
        "suggest": [
            json.loads(call("suggest", model, text, "--json", "--top", 3)) for text in texts
        ],
        "suggest, accepted": [
            json.loads(call("suggest", model, text, "--json", *accept)) for text in texts
        ],
        "suggest, explained": printed(call("suggest", model, texts[0], "--explain", *accept)),
    }


def service_answers(folder, texts):
    """Ask a service of the model of :func:`command_answers`: what its routes answer."""
    app = create_app([folder / "news.labelkin"], saved_work=folder / "saved.sqlite")
    answers = {}
    with TestClient(app, base_url="http://127.0.0.1") as client:

        def post(path, **request):
            answer = client.post(path, **request)
            assert answer.status_code == 200, answer.text
            return answer.json()

        for name, known in (("open", {}), ("accepted", {"accepted": ["grain", "domestic"]})):
            answers[f"own route, {name}"] = [
                post("/api/models/news/suggest", json={"text": text, "limit": 8, **known})
                for text in texts
            ]
            answers[f"own route, {name}, explained"] = post(
                "/api/models/news/explain", json={"text": texts[0], "label": "wheat", **known}
            )
        answers["Annif's route"] = [
            post("/v1/projects/news/suggest", data={"text": text, "limit": 8}) for text in texts
        ]
        answers["Annif's route, batch"] = post(
            "/v1/projects/news/suggest-batch", json={"documents": [{"text": t} for t in texts]}
        )
    return answers


def printed(text):
    """Return printed lines as words and numbers."""
    return [
        {"words": _NUMBER.sub("#", line).split(), "numbers": [*map(float, _NUMBER.findall(line))]}
        for line in text.splitlines()
        if line.strip()
    ]


def golden_answers(folder):
    """Return by name all that is kept."""
    news = corpora.newsroom(420)
    texts = news.documents[news.test[:3]].tolist()
    answers = {"labelkin experiment run": experiment_scores(folder)}
    commands = command_answers(folder, news, texts)
    answers |= {f"labelkin {name}": answer for name, answer in commands.items()}
    return answers | service_answers(folder, texts)
