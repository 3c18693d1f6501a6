"""Long and foreign texts, typing errors, new labels, languages."""

import json
from pathlib import Path

import pytest
from live_server import serving
from page_reader import (
    TEXT,
    chosen,
    expected_labels,
    labels,
    overflow,
    row_of,
    wait_for_labels,
    write,
)

import labelkin.service
from labelkin.curation.saved_work import read_saved_documents
from labelkin.service import Limits

WORDS = Path(labelkin.service.__file__).parent / "page" / "words"
FOREIGN = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich"


def words_of(language):
    return json.loads((WORDS / f"{language}.json").read_text(encoding="utf-8"))


def test_the_empty_page_explains_a_bar_and_has_an_example(page, server):
    page.locator("#glance .bar .piece").first.wait_for()
    assert page.locator("#glance li").count() == 4
    page.get_by_role("button", name="Try an example text").click()
    example = words_of("en")["example.text"]
    wait_for_labels(page, expected_labels(server.address, example))
    assert page.input_value("#text") == example
    page.click("#undo")
    page.get_by_role("button", name="Try an example text").wait_for()


def test_text_without_known_words_has_a_warning(page):
    page.fill("#text", FOREIGN)
    warning = page.locator("#few-words")
    warning.get_by_text("The model does not know any word of this text").wait_for()
    assert page.locator(".row").count() == 0
    assert page.locator("#fold").inner_text() == "38 labels by frequency"
    page.click("#fold")
    assert page.locator(".row").count() == 20
    page.fill("#text", f"{FOREIGN} oil")
    page.get_by_text("The model knows only 1 of about 11 words").wait_for()
    write(page, TEXT)
    warning.wait_for(state="hidden")


def test_typing_errors_find_similar_labels(page, server):
    write(page, TEXT)
    page.fill("#search", "fotbal")
    page.get_by_text("No label contains “fotbal”. Similar names:").wait_for()
    page.keyboard.press("Enter")
    assert chosen(page) == ([], [])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_labels(page, expected_labels(server.address, TEXT, ["football"]))
    assert chosen(page) == (["football"], [])


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
    page.wait_for_timeout(1500)  # the service learns; the next test asks a model at rest


@pytest.fixture
def brief(news_file, tmp_path):
    """Serve texts of a hundred characters at most."""
    limits = Limits(text_characters=100)
    with serving(news_file, saved_work=tmp_path / "j.sqlite", limits=limits) as client:
        yield f"{client.base_url}/"


def test_beginning_of_a_long_text_is_offered(open_page, brief, tmp_path):
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

    opened = tmp_path / "long.txt"
    opened.write_text("Football fans sang. " * 5000)
    page.set_input_files("#file", opened)
    page.get_by_role("alert").get_by_text("This text has 100,000 characters").wait_for()
    page.get_by_role("button", name="Dismiss").click()
    assert long.startswith(page.input_value("#text"))


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


def test_the_routes_are_described_and_can_be_tried(open_page, server):
    page = open_page(f"{server.address}docs")
    route = page.locator("details.route", has_text="/api/models/{model_id}/labels")
    route.locator("> summary").click()
    route.get_by_label("model_id *").fill("news")
    route.get_by_label("q", exact=True).fill("wheet")
    route.get_by_role("button", name="Ask").click()
    route.locator(".answer", has_text="200 OK").wait_for()
    assert '"wheat"' in route.locator(".answer").inner_text()
    suggest = page.locator("details.route", has_text="/api/models/{model_id}/suggest")
    suggest.locator("> summary").click()
    suggest.get_by_label("model_id *").fill("news")
    suggest.locator("textarea").fill(json.dumps({"text": TEXT, "limit": 1}))
    suggest.get_by_role("button", name="Ask").click()
    suggest.locator(".answer", has_text="n_words").wait_for()
    assert overflow(page) == 0
