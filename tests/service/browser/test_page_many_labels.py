"""A model with candidates: every label is found and added, in the text's candidates or not."""

import pytest
from live_server import serving
from page_reader import TEXT, ask, labels, write


@pytest.fixture(scope="module")
def server(candidates_file, tmp_path_factory):
    news = candidates_file.with_name("news.labelkin")
    news.write_bytes(candidates_file.read_bytes())
    with serving(news, saved_work=tmp_path_factory.mktemp("browser") / "saved.sqlite") as client:
        yield client


def test_label_outside_the_candidates_is_found_and_added(page, server, newsroom):
    write(page, TEXT)
    found = ask(server.address, "suggest", text=TEXT)["suggestions"]
    candidates = [one["label"] for one in found]
    assert len(candidates) == 8
    other = next(name for name in newsroom.label_names.tolist() if name not in candidates)
    page.fill("#search", other.upper())
    page.keyboard.press("Enter")
    page.locator("#accepted .chip-name", has_text=other).first.wait_for()
    assert set(labels(page)) <= set(candidates)
