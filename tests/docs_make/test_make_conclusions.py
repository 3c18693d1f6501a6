"""Conclusions and plots of the pages are what their tables say, and survive a new page."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docs.make import conclusions
from docs.make.leads import LEADS, Tables, scale
from docs.make.page_tables import LONG, folded, read_tables, unfolded

TOP = Path(__file__).parents[2]
SIZES = """\
| documents | labels | features | labelkin, SVM | scikit-learn one-vs-rest |
|---|---|---|---|---|
"""
BARS = """\
| bar | measured | must be | holds |
|---|---|---|---|
| a | 1 | ≤ 2 | yes |
| b | 3 | ≤ 2 | **no** |
"""


def page_of(name):
    return (TOP / name).read_text(encoding="utf-8")


@pytest.fixture(params=LEADS)
def name(request):
    return request.param


def test_a_page_is_what_its_tables_say(name):
    text, picture = conclusions.concluded(name, page_of(name))
    assert text == page_of(name), "python -m docs.make.conclusions"
    assert picture == conclusions.picture_of(TOP / name).read_text(encoding="utf-8")


def test_a_page_that_is_written_anew_begins_with_the_same(name):
    text = page_of(name)
    before, _, rest = text.partition("<!-- conclusions")
    end = "conclusions -->\n\n"
    anew = unfolded(before + rest.partition(end)[2].partition(end)[2])
    assert "conclusions.svg" not in anew
    assert "<details>" not in anew
    assert conclusions.concluded(name, anew)[0] == text


def test_the_beginning_is_half_a_screen_and_long_tables_are_folded(name):
    text = page_of(name)
    lead = text.partition("conclusions -->")[2].partition("<!-- end")[0]
    sentences = re.findall(r"^- .*", lead, re.M)
    assert 1 <= len(sentences) <= 7
    assert sum(map(len, sentences)) <= 2000
    assert len(re.findall(r"^!\[[^]]+\]\(\S+\.svg\)$", lead, re.M)) == 1
    assert "nan" not in lead
    open_rows = re.sub(r"<details>.*?</details>", "", text, flags=re.S)
    assert max((len(t.rows) for t in read_tables(open_rows)), default=0) < LONG


def test_a_plot_is_a_picture_and_asks_nobody(name):
    picture = page_of(str(conclusions.picture_of(Path(name))))
    root = ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not re.search(r"<script|href|url\(|nan", picture)
    width, height = (float(root.attrib[key]) for key in ("width", "height"))
    drawn = [e for e in root.iter() if e.tag.endswith(("circle", "rect")) and "cx" in e.attrib]
    assert all(0 <= float(e.attrib["cx"]) <= width for e in drawn)
    assert all(0 <= float(e.attrib["cy"]) <= height for e in drawn)


def test_another_table_is_another_sentence():
    name = "docs/findings/beyond.md"
    text = page_of(name)
    counts = re.findall(r"^\| BLR\+M2 w=auto \| (\d+) / (\d+) / (\d+) \|", text, re.MULTILINE)[1]
    assert f"worse in {counts[2]};" in text
    row = f"| BLR+M2 w=auto | {' / '.join(counts)} |"
    other = text.replace(row, "| BLR+M2 w=auto | 99 / 10 / 26 |")
    said = conclusions.concluded(name, other)[0]
    assert "better than its content classifier alone in **99 of 135**" in said


def test_tables_are_folded_and_opened_again():
    long = "| a | b |\n| --- | --- |\n" + "".join(f"| {i} | < |\n" for i in range(LONG))
    short = "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    text = f"# T\n\n{long}\nBetween.\n\n{short}\n```\n| no | table |\n```\n"
    assert folded(text).count("<details>") == 1
    assert f"<summary>{LONG} rows by a: b</summary>" in folded(text)
    assert unfolded(folded(text)) == text
    assert folded(folded(text)) == folded(text)


def test_growth_counts_fits_that_ended_and_sizes_that_grow_alone():
    rows = (
        "| 2,000 | 100 | 5,000 | 2.00 (4 ×) | 0.50 (1 ×) |\n"
        "| 2,000 | 400 | 5,000 | 9.00 (3 ×) | 3.00 (1 ×) |\n"
        "| 9,000 | 800 | 5,000 | 50.00 | after 40 s |\n"
    )
    text = f"# Scale\n\n## More labels\n\n{SIZES}{rows}\n## What must hold\n\n{BARS}"
    lead = scale(Tables(read_tables(text)))
    first = lead.sentences[0]
    assert "at 9,000 documents, 800 labels, 5,000 features" in first
    assert "SVM 50 s of CPU; scikit-learn's one-vs-rest, without them: after 40 s." in first
    assert lead.sentences[1] == "4 × the labels cost SVM 4.5 × the time."
    assert lead.sentences[2] == "Of what must hold at scale, 1 of 2 bars hold; not: b."
    assert lead.picture.count("<circle") == 2 + 2 + 2  # two sizes of two systems, and the legend


def test_other_pages_are_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Other\n", encoding="utf-8")
    assert conclusions.conclude(page) == []
    assert page.read_text(encoding="utf-8") == "# Other\n"
