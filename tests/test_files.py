"""Tables that are safe to open in a spreadsheet, and read back as they were."""

import csv

import pytest

from labelkin.files import csv_text, plain_cell, safe_cell

FORMULAS = ["=1+1", "+49 30", "-tea", "@sum", "\tx", "\rx", "=cmd|' /C calc'!A0", "\t1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_is_a_formula_and_every_one_comes_back(text):
    assert safe_cell(text) == f"'{text}"
    assert plain_cell(safe_cell(text)) == text


@pytest.mark.parametrize("text", ["tea", "", "-1.5", "+2e3", "'tis", "'", "a=b"])
def test_other_texts_and_numbers_stay_as_they_are(text):
    assert safe_cell(text) == plain_cell(text) == text


def test_an_apostrophe_of_its_own_is_not_lost():
    texts = ["'=x", "''@x", "'-1"]
    assert [plain_cell(safe_cell(text)) for text in texts] == texts


def test_tables_are_safe_throughout():
    rows = [["=id", "label"], [-1, "@tea"], [2.5, "tea"]]
    [header, *body] = csv.reader(csv_text(rows).splitlines())
    assert header == ["'=id", "label"]
    assert body == [["-1", "'@tea"], ["2.5", "tea"]]
