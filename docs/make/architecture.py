"""Write the diagram of docs/explanation/architecture.md from the imports of the package.

``python -m docs.make.architecture`` in the root of the repository.
"""

from __future__ import annotations

import ast
from pathlib import Path

import labelkin
from labelkin.files import write_atomic

ROOT = Path(labelkin.__file__).parent
PAGE = Path(__file__).parent.parent / "explanation" / "architecture.md"
BEGIN, END = "<!-- diagram: python -m docs.make.architecture -->", "<!-- end of diagram -->"


def imports_of_packages() -> dict[str, set[str]]:
    """Return the packages of the library that each of them imports, at any place in its code.

    Modules at the top level count together as ``labelkin``.
    """
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    found: dict[str, set[str]] = {name: set() for name in packages}
    for path in ROOT.glob("*/**/*.py"):
        here = path.relative_to(ROOT).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{one.name}" for one in node.names]
            elif isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] == "labelkin" and len(parts) > 1 and parts[1] in packages - {here}:
                    found[here].add(parts[1])
    return found


def levels(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the packages in rows, each of which imports only from rows below."""
    height: dict[str, int] = {}
    while len(height) < len(imports):
        ready = [p for p in imports if p not in height and imports[p] <= height.keys()]
        if not ready:
            raise ValueError(f"packages must not import each other, got {imports.keys() - height}.")
        height |= {p: 1 + max((height[q] for q in imports[p]), default=-1) for p in ready}
    rows = range(max(height.values()), -1, -1)
    return [sorted(p for p in height if height[p] == row) for row in rows]


def diagram() -> str:
    """Return the rows of packages and a table of what each contains and imports."""
    imports = imports_of_packages()
    rows = "\n".join("   ".join(row) for row in levels(imports))
    lines = ["| package | contents | imports |", "| --- | --- | --- |"]
    for row in levels(imports):
        for name in row:
            doc = ast.get_docstring(ast.parse((ROOT / name / "__init__.py").read_text("utf-8")))
            used = ", ".join(f"`{one}`" for one in sorted(imports[name])) or "–"
            summary = (doc or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            lines.append(f"| `{name}` | {summary.replace('``', '`')} | {used} |")
    return "\n".join([f"```text\n{rows}\n```", "", *lines])


def page_with_diagram(page: str) -> str:
    """Return the page with the present diagram between the marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{diagram()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    write_atomic(PAGE, page_with_diagram(PAGE.read_text(encoding="utf-8")))
