"""The code of a page, run from top to bottom, and what it prints, in blocks ``output`` below it.

``python -m docs.make.page_code PAGE…`` in the root of the repository writes what the code of pages
prints into them; tests/test_docs_run.py checks that it is there. Python is run block by block, and
of shell blocks the commands of labelkin that end by themselves. Other programs (``pip``, Annif,
Docker) and services are started by other tests, or by ``make integration``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from labelkin.cli import main as labelkin
from labelkin.corpora import newsroom
from labelkin.files import write_whole

FENCE = re.compile(r"^```(python|sh|output)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Commands of labelkin that go on until they are stopped, or whose subject is another program's.
NOT_RUN = {"serve"}


class Block(NamedTuple):
    """A piece of code on a page, and what is said to come out of it.

    Attributes
    ----------
    language
        ``python`` or ``sh``.
    code
        Its lines.
    shown
        What a block ``output`` right below it says; None if there is none.
    place
        Where that stands in the text of the page, begin and end.
    """

    language: str
    code: str
    shown: str | None = None
    place: tuple[int, int] = (0, 0)


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of code of a page, in order."""
    found: list[Block] = []
    for match in FENCE.finditer(text):
        if match[1] != "output":
            found.append(Block(match[1], match[2]))
        elif found:
            found[-1] = found[-1]._replace(shown=match[2], place=match.span(2))
    return found


def run_blocks(blocks: list[Block], name: str) -> Iterator[tuple[Block, str]]:
    """Run blocks one after the other in the current folder; yield each with what it prints."""
    scope: dict[str, Any] = {"__name__": name}
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if block.language == "python":
                exec(compile(block.code, name, "exec"), scope)
            else:
                for line in block.code.replace("\\\n", " ").splitlines():
                    _run_command(line)
        yield block, printed.getvalue()


def _run_command(line: str) -> None:
    words = shlex.split(line, comments=True)
    if len(words) < 2 or words[0] != "labelkin" or words[1] in NOT_RUN:
        return
    try:
        labelkin(words[1:])
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{line} ended with {end.code}") from end


def write_files(folder: Path) -> None:
    """Write the files that pages name: documents of the made corpus, in the formats they have."""
    news = newsroom(300)
    names = [f"n{i}" for i in range(len(news.documents))]
    records = [
        {"id": name, "text": text, "labels": list(labels)}
        for name, text, labels in zip(names, news.documents, news.Y.label_sets(), strict=True)
    ]
    texts = [{"id": one["id"], "text": one["text"]} for one in records[:20]]
    for name, some in {"news": records, "documents": records, "texts": texts}.items():
        lines = "".join(json.dumps(one) + "\n" for one in some)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")


def with_output(text: str, name: str) -> str:
    """Return a page's text with what its code prints, run in a folder that goes away."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            write_files(Path(folder))
            ran = list(run_blocks(blocks_of(text), name))
        finally:
            os.chdir(before)
    for block, printed in reversed(ran):
        if block.shown is not None:
            begin, end = block.place
            text = text[:begin] + _tidy(printed) + text[end:]
    return text


def _tidy(printed: str) -> str:
    return "".join(line.rstrip() + "\n" for line in printed.strip("\n").splitlines())


def main(arguments: list[str] | None = None) -> None:
    """Write what their code prints into pages."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    for page in parser.parse_args(arguments).pages:
        write_whole(page, with_output(page.read_text(encoding="utf-8"), page.stem))
        print(page)


if __name__ == "__main__":
    main()
