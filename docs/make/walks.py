"""Count the functions, files and changes of file on the way through the code.

``python -m docs.make.walks`` prints a line for each walk: how many functions of the package are
entered at least once, in how many files, and how often the file changes in the order of entry.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import sys
import tempfile
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import labelkin
from labelkin import LabelDependenceClassifier, NaiveBayes, PaperClassifier, corpora
from labelkin.cli import main as command
from labelkin.text import WordCounts

ROOT = str(Path(labelkin.__file__).parent)


def walk(function: Callable[[], Any]) -> tuple[int, int, int]:
    """Return functions, files and changes of file while a function runs."""
    entered: dict[tuple[str, str, int], None] = {}

    def enter(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<"
        is_ours = code.co_filename.startswith(ROOT) and code.co_filename.endswith(".py")
        if event == "call" and is_function and is_ours:
            entered.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno))

    sys.setprofile(enter)
    threading.setprofile(enter)  # threads that the function starts
    try:
        function()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    files = [file for file, *_ in entered]
    changes = sum(one != other for one, other in pairwise(files))
    return len(entered), len(set(files)), changes


def main() -> None:
    """Print the walks."""
    news = corpora.newsroom(300)
    words = WordCounts().fit(news.documents)
    X, Y = words.transform(news.documents), news.Y
    learned = LabelDependenceClassifier(NaiveBayes(), random_state=0)
    paper = PaperClassifier(NaiveBayes())
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/m.labelkin"
        walks: dict[str, Callable[[], Any]] = {
            "LabelDependenceClassifier().fit": lambda: learned.fit(X, Y),
            "predict_proba": lambda: learned.predict_proba(X[:3]),
            "PaperClassifier: fit, predict": lambda: paper.fit(X, Y).predict(X[:3]),
            "labelkin train": lambda: _run(["train", "newsroom", "-o", model]),
            "labelkin suggest --explain": lambda: _run(
                ["suggest", model, "wheat and corn harvest", "--explain"]
            ),
            "labelkin experiment run demo": lambda: _run(
                ["experiment", "run", "demo", "--out", f"{folder}/demo", "--quiet"]
            ),
        }
        for name, function in walks.items():
            functions, files, changes = walk(function)
            print(f"{name:34} {functions:4} functions {files:3} files {changes:4} changes")
        functions, files, changes = walk_of_http_suggest(Path(model))
        print(f"{'HTTP suggest':34} {functions:4} functions {files:3} files {changes:4} changes")


def walk_of_http_suggest(model: Path) -> tuple[int, int, int]:
    """Return the walk of one suggestion of a running service, from request to answer.

    The application is called in this thread, without a server: short texts are answered in the
    event loop. The first request, which prepares the application, is not counted.
    """
    import httpx

    from labelkin.service import create_app

    app = create_app([model], saved_work=model.with_name("walk.sqlite"))

    async def ask(text: str) -> None:
        request = {"text": text, "accepted": ["grain"]}
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answer = await client.post(f"/api/models/{model.stem}/suggest", json=request)
            assert answer.status_code == 200, answer.text

    try:
        asyncio.run(ask("a first text"))
        return walk(lambda: asyncio.run(ask("wheat and corn harvest")))
    finally:
        app.state.service.close()


def _run(arguments: list[str]) -> None:
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        command(arguments)


if __name__ == "__main__":
    main()
