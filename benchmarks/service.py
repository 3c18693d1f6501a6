"""Suggestions over HTTP, beside a route that does nothing (``python -m benchmarks.service``).

A service is started with a model of Reuters-21578 (``LABELKIN_DATA``), or of the built-in newsroom,
and receives requests of ``wrk`` if it is installed, otherwise of clients in this process. The cost
of a request is its CPU time, which depends less on other programs than requests per second do. The
routes take turns. Also: documents of ``labelkin predict`` a
CPU second, beside its text step alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.parse import quote_plus, urlsplit

#: Documents that are asked about in turn; more of them than a service remembers.
_TEXTS = 1_000
_ROUTES = {"nothing": "/health", "suggest": "/v1/projects/model/suggest"}
_FORM = "application/x-www-form-urlencoded"
_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_SCRIPT = """
local texts = {}
for line in io.lines("%s") do texts[#texts + 1] = line end
local i = 0
function setup(thread) thread:set("start", i); i = i + 37 end
function init(args) i = start end
function request()
  i = i %% #texts + 1
  return wrk.format("POST", nil, {["Content-Type"] = "application/x-www-form-urlencoded"}, texts[i])
end
"""


@dataclass
class Answered:
    """What clients have got within one turn."""

    seconds: float
    requests: int
    p50: float
    p99: float
    cpu: float = 0.0
    wrong: int = 0


@dataclass
class Series:
    """All turns of a route at a number of clients."""

    clients: int
    route: str
    turns: list[Answered] = field(default_factory=list)

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds of a request, in the best turn: what others do only adds to it."""
        return min(1000 * turn.cpu / max(turn.requests, 1) for turn in self.turns)

    @property
    def rate(self) -> float:
        """Requests a second, by the clock."""
        return median(turn.requests / turn.seconds for turn in self.turns)


def train_model(folder: Path) -> tuple[Path, list[str], str]:
    """Train the default model; return its file, texts to ask about, and what they are."""
    from sklearn.pipeline import make_pipeline

    from benchmarks.corpus import DATA
    from benchmarks.reuters import read_stories
    from labelkin import LabelDependenceClassifier, corpora, storage
    from labelkin.text import TermWeights, WordCounts

    model = make_pipeline(
        WordCounts(), TermWeights("tfidf"), LabelDependenceClassifier(random_state=0)
    )
    if list((DATA / "reuters21578").glob("*.sgm")):
        train, test = read_stories(DATA / "reuters21578")
        model.fit([story.text for story in train], [sorted(story.topics) for story in train])
        texts, what = [story.text for story in test], "Reuters-21578, ModApte"
    else:
        news = corpora.newsroom(900)
        labels = news.label_sets(news.train)
        model.fit(news.documents[news.train], labels)
        texts, what = [str(text) for text in news.documents[news.test]], "the built-in newsroom"
    return storage.save(model, folder / "model.labelkin"), texts, what


@contextmanager
def running(model: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """Run a service; give its address and process id."""
    saved_work = folder / f"saved_work-{time.monotonic_ns()}.sqlite"
    process = subprocess.Popen(
        [sys.executable, "-c", "from labelkin.cli import main; main()", "serve", model,
         "--port", "0", "--saved-work", saved_work],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        address = re.search(r"http://\S+", process.stdout.readline())
        if address is None:
            raise RuntimeError(f"The service has not started: {process.stdout.read()}")
        yield address[0].rstrip("/"), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(address: str, route: str, forms: Path, clients: int, seconds: float) -> Answered:
    """Have clients ask for some seconds."""
    path = _ROUTES[route]
    if shutil.which("wrk") is None:
        bodies = forms.read_bytes().splitlines() if route == "suggest" else []
        return asyncio.run(_ask_here(address, path, bodies, clients, seconds))
    command = ["wrk", f"-c{clients}", "-t1", f"-d{seconds:g}s", "--latency", "--timeout", "30s"]
    if route == "suggest":
        script = forms.with_suffix(".lua")
        script.write_text(_SCRIPT % forms)
        command += ["-s", str(script)]
    printed = subprocess.run(
        [*command, address + path], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(r"(\d+) requests in ([\d.]+)(m?s|m)", printed)
    assert found is not None, printed
    took = float(found[2]) * {"ms": 1e-3, "s": 1.0, "m": 60.0}[found[3]]
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", printed)
    return Answered(
        took,
        int(found[1]),
        *(_milliseconds(printed, percent) for percent in (50, 99)),
        wrong=int(wrong[1]) if wrong else 0,
    )


def _milliseconds(printed: str, percent: int) -> float:
    found = re.search(rf"\b{percent}%\s+([\d.]+)(us|ms|s)", printed)
    return float(found[1]) * _UNITS[found[2]] if found else float("nan")


async def _ask_here(
    address: str, path: str, bodies: Sequence[bytes], clients: int, seconds: float
) -> Answered:
    place, start = urlsplit(address), time.perf_counter()
    latencies: list[float] = []
    wrong = 0

    async def client(i: int) -> None:
        nonlocal wrong
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        while time.perf_counter() < start + seconds:
            body = bodies[i % len(bodies)] if bodies else b""
            i += 1
            head = f"{'POST' if bodies else 'GET'} {path} HTTP/1.1\r\nHost: localhost\r\n"
            head += f"Content-Type: {_FORM}\r\nContent-Length: {len(body)}\r\n\r\n"
            began = time.perf_counter()
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            size = re.search(rb"content-length: (\d+)", answer.lower())
            await reader.readexactly(int(size[1]) if size else 0)
            latencies.append(time.perf_counter() - began)
            wrong += not answer.startswith(b"HTTP/1.1 200")
        writer.close()

    await asyncio.gather(*(client(37 * i) for i in range(clients)))
    took, ordered = time.perf_counter() - start, sorted(latencies)
    p50, p99 = (1000 * ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
    return Answered(took, len(ordered), p50, p99, wrong=wrong)


def measure_service(
    model: Path, texts: Sequence[str], folder: Path, chosen: argparse.Namespace
) -> list[Series]:
    """Ask a service by one client and by many; the routes take turns."""
    forms = folder / "forms.txt"
    forms.write_text("".join(f"text={quote_plus(text)}\n" for text in texts[:_TEXTS]))
    measured = []
    with running(model, folder) as (address, pid):
        for clients in chosen.clients:
            both = [Series(clients, route) for route in _ROUTES]
            ask(address, "suggest", forms, clients, 1)
            for _ in range(chosen.rounds):
                for series in both:
                    before = cpu_seconds(pid)
                    turn = ask(address, series.route, forms, clients, chosen.seconds)
                    turn.cpu = cpu_seconds(pid) - before
                    series.turns.append(turn)
            measured += both
    return measured


def measure_batch(model: Path, texts: Sequence[str], folder: Path) -> tuple[float, float]:
    """Return documents a CPU second of ``labelkin predict``, and of its text step alone."""
    from labelkin import cli, storage

    source, counts = folder / "texts.jsonl", storage.load(model)[0]
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    counts.transform(texts[:100])
    rates: dict[str, list[float]] = {"predict": [], "text": []}
    for i in range(3):
        start = time.process_time()
        try:
            cli.main(["predict", str(model), str(source), "-o", str(folder / f"{i}.jsonl")])
        except SystemExit as end:
            assert not end.code, end.code
        middle = time.process_time()
        counts.transform(texts)
        rates["predict"].append(len(texts) / (middle - start))
        rates["text"].append(len(texts) / (time.process_time() - middle))
    return median(rates["predict"]), median(rates["text"])


def table(measured: Sequence[Series]) -> str:
    """Return the measured routes as Markdown, each beside the route that does nothing."""
    lines = [
        "| clients | route | requests/s | ÷ nothing | p50 ms | p99 ms | CPU ms | ÷ nothing |",
        "|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    nothing: dict[int, Series] = {}
    for one in measured:
        base = nothing.setdefault(one.clients, one)
        p50, p99 = (median(getattr(turn, name) for turn in one.turns) for name in ("p50", "p99"))
        lines.append(
            f"| {one.clients} | {one.route} | {one.rate:.0f} "
            f"| {one.rate / base.rate:.2f} | {p50:.1f} | {p99:.1f} "
            f"| {one.cpu_ms:.2f} | {one.cpu_ms / base.cpu_ms:.2f} |"
        )
    wrong = sum(turn.wrong for one in measured for turn in one.turns)
    return "\n".join([*lines, "", f"Answers that were no 200: {wrong}."])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 20, 100])
    parser.add_argument("--seconds", type=int, default=5, help="of each turn (5)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each route (3)")
    parser.add_argument("--model", type=Path, help="a model file, and")
    parser.add_argument("--texts", type=Path, help="its texts, a JSON list; otherwise trained")
    chosen = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        if chosen.model and chosen.texts:
            model = Path(shutil.copy(chosen.model, folder / "model.labelkin"))
            texts, what = json.loads(chosen.texts.read_text(encoding="utf-8")), chosen.model.name
        else:
            model, texts, what = train_model(folder)
        asked_by = "wrk" if shutil.which("wrk") else "clients in one process"
        print(f"{what}, {len(texts)} texts, {os.cpu_count()} cores, asked by {asked_by}\n")
        print(table(measure_service(model, texts, folder, chosen)))
        predicted, read = measure_batch(model, texts, folder)
    print(
        f"\nlabelkin predict: {predicted:.0f} documents a CPU second, its text step alone "
        f"{read:.0f}: {read / predicted:.2f} times as many."
    )


if __name__ == "__main__":
    main()
