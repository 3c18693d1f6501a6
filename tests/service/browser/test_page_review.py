"""The review: a question, its reasons, three keys, undo; for everyone, and over a restart."""

import pytest
from issue_list import FIRST, write_issues
from live_server import serving
from page_reader import axe_source, inspect, serious

from labelkin.curation.saved_work import read_answers


@pytest.fixture
def review(tmp_path):
    """Serve a list of issues without a model."""
    saved_work = tmp_path / "j.sqlite"
    with serving(saved_work=saved_work, review=write_issues(tmp_path)) as client:
        client.saved_work = saved_work
        yield client


@pytest.fixture
def page(open_page, review):
    opened = open_page(f"{review.address}review")
    asked(opened, "missing", "grain")
    return opened


def asked(page, what, label):
    """Wait for a question."""
    page.locator("#question-title", has_text=f"“{label}” {what} here?").wait_for()


def progress(page):
    return page.locator("#progress-text").inner_text()


def said(saved_work):
    return [(one.document, one.answer) for one in read_answers(saved_work)]


def test_review_shows_the_reasons(page):
    body = page.locator("main").inner_text()
    for text in ("97", "n7", "Other labels", "no gold", "Similar documents", "has grain", "Corn."):
        assert text in body
    assert page.locator("#text").inner_text() == FIRST["text"]
    assert page.locator("#text mark.for").all_inner_texts() == ["Wheat", "wheat"]
    assert page.locator("#text mark.against").all_inner_texts() == ["gold"]
    assert page.locator("#labels .chip").all_inner_texts() == ["wheat", "grain?"]
    assert page.locator("#why-tables .sum tfoot").inner_text().startswith("Sum: 97")


def test_three_keys_undo_and_the_end(page, review):
    press = page.keyboard.press
    assert progress(page).startswith("0 of 3 answered")
    press("c")
    asked(page, "wrong", "gold")
    assert page.get_by_role("button", name="Yes, remove gold").is_visible()
    press("n")
    asked(page, "missing", "grain")
    press("x")
    page.get_by_text("All issues are answered.").wait_for()
    assert progress(page) == "3 of 3 answered: 1 changed, 1 kept, 1 undecided"
    assert said(review.saved_work) == [("n7", "change"), ("n8", "keep"), ("n9", "cannot say")]

    press("u")
    asked(page, "missing", "grain")
    assert page.get_by_text("wheat implies grain").is_visible()
    press("Control+z")
    asked(page, "wrong", "gold")
    assert said(review.saved_work) == [("n7", "change")]
    press("k")
    asked(page, "missing", "grain")
    changed = page.get_by_role("button", name="Yes, add grain")
    assert changed.get_attribute("aria-pressed") == "true"
    assert "your answer: change" in page.locator("#question-about").inner_text()
    press("j")
    asked(page, "wrong", "gold")


def test_axe_finds_nothing_serious(open_page, review):
    axe = axe_source()
    page = open_page(f"{review.address}review", color_scheme="dark", reduced_motion="reduce")
    asked(page, "missing", "grain")
    found = {"question": inspect(page, axe)}
    page.keyboard.press("c")
    asked(page, "wrong", "gold")
    page.keyboard.press("k")
    asked(page, "missing", "grain")
    found["answered"] = inspect(page, axe)
    assert serious(found) == ""
