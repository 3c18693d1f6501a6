"""Every example of the README, the docs and the docstrings runs."""

import doctest
import importlib
import pkgutil
import re
import shlex
from pathlib import Path

import pytest

import labelkin

TOP = Path(__file__).parent.parent
PAGES = sorted([TOP / "README.md", *(TOP / "docs").rglob("*.md")])
MODULES = sorted(m.name for m in pkgutil.walk_packages(labelkin.__path__, "labelkin."))


def python_blocks(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(path.read_text(encoding="utf-8"))
    scope = {"__name__": path.stem}
    for block in blocks:
        exec(compile(block, str(path), "exec"), scope)


def test_the_commands_on_vocabularies_run_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rdflib", reason="rdflib is in the extra skos")
    from labelkin.cli import main

    monkeypatch.chdir(tmp_path)
    text = (TOP / "docs" / "vocabularies.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for line in block.splitlines():
        command, *arguments = shlex.split(line)
        assert command == "labelkin"
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert not end.value.code, (line, capsys.readouterr().err)
    assert "vehnä" in capsys.readouterr().out


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_numbers_worked_out_on_a_page_are_true(path):
    found = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert found.failed == 0


def test_the_method_is_worked_through_in_numbers():
    assert ">>> posterior = combine" in (TOP / "docs" / "method.md").read_text(encoding="utf-8")


def test_the_readme_has_an_example():
    assert python_blocks((TOP / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_are_true(name):
    module = importlib.import_module(name)
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0
