"""When things go wrong: markup in data, late answers, no answer, problems, tokens, many models."""

import json

import pytest
from live_server import serving
from page_reader import TEXT, ask, chosen, expected_labels, labels, row_of, wait_for_labels, write

from labelkin.curation.saved_work import read_saved_documents

MARKUP = '<img src="x" onerror="window.harmed = true">'


def test_markup_in_labels_and_words_stays_text(open_page, server):
    page = open_page(server.address)
    parts = {"prior": -1, "content": 2, "predicted labels": 0.5}
    suggestion = {"label": MARKUP, "probability": 0.8, "log_odds": 1.5, "parts": parts}
    answer = {"suggestions": [suggestion], "known": [], "n_words": 1, "learned": 0, "model": "news"}
    other = {"label": MARKUP, "log_odds": 0.5, "value": 0.5, "known": False}
    reasons = {
        **suggestion,
        "labels": [other],
        "labels_rest": 0,
        "constant": 0,
        "terms": [{"term": MARKUP, "words": [MARKUP, "a|b (c"], "log_odds": 2}],
        "terms_rest": 0,
        "content_constant": 0,
        "neighbours": [],
    }
    _answer(page, "**/suggest", answer)
    _answer(page, "**/explain", reasons)
    _answer(page, "**/labels?*", {"labels": [{"label": MARKUP, "documents": 1}], "total": 1})
    write(page, f"a|b (c {MARKUP}")
    page.click(".row .label")
    page.locator("#explanation .sum").wait_for()
    assert page.locator("#marks mark").count() == 2
    page.fill("#search", "x")
    page.locator("#search-results [role=option]:not([data-new])").click()
    page.locator("#accepted .chip").wait_for()
    assert chosen(page) == ([MARKUP], [])
    _assert_unharmed(page)


def test_late_response_is_ignored(page, server):
    write(page, TEXT)
    first, second = labels(page)[:2]
    waiting = []

    def delay(route):
        body = json.loads(route.request.post_data)
        if body["accepted"] == [first]:
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/suggest", delay)
    row_of(page, first).locator(".accept").click()
    row_of(page, second).locator(".accept").click()
    expected = expected_labels(server.address, TEXT, [first, second])
    wait_for_labels(page, expected)
    for route in waiting:
        route.fulfill(json=ask(server.address, "suggest", text=TEXT, accepted=[first]))
    page.wait_for_timeout(200)
    assert waiting and labels(page) == expected


def test_missing_service_is_reported(open_page, server):
    page = open_page(server.address, expected_faults=["ERR_FAILED"])
    page.route("**/suggest", lambda route: route.abort())
    page.fill("#text", TEXT)
    page.get_by_role("alert").get_by_text("The service does not answer.").wait_for()
    page.unroute("**/suggest")
    page.get_by_role("button", name="Try again").click()
    wait_for_labels(page, expected_labels(server.address, TEXT))
    assert page.locator("#trouble").is_hidden()


def test_token_is_requested_until_it_is_accepted(open_page, news_file, tmp_path):
    with serving(news_file, token="right", saved_work=tmp_path / "j.sqlite") as client:
        page = open_page(client.address, expected_faults=["401"])
        dialog = page.get_by_role("dialog", name="This service asks for a token")
        dialog.get_by_label("Token").fill("wrong")
        dialog.get_by_role("button", name="Continue").click()
        dialog.get_by_text("That token was not accepted.").wait_for()
        dialog.get_by_label("Token").fill("right")
        page.keyboard.press("Enter")
        dialog.wait_for(state="hidden")
        write(page, TEXT)
        page.reload()
        page.wait_for_selector(".row")
        assert dialog.is_hidden()


@pytest.fixture
def two_models(news_file, ruled_file, tmp_path):
    saved_work = tmp_path / "two.sqlite"
    with serving(news_file, ruled_file, saved_work=saved_work) as client:
        yield client.address, saved_work


def test_another_model_is_chosen_and_its_rules_are_shown_and_saved(open_page, two_models):
    address, saved_work = two_models
    page = open_page(address)
    write(page, "Wheat farmers and grain traders met.")
    with page.expect_response("**/ruled/suggest"):
        page.select_option("#model-choice", "ruled")
    page.fill("#search", "wheat")
    page.get_by_role("option", name="wheat").click()
    page.locator("#accepted", has_text="grain by a rule").wait_for()
    assert page.get_by_role("button", name="Remove wheat from the accepted labels").count() == 1
    assert page.get_by_role("button", name="Remove grain from the accepted labels").count() == 0
    page.click("#save")
    page.get_by_text("Saved as document 1 with 2 labels.").wait_for()
    assert [set(labels) for labels in read_saved_documents(saved_work).label_sets] == [
        {"wheat", "grain"}
    ]
    page.reload()
    page.locator("#accepted", has_text="grain by a rule").wait_for()
    assert page.locator("#model-choice").input_value() == "ruled"
    page.click("#undo")
    page.click("#undo")
    page.wait_for_function("() => document.getElementById('model-choice').value === 'news'")


def _answer(page, pattern, body):
    page.route(pattern, lambda route: route.fulfill(json=body))


def _assert_unharmed(page):
    assert page.evaluate("window.harmed") is None
    assert page.locator("main img, main b:not(.result), dialog img").count() == 0
