"""Tables that are safe to open in a spreadsheet, and read back as they were."""

import csv

import pytest

from labelkin.files import csv_text, plain_cell, safe_cell

FORMULAS = ["=1+1", "+49 30", "-tea", "@sum", "\tx", "\rx", "=cmd|' /C calc'!A0", "\t1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_escaped_and_restored(text):
    assert safe_cell(text) == f"'{text}"
    assert plain_cell(safe_cell(text)) == text


@pytest.mark.parametrize("text", ["tea", "", "-1.5", "+2e3", "'tis", "'", "a=b"])
def test_other_texts_and_numbers_are_unchanged(text):
    assert safe_cell(text) == plain_cell(text) == text


def test_all_cells_of_a_table_are_escaped():
    rows = [["=id", "label"], [-1, "@tea"], [2.5, "tea"]]
    [header, *body] = csv.reader(csv_text(rows).splitlines())
    assert header == ["'=id", "label"]
    assert body == [["-1", "'@tea"], ["2.5", "tea"]]
