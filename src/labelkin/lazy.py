"""Lazy import of public names, so that ``import labelkin`` loads only the modules in use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package : str
        Name of the package, ``__name__``.
    homes : mapping
        Module, relative to the package, to the names it defines, separated by spaces.

    Examples
    --------
    >>> get, _, names = lazy_names("labelkin", {"odds": "to_log_odds"})
    >>> names, get("to_log_odds").__name__
    (['to_log_odds'], 'to_log_odds')
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home:
            near = get_close_matches(name, home, 1)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *home}), sorted(home)
