"""HTML as a strict reader sees it."""

from html.parser import HTMLParser

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Reader(HTMLParser):
    """Collect tags, attributes and text, and insist that every tag is closed in its turn."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)

    def values(self, name):
        return [value for key, value in self.attributes if key == name]
