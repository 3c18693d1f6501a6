"""An installed browser, and pages of a real server that are watched for faults."""

import os
import shutil
from urllib.parse import urlsplit

import pytest
from live_server import serving

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: How long a page may take for a step; a busy machine needs more.
SECONDS = float(os.environ.get("LABELKIN_BROWSER_SECONDS", "10"))
DESKTOP = {"width": 1366, "height": 860}


@pytest.fixture(scope="module")
def browser():
    """Start the installed Chromium; the module also ends Playwright's event loop."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install playwright"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"needs a browser on PATH: one of {', '.join(BROWSERS)}")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def server(news_file, tmp_path_factory):
    """Serve the newsroom model; `saved_work` is its file."""
    saved_work = tmp_path_factory.mktemp("browser") / "saved.sqlite"
    with serving(news_file, saved_work=saved_work) as client:
        client.saved_work = saved_work
        yield client


class Watch:
    """Errors and warnings of a page, and requests to other hosts."""

    def __init__(self, page, address):
        self.faults = []
        self.own_host = urlsplit(address).netloc
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", self._on_request)

    def _on_console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type}: {message.text}")

    def _on_request(self, request):
        address = urlsplit(request.url)
        if address.scheme != "blob" and address.netloc != self.own_host:
            self.faults.append(f"request to {request.url}")


@pytest.fixture
def open_page(browser):
    """Open pages and watch them; expected faults are ignored."""
    watched = []

    def open_at(address, *, expected_faults=(), **options):
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        context.set_default_timeout(1000 * SECONDS)
        page = context.new_page()
        watched.append((context, Watch(page, address), expected_faults))
        page.goto(address)
        page.locator("html[data-ready]").wait_for(state="attached")
        return page

    yield open_at
    for context, watch, expected in watched:
        context.close()
        unexpected = [f for f in watch.faults if not any(part in f for part in expected)]
        assert not unexpected


@pytest.fixture
def page(open_page, server):
    """Open the page at a desktop's width."""
    return open_page(server.address)
