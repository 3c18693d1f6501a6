"""An indexer's way through the page: paste, read, accept, reject, explain, undo, save, reload."""

import json
import sqlite3
from contextlib import closing

from page_reader import (
    TEXT,
    chosen,
    expected_labels,
    labels,
    row_of,
    rows,
    wait_for_labels,
    write,
)

from labelkin.curation.saved_work import read_saved_documents


def test_document_is_labelled_explained_saved_and_reloaded(open_page, server):
    page = open_page(server.address, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_text("Paste a text, and labels are ranked here.").wait_for()

    page.evaluate("text => navigator.clipboard.writeText(text)", TEXT)
    page.focus("#text")
    page.keyboard.press("Control+V")
    wait_for_labels(page, expected_labels(server.address, TEXT))
    assert page.input_value("#text") == TEXT

    # A certain label changes nothing when it is accepted; the third label is not certain.
    second, _, first = labels(page)[:3]
    before = rows(page)
    row_of(page, first).get_by_role("button", name=f"Accept {first}").click()
    wait_for_labels(page, expected_labels(server.address, TEXT, [first]))
    moved = {row["label"]: row["probability"] for row in rows(page)}
    assert any(moved.get(row["label"], row["probability"]) != row["probability"] for row in before)
    assert page.locator(".change:not(:empty)").count()
    assert chosen(page) == ([first], [])

    row_of(page, second).get_by_role("button", name=f"Reject {second}").click()
    wait_for_labels(page, expected_labels(server.address, TEXT, [first], [second]))
    assert chosen(page) == ([first], [second])

    third = labels(page)[0]
    row_of(page, third).locator(".label").click()
    _wait_for_explanation(page, third)

    page.click("#undo")
    wait_for_labels(page, expected_labels(server.address, TEXT, [first]))
    assert chosen(page) == ([first], [])
    page.click("#redo")
    wait_for_labels(page, expected_labels(server.address, TEXT, [first], [second]))

    page.click("#save")
    page.get_by_text("Saved as document 1 with 1 label.").wait_for()
    texts, label_sets, _ = read_saved_documents(server.saved_work)
    assert (texts, [list(labels) for labels in label_sets]) == ([TEXT], [[first]])
    with closing(sqlite3.connect(server.saved_work)) as saved_work:
        assert saved_work.execute("SELECT rejected FROM documents").fetchone() == (f'["{second}"]',)
    page.get_by_text("learned from 1 saved document").wait_for()
    learned = row_of(page, third).locator(".probability").inner_text()
    page.locator("#explanation .big", has_text=learned).wait_for()

    page.reload()
    wait_for_labels(page, expected_labels(server.address, TEXT, [first], [second]))
    _wait_for_explanation(page, third)
    assert page.input_value("#text") == TEXT
    assert chosen(page) == ([first], [second])
    page.click("#save")
    page.get_by_text("Already saved as document 1.").wait_for()
    page.click("#undo")
    wait_for_labels(page, expected_labels(server.address, TEXT, [first]))


def test_result_is_copied_and_downloaded(open_page, server):
    page = open_page(server.address, permissions=["clipboard-read", "clipboard-write"])
    write(page, TEXT)
    second, first = labels(page)[:2]
    row_of(page, first).locator(".accept").click()
    row_of(page, second).locator(".reject").click()
    wait_for_labels(page, expected_labels(server.address, TEXT, [first], [second]))
    page.fill("#search", 'ships, "old"')
    page.get_by_role("option", name="as a new label").click()

    def downloaded(name):
        page.select_option("#format", name)
        with page.expect_download() as download:
            page.click("#download")
        return download.value.path().read_bytes().decode()

    page.select_option("#format", "text")
    page.click("#copy")
    page.get_by_text("Copied as text.").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == downloaded("text") == f'{first}\nships, "old"\n'
    assert downloaded("csv").splitlines() == [
        "label,name,state",
        f"{first},{first},accepted",
        '"ships, ""old""","ships, ""old""",new',
        f"{second},{second},rejected",
    ]
    found = json.loads(downloaded("json"))
    assert (found["text"], found["accepted"], found["rejected"]) == (TEXT, [first], [second])
    assert found["new"] == ['ships, "old"']


def test_one_request_per_typing_pause(page):
    requests = []
    page.on("request", lambda one: one.url.endswith("/suggest") and requests.append(one.post_data))
    page.locator("#text").press_sequentially("Oil tankers and corn", delay=5)
    page.wait_for_selector(".row")
    page.wait_for_timeout(500)
    assert json.loads(requests[-1])["text"] == "Oil tankers and corn"
    assert len(requests) <= 3


def test_text_file_is_opened_and_undone(page, tmp_path):
    write(page, "Football fans sang.")
    opened = tmp_path / "opened.txt"
    opened.write_bytes("Über den Hafen, naïve".encode("cp1252"))
    page.set_input_files("#file", opened)
    page.get_by_text("opened.txt is not UTF-8. It was read as Windows-1252.").wait_for()
    assert page.input_value("#text") == "Über den Hafen, naïve"
    page.click("#undo")
    assert page.input_value("#text") == "Football fans sang."


def saved_as(server, text):
    """Return the label sets of all saved documents with this text."""
    found = read_saved_documents(server.saved_work)
    pairs = zip(found.documents, found.label_sets, strict=True)
    return [list(names) for document, names in pairs if document == text]


def test_a_text_that_replaces_a_saved_one_starts_without_labels(page, server):
    first, second = "Oil tankers left the port of A.", "Football fans sang in the rain."
    write(page, first)
    row_of(page, labels(page)[0]).get_by_role("button", name="Accept").click()
    page.locator("#accepted li").first.wait_for()
    page.click("#save")
    page.get_by_text("Saved as document").first.wait_for()
    write(page, second)
    page.get_by_text("A new document was started, without labels.").wait_for()
    assert page.locator("#accepted li").count() == 0
    page.click("#save")
    page.get_by_role("button", name="Save without labels").click()
    page.get_by_text("with 0 labels.").first.wait_for()
    assert len(saved_as(server, first)[0]) == 1
    assert saved_as(server, second) == [[]]
    page.locator("#suggestions").focus()
    page.keyboard.press("n")
    assert page.input_value("#text") == ""


def _wait_for_explanation(page, label):
    page.locator("#explanation h2", has_text=label).wait_for()
    page.locator("#explanation .sum").wait_for()
    expanded = row_of(page, label).locator(".label[aria-expanded=true]")
    assert expanded.count() == row_of(page, label).count()
