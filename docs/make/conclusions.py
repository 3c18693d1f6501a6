"""Begin pages of findings with their conclusions: ``python -m docs.make.conclusions``.

Every page that :mod:`docs.make.leads` knows gets, below its title, some sentences and a plot, both
computed from the tables of the page; long tables are folded. The generators of the pages end with
it, and by itself it does all pages that there are; twice gives the same bytes. ``--check`` changes
nothing and fails where a page is not what its tables say.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from docs.make.leads import LEADS, Tables
from docs.make.page_tables import folded, read_tables, unfolded

from labelkin.files import write_atomic

_BEGIN = "<!-- conclusions, by python -m docs.make.conclusions -->"
_END = "<!-- end of the conclusions -->"


def conclude(page: Path) -> list[Path]:
    """Write the conclusions of a page and its plot; return what was written, nothing for others."""
    name = next((name for name in LEADS if page.resolve() == Path(name).resolve()), None)
    if name is None or not page.exists():
        return []
    text, picture = concluded(name, page.read_text(encoding="utf-8"))
    write_atomic(page, text)
    write_atomic(picture_of(page), picture)
    return [page, picture_of(page)]


def concluded(name: str, text: str) -> tuple[str, str]:
    """Return a page with its conclusions, and the plot, an SVG."""
    plain = unfolded(_without_lead(text))
    lead = LEADS[name](Tables(read_tables(plain)))
    title, rest = plain.split("\n", 1)
    parts = [
        title,
        _BEGIN,
        "\n".join(f"- {sentence}" for sentence in lead.sentences),
        f"![{_alternative(lead.description)}]({picture_of(Path(name)).name})",
        _END,
        rest.lstrip("\n"),
    ]
    return folded("\n\n".join(parts)), lead.picture


def picture_of(page: Path) -> Path:
    """Return where the plot of a page is."""
    return page.with_name(f"{page.stem}-conclusions.svg")


def _without_lead(text: str) -> str:
    before, begin, after = text.partition(f"{_BEGIN}\n")
    return before + after.partition(f"{_END}\n\n")[2] if begin else text


def _alternative(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the conclusions of all pages, or check them."""
    parser = argparse.ArgumentParser(prog="python -m docs.make.conclusions", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if needed")
    check = parser.parse_args(arguments).check
    for name in LEADS:
        page = Path(name)
        if check:
            text = page.read_text(encoding="utf-8")
            if concluded(name, text) != (text, picture_of(page).read_text(encoding="utf-8")):
                parser.exit(
                    1, f"{name} is not what its tables say: python -m docs.make.conclusions\n"
                )
        elif written := conclude(page):
            print(*written)


if __name__ == "__main__":
    main()
