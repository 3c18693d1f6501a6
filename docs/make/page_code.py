"""The code of a page, run from top to bottom, and what it prints, in blocks ``output`` below it.

``python -m docs.make.page_code PAGE…`` in the root of the repository writes what the code of pages
prints into them; tests/test_docs_run.py checks that it is there. Python is run block by block, and
of shell blocks the commands of labelkin that end by themselves. Other programs (``pip``, Annif,
Docker) and services are started by other tests, or by ``make integration``.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, NaiveBayes, save, vocabulary
from labelkin.cli import main as labelkin
from labelkin.corpora import Corpus, newsroom
from labelkin.corpora.corpus import labels_of
from labelkin.files import write_atomic
from labelkin.odds import to_probability
from labelkin.text import WordCounts

FENCE = re.compile(r"^```(python|sh|output)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Commands that run until they are stopped, need a network, or train for a long time. Tests of them
#: are in tests/service, tests/corpora, tests/research/experiments and tests/research/test_demo.py.
NOT_RUN = (
    "labelkin serve",
    "labelkin corpus fetch",
    "labelkin experiment run reuters21578",
    "labelkin demo",
)


class Block(NamedTuple):
    """A piece of code on a page, and the output that the page shows.

    Attributes
    ----------
    language
        ``python`` or ``sh``.
    code
        Its lines.
    shown
        The text of the block ``output`` right below it; None without one.
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
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with contextlib.redirect_stdout(printed):
            if block.language == "python":
                exec(compile(block.code, name, "exec"), scope)
            else:
                _run_commands(block.code)
        yield block, printed.buffer.getvalue().decode()


def _run_commands(code: str) -> None:
    """Run commands of labelkin up to the first that is in ``NOT_RUN``."""
    for line in code.replace("\\\n", " ").splitlines():
        if line.startswith(NOT_RUN):
            return
        words = shlex.split(line, comments=True)
        if words[:1] == ["labelkin"]:
            try:
                labelkin(words[1:])
            except SystemExit as end:
                if end.code:
                    raise RuntimeError(f"{line} ended with {end.code}") from end


def write_files(text: str, folder: Path) -> None:
    """Write the files that a page names and does not create: parts of the synthetic corpus."""
    news = newsroom(200)
    documents = [
        {"id": f"n{i}", "text": text, "labels": list(labels)}
        for i, (text, labels) in enumerate(zip(news.documents, news.label_sets(), strict=True))
    ]
    texts = [{"id": one["id"], "text": one["text"]} for one in documents[:20]]
    makers = {
        "news.jsonl": lambda path: _write_lines(path, documents),
        "documents.jsonl": lambda path: _write_lines(path, documents),
        "train.jsonl": lambda path: _write_lines(path, documents[:150]),
        "test.jsonl": lambda path: _write_lines(path, documents[150:]),
        "texts.jsonl": lambda path: _write_lines(path, texts),
        "unlabelled.jsonl": lambda path: _write_lines(path, texts),
        "all.jsonl": lambda path: _write_lines(
            path, [{"text": one["text"], "label": one["labels"]} for one in documents]
        ),
        "annotated.jsonl": lambda path: _write_lines(path, map(_prodigys, documents)),
        "news.csv": lambda path: _write_table(path, documents),
        "documents.tsv": lambda path: _write_annifs(path, documents),
        "vocabulary.ttl": lambda path: shutil.copy(files(vocabulary) / "newsroom.ttl", path),
        "texts/": lambda path: _write_folder(path, texts),
        "scores.csv": lambda path: _write_scores(path, news, slice(150, None)),
        "unseen.csv": lambda path: _write_scores(path, news, slice(150)),
        "news.labelkin": lambda path: _write_model(path, news),
        "news.saved.sqlite": _write_saved_work,
    }
    code = "".join(block.code for block in blocks_of(text))
    for name, make in makers.items():
        first = re.search(rf"(-o |--out |save\([^)]*)?(?<![\w.-]){re.escape(name)}", code)
        if first and not first[1]:
            make(folder / name)


def _write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


def _prodigys(document: dict[str, Any]) -> dict[str, Any]:
    options = [{"id": label, "text": label} for label in document["labels"]]
    text, accept = document["text"], document["labels"]
    return {"text": text, "options": options, "accept": accept, "answer": "accept"}


def _write_table(path: Path, documents: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "headline", "text", "labels"])
        for one in documents:
            headline, _, body = one["text"].partition("\n")
            table.writerow([one["id"], headline, body, ";".join(one["labels"])])


def _write_annifs(path: Path, documents: list[dict[str, Any]]) -> None:
    uri = "<http://example.org/newsroom/{}>".format
    lines = (
        f"{' '.join(one['text'].split())}\t{' '.join(map(uri, one['labels']))}\n"
        for one in documents
    )
    path.write_text("".join(lines), encoding="utf-8")


def _write_folder(path: Path, texts: list[dict[str, Any]]) -> None:
    path.mkdir()
    for one in texts:
        (path / f"{one['id']}.txt").write_text(one["text"], encoding="utf-8")


def _scored(news: Corpus) -> Any:
    X = WordCounts().fit_transform(news.documents)
    return to_probability(NaiveBayes().fit_out_of_fold(X, news.Y))


def _write_scores(path: Path, news: Corpus, rows: slice) -> None:
    table = ["id," + ",".join(news.label_names)]
    for i, row in list(enumerate(_scored(news)))[rows]:
        table.append(f"n{i}," + ",".join(f"{score:.6f}" for score in row))
    path.write_text("\n".join(table) + "\n", encoding="utf-8")


def _write_model(path: Path, news: Corpus) -> None:
    model = make_pipeline(WordCounts(), LabelDependenceClassifier(NaiveBayes()))
    save(model.fit(news.documents, labels_of(news)), path)


def _write_saved_work(path: Path) -> None:
    from labelkin.curation.saved_work import Entry, SavedWork

    saved_work = SavedWork(path)
    saved_work.save([Entry("news", "The river rose.", ("floods",))])
    saved_work.close()


def with_output(text: str, name: str) -> str:
    """Return a page's text with what its code prints, run in a folder that goes away."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            write_files(text, Path(folder))
            ran = list(run_blocks(blocks_of(text), name))
        finally:
            os.chdir(before)
    for block, printed in reversed(ran):
        if block.shown is not None:
            begin, end = block.place
            text = text[:begin] + beginning(printed, block.shown) + text[end:]
    return text


def beginning(printed: str, shown: str) -> str:
    """Return what is printed, tidied; as many lines as are shown where those end in ``…``."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    n_shown = len(shown.splitlines()) - 1
    if shown.endswith("…\n") and n_shown < len(lines):
        lines = [*lines[:n_shown], "…"]
    return "".join(f"{line}\n" for line in lines)


def main(arguments: list[str] | None = None) -> None:
    """Write what their code prints into pages."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    for page in parser.parse_args(arguments).pages:
        write_atomic(page, with_output(page.read_text(encoding="utf-8"), page.stem))
        print(page)


if __name__ == "__main__":
    main()
