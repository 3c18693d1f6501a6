"""doccano with suggestions of labelkin's, its answers read back, and its auto labelling.

Files are imported and exported through doccano's own interface over HTTP, as its pages do it.
"""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from integration.environments import (
    TOP,
    Environment,
    OwnEnvironment,
    answers,
    free_port,
)
from labelkin import corpora
from labelkin.corpora.documents import Documents

_N_TEXTS = 12
_PATIENCE = 120.0
#: doccano is of 2023, and does not declare versions of its dependencies: these are of its time.
_OF_ITS_TIME = ("marshmallow<4", "numpy<2", "setuptools<70")


class Told(NamedTuple):
    """The results of the story; ``notes`` are the deviations."""

    version: str
    steps: list[str]
    notes: list[str]


def environment(folder: Path) -> Environment:
    """Install doccano."""
    return Environment(folder / "doccano", ["doccano~=1.8.4", *_OF_ITS_TIME])


def tell(doccano: Environment, folder: Path) -> Told:
    """Suggest, import, correct, export, train; and have doccano ask by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / "db.sqlite3").unlink(missing_ok=True)
    doccano.variables |= {
        "DOCCANO_HOME": str(home),
        "DATABASE_URL": f"sqlite:///{home / 'db.sqlite3'}",
        "MEDIA_ROOT": str(home / "media"),
        "DJANGO_SETTINGS_MODULE": "config.settings.production",
        "STANDALONE": "True",
    }
    doccano.run("doccano", "init", cwd=folder)
    doccano.run("doccano", "createuser", "--username", "anna", "--password", "in-a-test-only",
                cwd=folder)  # fmt: skip
    own = OwnEnvironment()
    model = folder / "news.labelkin"
    for old in folder.glob("news.*"):
        old.unlink()
    own.run("labelkin", "train", "newsroom", "-o", model, "--content", "naive_bayes", "--quiet",
            cwd=folder)  # fmt: skip
    port, site_port = free_port(), free_port()
    site = f"http://127.0.0.1:{site_port}"
    # `doccano webserver` uses all network interfaces; this server uses localhost only.
    where = doccano.run("python", "-c", "import backend; print(backend.__path__[0])", cwd=folder)
    web = ("--chdir", where.strip(), "--bind", f"127.0.0.1:{site_port}", "config.wsgi")
    steps: list[str] = []
    notes: list[str] = []
    saved_work = folder / "news.saved.sqlite"
    serve = ("serve", model, "--port", port, "--saved-work", saved_work)
    up, site_up = answers(f"http://127.0.0.1:{port}/health"), answers(f"{site}/")
    with (
        own.server("labelkin", *serve, cwd=folder, is_up=up, log=folder / "labelkin.log"),
        doccano.server("gunicorn", *web, cwd=folder, is_up=site_up, log=folder / "web.log"),
        doccano.server("doccano", "task", "--concurrency", "1", cwd=folder, is_up=lambda: True,
                       log=folder / "task.log"),
    ):  # fmt: skip
        try:
            _work(_Site(site), own, folder, port, steps, notes)
        except (RuntimeError, OSError, KeyError, IndexError) as error:
            notes.append(f"{type(error).__name__}: {error}")
    return Told(doccano.version("doccano"), steps, notes)


class _Site:
    """doccano's interface for programs."""

    def __init__(self, address: str) -> None:
        self._address = f"{address}/v1"
        self._headers: dict[str, str] = {}
        body = {"username": "anna", "password": "in-a-test-only"}
        self._headers["Authorization"] = f"Token {self.ask('POST', 'auth/login/', body)['key']}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request; return JSON as Python values, other content as it is."""
        data = None if body is None else json.dumps(body).encode()
        return self._sent(method, path, data, "application/json")

    def upload(self, name: str, content: bytes) -> str:
        """Upload a file as its page does; return what it is called from then on."""
        edge = "0123456789abcdef"
        head = f'Content-Disposition: form-data; name="filepond"; filename="{name}"'
        data = b"".join([
            f"--{edge}\r\n{head}\r\nContent-Type: application/json\r\n\r\n".encode(),
            content,
            f"\r\n--{edge}--\r\n".encode(),
        ])  # fmt: skip
        found = self._sent("POST", "fp/process/", data, f"multipart/form-data; boundary={edge}")
        return str(found.decode())

    def _sent(self, method: str, path: str, data: bytes | None, kind: str) -> Any:
        headers = self._headers | {"Content-Type": kind}
        request = Request(f"{self._address}/{path}", data, headers, method=method)
        try:
            with urlopen(request, timeout=120) as answer:
                content = answer.read()
                is_json = "json" in answer.headers.get("Content-Type", "")
        except HTTPError as error:
            said = error.read()[:500].decode(errors="replace")
            raise RuntimeError(f"{method} {path}: {error.code} {said}") from None
        return json.loads(content) if is_json and path != "fp/process/" else content


