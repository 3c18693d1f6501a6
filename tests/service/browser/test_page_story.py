"""An indexer's way through the page: paste, read, accept, reject, explain, undo, save, reload."""

import json
import sqlite3
from contextlib import closing

import pytest
from page_reader import (
    READ_BAR,
    TEXT,
    along,
    ask,
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


def test_bars_have_one_scale_and_the_numbers_of_the_service(page, server):
    write(page, TEXT)
    page.check("#numbers")
    page.click("#fold")
    for suggestion in ask(server.address, "suggest", text=TEXT)["suggestions"]:
        bar = row_of(page, suggestion["label"]).evaluate(READ_BAR)
        near = 4 / bar["width"]  # two pixels
        assert bar["mark"] == pytest.approx(along(suggestion["log_odds"]), abs=near)
        ends, reach = {}, {-1: 0.0, 1: 0.0}
        for name, value in suggestion["parts"].items():
            side = -1 if value < 0 else 1
            reach[side] += value
            if abs(value) >= 0.05:  # parts that are printed as 0.0 are not drawn
                ends[name] = pytest.approx(along(reach[side]), abs=near)
        assert dict(bar["ends"]) == ends
        values = row_of(page, suggestion["label"]).locator(".values").inner_text()
        content = f"{suggestion['parts']['content']:+.1f}".replace("-", "−")
        content = content.removeprefix("+") if content == "+0.0" else content.replace("−0.0", "0.0")
        assert f"content {content}" in values


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


def test_unlikely_labels_are_folded_and_shown_when_asked_for(page, server):
    write(page, TEXT)
    n_labels, n_likely = 38, len(expected_labels(server.address, TEXT))
    fold = page.locator("#fold")
    assert fold.inner_text().replace("\u202f", " ") == f"{n_labels - n_likely} below 1 %"
    assert fold.get_attribute("aria-expanded") == "false"
    assert page.locator(".row").count() == n_likely < 20
    fold.click()
    assert page.locator(".row").count() == 20
    page.click("#more")
    page.wait_for_function(
        "wanted => document.querySelectorAll('.row').length === wanted", arg=n_labels
    )
    assert page.locator("#more").is_hidden()
    fold.click()
    assert page.locator(".row").count() == n_likely


def test_the_result_is_copied_and_downloaded_as_text_csv_and_json(open_page, server):
    page = open_page(server.address, permissions=["clipboard-read", "clipboard-write"])
    write(page, TEXT)
    second, first = labels(page)[:2]
    row_of(page, first).locator(".accept").click()
    row_of(page, second).locator(".reject").click()
    wait_for_labels(page, expected_labels(server.address, TEXT, [first], [second]))
    page.fill("#search", 'ships, "old"')
    page.get_by_role("option", name="as a new label").click()

    def copied(name, said):
        page.select_option("#format", name)
        page.click("#copy")
        page.get_by_text(said).wait_for()
        return page.evaluate("navigator.clipboard.readText()")

    def saved(ending):
        with page.expect_download() as download:
            page.click("#download")
        wanted = f"tanker-crews-wait-as-oil-ports.labels.{ending}"
        assert download.value.suggested_filename == wanted
        return download.value.path().read_bytes().decode()

    as_text = f'{first}\nships, "old"\n'
    assert copied("text", "Copied as text.") == saved("txt") == as_text
    new = '"ships, ""old""","ships, ""old""",new'
    rows_of_csv = [
        "label,name,state",
        f"{first},{first},accepted",
        new,
        f"{second},{second},rejected",
    ]
    assert copied("csv", "Copied as CSV.").splitlines() == rows_of_csv
    assert saved("csv") == "\r\n".join(rows_of_csv) + "\r\n"
    one, other = json.loads(copied("json", "Copied as JSON.")), json.loads(saved("json"))
    assert one.pop("created") <= other.pop("created")
    assert one == other
    assert (one["text"], one["accepted"], one["rejected"]) == (TEXT, [first], [second])
    assert one["new"] == ['ships, "old"']
    assert [suggestion["label"] for suggestion in one["suggestions"]][
        : len(labels(page))
    ] == labels(page)


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


def test_empty_files_tables_and_binary_files_leave_the_text_unchanged(page, tmp_path):
    write(page, "Football fans sang.")
    files = {
        "empty.txt": (b"\n", "empty.txt is empty."),
        "news.csv": (b"id,text\n1,oil\n2,corn\n", "news.csv is a table of many records"),
        "records.txt": (b"00042nam\x1e\x1faOil\x1d", "records.txt is not a plain text."),
    }
    for name, (content, sentence) in files.items():
        (tmp_path / name).write_bytes(content)
        page.set_input_files("#file", tmp_path / name)
        page.get_by_text(sentence).first.wait_for()
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


def test_saving_again_replaces_the_saved_document(page, server):
    text = "Corn harvests and oil prices rose on Friday."
    write(page, text)
    n_before = len(read_saved_documents(server.saved_work).documents)
    for n_labels in (1, 2):
        row_of(page, labels(page)[0]).get_by_role("button", name="Accept").click()
        page.wait_for_function(
            "n => document.querySelectorAll('#accepted li').length === n", arg=n_labels
        )
        page.click("#save")
        page.get_by_text(f"with {n_labels} label").first.wait_for()
    assert [len(names) for names in saved_as(server, text)] == [2]
    page.locator("#text").press("End")
    page.locator("#text").type(" More rain.")
    page.click("#save")
    page.locator("#save.done").wait_for()
    assert saved_as(server, text) == []
    assert len(read_saved_documents(server.saved_work).documents) == n_before + 1


def _wait_for_explanation(page, label):
    page.locator("#explanation h2", has_text=label).wait_for()
    page.locator("#explanation .sum").wait_for()
    expanded = row_of(page, label).locator(".label[aria-expanded=true]")
    assert expanded.count() == row_of(page, label).count()
