"""Annif with labelkin inside, as an ensemble, and behind it, over HTTP.

Annif loads the vocabulary, trains its own projects, and evaluates all of them on the same
documents; labelkin is a project like the others.
"""

from __future__ import annotations

import csv
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from integration.corpora import AnnifCorpus
from integration.environments import (
    TOP,
    Environment,
    OwnEnvironment,
    answers,
    free_port,
    nltk_data,
)
from labelkin.evaluation.significance import SummedMetric, paired_bootstrap

SOURCES = ("tfidf", "mllm", "omikuji")
#: What projects are called in tables; all but the sources are ensembles of all of them.
NAMES = {
    "tfidf": "tfidf", "mllm": "mllm", "omikuji": "omikuji",
    "ensemble": "Annif's simple ensemble", "pav": "Annif's PAV ensemble",
    "labelkin": "labelkin's ensemble", "http": "labelkin serve, by http",
    "both": "labelkin's ensemble of the four",
}  # fmt: skip
METRICS = ("F1@5", "NDCG", "NDCG@5", "Precision@5")
#: Documents that MLLM learns its decision tree from: more would take long, and change little.
_MLLM_DOCUMENTS = 400
#: What differences are given for, and how often documents are drawn for their intervals.
COMPARED = ("F1@5", "NDCG")
_DRAWS = 2000
#: Tolerance of means against ``annif eval``, which cuts ties arbitrarily.
_TIES = 0.002

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
    """Scores of one project."""

    project: str
    scores: Mapping[str, float]
    seconds: float


class Difference(NamedTuple):
    """By how much labelkin's ensemble is better than another project; 95 % over documents."""

    baseline: str
    metric: str
    better: float
    low: float
    high: float


class Told(NamedTuple):
    """The results of the story."""

    version: str
    rows: list[Row]
    differences: list[Difference]
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
    """Train, evaluate, and suggest with known subjects, in a separate folder."""
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
    differences, notes = _compared(run, folder, corpus.test, {row.project: row for row in rows})
    start = time.perf_counter()
    model = folder / f"{vocab}.labelkin"
    model.unlink(missing_ok=True)
    own = OwnEnvironment()
    own.run(
        "labelkin", "train", corpus.train, "--vocab", corpus.vocabulary, "--out", model,
        "--content", "nearest_neighbours", "--quiet", cwd=folder,
    )  # fmt: skip
    trained = time.perf_counter() - start
    serve = ("serve", model, "--port", port, "--saved-work", folder / "saved.sqlite")
    up = answers(f"http://127.0.0.1:{port}/health")
    with own.server("labelkin", *serve, cwd=folder, is_up=up, log=folder / "serve.log"):
        rows.append(_evaluated(run, folder, "http", corpus.test, trained))
        timed("both", corpus.ensemble)
        rows.append(_evaluated(run, folder, "both", corpus.test, seconds["both"]))
        known, more = _known(run, corpus)
        notes += more + _learned(run, corpus)
    told = Told(annif.version("annif"), rows, differences, known, notes)
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
    return told


def read_told(path: Path) -> Told:
    """Return what a story has left in its folder."""
    version, rows, differences, known, notes = json.loads(path.read_text(encoding="utf-8"))
    return Told(
        version,
        [Row(*row) for row in rows],
        [Difference(*one) for one in differences],
        known,
        notes,
    )


def _evaluated(
    run: Callable[..., str], folder: Path, project: str, test: Path, seconds: float
) -> Row:
    out = folder / f"{project}-metrics.json"
    out.unlink(missing_ok=True)
    names = [option for metric in METRICS for option in ("--metric", metric)]
    run("eval", project, test, "--jobs", 1, *names, "--metrics-file", out)
    found = json.loads(out.read_text(encoding="utf-8"))
    scores = {metric: found[metric.replace(" ", "_")] for metric in METRICS}
    return Row(project, scores, seconds)


def _compared(
    run: Callable[..., str], folder: Path, test: Path, rows: Mapping[str, Row]
) -> tuple[list[Difference], list[str]]:
    """Hold labelkin's ensemble against the best source and Annif's own, document by document."""
    best = max(SOURCES, key=lambda source: rows[source].scores[COMPARED[0]])
    lines = test.read_text(encoding="utf-8").splitlines()
    truth = [re.findall(r"<(\S+)>", line.rpartition("\t")[2]) for line in lines]
    values, notes = {}, []
    for project in (best, "ensemble", "labelkin"):
        out = folder / f"{project}-suggested.jsonl"
        run("index", project, test, "--force", "--no-include-doc", "--output", out)
        suggested = [json.loads(line)["results"] for line in out.open(encoding="utf-8")]
        values[project] = per_document([[one["uri"] for one in row] for row in suggested], truth)
        for metric, found in values[project].items():
            said = rows[project].scores[metric]
            if abs(found.mean() - said) > _TIES:
                notes.append(f"{project}: {metric} is {found.mean():.4f}, annif eval says {said}")
    return [
        difference(values[baseline][metric], values["labelkin"][metric], baseline, metric)
        for baseline in (best, "ensemble")
        for metric in COMPARED
    ], notes


def per_document(
    suggested: Iterable[Sequence[str]], truth: Iterable[Sequence[str]]
) -> dict[str, np.ndarray]:
    """Return what ``annif eval`` takes the mean of: F1@5 and NDCG of each document.

    Suggestions come best first.
    """
    rows = []
    for uris, subjects in zip(suggested, truth, strict=True):
        right = np.array([uri in set(subjects) for uri in uris], dtype=float)
        n_five = len(right[:5]) + len(subjects)
        discounts = 1 / np.log2(np.arange(2, 2 + max(len(uris), len(subjects))))
        ideal = discounts[: len(subjects)].sum()
        rows.append((
            2 * right[:5].sum() / n_five if n_five else 0.0,
            right @ discounts[: len(right)] / ideal if subjects else 1.0,
        ))  # fmt: skip
    return dict(zip(COMPARED, np.array(rows).T, strict=True))


def difference(baseline: np.ndarray, proposal: np.ndarray, name: str, metric: str) -> Difference:
    """Return the mean difference of two columns of documents, and where 95 % of draws lie."""

    def sums(_: Any, values: np.ndarray) -> np.ndarray:
        return np.column_stack([values, np.ones(len(values))])

    mean = SummedMetric("mean", sums, lambda total: total[:, 0] / total[:, 1])
    found = paired_bootstrap(baseline, baseline, proposal, mean, n_draws=_DRAWS, random_state=0)
    return Difference(name, metric, found.difference, found.low, found.high)


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


def _learned(run: Callable[..., str], corpus: AnnifCorpus) -> list[str]:
    """Train labelkin's ensemble further after its evaluation; its suggestions must change."""
    text = corpus.test.read_text(encoding="utf-8").partition("\t")[0]
    before = _suggested(run("suggest", "labelkin", text=text))
    run("learn", "--docs-limit", 300, "labelkin", corpus.test)
    after = _suggested(run("suggest", "labelkin", text=text))
    return [] if after != before else ["labelkin: annif learn has changed nothing"]


def _suggested(printed: str) -> dict[str, float]:
    """Read what ``annif suggest`` prints: URI, name, maybe a notation, and score."""
    rows = csv.reader(printed.splitlines(), delimiter="\t")
    return {row[0].strip("<>"): float(row[-1]) for row in rows if len(row) > 2}
