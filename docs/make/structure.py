"""Count what makes the package hard to find one's way in.

``python -m docs.make.structure`` prints the layers of packages, modules that exactly one other
module imports, public names with several meanings, and private names imported by other packages.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import labelkin

ROOT = Path(labelkin.__file__).parent


def modules() -> dict[str, ast.Module]:
    """Return every module of the package, parsed, by its dotted name."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"))
    return found


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield module and name of every import from the package, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def importers(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return which modules import each module."""
    found: dict[str, set[str]] = {name: set() for name in trees}
    for name, tree in trees.items():
        for module, attribute in imported(tree):
            inner = f"{module}.{attribute}"
            target = inner if inner in trees else module
            if target in trees and target != name:
                found[target].add(name)
    return found


def imported_once(trees: dict[str, ast.Module]) -> list[str]:
    """Return the modules that exactly one module imports, except what a package re-exports."""
    packages = {name.rpartition(".")[0] for name in trees}
    return [
        name
        for name, others in importers(trees).items()
        if len(others) == 1 and not {name, *others} & packages
    ]


def ambiguous_names(trees: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Return public names that several modules define differently, and these modules."""
    defined: dict[str, dict[str, str]] = defaultdict(dict)
    for module, tree in trees.items():
        for node in tree.body:
            for name in _defined_names(node):
                if not name.startswith("_"):
                    value = getattr(node, "value", None) or node
                    defined[name][module] = ast.dump(value)
    return {
        name: sorted(places)
        for name, places in sorted(defined.items())
        if len(set(places.values())) > 1
    }


def private_imports(trees: dict[str, ast.Module]) -> list[str]:
    """Return imports of a private name of another package."""
    return [
        f"{name}: {module}.{attribute}"
        for name, tree in trees.items()
        for module, attribute in imported(tree)
        if module.startswith("labelkin.")
        and attribute.startswith("_")
        and not attribute.startswith("__")
        and module.split(".")[1] != name.split(".")[1]
    ]


def imports_below(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return which packages and top-level modules each of them imports."""
    below: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        here = _place(name)
        below[here] |= set()
        for module, attribute in imported(tree):
            there = _place(module if "." in module else f"{module}.{attribute}")
            if module.split(".")[0] == "labelkin" and there not in ("", here):
                below[here].add(there)
    below.pop("", None)
    return dict(below)


def layers(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return names in rows, each of which imports only from rows below; cycles are errors."""
    rows: list[list[str]] = []
    left = dict(imports)
    while left:
        row = sorted(name for name, others in left.items() if not others & left.keys())
        if not row:
            raise ValueError(f"Packages must not import each other, got {sorted(left)}.")
        rows.insert(0, row)
        left = {name: others for name, others in left.items() if name not in row}
    return rows


def _place(module: str) -> str:
    """Return the package or top-level module below ``labelkin`` that a module belongs to."""
    return [*module.split("."), ""][1]


def _defined_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def main() -> None:
    """Print the counts."""
    trees = modules()
    rows = layers(imports_below(trees))
    print(f"{len(trees)} modules in {len(rows)} layers")
    for row in rows:
        print("  " + "  ".join(row))
    once = imported_once(trees)
    print(f"{len(once)} modules imported by exactly one other: {', '.join(once)}")
    names = ambiguous_names(trees)
    print(f"{len(names)} public names with several meanings")
    for name, places in names.items():
        print(f"  {name}: {', '.join(places)}")
    private = private_imports(trees)
    print(f"{len(private)} private names imported by other packages: {private}")


if __name__ == "__main__":
    main()
