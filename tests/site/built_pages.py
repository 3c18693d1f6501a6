"""Pages of a built site, as far as links go."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links, loaded files and anchors of a page."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.path, self.links, self.loaded, self.anchors, self.words = path, [], [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag in ("script", "img", "source", "iframe") and given.get("src"):
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "search"):
            self.loaded.append(given["href"])

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@cache
def page(path):
    """Read a page once."""
    return Page(path)


def pages(site):
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def target(path, link):
    """Return the file and the anchor that a link of a page leads to; None if it leads outside."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    there = Path(path.parent, unquote(parts.path)).resolve() if parts.path else path
    return there / "index.html" if there.is_dir() else there, unquote(parts.fragment)


def broken_links(site):
    """Yield what links lead to and is not there, and what is loaded from elsewhere."""
    for path in pages(site):
        here = page(path)
        name = path.relative_to(site)
        for link in here.links:
            found = target(path, link)
            if found is None:
                continue
            file, anchor = found
            if not file.is_file():
                yield f"{name}: {link}"
            elif anchor and file.suffix == ".html" and anchor not in page(file).anchors:
                yield f"{name}: {link}: no such place"
        for link in here.loaded:
            if link.startswith("data:"):
                continue
            found = target(path, link)
            if found is None or not found[0].is_file():
                yield f"{name} loads {link}"


def within_clicks(site, n_clicks, start="index.html"):
    """Return the pages within a number of clicks from the front page."""
    reached = {site / start}
    for _ in range(n_clicks):
        reached |= {
            found[0]
            for path in reached
            for link in page(path).links
            if (found := target(path, link)) and found[0].suffix == ".html" and found[0].is_file()
        }
    return {str(path.relative_to(site)) for path in reached}