def _work(
    site: _Site, own: Environment, folder: Path, port: int, steps: list[str], notes: list[str]
) -> None:
    """Do what people do with doccano, and note it."""
    news = corpora.newsroom(3000)
    texts = [str(text) for text in news.documents[news.test[:_N_TEXTS]]]
    lines = [json.dumps({"id": f"n{i}", "text": text}) + "\n" for i, text in enumerate(texts)]
    (folder / "texts.jsonl").write_text("".join(lines), encoding="utf-8")
    own.run("labelkin", "predict", "news.labelkin", "texts.jsonl", "--format", "doccano",
            "--out", "news.to-doccano.jsonl", cwd=folder)  # fmt: skip
    written = (folder / "news.to-doccano.jsonl").read_text(encoding="utf-8")
    suggested = {one["text"]: one for one in map(json.loads, written.splitlines())}

    project = _project(site)
    upload = site.upload("to-doccano.jsonl", written.encode())
    task = site.ask("POST", f"{project}/upload", {
        "format": "JSONL", "task": "DocumentClassification", "uploadIds": [upload],
        "column_data": "text", "column_label": "label", "encoding": "utf_8", "delimiter": "",
    })["task_id"]  # fmt: skip
    _wait(lambda: site.ask("GET", f"tasks/status/{task}")["ready"])
    if errors := site.ask("GET", f"tasks/status/{task}")["result"]["error"]:
        notes.append(f"doccano has not imported all: {errors[:2]}")
    names = {one["id"]: one["text"] for one in site.ask("GET", f"{project}/category-types")}
    examples = site.ask("GET", f"{project}/examples?limit=100")["results"]
    for one in examples:
        given = [names[category["label"]] for category in _categories(site, project, one["id"])]
        sent = suggested[one["text"]]
        if sorted(given) != sorted(sent["label"]):
            notes.append(f"doccano has {given} where {sent['label']} were suggested")
        if one["meta"] != {"id": sent["id"], "probabilities": sent["probabilities"]}:
            notes.append(f"doccano shows {one['meta']} beside the text")
    if len(examples) != _N_TEXTS:
        notes.append(f"doccano has {len(examples)} documents, {_N_TEXTS} were sent")
    n_labels = sum(len(one["label"]) for one in suggested.values())
    steps.append(f"{len(examples)} documents imported with {n_labels} labels and their scores")

    first = examples[0]["id"]
    taken = _categories(site, project, first)[0]
    site.ask("DELETE", f"{project}/examples/{first}/categories/{taken['id']}")
    site.ask("POST", f"{project}/examples/{first}/states", {})
    expected = {one["text"]: set(one["label"]) for one in suggested.values()}
    expected[examples[0]["text"]].remove(names[taken["label"]])
    for kind in ("JSONL", "JSON", "CSV"):
        path = folder / f"news.from-doccano.{kind.lower()}"
        path.write_bytes(_exported(site, project, kind))
        read = Documents(path, needed=("text", "labels"), separator="#" if kind == "CSV" else None)
        if {one.text: set(one.labels or ()) for one in read} != expected:
            notes.append(f"what doccano exports as {kind} is not read as it was labelled")
    steps.append("one label removed; exports as JSONL, JSON and CSV are read unchanged")
    own.run("labelkin", "train", "news.from-doccano.jsonl", "-o", "news.again.labelkin", "--quiet",
            "--content", "naive_bayes", cwd=folder)  # fmt: skip
    steps.append("a model is trained on the export")

    body, template = on_the_page()
    config = {
        "model_name": "Custom REST Request",
        "model_attrs": {
            "url": f"http://127.0.0.1:{port}/api/models/news/suggest", "method": "POST",
            "params": {}, "headers": {}, "body": body,
        },
        "template": template,
        "label_mapping": {}, "task_type": "Category",
    }  # fmt: skip
    site.ask("POST", f"{project}/auto-labeling/configs", config)
    last = examples[-1]
    for category in _categories(site, project, last["id"]):
        site.ask("DELETE", f"{project}/examples/{last['id']}/categories/{category['id']}")
    site.ask("POST", f"{project}/auto-labeling?example={last['id']}", {})
    given = {names[category["label"]] for category in _categories(site, project, last["id"])}
    sure = {label for label, p in suggested[last["text"]]["probabilities"].items() if p > 0.5}
    if given != sure:
        notes.append(f"auto labelling gives {given}, labelkin {sure}")
    steps.append(f"auto labelling asks labelkin and gives {len(given)} labels")


def _project(site: _Site) -> str:
    made = site.ask("POST", "projects", {
        "name": "News", "description": "news", "guideline": "", "tags": [],
        "project_type": "DocumentClassification", "resourcetype": "TextClassificationProject",
        "single_class_classification": False, "collaborative_annotation": True,
        "random_order": False,
    })  # fmt: skip
    return f"projects/{made['id']}"


def _categories(site: _Site, project: str, example: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = site.ask("GET", f"{project}/examples/{example}/categories")
    return found


def _exported(site: _Site, project: str, kind: str) -> bytes:
    """Return the file that doccano exports of all documents."""
    begun = site.ask("POST", f"{project}/download", {"format": kind, "exportApproved": False})
    path = f"{project}/download?taskId={begun['task_id']}"
    _wait(lambda: isinstance(site.ask("GET", path), bytes))
    with zipfile.ZipFile(io.BytesIO(site.ask("GET", path))) as packed:
        return packed.read(packed.namelist()[0])


def on_the_page() -> tuple[dict[str, Any], str]:
    """Return the body and the mapping template that the page has for auto labelling."""
    page = (TOP / "docs/how-to/annotation-tools.md").read_text(encoding="utf-8")
    about = page.partition("## doccano")[2].partition("\n## ")[0]
    body, template = re.findall(r"```(?:json|jinja)\n(.*?)\n```", about, re.DOTALL)
    return json.loads(body), template


def _wait(done: Callable[[], bool]) -> None:
    """Wait until something holds."""
    until = time.monotonic() + _PATIENCE
    while not done():
        if time.monotonic() > until:
            raise RuntimeError(f"doccano has not done within {_PATIENCE:.0f} s what it was asked")
        time.sleep(0.5)
