"""The built site in Chromium, from a folder: on a phone and a desk, light and dark, and alone."""

from pathlib import Path

import pytest
from page_reader import axe_source, inspect, overflow

pytestmark = pytest.mark.xdist_group("service")
SITE = Path(__file__).parents[3] / "docs" / "_build" / "html"
PAGES = ["index.html", "tutorials/first-model.html", "reference/api/labelkin.LabelRescorer.html"]
SIZES = {"phone": {"width": 375, "height": 800}, "desk": {"width": 1366, "height": 860}}


@pytest.fixture
def open_site(browser):
    """Open pages of the site in separate windows, and collect their faults."""
    if not (SITE / "index.html").exists():
        pytest.skip("there is no built site: make docs")
    contexts = []

    def open_at(name, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda said: said.type == "error" and page.faults.append(said.text))
        page.on("request", lambda asked: _is_here(asked.url) or page.faults.append(asked.url))
        page.goto((SITE / name.partition("?")[0]).as_uri() + name[len(name.partition("?")[0]) :])
        return page

    yield open_at
    for context in contexts:
        context.close()


def _is_here(address):
    return address.startswith((SITE.as_uri(), "data:", "blob:"))


@pytest.mark.parametrize(("scheme", "size"), [("light", "phone"), ("dark", "desk")])
@pytest.mark.parametrize("name", PAGES)
def test_page_of_the_site_is_accessible_and_self_contained(name, size, scheme, open_site):
    page = open_site(name, viewport=SIZES[size], color_scheme=scheme)
    page.wait_for_function("document.documentElement.dataset.theme")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    assert overflow(page) <= 0
    faults = inspect(page, axe_source())
    assert [fault for fault in faults if fault.startswith(("serious", "critical"))] == []
    assert page.faults == []
