"""Print a bill of materials in CycloneDX: ``python -m docs.make.dependencies``."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent.parent.parent / "pyproject.toml"
EXTRAS = ("fast", "cli", "text", "plot", "skos", "serve", "dask")


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
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", line)
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


if __name__ == "__main__":
    print(json.dumps(sbom(), indent=1))
