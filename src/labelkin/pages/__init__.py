"""HTML pages that stand alone: their templates, in which all text is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def page_template(name: str) -> Template:
    """Return a template of a page, in which all text is escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('Pages need jinja2: pip install "labelkin[cli]"') from error
    environment = Environment(
        loader=PackageLoader("labelkin.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)
