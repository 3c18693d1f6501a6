"""The page of a model with a vocabulary: names in the language that is chosen, URIs saved."""

from itertools import combinations

import pytest
from live_server import server_process
from page_reader import axe_source, chosen, inspect, labels, overflow, serious
from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, NaiveBayes, storage
from labelkin.curation.saved_work import read_saved_documents
from labelkin.text import WordCounts
from labelkin.vocabulary import read_vocabulary

pytest.importorskip("rdflib", reason="rdflib is in the extra skos")
BASE = "http://example.org/newsroom/"


@pytest.fixture(scope="module")
def place(newsroom, tmp_path_factory):
    """Serve a model whose labels are URIs; return its address and its saved work."""
    folder = tmp_path_factory.mktemp("uris")
    train = newsroom.train
    sets = [[BASE + name for name in names] for names in newsroom.label_sets(train)]
    classifier = LabelDependenceClassifier(NaiveBayes(), evidence_weight=0.5)
    pipeline = make_pipeline(WordCounts(), classifier).fit(newsroom.documents[train], sets)
    pipeline[-1].concepts_ = read_vocabulary("newsroom", language="en")
    file = storage.save(pipeline, folder / "news.labelkin")
    with server_process(file, folder / "saved.sqlite") as server:
        yield server.address, folder / "saved.sqlite"


def test_names_are_shown_in_the_language_chosen_and_uris_are_saved(open_page, place, keep_picture):
    address, saved_work = place
    page = open_page(address)
    page.fill("#text", "The wheat harvest and grain exports rose.")
    page.locator(".row .label", has_text="wheat").first.wait_for()
    assert not [name for name in labels(page) if name.startswith("http")]
    page.select_option("#language", "de")
    page.locator(".row .label", has_text="Weizen").first.wait_for()
    assert serious({"names": inspect(page, axe_source())}) == ""
    wheat = page.locator(f'.row[data-label="{BASE}wheat"]')
    assert wheat.locator(".label").get_attribute("title") == BASE + "wheat"
    wheat.get_by_role("button", name="Accept Weizen").click()
    page.wait_for_function("document.querySelector('#accepted .chip-name')")
    assert chosen(page)[0] == ["Weizen"]
    page.fill("#search", "maize")
    option = page.locator("#search-results [role=option]").first
    option.get_by_text("Mais", exact=True).wait_for()
    assert "maize" in option.inner_text()
    page.keyboard.press("Escape")
    for width in (320, 480, 640, 768):
        page.set_viewport_size({"width": width, "height": 700})
        assert overflow(page) <= 0
        assert page.get_by_text("Names in").is_visible()
        boxes = [
            page.locator(f"#{name}").bounding_box()
            for name in ("language", "open-map", "interface")
        ]
        assert not [pair for pair in combinations(boxes, 2) if _overlap(*pair)]
        assert boxes[0]["width"] > 70
    page.set_viewport_size({"width": 1366, "height": 860})
    keep_picture(page, "vocabulary-german")
    page.reload()
    page.locator("#accepted .chip-name", has_text="Weizen").wait_for()
    page.click("#save")
    page.get_by_text("Saved as document 1; the model learns from it.").wait_for()
    assert read_saved_documents(saved_work).label_sets == [(BASE + "wheat",)]


def test_a_search_that_is_open_is_seen_whole_on_a_phone_and_a_new_document_forgets_it(
    open_page, place
):
    page = open_page(place[0], viewport={"width": 320, "height": 640}, has_touch=True)
    page.fill("#text", "The wheat harvest and grain exports rose.")
    page.locator(".row").first.wait_for()
    page.fill("#search", "wheet")
    last = page.locator("#search-results [role=option]").last
    last.wait_for()
    page.wait_for_function(
        "() => [...document.querySelectorAll('#search-results li')].at(-1)"
        ".getBoundingClientRect().bottom <= innerHeight"
    )
    page.click("#new-document")
    assert page.input_value("#search") == ""
    assert page.locator("#search-results").is_hidden()


def _overlap(one, other):
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )
