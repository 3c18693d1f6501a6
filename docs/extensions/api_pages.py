"""API pages, one for each public name of the library.

The templates in docs/templates/autosummary format them. A name that can be imported from two
places has its page where users import it from, and a docstring may refer to it, or to what is not
public, by any name that there is; only what is nowhere is an error.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import resolve_name
from typing import Any

from docutils import nodes

#: Modules whose every public name has a page.
MODULES = sorted(
    {"content", "corpora", "curation", "explain", "research.related", "text", "thresholds"}
    | {"vocabulary"}
    | {f"evaluation.{name}" for name in ("metrics", "significance", "splits")}
)


def names_by_kind(module: str) -> dict[str, list[str]]:
    """Return a module's public names, by the title they stand under."""
    found: dict[str, list[str]] = {"Classes": [], "Functions": [], "Data": []}
    home = import_module(f"labelkin.{module}")
    for name in home.__all__:
        thing = getattr(home, name)
        is_function = inspect.isroutine(thing) or hasattr(thing, "cache_info")
        kind = "Classes" if inspect.isclass(thing) else "Functions" if is_function else "Data"
        found[kind].append(_page_name(f"labelkin.{module}.{name}"))
    return {kind: names for kind, names in found.items() if names}


def _page_name(name: str) -> str:
    """Return the name of the page: that of ``labelkin.vocabulary.rules.Rules`` is shorter.

    For a method or a field it is that of its class, and then its own name.
    """
    owner, _, last = name.rpartition(".")
    for public in ["labelkin", *(f"labelkin.{module}" for module in MODULES)]:
        home = import_module(public)
        if last in home.__all__ and getattr(home, last) is _found(name):
            return f"{public}.{last}"
    return f"{_page_name(owner)}.{last}" if inspect.isclass(_found(owner)) else name


def _found(name: str) -> Any:
    """Return what has a name; None if nothing has."""
    try:
        return resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return None


def _skip_foreign(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool:
    """Leave out methods of other libraries, such as ``get_params`` and requests of metadata."""
    function = getattr(thing, "fget", None) or getattr(thing, "__func__", thing)
    home = getattr(function, "__module__", None)
    return bool(skip or (callable(function) and home and not home.startswith("labelkin")))


def _resolve(app: Any, env: Any, node: Any, text: nodes.Element) -> nodes.Node | None:
    """Find what a docstring names in its own way; without a page it stays a word."""
    if node.get("refdomain") != "py":
        return None
    for name in _possible_names(node):
        if _is_there(name):
            python, page = env.get_domain("py"), _page_name(name)
            arguments = (env, node["refdoc"], app.builder, node["reftype"], page, node, text)
            return python.resolve_xref(*arguments) or text
    return None


def _is_there(name: str) -> bool:
    """Return whether a name can be imported, or is an attribute of the instances of a class."""
    owner, _, last = name.rpartition(".")
    kinds = getattr(_found(owner), "__mro__", ())
    return _found(name) is not None or any(last in inspect.get_annotations(k) for k in kinds)


def _possible_names(node: Any) -> Iterator[str]:
    """Yield where a name may be: as it stands, or in the module or class of its docstring."""
    target = node["reftarget"]
    module, owner = node.get("py:module"), node.get("py:class")
    yield target
    if module and owner:
        yield f"{module}.{owner}.{target}"
        yield f"{resolve_name(f'{module}.{owner}').__module__}.{target}"
    if module:
        yield f"{module}.{target}"
    # autosummary's tables, and functions, do not state the source of their text
    for public in MODULES:
        yield f"labelkin.{public}.{target}"
    yield f"labelkin.{target}"


def setup(app: Any) -> dict[str, bool]:
    """Pass the names to the templates, and correct references."""
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("missing-reference", _resolve)
    app.config.autosummary_context = {
        "names_by_kind": {f"labelkin.{module}": names_by_kind(module) for module in MODULES}
    }
    return {"parallel_read_safe": True, "parallel_write_safe": True}
