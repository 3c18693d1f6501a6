"""Helpers that read the page and send the same requests to the service."""

import json
import os
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

HERE = Path(__file__).parent

TEXT = """Tanker crews wait as oil ports close in the storm
Crude oil tankers lay at anchor off Port Calder on Thursday as the port authority kept its \
terminals shut. Shipowners discussed safety checks while ship brokers spoke of delays to cargo \
space. Refiners said petrol prices could rise, and the ministry called foreign governments about \
trade talks. Meteorologists expect heavy rain and flooding along the coast before the weekend."""

READ_ROWS = """rows => rows.map(row => ({
    label: row.querySelector(".label").textContent,
    probability: row.querySelector(".probability").textContent,
    values: row.querySelector(".values").textContent,
}))"""


def write(page, text):
    """Fill in the document and wait for its suggestions."""
    with page.expect_response("**/suggest"):
        page.fill("#text", text)
    page.wait_for_selector(".row")


def rows(page):
    """Return label, probability and values of every row that stays."""
    return page.eval_on_selector_all(".row:not(.leaving)", READ_ROWS)


def labels(page):
    return [row["label"] for row in rows(page)]


def row_of(page, label):
    return page.locator(f'.row[data-label="{label}"]')


def chosen(page):
    """Return the accepted and the rejected labels as the page lists them."""
    states = ("accepted", "rejected")
    return tuple(page.locator(f"#{state} .chip-name").all_inner_texts() for state in states)


def ask(address, route, **body):
    """Ask the service directly; the page must show the same."""
    request = Request(
        f"{address}api/models/news/{route}",
        data=json.dumps({"accepted": [], "rejected": [], **body}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)


def expected_labels(address, text, accepted=(), rejected=()):
    """Return the labels the page shows: those from 1 % on, and three at least."""
    answer = ask(address, "suggest", text=text, accepted=list(accepted), rejected=list(rejected))
    likely = sum(suggestion["probability"] >= 0.01 for suggestion in answer["suggestions"])
    return [suggestion["label"] for suggestion in answer["suggestions"][: max(likely, 3)]]


def wait_for_labels(page, wanted):
    """Wait until the rows are these labels, in this order."""
    page.wait_for_function(
        """wanted => {
            const rows = [...document.querySelectorAll(".row:not(.leaving) .label")];
            return JSON.stringify(rows.map(row => row.textContent)) === JSON.stringify(wanted);
        }""",
        arg=list(wanted),
    )


def axe_source():
    """Return axe-core's source, or skip."""
    given = os.environ.get("LABELKIN_AXE")
    below = Path("node_modules", "axe-core", "axe.min.js")
    places = [Path(given)] if given else [HERE.parents[2] / below, HERE / below]
    for place in places:
        if place.is_file():
            return place.read_text(encoding="utf-8")
    pytest.skip("needs axe-core: npm install --prefix tests/service/browser, or LABELKIN_AXE")


def inspect(page, axe, part="html"):
    """Return the faults that axe finds in a part of the page, a line each."""
    page.evaluate(axe)  # by the debugger: the page's own policy lets no foreign script in
    violations = page.evaluate(
        """part => axe.run(part, {resultTypes: ["violations"], preload: false})
            .then(answer => answer.violations)""",
        part,
    )
    return [
        f"{violation['impact']}: {violation['help']}: {node['html'][:200]} {node['failureSummary']}"
        for violation in violations
        for node in violation["nodes"]
    ]


def serious(found):
    """Return the serious faults of several places as JSON, or an empty text."""
    grave = {
        place: [f for f in faults if f.startswith(("serious", "critical"))]
        for place, faults in found.items()
    }
    return json.dumps(grave, indent=1) if any(grave.values()) else ""


def overflow(page):
    """Return by how many pixels the page is wider than its window."""
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
