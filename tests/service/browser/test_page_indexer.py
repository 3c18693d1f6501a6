"""Long and foreign texts, typing errors, new labels, languages."""

import json
from pathlib import Path

import pytest
from live_server import serving
from page_reader import (
    TEXT,
    labels,
    row_of,
    write,
)

import labelkin.service
from labelkin.curation.saved_work import read_saved_documents
from labelkin.service import Limits

WORDS = Path(labelkin.service.__file__).parent / "page" / "words"


def words_of(language):
    return json.loads((WORDS / f"{language}.json").read_text(encoding="utf-8"))


def test_new_label_is_added_saved_and_removed(page, server):
    text = f"{TEXT} Again."
    write(page, text)
    page.fill("#search", "Hafenpolitik")
    page.get_by_role("option", name="Add “Hafenpolitik” as a new label").click()
    chip = page.locator("#accepted .chip.new", has_text="Hafenpolitik")
    chip.wait_for()
    page.click("#undo")
    chip.wait_for(state="detached")
    page.click("#redo")
    chip.wait_for()
    page.reload()
    chip.wait_for()
    page.click("#save")
    page.get_by_text("with 1 label.").wait_for()
    texts, label_sets, _ = read_saved_documents(server.saved_work)
    assert [set(found) for one, found in zip(texts, label_sets, strict=True) if one == text] == [
        {"Hafenpolitik"}
    ]
    page.get_by_role("button", name="Remove Hafenpolitik from the accepted labels").click()
    chip.wait_for(state="detached")
    page.get_by_text("learned from").wait_for()  # the next test asks a model at rest


@pytest.fixture
def brief(news_file, tmp_path):
    """Serve texts of a hundred characters at most."""
    limits = Limits(text_characters=100)
    with serving(news_file, saved_work=tmp_path / "j.sqlite", limits=limits) as client:
        yield client.address


def test_beginning_of_a_long_text_is_offered(open_page, brief):
    page = open_page(brief, permissions=["clipboard-read", "clipboard-write"])
    page.locator("#model-name", has_text="Newsroom").wait_for()
    long = "Crude oil 🛢 tankers. " * 40
    page.evaluate("text => navigator.clipboard.writeText(text)", long)
    page.focus("#text")
    page.keyboard.press("Control+V")
    offer = page.get_by_role("alert").get_by_text(
        f"This text has {len(long) + 40} characters, and the service takes 100."
    )
    offer.wait_for()
    assert page.input_value("#text") == ""
    page.get_by_role("button", name="Use the first 100").click()
    page.wait_for_selector(".row")
    assert long.startswith(page.input_value("#text"))
    assert 98 <= len(page.input_value("#text").encode("utf-16-le")) // 2 <= 100


def test_page_has_the_language_of_the_browser_and_of_the_menu(open_page, server):
    language = "de"
    page = open_page(server.address, locale=f"{language}-{language.upper()}")
    words, english = words_of(language), words_of("en")
    page.get_by_text(words["welcome.paste"]).wait_for()
    assert page.locator("html").get_attribute("lang") == language
    assert page.locator("#interface").input_value() == language
    write(page, TEXT)
    first = labels(page)[0]
    row_of(page, first).locator(".label").click()
    page.locator("#explanation h3", has_text=words["explanation.other-labels"]).wait_for()
    assert "," in page.locator("#explanation .sum tfoot .value").inner_text()
    page.select_option("#interface", "en")
    for _ in range(2):
        row_of(page, first).get_by_role("button", name=f"Accept {first}").wait_for()
        page.get_by_role("heading", name=english["chosen"]).wait_for()
        assert page.input_value("#text") == TEXT
        page.reload()
