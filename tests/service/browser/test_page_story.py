"""An indexer's way through the page: paste, read, accept, reject, explain, undo, save, reload."""

import json
import sqlite3
from contextlib import closing

import pytest
from page_reader import (
    READ_BAR,
    TEXT,
    ask,
    chosen,
    expected_labels,
    labels,
    row_of,
    rows,
    wait_for_labels,
    write,
)

from labelkin.service import read_journal


def test_a_document_is_pasted_read_labelled_explained_undone_saved_and_there_after_a_reload(
    open_page, server, keep_picture
):
    page = open_page(server.address, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_text("Paste a text, and labels are ranked here.").wait_for()
    keep_picture(page, "1-empty")

    page.evaluate("text => navigator.clipboard.writeText(text)", TEXT)
    page.focus("#text")
    page.keyboard.press("Control+V")
    wait_for_labels(page, expected_labels(server.address, TEXT))
    assert page.input_value("#text") == TEXT
    keep_picture(page, "2-suggestions")

    # What is sure already changes nothing when it is accepted: the third label is not.
    second, _, first = labels(page)[:3]
    before = rows(page)
    row_of(page, first).get_by_role("button", name=f"Accept {first}").click()
    wait_for_labels(page, expected_labels(server.address, TEXT, [first]))
    moved = {row["label"]: row["probability"] for row in rows(page)}
    assert any(moved.get(row["label"], row["probability"]) != row["probability"] for row in before)
    assert page.locator(".change:not(:empty)").count()
    assert chosen(page) == ([first], [])
    keep_picture(page, "3-accepted")

    row_of(page, second).get_by_role("button", name=f"Reject {second}").click()
    wait_for_labels(page, expected_labels(server.address, TEXT, [first], [second]))
    assert chosen(page) == ([first], [second])

    third = labels(page)[0]
    row_of(page, third).locator(".label").click()
    _wait_for_explanation(page, third)
    keep_picture(page, "4-explanation")

    page.click("#undo")
    wait_for_labels(page, expected_labels(server.address, TEXT, [first]))
    assert chosen(page) == ([first], [])
    page.click("#redo")
    wait_for_labels(page, expected_labels(server.address, TEXT, [first], [second]))

    page.click("#save")
    page.get_by_text("Saved as document 1 with 1 label.").wait_for()
    texts, label_sets, _ = read_journal(server.journal)
    assert (texts, [list(labels) for labels in label_sets]) == ([TEXT], [[first]])
    with closing(sqlite3.connect(server.journal)) as journal:
        assert journal.execute("SELECT rejected FROM documents").fetchone() == (f'["{second}"]',)
    page.get_by_text("learned from 1 saved document").wait_for()
    learned = row_of(page, third).locator(".probability").inner_text()
    page.locator("#explanation .big", has_text=learned).wait_for()
    keep_picture(page, "5-saved")

    page.reload()
    wait_for_labels(page, expected_labels(server.address, TEXT, [first], [second]))
    _wait_for_explanation(page, third)
    assert page.input_value("#text") == TEXT
    assert chosen(page) == ([first], [second])
    page.click("#save")
    page.get_by_text("Already saved as document 1.").wait_for()
    page.click("#undo")
    wait_for_labels(page, expected_labels(server.address, TEXT, [first]))


def test_the_pieces_of_every_bar_add_up_to_its_mark_and_its_numbers_to_its_probability(
    page, server
):
    write(page, TEXT)
    page.check("#numbers")
    for suggestion in ask(server.address, "suggest", text=TEXT)["suggestions"]:
        bar = row_of(page, suggestion["label"]).evaluate(READ_BAR)
        assert sum(bar["pieces"]) == pytest.approx(bar["mark"], abs=1.5)
        pixels = bar["mark"] / suggestion["log_odds"]
        widths = [pixels * part for part in suggestion["parts"].values()]
        assert bar["pieces"] == pytest.approx(widths, abs=1.5)
        values = row_of(page, suggestion["label"]).locator(".values").inner_text()
        content = f"{suggestion['parts']['content']:+.1f}".replace("-", "−")
        assert f"content {content.removeprefix('+') if content == '+0.0' else content}" in values


def test_an_explanation_names_the_words_and_marks_them_in_the_text(page, server):
    write(page, TEXT)
    label = labels(page)[0]
    row_of(page, label).locator(".label").click()
    _wait_for_explanation(page, label)
    reasons = ask(server.address, "explain", text=TEXT, label=label)
    marked = set(page.locator("#marks mark").all_text_contents())
    speaking = {word: term["log_odds"] for term in reasons["terms"] for word in term["words"]}
    assert marked and marked <= set(speaking)
    strongest = reasons["terms"][0]
    assert set(strongest["words"]) <= marked
    side = "for" if strongest["log_odds"] > 0 else "against"
    word = strongest["words"][0]
    assert page.locator(f"#marks mark.{side}.strong", has_text=word).count()
    panel = page.locator("#explanation")
    assert f"{strongest['log_odds']:+.2f}".replace("-", "−") in panel.inner_text()
    assert page.locator("#marks").text_content().rstrip("\u200b") == TEXT


def test_explaining_another_label_from_the_panel_moves_on_to_it(page):
    write(page, TEXT)
    row_of(page, labels(page)[0]).locator(".label").click()
    other = page.locator("#explanation .contributions.labels button.link").first
    name = other.inner_text()
    other.click()
    _wait_for_explanation(page, name)


def test_any_label_can_be_searched_added_and_removed(page, server):
    write(page, TEXT)
    page.fill("#search", "TEN")
    page.get_by_role("option", name="tennis").click()
    wait_for_labels(page, expected_labels(server.address, TEXT, ["tennis"]))
    assert chosen(page) == (["tennis"], [])
    page.fill("#search", "no such label")
    page.get_by_text("No label contains “no such label”.").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Remove tennis from the accepted labels").click()
    wait_for_labels(page, expected_labels(server.address, TEXT))
    assert chosen(page) == ([], [])


def test_more_labels_are_shown_when_asked_for(page, server):
    write(page, TEXT)
    n_labels = 38
    page.click("#more")
    page.wait_for_function(
        "wanted => document.querySelectorAll('.row').length === wanted", arg=n_labels
    )
    assert page.locator("#more").is_hidden()


def test_the_result_is_copied_and_downloaded_as_the_same_json(open_page, server):
    page = open_page(server.address, permissions=["clipboard-read", "clipboard-write"])
    write(page, TEXT)
    first = labels(page)[0]
    page.click(".row .accept")
    wait_for_labels(page, expected_labels(server.address, TEXT, [first]))
    page.click("#copy")
    page.get_by_text("Copied as JSON.").wait_for()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    with page.expect_download() as download:
        page.click("#download")
    saved = json.loads(download.value.path().read_text())
    assert download.value.suggested_filename == "tanker-crews-wait-as-oil-ports.labels.json"
    assert copied.pop("created") <= saved.pop("created")
    assert copied == saved
    assert (saved["text"], saved["accepted"], saved["rejected"]) == (TEXT, [first], [])
    assert [suggestion["label"] for suggestion in saved["suggestions"]] == labels(page)


def test_a_text_file_is_opened_or_dropped_and_the_old_text_comes_back_by_undo(page, tmp_path):
    write(page, "Football fans sang.")
    opened = tmp_path / "opened.txt"
    opened.write_bytes("Über den Hafen, naïve".encode("cp1252"))
    page.set_input_files("#file", opened)
    page.get_by_text("opened.txt is not UTF-8. It was read as Windows-1252.").wait_for()
    assert page.input_value("#text") == "Über den Hafen, naïve"
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "dropped.txt", {type: "text/plain"}));
            const options = {dataTransfer: data, bubbles: true, cancelable: true};
            document.getElementById("paper").dispatchEvent(new DragEvent("drop", options));
        }""",
        TEXT,
    )
    page.wait_for_function("text => document.getElementById('text').value === text", arg=TEXT)
    page.click("#undo")
    page.click("#undo")
    assert page.input_value("#text") == "Football fans sang."


def test_a_file_that_is_no_text_is_declined_kindly(page, tmp_path):
    picture = tmp_path / "picture.txt"
    picture.write_bytes(b"\x89PNG\x00\x00")
    page.set_input_files("#file", picture)
    page.get_by_text("picture.txt is not a plain text.").wait_for()
    assert page.input_value("#text") == ""


def test_nothing_is_saved_before_a_label_is_accepted(page, server):
    write(page, TEXT)
    page.click("#save")
    page.get_by_text("Accept a label first").wait_for()


def test_a_new_document_clears_everything_and_undo_brings_it_back(page, server):
    write(page, TEXT)
    first = labels(page)[0]
    page.click(".row .accept")
    wait_for_labels(page, expected_labels(server.address, TEXT, [first]))
    page.click("#new-document")
    assert page.input_value("#text") == "" and chosen(page) == ([], [])
    page.get_by_text("Paste a text, and labels are ranked here.").wait_for()
    page.click("#undo")
    wait_for_labels(page, expected_labels(server.address, TEXT, [first]))
    assert page.input_value("#text") == TEXT


def _wait_for_explanation(page, label):
    page.locator("#explanation h2", has_text=label).wait_for()
    page.locator("#explanation .sum").wait_for()
    expanded = row_of(page, label).locator(".label[aria-expanded=true]")
    assert expanded.count() == row_of(page, label).count()
