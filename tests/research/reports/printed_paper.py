"""The paper's own tables, read from its source where that is at hand."""

import re
from functools import cache

import pytest
from benchmarks.corpus import DATA

SIGNS = {"ll": "≪", "gg": "≫", "<": "<", ">": ">", "sim": "~", "bullet": "•", "circ": "◦"}
CAPTIONS = {"Reuters": "reuters21578", "Ohsumed-23": "ohsumed23", "RCV1": "rcv1"}


@cache
def printed_tables():
    """Return every table of the paper: its caption, and its rows as numbers and signs."""
    source = DATA.parent / "paper" / "paper.tex"
    if not source.exists():
        pytest.skip(f"no paper at {source}: set LABELKIN_DATA to the folder beside it")
    text = source.read_text(encoding="utf-8")
    tables = re.findall(
        r"\\begin\{tabular\}(.*?)\\end\{tabular\}\s*\\caption\{(.*?)\}\n", text, re.S
    )
    return [(" ".join(caption.split()), rows_in(body)) for body, caption in tables]


def rows_in(body):
    """Return the tokens of each row by name."""
    rows = {}
    for line in re.split(r"\\\\", body):
        name = re.match(r"\s*(?:\\hline\s*)?((?:NB|k-?NN|KNN|SVM|BLR|SMO)[^&$]*)", line)
        if name:
            found = re.finditer(r"[+-]?\d+\.\d+|\\(ll|gg|sim|bullet|circ)\b|\$([<>])\$", line)
            tokens = [SIGNS.get(m[1] or m[2], m[0]) for m in found]
            counts = re.findall(r"\d+(?=/|\}|\s|$)", line.partition("&")[2])
            system = re.sub(r"[\s-]", "", name[1]).replace("KNN", "kNN")
            rows[system] = tokens or [int(count) for count in counts]
    return rows
