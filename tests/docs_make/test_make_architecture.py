"""The diagram of the architecture page is that of the real imports."""

import pytest
from docs.make.architecture import PAGE, imports_of_packages, page_with_diagram
from docs.make.structure import layers


def test_the_page_has_the_diagram_of_the_imports():
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with_diagram(page), "python -m docs.make.architecture writes it"


def test_known_imports_are_found():
    imports = imports_of_packages()
    assert {"content", "label_matrix", "solvers"} <= imports["method"]
    assert "cli" not in set().union(*imports.values())


def test_rows_import_from_rows_below_and_cycles_are_errors():
    assert layers({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == [["a"], ["b"], ["c"]]
    with pytest.raises(ValueError, match="must not import each other"):
        layers({"a": {"b"}, "b": {"a"}})
