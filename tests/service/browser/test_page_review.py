"""The review: a question, its reasons, three keys, undo; for everyone, and over a restart."""

import pytest
from issue_list import FIRST, write_issues
from live_server import serving
from page_reader import axe_source, inspect, overflow, serious

from labelkin.curation.saved_work import read_answers

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "device_scale_factor": 2}


@pytest.fixture
def review(tmp_path):
    """Serve a list of issues without a model."""
    saved_work = tmp_path / "j.sqlite"
    with serving(saved_work=saved_work, review=write_issues(tmp_path)) as client:
        client.address, client.saved_work = f"{client.base_url}/", saved_work
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


def test_question_stays_without_the_service(open_page, review):
    page = open_page(f"{review.address}review", expected_faults=["ERR_FAILED"])
    asked(page, "missing", "grain")
    page.route("**/answers", lambda route: route.abort())
    page.keyboard.press("c")
    page.get_by_role("alert").wait_for()
    assert "does not answer" in page.locator("#trouble-text").inner_text()
    asked(page, "missing", "grain")
    assert said(review.saved_work) == []


def test_the_keyboard_alone_and_a_screen_reader(page):
    assert page.evaluate("document.activeElement.id") == "question-title"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "answer-change"
    page.keyboard.press("Enter")
    asked(page, "wrong", "gold")
    assert page.evaluate("document.activeElement.id") == "question-title"
    assert page.locator("#changes").text_content() == "Change: grain."
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Help and shortcuts").is_visible()
    page.uncheck("#keys-on")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    assert progress(page).startswith("1 of 3")
    asked(page, "wrong", "gold")


def test_a_phone_shows_everything_without_scrolling_sideways(open_page, review):
    page = open_page(f"{review.address}review", **PHONE)
    asked(page, "missing", "grain")
    assert overflow(page) == 0
    for button in page.locator(".answers button").all():
        assert button.bounding_box()["height"] >= 44
    page.locator("#answer-keep").tap()
    asked(page, "wrong", "gold")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_page, review, scheme):
    axe = axe_source()
    page = open_page(f"{review.address}review", color_scheme=scheme, reduced_motion="reduce")
    asked(page, "missing", "grain")
    found = {"question": inspect(page, axe)}
    page.keyboard.press("c")
    asked(page, "wrong", "gold")
    page.keyboard.press("k")
    asked(page, "missing", "grain")
    found["answered"] = inspect(page, axe)
    page.click("#open-help")
    found["help"] = inspect(page, axe, "#help")
    page.keyboard.press("Escape")
    page.locator("#help").wait_for(state="hidden")
    for number in (2, 3):
        page.keyboard.press("j")
        page.locator("#question-about", has_text=f"Issue {number} of 3").wait_for()
    page.keyboard.press("n")
    asked(page, "wrong", "gold")
    page.keyboard.press("x")
    page.get_by_text("All issues are answered.").wait_for()
    found["done"] = inspect(page, axe)
    assert serious(found) == ""


def test_pages_link_to_each_other(open_page, news_file, tmp_path):
    issues = write_issues(tmp_path)
    with serving(news_file, saved_work=tmp_path / "j.sqlite", review=issues) as client:
        page = open_page(f"{client.base_url}/")
        page.get_by_role("link", name="Review").click()
        asked(page, "missing", "grain")
        page.get_by_role("link", name="Suggestions").click()
        page.get_by_role("link", name="Review").wait_for()


def test_review_page_without_issues_names_the_command(open_page, server):
    page = open_page(f"{server.address}review")
    page.get_by_text("There is nothing to review.").wait_for()
    assert "labelkin audit" in page.locator("#done-command").inner_text()
    first = open_page(server.address)
    first.locator("#model-name", has_text="Newsroom").wait_for()
    assert first.locator("#to-review").is_hidden()
