"""The page of a model with a vocabulary: names in the language that is chosen, URIs saved."""

import pytest
from live_server import serving
from page_reader import axe_source, chosen, inspect, labels, serious
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
    with serving(file, saved_work=folder / "saved.sqlite") as client:
        yield client.address, folder / "saved.sqlite"


def test_names_are_shown_in_the_language_chosen_and_uris_are_saved(open_page, place):
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
    page.reload()
    page.locator("#accepted .chip-name", has_text="Weizen").wait_for()
    page.click("#save")
    page.get_by_text("Saved as document 1; the model learns from it.").wait_for()
    assert read_saved_documents(saved_work).label_sets == [(BASE + "wheat",)]
