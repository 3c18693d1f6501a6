"""Label Studio with a project, labelkin connected, and annotations that change its suggestions.

Everything goes through the programs' own interfaces over HTTP: the project, the model, the tasks
and the annotation are made as a person's browser makes them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from integration.environments import INSTALL, TOP, Environment, OwnEnvironment, answers, free_port
from labelkin import corpora
from labelkin.curation.saved_work import read_saved_documents

_TOKEN = "0123456789abcdef0123456789abcdef01234567"
#: The token that labelkin requires of clients.
_SECRET = "known-to-both-programs"
#: Annotations that are made, and tasks that are suggested for.
_N_ANNOTATIONS, _N_TASKS = 12, 30
_PATIENCE = 60.0


class Told(NamedTuple):
    """The results of the story; ``notes`` are the deviations."""

    version: str
    steps: list[str]
    notes: list[str]


def environment(folder: Path) -> Environment:
    """Install Label Studio."""
    found = Environment(folder / "label-studio", ["label-studio~=1.23.0"])
    found.variables |= {
        # Both servers are on this machine, which Label Studio asks nothing of by default.
        "ML_BLOCK_LOCAL_IP": "false",
        "SSRF_PROTECTION_ENABLED": "false",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }
    return found


def tell(studio: Environment, folder: Path) -> Told:
    """Train a model, serve it, and work with it in Label Studio, in a separate folder."""
    folder.mkdir(parents=True, exist_ok=True)
    own = OwnEnvironment()
    own.variables["LABELKIN_TOKEN"] = _SECRET
    _install_plugin(own, folder / "plugin")
    model, saved_work = folder / "news.labelkin", folder / "news.saved.sqlite"
    for old in folder.glob("news.*"):
        old.unlink()
    own.run("labelkin", "train", "newsroom", "-o", model, "--content", "naive_bayes", "--quiet",
            cwd=folder)  # fmt: skip
    port, studio_port = free_port(), free_port()
    backend = f"http://127.0.0.1:{port}/label-studio/news"
    serve = ("serve", model, "--port", port, "--saved-work", saved_work)
    start = (
        *("start", "--no-browser", "--port", studio_port, "--data-dir", folder / "studio"),
        *("--username", "anna@example.org", "--password", "in-a-test-only"),
        *("--user-token", _TOKEN, "--enable-legacy-api-token"),
    )
    site = f"http://127.0.0.1:{studio_port}"
    steps: list[str] = []
    notes: list[str] = []
    with (
        own.server("labelkin", *serve, cwd=folder, is_up=answers(f"http://127.0.0.1:{port}/health"),
                   log=folder / "labelkin.log"),
        studio.server("label-studio", *start, cwd=folder, is_up=answers(f"{site}/health"),
                      log=folder / "studio.log"),
    ):  # fmt: skip
        try:
            _work(_Site(site), backend, saved_work, steps, notes)
        except (RuntimeError, OSError, KeyError, IndexError) as error:
            notes.append(f"{type(error).__name__}: {error}")
    return Told(studio.version("label-studio"), steps, notes)


def _install_plugin(own: OwnEnvironment, folder: Path) -> None:
    """Install labelkin-label-studio into a folder that labelkin's processes import from."""
    package = TOP / "packages" / "labelkin-label-studio"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
    subprocess.run([*command, "--target", folder, package], check=True, timeout=INSTALL)
    before = own.variables.get("PYTHONPATH")
    own.variables["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), before]))


class _Site:
    """Label Studio's interface for programs."""

    def __init__(self, address: str) -> None:
        self._address = address

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request; return the JSON response."""
        headers = {"Authorization": f"Token {_TOKEN}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._address}/api/{path}", data, headers, method=method)
        try:
            with urlopen(request, timeout=120) as answer:
                content = answer.read()
        except HTTPError as error:
            said = error.read()[:500].decode(errors="replace")
            raise RuntimeError(f"{method} {path}: {error.code} {said}") from None
        return json.loads(content) if content else None


def _work(site: _Site, backend: str, saved_work: Path, steps: list[str], notes: list[str]) -> None:
    """Do what people and Label Studio do, and note it."""
    news = corpora.newsroom(3000)
    labels = news.label_names.tolist()
    choices = "".join(f'<Choice value="{label}"/>' for label in labels)
    config = (
        '<View><Text name="text" value="$text"/><Choices name="topics" toName="text" '
        f'choice="multiple">{choices}</Choices></View>'
    )
    project = site.ask("POST", "projects/", {"title": "News", "label_config": config})["id"]
    texts = [str(text) for text in news.documents[news.test[:_N_TASKS]]]
    site.ask("POST", f"projects/{project}/import", [{"data": {"text": text}} for text in texts])
    connected = {
        "project": project, "url": backend, "title": "labelkin", "is_interactive": True,
        "auth_method": "BASIC_AUTH", "basic_auth_user": "anyone", "basic_auth_pass": _SECRET,
    }  # fmt: skip
    ml = site.ask("POST", "ml/", connected)
    for hook in site.ask("GET", f"webhooks?project={project}"):
        header = {"Authorization": f"Bearer {_SECRET}"}
        site.ask("PATCH", f"webhooks/{hook['id']}/", {"headers": header, "url": hook["url"]})
    state = site.ask("GET", f"ml/{ml['id']}")
    if state["state"] != "CO":
        notes.append(f"the model is not connected: {state['state']} {state['error_message']}")
    steps.append(f"connected as {state['model_version']!r}, with a token")
    tasks = [
        task["id"] for task in site.ask("GET", f"tasks?project={project}&page_size=100")["tasks"]
    ]

    def predicted() -> dict[int, dict[str, Any]]:
        body = {"selectedItems": {"all": True, "excluded": []}}
        site.ask("POST", f"dm/actions?id=retrieve_tasks_predictions&project={project}", body)
        found = site.ask("GET", f"predictions/?project={project}")
        newest: dict[int, dict[str, Any]] = {}
        for one in sorted(found, key=lambda one: one["id"]):
            newest[one["task"]] = one
        return newest

    before = predicted()
    n_choices = sum(
        len(one["result"][0]["value"]["choices"]) for one in before.values() if one["result"]
    )
    if set(before) != set(tasks) or not n_choices:
        notes.append(f"{len(before)} of {len(tasks)} tasks have predictions, {n_choices} choices")
    steps.append(f"{len(before)} tasks predicted, {n_choices} choices suggested")

    interactive = f"ml/{ml['id']}/interactive-annotating"
    context = {"result": [_region(["wheat"])]}
    alone, known = (
        site.ask("POST", interactive, {"task": tasks[0], **more})["data"]["scores"]
        for more in ({}, {"context": context})
    )
    moved = sum(abs(known[one] - alone.get(one, 0.0)) > 1e-6 for one in known)
    if known.get("wheat") != 1.0 or moved < 2:
        notes.append("a choice of the draft does not count as known")
    steps.append(f"with 'wheat' chosen in the draft {moved} scores of {len(known)} move")

    unusual = ["tennis", "wheat"]
    for task in tasks[:_N_ANNOTATIONS]:
        site.ask("POST", f"tasks/{task}/annotations/", {"result": [_region(unusual)]})
    _wait(lambda: len(read_saved_documents(saved_work).documents) == _N_ANNOTATIONS)
    saved = read_saved_documents(saved_work)
    if saved.documents != texts[:_N_ANNOTATIONS] or set(saved.label_sets) != {tuple(unusual)}:
        notes.append("the annotations are not saved")
    steps.append(f"{len(saved.documents)} annotations are saved")

    version = before[tasks[-1]]["model_version"]
    _wait(lambda: site.ask("GET", f"ml/{ml['id']}") and _version(backend) != version)
    after = predicted()
    changed = [
        task for task in tasks
        if before[task]["score"] != after[task]["score"]
        or before[task]["model_version"] != after[task]["model_version"]
    ]  # fmt: skip
    scores = sum(before[task]["score"] != after[task]["score"] for task in tasks)
    if not scores:
        notes.append("no prediction has changed")
    steps.append(
        f"{len(changed)} of {len(tasks)} tasks are predicted again, {scores} with another score"
    )

    first = site.ask("GET", f"tasks/{tasks[0]}/annotations/")[0]["id"]
    site.ask("PATCH", f"annotations/{first}/", {"result": [_region(["tennis"])]})
    site.ask("DELETE", f"annotations/{site.ask('GET', f'tasks/{tasks[1]}/annotations/')[0]['id']}/")
    _wait(lambda: len(read_saved_documents(saved_work).documents) == _N_ANNOTATIONS - 1)
    now = read_saved_documents(saved_work).label_sets
    if sorted(now).count(("tennis",)) != 1 or len(now) != _N_ANNOTATIONS - 1:
        notes.append(f"an update and a deletion are not saved: {now}")
    steps.append("one annotation updated and one deleted: the saved work follows")

    newest = predicted()
    left = [tasks[1], *tasks[_N_ANNOTATIONS:]]
    version = newest[left[0]]["model_version"]
    order = {"sampling": "Uncertainty sampling", "model_version": version}
    site.ask("PATCH", f"projects/{project}/", order)
    offered = site.ask("GET", f"projects/{project}/next/")["id"]
    lowest = min(left, key=lambda task: newest[task]["score"])
    if offered != lowest:
        notes.append(f"uncertainty sampling offers task {offered}, and {lowest} has less sureness")
    steps.append(f"uncertainty sampling offers the least sure of {len(left)} tasks first")


def _version(backend: str) -> str:
    header = {"Authorization": f"Bearer {_SECRET}"}
    with urlopen(Request(f"{backend}/versions", headers=header), timeout=30) as answer:
        return json.load(answer)["versions"][0]


def _region(choices: list[str]) -> dict[str, Any]:
    return {
        "from_name": "topics", "to_name": "text", "type": "choices", "value": {"choices": choices},
    }  # fmt: skip


def _wait(done: Callable[[], bool]) -> None:
    """Wait until something holds; that it does not is seen by what is asked afterwards."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            if done():
                return
        except FileNotFoundError:
            pass
        time.sleep(0.5)
