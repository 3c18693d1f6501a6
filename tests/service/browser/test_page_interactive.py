"""The interactive page of the documentation, from a folder: answers move labels, with reasons."""

import re
from pathlib import Path

import pytest
from page_reader import axe_source, inspect, overflow

DOCS = Path(__file__).parents[3] / "docs"
STYLE = """
:root { color-scheme: light dark; }
body { margin: 1rem; background: Canvas; color: CanvasText; font: 16px sans-serif; }
"""


@pytest.fixture
def address(tmp_path):
    """Return the HTML part of the page as a separate page."""
    text = (DOCS / "explanation" / "interactive.md").read_text(encoding="utf-8")
    [part] = re.findall(r"```\{raw\} html\n(.*?)```", text, re.S)
    part = part.replace("../_static", (DOCS / "_static").as_uri())
    html = (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Labels that move</title>"
        "<meta name='viewport' content='width=device-width'>"
        f"<style>{STYLE}</style><main><h1>Labels that move</h1>{part}</main></html>"
    )
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    return (tmp_path / "page.html").as_uri()


def test_answer_changes_other_labels_with_reasons(open_page, address):
    page = open_page(address, viewport={"width": 360, "height": 740}, reduced_motion="reduce")
    rows = page.locator(".kin-labels li")
    before = rows.all_inner_texts()
    page.locator(".kin-yes").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator(".kin-yes[aria-pressed=true]").count() == 1
    assert page.evaluate("document.activeElement.classList.contains('kin-yes')")
    assert re.fullmatch(r"Accepted: .*→.*\.", page.locator(".kin-said").inner_text())
    assert rows.all_inner_texts() != before
    reasons = page.locator(".kin-why tr").all_inner_texts()
    assert any("accepted" in line for line in reasons)
    parts = page.locator(".kin-why tbody tr:not(.kin-of)").all_inner_texts()
    *added, total = [float(line.split("\t")[-1].replace("−", "-")) for line in parts]
    assert sum(added) == pytest.approx(total, abs=0.03)
    assert inspect(page, axe_source()) == []
    assert overflow(page) <= 0
    page.locator("#kin-reset").click()
    assert rows.all_inner_texts() == before
