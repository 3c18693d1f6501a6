"""The example of docs/how-to/annotation-tools.md for Argilla, with Argilla's own client.

Its server, which needs a search engine, is missing: the requests of the client are checked
(:mod:`integration.argilla_listener`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from integration.environments import TOP, Environment, OwnEnvironment
from labelkin import corpora


class Told(NamedTuple):
    """The results of the story; ``notes`` are the deviations."""

    version: str
    steps: list[str]
    notes: list[str]


def environment(folder: Path) -> Environment:
    """Install Argilla's client, which needs ``requests`` without declaring it, and labelkin."""
    packages = ["argilla~=2.8.0", "requests", "--editable", f"{TOP}[text]"]
    return Environment(folder / "argilla", packages)


def tell(argilla: Environment, folder: Path) -> Told:
    """Run the example as it stands on the page, and look at what it sends."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    model = folder / "news.labelkin"
    OwnEnvironment().run("labelkin", "train", "newsroom", "-o", model, "--content", "naive_bayes",
                         "--quiet", cwd=folder)  # fmt: skip
    code = folder / "example.py"
    code.write_text(on_the_page(), encoding="utf-8")
    argilla.run("python", TOP / "integration/argilla_listener.py", code, model, cwd=folder)
    sent = json.loads((folder / "sent.json").read_text(encoding="utf-8"))
    labels = set(corpora.newsroom(100).label_names.tolist())
    steps, notes = [], []
    [question] = sent["questions"]
    options = {one["value"] for one in question["settings"]["options"]}
    if question["settings"]["type"] != "multi_label_selection" or options != labels:
        notes.append(f"the question has {len(options)} labels, the model {len(labels)}")
    steps.append(f"a multi-label question of {len(options)} labels")
    suggestions = [one for record in sent["records"] for one in record["suggestions"]]
    for one in suggestions:
        scores = one["score"]
        if len(scores) != len(one["value"]) or sorted(scores, reverse=True) != scores:
            notes.append(f"a suggestion has {len(one['value'])} labels and scores {scores}")
    if not suggestions or not all(record["fields"]["text"] for record in sent["records"]):
        notes.append(f"{len(sent['records'])} records and {len(suggestions)} suggestions are sent")
    n_labels = sum(len(one["value"]) for one in suggestions)
    steps.append(f"{len(sent['records'])} records, {n_labels} labels suggested with their scores")
    return Told(argilla.version("argilla"), steps, notes)


def on_the_page() -> str:
    """Return the code that docs/how-to/annotation-tools.md has for Argilla."""
    page = (TOP / "docs/how-to/annotation-tools.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```py\n(import argilla.*?)```", page, re.DOTALL)
    return str(code)
