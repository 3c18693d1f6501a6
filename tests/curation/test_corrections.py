"""Decisions on labels: files, choice and counts."""

import json
from pathlib import Path

import pytest

from labelkin.curation.corrections import (
    Corrections,
    Decision,
    chosen_changes,
    fingerprint_of,
    read_decisions,
)


def test_changes_that_do_not_apply_are_counted():
    corrections = Corrections(
        [
            Decision("a", "tea", False),
            Decision("b", "tea", True, fingerprint=fingerprint_of("old")),
            Decision("z", "tea", True),
        ]
    )
    assert corrections.apply("a", "x", ["tea"]) is None
    assert corrections.apply("b", "new", ["tea"]) is None
    assert (corrections.already, corrections.other_text, corrections.unmet) == (1, 1, ["z"])
    assert "1 were so already; 1 not made" in corrections.summary()
    assert "'z'" in corrections.summary()


def write(folder, name, text):
    path = Path(folder, name)
    path.write_text(text)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_lists_are_read_as_spreadsheets_save_them(tmp_path, delimiter):
    rows = [
        ["document", "label", "given", "probability", "decision", "fingerprint"],
        ["a1", "'=tea", "TRUE", "0.9", " Change ", "ff"],
        ["2", "milk", "no", "", "Cannot  say", ""],
        ["", "", "", "", "", ""],
        ["3", "milk", "yes", "0.5", "", ""],
    ]
    path = write(tmp_path, "x.csv", "\n".join(delimiter.join(row) for row in rows))
    first, second, third = read_decisions(path)
    assert first == Decision("a1", "=tea", True, "change", 0.9, "ff")
    assert (second.answer, second.given) == ("cannot say", False)
    assert (third.answer, third.probability) == ("", 0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("document,label\n1,tea\n", "must have document, label, given, got no given"),
        ("document,label,given\n1,tea,maybe\n", "line 2: given must be yes or no"),
        ("document,label,given,decision\n1,a,no,ok\n", "line 2: decision must be change, keep"),
        ("document,label,given,probability\n1,a,no,high\n", "probability must be a number"),
        ("document,label,given\n1,a\n", "line 2: a row must have the header's 3 cells, got 2"),
    ],
)
def test_bad_lists_are_named_by_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_decisions(write(tmp_path, "x.csv", text))


def test_lists_of_json_lines(tmp_path):
    line = {"document": 7, "label": "tea", "given": False, "decision": None, "probability": 0.97}
    [found] = read_decisions(write(tmp_path, "x.jsonl", json.dumps(line)))
    assert found == Decision("7", "tea", False, "", 0.97)


def test_decided_and_probable_changes_are_chosen():
    decisions = [
        Decision("1", "a", True, "change", 0.1),
        Decision("1", "b", True, "keep", 0.99),
        Decision("1", "c", True, "cannot say", 0.99),
        Decision("1", "d", True, "", 0.96),
        Decision("1", "e", True, "", 0.94),
    ]
    assert set(chosen_changes(decisions)) == {("1", "a")}
    assert set(chosen_changes(decisions, 0.95)) == {("1", "a"), ("1", "d")}
