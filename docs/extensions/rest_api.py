"""The directive ``rest-api``: every route, from the specification that a real service gives."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sklearn.pipeline import make_pipeline
from sphinx.util.docutils import SphinxDirective

from labelkin import LabelDependenceClassifier, NaiveBayes, save
from labelkin.service import create_app
from labelkin.text import WordCounts

_TITLES = {
    "/v1": "Annif's API",
    "/api/models": "Models: suggestions, reasons, saved documents",
    "/api/review": "Review of an audit",
    "": "For operators",
}


class RestAPI(SphinxDirective):
    """A section for each group of routes, then what requests and answers consist of."""

    def run(self) -> list[nodes.Node]:
        """Write the specification as Markdown, and read that."""
        text = "\n".join(_page(specification()))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def specification() -> dict[str, Any]:
    """Return what ``/openapi.json`` answers, of a service with the smallest model there can be."""
    texts = ["wheat and corn", "a gold mine", "wheat for gold"]
    model = make_pipeline(
        WordCounts(min_documents=1), LabelDependenceClassifier(NaiveBayes(), evidence_weight=1)
    ).fit(texts, [["grain"], ["metal"], ["grain", "metal"]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "news.labelkin"
        save(model, path)
        return create_app([path]).openapi()


def _page(openapi: dict[str, Any]) -> Iterator[str]:
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {start: [] for start in _TITLES}
    for path, methods in openapi["paths"].items():
        start = next(start for start in _TITLES if path.startswith(start))
        groups[start] += [(path, method, route) for method, route in methods.items()]
    for start, routes in groups.items():
        yield from (f"## {_TITLES[start]}", "")
        for path, method, route in routes:
            yield from _route(path, method, route)
    yield from ("## What requests and answers consist of", "")
    for name, schema in sorted(openapi["components"]["schemas"].items()):
        yield from (f"(rest-{name.lower()})=", f"### {name}", "")
        yield from (_plain(schema.get("description", "")), "")
        required = schema.get("required", ())
        for field, about in schema.get("properties", {}).items():
            yield from _term(field, about, field in required, about.get("description", ""))


def _route(path: str, method: str, route: dict[str, Any]) -> Iterator[str]:
    yield from (f"### `{method.upper()} {path}`", "", _plain(route.get("description", "")), "")
    for parameter in route.get("parameters", ()):
        about = f"In the {parameter['in']}. {parameter.get('description', '')}"
        required = parameter.get("required", False)
        yield from _term(parameter["name"], parameter["schema"], required, about)
    for kind, content in route.get("requestBody", {}).get("content", {}).items():
        schema = content["schema"]
        yield from (
            f"Takes `{kind}`: {_type(schema)}" if "$ref" in schema else f"Takes `{kind}`:",
            "",
        )
        for field, about in schema.get("properties", {}).items():
            required = field in schema.get("required", ())
            yield from _term(field, about, required, about.get("description", ""))
    errors = []
    for status, answer in route["responses"].items():
        shapes = [_type(one.get("schema", {})) for one in answer.get("content", {}).values()]
        if status.startswith("2"):
            yield from (f"Answers {status}{': ' if shapes else '.'}{' or '.join(shapes)}", "")
        else:
            errors.append(status)
    if errors:
        kinds = "`type`, `title`, `status` and `detail`"
        yield from (f"Errors are `application/problem+json` with {kinds}.", "")


def _term(name: str, schema: dict[str, Any], required: bool, about: str) -> Iterator[str]:
    """Yield an entry of a list of definitions: name, type, default, and what it is."""
    default = (
        f", default `{schema['default']!r}`" if schema.get("default") not in (None, "") else ""
    )
    need = "" if required else ", optional"
    yield from (f"`{name}` : {_type(schema)}{default or need}", f": {_plain(about) or '–'}", "")


def _type(schema: dict[str, Any]) -> str:
    """Return a type in words; a named one is a link."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#rest-{name.lower()})"
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(_type(one) for one in schema.get("anyOf") or schema["oneOf"])
    if "enum" in schema:
        return " or ".join(f"`{one!r}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']!r}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return {"object": "object", "null": "null"}.get(
        schema.get("type", ""), schema.get("type", "any")
    )


def _plain(text: str) -> str:
    """Return a docstring's words as Markdown: roles and double backticks become code."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", " ".join(text.split()))
    return text.replace("``", "`")


def setup(app: Any) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("rest-api", RestAPI)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
