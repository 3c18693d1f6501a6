"""The files of a report: CSV that reads back, valid LaTeX, and a safe page."""

import csv
import io
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from stored_results import experiment_text, store_results, system_of

from labelkin import pages
from labelkin.research.reports import tables
from labelkin.research.reports.plots import gain_pictures, reliability_pictures
from labelkin.research.reports.results import read_outcomes
from labelkin.research.reports.tables import (
    Cell,
    Table,
    html_page,
    latex_document,
    latex_text,
    markdown_table,
    report_results,
    scores_csv,
)

TITLE = r"50 % of <b>R&D</b> \input{x} #1 $_2 ~ ^ [a|b] *"
LABELS = ["<script>", "a&b", "$x$", "two\nlines", 'say "hi"', "#1a5fb4"]
SPECIAL = set("\\{}$&#%_^~")
INTRODUCTION = "<u>A</u> & B < C"
Y = (np.random.default_rng(0).random((40, 6)) < 0.4).astype(int)
Y[Y.sum(axis=1) == 0, 0] = 1


def log_odds(system, seed):
    rng = np.random.default_rng([len(system), ord(system[0]), ord(system[-1]), seed])
    return 2.0 * (2 * Y - 1) + rng.normal(0, 2.5, Y.shape)


class Reader(HTMLParser):
    """Collect tags, attributes and text; fail if tags are not properly nested and closed."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in {"meta", "br", "link", "img", "hr", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)

    def values(self, name):
        return [value for key, value in self.attributes if key == name]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    text = experiment_text(title=TITLE, contents=("NB", "kNN"))
    left_out = ("kNN+SMO+M2@seed0",)
    place = tmp_path_factory.mktemp("hostile")
    return store_results(place, text, Y, log_odds, names=LABELS, left_out=left_out)


@pytest.fixture(scope="module")
def outcomes(folder):
    return read_outcomes(folder)


@pytest.fixture(scope="module")
def page(outcomes):
    return html_page(outcomes, introduction=INTRODUCTION)


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory):
    return report_results(folder, tmp_path_factory.mktemp("report") / "new" / "out")


def test_a_report_has_four_files_with_reproducible_bytes(folder, written, tmp_path):
    names = {"tables.md", "tables.tex", "tables.html", "scores.csv"}
    assert {path.name for path in written} == names
    assert {path.name for path in written[0].parent.iterdir()} == names
    again = report_results(folder, tmp_path)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written]


def read_csv(outcome):
    shown = [score for score in outcome.scores if score.metric in outcome.metrics]
    return list(csv.DictReader(io.StringIO(scores_csv(shown))))


def test_scores_csv_has_exact_scores_with_the_figures_of_the_paper(outcomes):
    rows = read_csv(outcomes[0])
    assert list(rows[0]) == ["corpus", "system", "metric", "value", "paper", "difference"]
    assert len(rows) == 9 * 5  # ten systems, one is missing
    for row in rows:
        value, paper, difference = (float(row[key]) for key in ("value", "paper", "difference"))
        assert difference == value - paper
    found = {(row["system"], row["metric"]): row for row in rows}
    assert found["kNN+BLR+M2", "micro_f1"]["paper"] == "0.78022"
    assert float(found["kNN", "one_error"]["paper"]) == pytest.approx(1 - 0.86651)
    exact = {(s.system, s.metric): s.value for s in outcomes[0].scores}
    assert all(float(row["value"]) == exact[key] for key, row in found.items())


def test_latex_has_only_known_commands(outcomes):
    lines = latex_document(outcomes).splitlines()
    text = "\n".join(line for line in lines if not line.startswith("%"))
    known = {
        "begin", "end", "hline", "caption", "label", "shortstack", "tiny", "scriptsize", "par",
        "ll", "gg", "sim", "bullet", "circ", "Delta", "mu", "textbackslash", "textasciicircum",
    }  # fmt: skip
    assert set(re.findall(r"\\([A-Za-z]+)", text.replace(r"\\hline", r"\hline"))) <= known
    assert not re.search(r"(?<!\\)[%#]", text)
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels)) == 4
    assert labels[0] == "table:reuters21578-label-based"


def test_latex_text_escapes_every_special_character():
    found = latex_text(TITLE + " {x}")
    stripped = re.sub(r"\\(textbackslash|textasciicircum)\{\}|\\[{}$&#%_]|\$[^$]*\$", "", found)
    assert not SPECIAL & set(stripped.replace("{[}", "").replace("{*}", ""))
    assert latex_text("≪ < ~ > ≫ • ◦ −1") == (r"$\ll$ $<$ $\sim$ $>$ $\gg$ $\bullet$ $\circ$ $-$1")


def test_markdown_and_html_tables_escape_markup():
    row = (Cell("<b>&|*_`"), Cell("1", "worse", beside=("<i>",)))
    hostile = Table(("a<b", "x"), ((row,),), caption="<caption>")
    assert r"| &lt;b&gt;&amp;\|\*\_\` | 1 (&lt;i&gt;) |" in markdown_table(hostile)
    read = Reader(str(pages.page_template("parts.html").module.table(hostile)))
    assert set(read.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "small"}
    texts = [text for text in read.texts if text.strip()]
    assert texts == ["<caption>", "a<b", "x", "<b>&|*_`", "1", "<i>"]
    assert read.values("class") == ["worse"]


def test_the_page_is_well_formed_and_names_are_text(page, outcomes):
    read = Reader(page)
    assert not {"script", "b", "i", "u", "input", "link", "iframe"} & set(read.tags)
    whole = "".join(read.texts)
    assert TITLE in whole and INTRODUCTION in whole and page.count("<h1>") == 1
    assert {"table", "figure", "img", "small"} <= set(read.tags)
    assert {system.run.system for system in outcomes[0].systems} <= set(read.texts)


def test_the_page_loads_nothing_from_other_hosts(page):
    assert "http" not in page.lower() and "@import" not in page
    sources = Reader(page).values("src")
    assert sources and all(one.startswith("data:image/svg+xml;base64,") for one in sources)
    assert Reader(page).values("href") == []


def test_plots_name_labels_as_text_and_have_descriptions(page, outcomes):
    (outcome,) = outcomes
    svg = gain_pictures(outcome, "BLR+M2")[0].svg
    drawn = {text for element in ElementTree.fromstring(svg).iter() for text in element.itertext()}
    assert "<script" not in svg and drawn & {" ".join(name.split()) for name in LABELS}
    descriptions = Reader(page).values("alt")
    assert len(descriptions) == 2 + 2
    before, after = (
        system_of(outcome, name).evaluation.per_label()["f1"] for name in ("NB", "NB+BLR+M2")
    )
    text = f"F1 rises for {(after > before).sum()} labels, falls for {(after < before).sum()}"
    assert any(text in description for description in descriptions)
    for picture in reliability_pictures(outcome, "BLR+M2"):
        error = system_of(outcome, picture.title).evaluation["expected_calibration_error"]
        assert f"{picture.title}: ECE {error:.4f}" in picture.svg


def test_without_matplotlib_the_page_has_tables_and_an_install_hint(outcomes, monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    page = html_page(outcomes)
    assert "<img" not in page and "<table>" in page
    assert 'pip install "labelkin[plot]"' in "".join(Reader(page).texts)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "labelkin\[plot\]"'):
        gain_pictures(outcomes[0], "BLR+M2")
