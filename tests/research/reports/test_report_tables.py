"""Records → tables: what stands in them, and that nothing in a cell is markup."""

import csv
import io
import math
from dataclasses import replace

import pytest
from evaluated import system_of
from hypothesis import given, settings
from hypothesis import strategies as st
from reader import Reader

from labelkin import pages
from labelkin.research.reports.documents import scores_csv
from labelkin.research.reports.paper import label_table
from labelkin.research.reports.tables import (
    Cell,
    Table,
    format_score,
    markdown_table,
    p_value_text,
    signed_text,
    text_table,
)

HOSTILE = Table(
    (("", "a<b"), ("x", "y")),
    (((Cell("<b>&|*_`"), Cell("1", 'P < "1"', "worse", beside=("<i>",))),),),
    caption="<caption>",
)


def cells(outcome, name):
    table = label_table(outcome)
    row = next(row for row in table.rows if row[0].text == name)
    return dict(zip([" ".join(filter(None, h)) for h in table.header], row, strict=False)), row


def test_a_row_holds_the_scores_the_changes_and_the_signs(outcome):
    system = system_of(outcome, "NB+BLR+M2")
    row = cells(outcome, "NB+BLR+M2")[1]
    score = system.evaluation
    before = system_of(outcome, "NB").evaluation["macro_f1"]
    assert row[1].text == f"{score['micro_f1']:.5f}"
    assert row[3].text == system.micro.sign
    assert row[4].text == f"{score['macro_f1']:.5f}"
    change = 100 * (score["macro_f1"] - before) / before
    assert row[5].text == f"{change:+.2f}".replace("-", "−")
    assert row[6].text == system.macro.sign


def test_baselines_have_neither_change_nor_sign(outcome):
    row = cells(outcome, "NB")[1]
    assert [row[i].text for i in (2, 3, 5, 6)] == ["–"] * 4


@pytest.mark.parametrize(
    ("sign", "tone"), [("≪", "better"), ("<", "better"), ("~", ""), (">", "worse"), ("≫", "worse")]
)
def test_a_significant_change_is_toned_by_who_is_better(outcome, sign, tone):
    baseline, proposal, *_ = outcome.systems
    signed = replace(proposal, macro=replace(proposal.macro, sign=sign))
    row = label_table(replace(outcome, systems=[baseline, signed])).rows[1]
    assert (row[5].tone, row[6].tone, row[6].text) == (tone, tone, sign)


def test_text_columns_line_up_and_groups_are_apart(outcome):
    table = label_table(outcome)
    lines = text_table(table).splitlines()
    assert len(lines) == 2 + len(table.rows) + 1  # head, rule, a line between two groups
    end = lines[0].index("μF₁") + 3
    assert [line[end - 7 : end] for line in lines[2:5]] == [row[1].text for row in table.rows[:3]]
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) <= 80


def test_markdown_has_a_row_per_system_and_escapes_what_would_be_markup(outcome):
    lines = markdown_table(label_table(outcome)).splitlines()
    assert len(lines) == 2 + len(outcome.systems)
    assert len({line.count("|") for line in lines}) == 1
    assert r"| &lt;b&gt;&amp;\|\*\_\` | 1 (&lt;i&gt;) |" in markdown_table(HOSTILE)


def test_html_escapes_names_heads_notes_and_caption():
    macros = pages._environment().get_template("parts.html").module
    read = Reader(str(macros.table(HOSTILE)))
    assert set(read.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "small", "br"}
    texts = [text for text in read.texts if text.strip()]
    assert texts == ["<caption>", "a<b", "x", "y", "<b>&|*_`", "1", "<i>"]
    assert read.values("title") == ['P < "1"'] and read.values("class") == ["worse"]


def test_csv_gives_every_score_back_exactly(outcome):
    rows = list(csv.DictReader(io.StringIO(scores_csv(outcome.scores))))
    assert list(rows[0]) == ["corpus", "system", "metric", "value", "paper", "difference"]
    found = {(r["corpus"], r["system"], r["metric"]): float(r["value"]) for r in rows}
    assert found == {
        ("toy", system.name, metric): value
        for system in outcome.systems
        for metric, value in system.evaluation.scores().items()
    }
    assert len(rows) == len(found)


@given(st.floats(-1000, 1000))
@settings(max_examples=100, deadline=None)
def test_a_signed_number_reads_back_as_itself_rounded(value):
    text = signed_text(value)
    assert abs(float(text.replace("−", "-")) - value) <= 0.005 + 1e-9
    assert text[0] == ("+" if float(text.replace("−", "-")) > 0 else text[0])
    assert text.startswith("−") == (float(text.replace("−", "-")) < 0)


def test_numbers_that_do_not_exist_are_dashes():
    assert format_score(math.nan) == signed_text(math.nan) == "–"


def test_p_values_are_never_written_as_zero():
    assert p_value_text(0.0) == "P < 0.0001"
    assert p_value_text(0.05) == "P = 0.0500"
