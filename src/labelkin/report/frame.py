"""What HTML pages are made of: the frame around them, panels of pictures, content that scrolls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files

from labelkin.report.svg import Picture


def frame(title: str, sections: Iterable[str]) -> str:
    """Return a whole page that needs no other file and no other host.

    ``title`` is text; ``sections`` are HTML and stay as they are.
    """
    style = files("labelkin.report").joinpath("templates/page.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            *sections,
            "</body>",
            "</html>",
            "",
        ]
    )


def panels(pictures: Sequence[Picture], caption: str) -> str:
    """Return pictures side by side, each under its title, and a caption below them."""
    shown = [f"<div><h3>{escape(p.title)}</h3>{p.svg}</div>" for p in pictures]
    return "\n".join(
        [
            "<figure>",
            '<div class="panels">',
            *shown,
            "</div>",
            f"<figcaption>{escape(caption)}</figcaption>",
            "</figure>",
        ]
    )


def scrolling(content: str, name: str) -> str:
    """Let wide content scroll in itself, by keyboard too, so that the page never does."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">\n'
        f"{content}\n</div>"
    )


def fact_list(facts: Mapping[str, str]) -> str:
    """Return facts by name as a list of definitions."""
    items = [f"<dt>{escape(name)}</dt><dd>{escape(fact)}</dd>" for name, fact in facts.items()]
    return "\n".join(["<dl>", *items, "</dl>"])
