"""The page: well formed, alone, and safe from the names it shows."""

import re
import sys
from html.parser import HTMLParser

import pytest

from labelkin.report.page import html_page
from labelkin.report.plots import bond_picture, gain_pictures, reliability_pictures
from labelkin.report.svg import inline

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Reader(HTMLParser):
    """Collect tags, attributes and text, and insist that every tag is closed in its turn."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)

    def values(self, name):
        return [value for key, value in self.attributes if key == name]


@pytest.fixture(scope="module")
def page(report):
    return html_page(report)


@pytest.fixture(scope="module")
def read(page):
    return Reader(page)


def test_every_tag_is_closed_in_its_turn_and_every_system_is_there(read, comparison):
    assert {"table", "figure", "svg", "main", "h1"} <= set(read.tags)
    assert {system.name for system in comparison.systems} <= set(read.texts)


def test_label_names_are_text_wherever_they_stand(read, report):
    assert not {"b", "i", "u"} & set(read.tags)
    whole = "".join(read.texts)
    for edge in report.edges:
        for name in (edge.first, edge.second):
            assert " ".join(name.split()) in " ".join(whole.split())
    assert "<u>A</u> & B < C" in whole and "<i>" in read.texts and "</main>" in read.texts


def test_colours_links_and_dollars_in_a_name_stay_as_they_are(report):
    svg = bond_picture(report.edges).svg
    assert ">url(#x) #1a5fb4<" in svg and ">cost in $ and $<" in svg


def test_nothing_is_fetched_from_anywhere(page, read):
    assert "http" not in page.lower() and "@import" not in page and "//" not in page
    assert not {"script", "link", "iframe", "img"} & set(read.tags)
    assert all(value.startswith("#") for value in read.values("href"))


def test_ids_are_unique_and_every_reference_finds_its_own(page, read):
    ids = read.values("id")
    assert len(ids) == len(set(ids)) > 0
    used = {value[1:] for value in read.values("href")} | set(re.findall(r"url\(#([^)]+)\)", page))
    names = {"x"}  # in a label's name, which is no reference
    assert used - names <= set(ids)


def test_every_picture_says_in_words_what_it_shows(page, comparison):
    pictures = re.findall(r"<svg [^>]*>", page)
    assert len(pictures) == 5
    assert all('role="img"' in tag and 'aria-label="' in tag for tag in pictures)
    gains = comparison["NB+BLR+M2"].evaluation.per_label()["f1"]
    gains = gains - comparison["NB"].evaluation.per_label()["f1"]
    assert f"F1 rises for {(gains > 0).sum()} labels, falls for {(gains < 0).sum()}" in page


def test_the_same_report_gives_the_same_bytes(page, report):
    assert html_page(report) == page


def test_reliability_pictures_name_both_calibration_errors(comparison):
    for picture in reliability_pictures(comparison, "BLR+M2"):
        content = picture.title.split("+")[0]
        for name in (content, picture.title):
            error = comparison[name].evaluation["expected_calibration_error"]
            assert f"{name}: ECE {error:.4f}" in picture.svg


def test_attraction_and_repulsion_differ_by_colour_and_by_line(report):
    lines = re.findall(
        r'<path d="[^"]*" clip-path[^>]*style="([^"]*)"', bond_picture(report.edges).svg
    )
    solid = {line for line in lines if "dasharray" not in line}
    dashed = {line for line in lines if "dasharray" in line}
    assert sum("dasharray" in line for line in lines) == sum(b.strength < 0 for b in report.edges)
    assert solid and all("--better" in line for line in solid)
    assert dashed and all("--worse" in line for line in dashed)


def test_a_picture_takes_the_colours_and_the_font_of_the_page(comparison, report):
    svg = gain_pictures(comparison, "BLR+M2", report.labels)[0].svg
    assert "var(--better, #1a5fb4)" in svg and "font-size: 8px" in svg
    assert "DejaVu" not in svg and "<metadata" not in svg


def test_inlining_touches_tags_only():
    svg = '<?xml?><svg viewBox="0 0 1 1" width="9"><g id="a"><use xlink:href="#a"/>id="a"</g></svg>'
    assert inline(svg, "k&n", 'x"y') == (
        '<svg viewBox="0 0 1 1" role="img" aria-label="x&quot;y">'
        '<g id="k-n-a"><use href="#k-n-a"/>id="a"</g></svg>'
    )


def test_without_matplotlib_the_error_tells_what_to_install(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "labelkin\[plot\]"'):
        bond_picture(report.edges)
