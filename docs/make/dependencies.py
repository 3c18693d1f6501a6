"""Installed packages → docs/reference/dependencies.md, or a bill of materials in CycloneDX.

``python -m docs.make.dependencies`` in the root of the repository writes the page;
``python -m docs.make.dependencies --sbom`` prints the bill of what is installed here.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from labelkin.files import write_atomic

PAGE = Path(__file__).parent.parent / "reference" / "dependencies.md"
PROJECT = Path(__file__).parent.parent.parent / "pyproject.toml"
EXTRAS = ("fast", "cli", "text", "plot", "skos", "serve", "dask")
_HEAD = """\
# What labelkin is installed with

Run-time dependencies, theirs included, and the licences that their own metadata name; made by
`python -m docs.make.dependencies`. `make sbom` prints what is installed, with versions, as a
CycloneDX bill of materials. None is copyleft. The lowest versions stand in `pyproject.toml`;
`make test-lowest` runs the tests with them.

| package | needed by | licence |
|---|---|---|
"""


def found_packages() -> dict[str, tuple[Distribution, str]]:
    """Return every package that labelkin and its extras install, with what asks for it first."""
    found: dict[str, tuple[Distribution, str]] = {}
    waiting = [("labelkin", frozenset(EXTRAS))]
    while waiting:
        name, extras = waiting.pop(0)
        try:
            package = distribution(name)
        except PackageNotFoundError:  # of another system or Python
            continue
        for wanted, its_extras, extra in _requirements(package, extras):
            key = _key(wanted)
            if key not in found and key != "labelkin":
                asked = (f"[{extra}]" if extra else "labelkin") if name == "labelkin" else name
                try:
                    found[key] = (distribution(wanted), asked)
                except PackageNotFoundError:
                    continue
                waiting.append((wanted, its_extras))
    return dict(sorted(found.items()))


def _requirements(
    package: Distribution, extras: frozenset[str]
) -> Iterator[tuple[str, frozenset[str], str]]:
    lines = package.requires or ()
    if package.metadata["Name"] == "labelkin":  # as declared here, not as installed some time ago
        about = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
        more = about["optional-dependencies"].items()
        lines = [
            *about["dependencies"],
            *(f"{line}; extra == '{extra}'" for extra, wanted in more for line in wanted),
        ]
    for line in lines:
        named = re.match(r"([A-Za-z0-9_.-]+)(?:\[([^\]]*)\])?", line)
        extra = re.search(r"extra\s*==\s*['\"](../[^'\"]+)['\"]", line)
        if named and (extra is None or extra[1] in extras):
            wanted = frozenset(filter(None, (named[2] or "").replace(" ", "").split(",")))
            yield named[1], wanted, extra[1] if extra else ""


def licence_of(package: Distribution) -> str:
    """Return the licence as the package's own metadata name it."""
    said: Any = package.metadata
    if expression := said.get("License-Expression"):
        return str(expression)
    classed = [
        line.rpartition(" :: ")[2]
        for line in said.get_all("Classifier") or ()
        if line.startswith("License ::") and line.count("::") > 1
    ]
    first = str(said.get("License") or "").strip().splitlines()
    return "; ".join(classed) or (first[0] if first else "not stated")


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def sbom() -> dict[str, Any]:
    """Return the bill of materials, as CycloneDX 1.5 has it."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", "name": "labelkin"}},
        "components": [
            {
                "type": "library",
                "name": package.metadata["Name"],
                "version": package.version,
                "purl": f"pkg:pypi/{key}@{package.version}",
                "licenses": [{"license": {"name": licence_of(package)}}],
            }
            for key, (package, _) in found_packages().items()
        ],
    }


def page() -> str:
    """Return the page."""
    rows = (
        f"| {package.metadata['Name']} | {by} | {licence_of(package)} |\n"
        for package, by in found_packages().values()
    )
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    if "--sbom" in sys.argv[1:]:
        print(json.dumps(sbom(), indent=1))
    else:
        write_atomic(PAGE, page())
