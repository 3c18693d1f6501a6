"""Pages: folded tables, kept conclusions, examples in docstrings."""

import doctest
import importlib

import pytest
from docs.make.pages import LONG, fold_tables, write_page

TABLE = "| x | y |\n| --- | ---: |\n" + "| a | 1 |\n" * LONG
SHORT = "| x | y |\n| --- | ---: |\n| a | 1 |\n"


def test_long_tables_are_folded_once():
    folded = fold_tables(f"# A\n\n{TABLE}\n{SHORT}\nB\n")
    assert folded.count("<details>") == 1
    assert f"<summary>{LONG} rows by x: y</summary>\n\n{TABLE}\n</details>\n" in folded
    assert fold_tables(folded) == folded


def test_conclusions_of_a_page_are_kept(tmp_path):
    kept = "<!-- conclusions -->\n\n- Better.\n\n<!-- end of conclusions -->\n\n"
    page = write_page(tmp_path / "new" / "page.md", f"# A\n\n{kept}Old.\n")
    for _ in range(2):
        write_page(page, "# A\n\nNew.\n")
    assert page.read_text(encoding="utf-8") == f"# A\n\n{kept}New.\n"


@pytest.mark.parametrize("name", ["audit_runs", "cells", "label_noise"])
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(f"docs.make.{name}")).failed == 0
