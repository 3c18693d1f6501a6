"""The real page in a real browser → the pictures of docs/tutorials/first-hour.md.

``python -m docs.make.screenshots`` in the root of the repository. It follows the
tutorial: trains on the synthetic corpus, serves the model, pastes the text, accepts a label, shows
an explanation, reviews an audit. It needs Chromium, Playwright and Pillow (extras ``dev`` and
``plot``).
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from docs.make.page_code import write_files
from PIL import Image
from playwright.sync_api import sync_playwright

from labelkin.cli import main as labelkin

FOLDER = Path(__file__).parent.parent / "tutorials" / "pictures"
TEXT = "The river rose again on Thursday, and crews brought food to the villages."
WINDOW = {"width": 1200, "height": 720}


def take_pictures(folder: Path = FOLDER) -> None:
    """Write every picture of the tutorial."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        work = Path(name)
        write_files("```sh\nlabelkin audit news.jsonl\n```", work)
        model, issues = str(work / "news.labelkin"), str(work / "issues.jsonl")
        _call("train", "newsroom", "-o", model, "--quiet")
        _call("audit", str(work / "news.jsonl"), "--out", issues, "--quiet")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        with _served(model, "--review", issues) as address:
            page = browser.new_page(viewport=WINDOW, color_scheme="light")
            page.goto(address)
            _suggestions(page, folder)
            page.goto(f"{address}review")
            page.wait_for_timeout(1500)
            _keep(page, folder / "review.png")
        browser.close()


def _suggestions(page: Any, folder: Path) -> None:
    with page.expect_response("**/suggest"):
        page.fill("#text", TEXT)
    page.wait_for_selector(".row")
    _keep(page, folder / "suggestions.png")
    page.fill("#search", "floods")
    page.keyboard.press("ArrowDown")
    with page.expect_response("**/suggest"):
        page.keyboard.press("Enter")
    page.locator('.row[data-label="disaster-relief"]').first.wait_for()
    _keep(page, folder / "accepted.png")
    page.locator('.row[data-label="disaster-relief"] .label').first.click()
    page.wait_for_timeout(1000)
    _keep(page, folder / "why.png")


def _keep(page: Any, path: Path) -> None:
    """Write the window as a picture of few colours, which is a third of the size."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(800)  # rows move to their places
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path, f"{path.stat().st_size / 1000:.0f} kB")


def _call(*words: str) -> None:
    try:
        labelkin(list(words))
    except SystemExit as end:
        if end.code:
            raise


@contextmanager
def _served(*words: str) -> Iterator[str]:
    """Run ``labelkin serve`` on a free port; give its address."""
    command = [sys.executable, "-c", "from labelkin.cli import main; main()", "serve", *words]
    with subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as service:
        try:
            for line in service.stdout or ():
                if "http://" in line:
                    yield line[line.index("http://") :].split()[0]
                    break
        finally:
            service.terminate()


def main(arguments: list[str] | None = None) -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER, help="default: docs/tutorials/pictures")
    take_pictures(parser.parse_args(arguments).out)


if __name__ == "__main__":
    main()
