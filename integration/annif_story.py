"""Annif with labelkin inside, as an ensemble, and behind it, over HTTP.

Annif loads the vocabulary, trains its own projects, and evaluates all of them on the same
documents; labelkin is a project like the others.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from integration.corpora import AnnifCorpus
from integration.environments import (
    TOP,
    Environment,
    OwnEnvironment,
    answers,
    free_port,
    nltk_data,
)

#: Names in the table → projects; the sources first.
SOURCES = {"tfidf": "tfidf", "mllm": "mllm", "omikuji": "omikuji"}
METRICS = ("F1@5", "NDCG", "NDCG@5", "Precision@5")
#: Documents that MLLM learns its decision tree from: more would take long, and change little.
_MLLM_DOCUMENTS = 400

_PROJECTS = """
[DEFAULT]
language=en
vocab={vocab}
analyzer=snowball(english)

[tfidf]
backend=tfidf
limit=100

[mllm]
backend=mllm
limit=100

[omikuji]
backend=omikuji
limit=100
cluster_balanced=False
cluster_k=100
max_depth=3

[ensemble]
backend=ensemble
sources=tfidf,mllm,omikuji
limit=100

[pav]
backend=pav
sources=tfidf,mllm,omikuji
limit=100

[labelkin]
backend=labelkin
sources=tfidf,mllm,omikuji
limit=100
allow_learn=1

[http]
backend=http
endpoint=http://127.0.0.1:{port}/v1/projects/{vocab}/suggest
limit=100

[both]
backend=labelkin
sources=tfidf,mllm,omikuji,http
limit=100
"""


class Row(NamedTuple):
    """What one project is worth."""

    project: str
    scores: Mapping[str, float]
    seconds: float


class Told(NamedTuple):
    """What the story has shown."""

    version: str
    rows: list[Row]
    known: str
    notes: list[str]


def environment(folder: Path) -> Environment:
    """Install Annif and labelkin-annif, with the bounds of Annif's own versions."""
    found = Environment(
        folder / "annif",
        ["annif[omikuji]~=1.4.0", "--editable", f"{TOP}[fast]",
         "--editable", str(TOP / "packages/labelkin-annif"), "pytest"],
    )  # fmt: skip
    found.variables["NLTK_DATA"] = str(nltk_data(folder))
    found.variables["ANNIF_CONFIG"] = "labelkin_annif.Config"
    return found


def tell(annif: Environment, corpus: AnnifCorpus, folder: Path) -> Told:
    """Train, evaluate, and ask with known subjects; in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    vocab, port = corpus.vocabulary.stem, free_port()
    projects = _PROJECTS.format(vocab=vocab, port=port)
    (folder / "projects.cfg").write_text(projects, encoding="utf-8")

    def run(*args: object, text: str | None = None) -> str:
        return annif.run("annif", *args, cwd=folder, text=text)

    run("load-vocab", "--force", vocab, corpus.vocabulary)
    seconds: dict[str, float] = {}

    def timed(project: str, *args: object) -> None:
        start = time.perf_counter()
        run("train", project, *args)
        seconds[project] = time.perf_counter() - start

    timed("tfidf", corpus.train)
    timed("mllm", "--docs-limit", _MLLM_DOCUMENTS, corpus.train)
    timed("omikuji", corpus.train)
    timed("pav", corpus.ensemble)
    timed("labelkin", corpus.ensemble)
    rows = [
        _evaluated(run, folder, project, corpus.test, seconds.get(project, 0.0))
        for project in (*SOURCES, "ensemble", "pav", "labelkin")
    ]
    start = time.perf_counter()
    model = folder / f"{vocab}.labelkin"
    model.unlink(missing_ok=True)
    own = OwnEnvironment()
    own.run(
        "labelkin", "train", corpus.train, "--vocab", corpus.vocabulary, "--out", model,
        "--content", "nearest_neighbours", "--quiet", cwd=folder,
    )  # fmt: skip
    trained = time.perf_counter() - start
    serve = ("serve", model, "--port", port, "--journal", folder / "journal.sqlite")
    up = answers(f"http://127.0.0.1:{port}/health")
    with own.server("labelkin", *serve, cwd=folder, is_up=up, log=folder / "serve.log"):
        rows.append(_evaluated(run, folder, "http", corpus.test, trained))
        timed("both", corpus.ensemble)
        rows.append(_evaluated(run, folder, "both", corpus.test, seconds["both"]))
        known, notes = _known(run, corpus)
    return Told(annif.version("annif"), rows, known, notes)


def _evaluated(
    run: Callable[..., str], folder: Path, project: str, test: Path, seconds: float
) -> Row:
    out = folder / f"{project}-metrics.json"
    out.unlink(missing_ok=True)
    names = [option for metric in METRICS for option in ("--metric", metric)]
    run("eval", "--jobs", 1, *names, "--metrics-file", out, project, test)
    found = json.loads(out.read_text(encoding="utf-8"))
    scores = {metric: found[metric.replace(" ", "_")] for metric in METRICS}
    return Row(project, scores, seconds)


def _known(run: Callable[..., str], corpus: AnnifCorpus) -> tuple[str, list[str]]:
    """Ask both ways with an accepted and a rejected subject; return an example, and problems."""
    text, _, subjects = next(
        line for line in corpus.test.read_text(encoding="utf-8").splitlines() if line.count("<") > 1
    ).partition("\t")
    accepted = subjects.split()[0].strip("<>")
    notes, shown = [], []
    for project in ("labelkin", "http"):
        ask = ("suggest", project, "--limit", 30)
        before = _suggested(run(*ask, text=text))
        rejected = next(uri for uri in before if uri != accepted)
        said = ("--metadata", f"accepted={accepted}", "--metadata", f"rejected={rejected}")
        after = _suggested(run(*ask, *said, text=text))
        moved = [uri for uri in after if uri in before and abs(after[uri] - before[uri]) > 1e-6]
        if rejected in after:
            notes.append(f"{project}: a rejected subject came back")
        if after.get(accepted) != 1.0:
            notes.append(f"{project}: the accepted subject has {after.get(accepted)}, not 1")
        if not [uri for uri in moved if uri != accepted]:
            notes.append(f"{project}: no other subject has responded")
        shown.append(f"{project}: {len(moved)} of {len(after)} subjects moved")
    return "; ".join(shown), notes


def _suggested(printed: str) -> dict[str, float]:
    """Read what ``annif suggest`` prints: URI, name, maybe a notation, and score."""
    rows = csv.reader(printed.splitlines(), delimiter="\t")
    return {row[0].strip("<>"): float(row[-1]) for row in rows if len(row) > 2}
