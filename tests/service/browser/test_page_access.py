"""The page for everyone: by keyboard alone, on a phone, in the dark, calm, with a screen reader."""

import pytest
from page_reader import (
    TEXT,
    axe_source,
    chosen,
    expected_labels,
    inspect,
    labels,
    overflow,
    row_of,
    serious,
    wait_for_labels,
    write,
)

from labelkin.curation.saved_work import read_saved_documents

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "device_scale_factor": 2}
SCHEMES = ("light", "dark")
FOREIGN = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich"


def test_page_works_by_keyboard(page, server):
    press = page.keyboard.press
    _tab_to(page, "text")
    page.keyboard.insert_text(TEXT)
    expected = expected_labels(server.address, TEXT)
    wait_for_labels(page, expected)
    press("Escape")
    assert _focused_label(page) == expected[0]

    press("j")
    press("ArrowDown")
    press("k")
    assert _focused_label(page) == expected[1]
    press("a")
    after = expected_labels(server.address, TEXT, [expected[1]])
    wait_for_labels(page, after)
    assert _focused_label(page) == expected[2]
    press("r")
    wait_for_labels(page, expected_labels(server.address, TEXT, [expected[1]], [expected[2]]))
    assert chosen(page) == ([expected[1]], [expected[2]])
    assert page.locator("#changes").text_content().startswith(f"Rejected {expected[2]}. ")

    press("e")
    page.locator("#explanation h2", has_text=_focused_label(page)).wait_for()
    press("Escape")

    press("u")
    wait_for_labels(page, after)
    press("Shift+U")
    wait_for_labels(page, expected_labels(server.address, TEXT, [expected[1]], [expected[2]]))
    press("/")
    page.keyboard.type("footb")
    press("Enter")  # at once: the list is not there yet
    page.locator("#accepted", has_text="football").wait_for()
    press("Escape")
    assert page.evaluate("document.activeElement === document.body")

    n_saved = len(read_saved_documents(server.saved_work).documents)
    press("s")
    page.get_by_text("Saved as document").first.wait_for()
    assert len(read_saved_documents(server.saved_work).documents) == n_saved + 1
    page.get_by_text("learned from").wait_for()  # the next test asks a model at rest


def test_a_phone_shows_everything_without_scrolling_sideways(open_page, server):
    page = open_page(server.address, **PHONE)
    write(page, TEXT)
    page.locator(".row .accept").first.tap()
    page.locator("#accepted .chip").wait_for()
    assert overflow(page) == 0
    places = [page.locator(part).bounding_box()["y"] for part in (".document", "#grid", ".chosen")]
    assert places == sorted(places)
    for button in page.locator(".row .accept, .row .reject").all()[:4]:
        assert min(button.bounding_box()[side] for side in ("width", "height")) > 43.9

    label = labels(page)[2]
    row_of(page, label).locator(".label").tap()
    page.locator("#explanation .sum").wait_for()
    panel, row = page.locator("#explanation").bounding_box(), row_of(page, label).bounding_box()
    assert row["y"] >= 0 and row["y"] + row["height"] <= panel["y"] + 1
    assert overflow(page) == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_no_serious_fault(open_page, server, scheme):
    axe = axe_source()
    options = {"color_scheme": scheme, "reduced_motion": "reduce"}
    page = open_page(server.address, **options)
    page.locator("#glance .piece").first.wait_for()
    found = {"empty": inspect(page, axe)}
    page.fill("#text", FOREIGN)
    page.locator("#few-words:not([hidden])").wait_for()
    page.click("#fold")
    found["no known words"] = inspect(page, axe)
    write(page, TEXT)
    first, second = labels(page)[:2]
    row_of(page, first).locator(".accept").click()
    row_of(page, second).locator(".reject").click()
    wait_for_labels(page, expected_labels(server.address, TEXT, [first], [second]))
    row_of(page, labels(page)[0]).locator(".label").click()
    page.locator("#explanation .sum").wait_for()
    found["explanation"] = inspect(page, axe)
    page.fill("#search", "o")
    page.locator("#search-results [role=option]").first.wait_for()
    found["search"] = inspect(page, axe, ".combobox")
    page.keyboard.press("Escape")
    page.click("#open-help")
    found["help"] = inspect(page, axe, "#help")
    page.keyboard.press("Escape")
    page.click("#open-map")
    page.locator(".node").nth(2).click()
    page.locator("#map-details h3").wait_for()
    found["map"] = inspect(page, axe, "#map")
    page.get_by_role("button", name="Table").click()
    found["map table"] = inspect(page, axe, "#map-table")
    page = open_page(f"{server.address}docs", **options)
    page.locator("details.route > summary").first.click()
    page.locator(".answers-of summary").first.click()
    found["routes"] = inspect(page, axe)
    assert serious(found) == ""


def _tab_to(page, element_id, most=20):
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == element_id:
            return
    raise AssertionError(f"{most} tabs do not reach #{element_id}")


def _focused_label(page):
    return page.evaluate("document.activeElement.closest('.row')?.dataset.label")
