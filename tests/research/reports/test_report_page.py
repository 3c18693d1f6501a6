"""The page: well formed, alone, and safe from the names it shows."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from judged import system_of
from reader import Reader

from labelkin.research.reports import documents as page_module
from labelkin.research.reports import plots
from labelkin.research.reports.documents import html_page
from labelkin.research.reports.plots import (
    edge_picture,
    gain_pictures,
    inline,
    reliability_pictures,
)


@pytest.fixture(scope="module")
def page(outcome, edges):
    return html_page([outcome], introduction="<u>A</u> & B < C", edges=edges)


@pytest.fixture(scope="module")
def read(page):
    return Reader(page)


def test_every_tag_is_closed_in_its_turn_and_every_system_is_there(read, outcome):
    assert {"table", "figure", "svg", "main", "h1"} <= set(read.tags)
    assert {system.name for system in outcome.systems} <= set(read.texts)


def test_label_names_are_text_wherever_they_stand(read, edges):
    assert not {"b", "i", "u"} & set(read.tags)
    whole = "".join(read.texts)
    for edge in edges:
        for name in (edge.first, edge.second):
            assert " ".join(name.split()) in " ".join(whole.split())
    assert "<u>A</u> & B < C" in whole and "<i>" in read.texts and "</main>" in read.texts


def test_colours_links_and_dollars_in_a_name_stay_as_they_are(edges):
    svg = edge_picture(edges).svg
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


def test_every_picture_says_in_words_what_it_shows(page, outcome):
    pictures = re.findall(r"<svg [^>]*>", page)
    assert len(pictures) == 2 + 2 + 2 + 1
    assert all('role="img"' in tag and 'aria-label="' in tag for tag in pictures)
    gains = system_of(outcome, "NB+BLR+M2").evaluation.per_label()["f1"]
    gains = gains - system_of(outcome, "NB").evaluation.per_label()["f1"]
    assert f"F1 rises for {(gains > 0).sum()} labels, falls for {(gains < 0).sum()}" in page


def test_the_same_outcome_gives_the_same_bytes(page, outcome, edges):
    assert html_page([outcome], introduction="<u>A</u> & B < C", edges=edges) == page


def test_reliability_pictures_name_both_calibration_errors(outcome):
    for picture in reliability_pictures(outcome, "BLR+M2"):
        content = picture.title.split("+")[0]
        for name in (content, picture.title):
            error = system_of(outcome, name).evaluation["expected_calibration_error"]
            assert f"{name}: ECE {error:.4f}" in picture.svg


def test_attraction_and_repulsion_differ_by_colour_and_by_line(edges):
    lines = re.findall(r'<path d="[^"]*" clip-path[^>]*style="([^"]*)"', edge_picture(edges).svg)
    solid = {line for line in lines if "dasharray" not in line}
    dashed = {line for line in lines if "dasharray" in line}
    assert sum("dasharray" in line for line in lines) == sum(e.strength < 0 for e in edges)
    assert solid and all("--better" in line for line in solid)
    assert dashed and all("--worse" in line for line in dashed)


def test_a_picture_takes_the_colours_and_the_font_of_the_page(outcome):
    svg = gain_pictures(outcome, "BLR+M2")[0].svg
    assert "var(--better, #1a5fb4)" in svg and "font-size: 8px" in svg
    assert "DejaVu" not in svg and "<metadata" not in svg


def test_labels_are_called_by_their_names_where_they_have_one(outcome):
    svg = gain_pictures(outcome, "BLR+M2")[0].svg
    marked = [str(name) for name in outcome.labels.names if f"{name}</text>" in svg]
    assert marked
    named = replace(outcome, names={marked[0]: "Weizen & Korn"})
    svg = gain_pictures(named, "BLR+M2")[0].svg
    assert "Weizen &amp; Korn</text>" in svg
    assert f"{marked[0]}</text>" not in svg


def test_names_of_marks_near_each_other_do_not_collide():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    gain, percent = np.array([0.3, 0.31, -0.1, -0.4]), np.array([2.0, 3.0, 1.0, 20.0])
    plots._draw_gains(axes, gain, percent, ["weather", "unemployment", "film", "gold"])
    sides = {text.get_text(): text.get_ha() for text in axes.texts}
    assert (sides["weather"], sides["unemployment"]) == ("right", "left")
    assert (sides["film"], sides["gold"]) == ("left", "right")  # far apart: towards the middle


def test_inlining_touches_tags_only():
    svg = '<?xml?><svg viewBox="0 0 1 1" width="9"><g id="a"><use xlink:href="#a"/>id="a"</g></svg>'
    assert inline(svg, "k&n", 'x"y') == (
        '<svg viewBox="0 0 1 1" role="img" aria-label="x&quot;y">'
        '<g id="k-n-a"><use href="#k-n-a"/>id="a"</g></svg>'
    )


def test_without_matplotlib_the_error_says_what_to_install(edges, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "labelkin\[plot\]"'):
        edge_picture(edges)


def test_without_jinja_the_error_says_what_to_install(outcome, monkeypatch):
    page_module._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'Pages need jinja2: pip install "labelkin\[cli\]"'):
        html_page([outcome])


def test_the_page_is_for_light_and_dark(page):
    assert "color-scheme: light dark" in page and "prefers-color-scheme: dark" in page


def test_a_corpus_that_is_not_the_papers_has_all_metrics_in_one_table(read):
    assert "All systems" in read.texts and "Label-based measures" not in read.texts
    assert "Better and worse by F1" in read.texts
