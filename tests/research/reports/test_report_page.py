"""The page: well formed, alone, and safe from the names it shows."""

import sys
from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import pytest
from evaluated import system_of
from reader import Reader

from labelkin import pages
from labelkin.research.reports.documents import html_page
from labelkin.research.reports.plots import (
    gain_pictures,
    reliability_pictures,
)


@pytest.fixture(scope="module")
def page(outcome):
    return html_page([outcome], introduction="<u>A</u> & B < C")


@pytest.fixture(scope="module")
def read(page):
    return Reader(page)


def test_every_tag_is_closed_in_its_turn_and_every_system_is_there(read, outcome):
    assert {"table", "figure", "img", "main", "h1"} <= set(read.tags)
    assert {system.name for system in outcome.systems} <= set(read.texts)


def test_markup_in_names_is_text(read):
    assert not {"b", "i", "u", "script", "link", "iframe"} & set(read.tags)
    whole = "".join(read.texts)
    assert "<u>A</u> & B < C" in whole and "<i>" in read.texts and "</main>" in read.texts


def test_label_names_are_text_in_pictures(outcome):
    svg = "".join(picture.svg for picture in gain_pictures(outcome, "BLR+M2"))
    ElementTree.fromstring(gain_pictures(outcome, "BLR+M2")[0].svg)
    assert "<b>" not in svg
    marked = [
        name
        for name in map(str, outcome.labels.names)
        if f">{escape(' '.join(name.split()))}</text>" in svg
    ]
    assert marked


def test_nothing_is_loaded_from_another_host(page, read):
    assert "http" not in page.lower() and "@import" not in page
    assert all(value.startswith("data:image/svg+xml;base64,") for value in read.values("src"))
    assert read.values("href") == []


def test_every_picture_has_a_description(read, outcome):
    descriptions = read.values("alt")
    assert len(descriptions) == 2 + 2
    gains = system_of(outcome, "NB+BLR+M2").evaluation.per_label()["f1"]
    gains = gains - system_of(outcome, "NB").evaluation.per_label()["f1"]
    text = f"F1 rises for {(gains > 0).sum()} labels, falls for {(gains < 0).sum()}"
    assert any(text in description for description in descriptions)


def test_the_same_outcome_gives_the_same_bytes(page, outcome):
    assert html_page([outcome], introduction="<u>A</u> & B < C") == page


def test_reliability_pictures_name_both_calibration_errors(outcome):
    for picture in reliability_pictures(outcome, "BLR+M2"):
        content = picture.title.split("+")[0]
        for name in (content, picture.title):
            error = system_of(outcome, name).evaluation["expected_calibration_error"]
            assert f"{name}: ECE {error:.4f}" in picture.svg


def test_labels_are_called_by_their_names_where_they_have_one(outcome):
    svg = gain_pictures(outcome, "BLR+M2")[0].svg
    marked = [str(name) for name in outcome.labels.names if f"{name}</text>" in svg]
    assert marked
    named = replace(outcome, names={marked[0]: "Weizen & Korn"})
    svg = gain_pictures(named, "BLR+M2")[0].svg
    assert "Weizen &amp; Korn</text>" in svg
    assert f"{marked[0]}</text>" not in svg


def test_without_matplotlib_the_error_says_what_to_install(outcome, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "labelkin\[plot\]"'):
        gain_pictures(outcome, "BLR+M2")


def test_without_jinja_the_error_says_what_to_install(outcome, monkeypatch):
    pages._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'Pages need jinja2: pip install "labelkin\[cli\]"'):
        html_page([outcome])


def test_the_page_is_for_light_and_dark(page):
    assert "color-scheme: light dark" in page and "prefers-color-scheme: dark" in page


def test_a_corpus_that_is_not_the_papers_has_the_same_tables(read):
    assert {"Label-based measures", "Better and worse by F1"} <= set(read.texts)
