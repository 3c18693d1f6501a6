"""The description on the package index: README.md without relative links and pictures."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"!\[([^]]*)\]\((?!https?:)[^)]+\)")
_LINK = re.compile(r"\[([^]]+)\]\((?!https?:)([^)]+)\)")


def without_relative_links(text: str) -> str:
    """Replace pictures by their descriptions, and relative links by text and path.

    Examples
    --------
    >>> without_relative_links("![A bar](bar.png) in [the docs](docs/index.md), [x](https://x.org)")
    '*A bar* in the docs (`docs/index.md`), [x](https://x.org)'
    """
    return _LINK.sub(r"\1 (`\2`)", _PICTURE.sub(r"*\1*", text))


class Readme(MetadataHookInterface):
    """Sets the readme of the distributions."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md beside pyproject.toml."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": without_relative_links(text),
        }
