"""Write the diagram of docs/explanation/architecture.md from the imports of the package.

``python -m docs.make.architecture`` in the root of the repository.
"""

from __future__ import annotations

import ast
from pathlib import Path

from docs.make.structure import ROOT, imports_below, layers, modules

from labelkin.files import write_atomic

PAGE = Path(__file__).parent.parent / "explanation" / "architecture.md"
BEGIN, END = "<!-- diagram: python -m docs.make.architecture -->", "<!-- end of diagram -->"


def imports_of_packages() -> dict[str, set[str]]:
    """Return the packages of the library that each of them imports, at any place in its code."""
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    below = imports_below(modules())
    return {name: others & packages for name, others in below.items() if name in packages}


def diagram() -> str:
    """Return the rows of packages and a table of their contents."""
    imports = imports_of_packages()
    rows = "\n".join("   ".join(row) for row in layers(imports))
    lines = ["| package | contents |", "| --- | --- |"]
    for row in layers(imports):
        for name in row:
            doc = ast.get_docstring(ast.parse((ROOT / name / "__init__.py").read_text("utf-8")))
            summary = (doc or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            lines.append(f"| `{name}` | {summary.replace('``', '`')} |")
    return "\n".join([f"```text\n{rows}\n```", "", *lines])


def page_with_diagram(page: str) -> str:
    """Return the page with the present diagram between the marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{diagram()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    write_atomic(PAGE, page_with_diagram(PAGE.read_text(encoding="utf-8")))
