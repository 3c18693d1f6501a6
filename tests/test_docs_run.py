"""Every example of the docs and the docstrings runs.

Outputs on a page must equal those of its code: the same words, and nearly the same numbers, which
may differ in the last digits between versions of NumPy.
"""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from docs.make.page_code import Block, beginning, blocks_of, run_blocks, with_output, write_files

import labelkin

TOP = Path(__file__).parent.parent
MADE = ("_build", "gallery")  # by the build of the site
PAGES = sorted(
    path
    for path in [TOP / "README.md", *(TOP / "docs").rglob("*.md")]
    if not set(MADE) & set(path.relative_to(TOP).parts)
)
#: The README and the tutorials are typed in a fresh environment, by tests/test_typed_pages.py.
TYPED = {TOP / "README.md", *(TOP / "docs" / "tutorials").glob("*-*.md")}
WITH_CODE = [
    path for path in PAGES if path not in TYPED and blocks_of(path.read_text(encoding="utf-8"))
]
MODULES = sorted(m.name for m in pkgutil.walk_packages(labelkin.__path__, "labelkin."))
#: Packages that the code of a page needs beyond the extra ``all``.
NEEDS = {
    "dask": "distributed",
    "many-labels": "labelkin_omikuji",
    "annif": "rdflib",
    "vocabularies": "rdflib",
}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def name_of(path):
    return str(path.relative_to(TOP).with_suffix(""))


def same_output(shown, printed):
    """Return whether two outputs have the same words, and numbers that differ by 2 % or 0.02."""
    printed = beginning(printed, shown)
    words = [" ".join(NUMBER.sub("#", text).split()) for text in (shown, printed)]
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=False)
    return words[0] == words[1] and all(
        float(a) == pytest.approx(float(b), rel=0.02, abs=0.02) for a, b in pairs
    )


@pytest.mark.parametrize("path", WITH_CODE, ids=name_of)
def test_the_code_of_a_page_prints_the_output_of_the_page(path, tmp_path, monkeypatch):
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    write_files(text, tmp_path)
    for block, printed in run_blocks(blocks_of(text), path.stem):
        assert block.shown is None or same_output(block.shown, printed), (
            f"{block.code}\nprints\n{printed}\nand not\n{block.shown}\n"
            f"python -m docs.make.page_code {path.relative_to(TOP)} writes it into the page."
        )


def test_different_outputs_are_detected():
    assert same_output("micro F1 0.784, 3 labels\n", "micro F1 0.783, 3 labels\n")
    assert not same_output("micro F1 0.784\n", "micro F1 0.724\n")
    assert not same_output("grain 0.5\n", "wheat 0.5\n")
    assert not same_output("", "grain\n")
    assert same_output("grain\n…\n", "grain\nwheat\n") and not same_output("oil\n…\n", "grain\n")


def test_code_is_written_with_its_output():
    page = "# T\n\n```python\nprint(1 + 1)\n```\n\n```output\n3\n```\n\n```sh\npip --help\n```\n"
    assert blocks_of(page)[0] == Block("python", "print(1 + 1)\n", "3\n", (43, 45))
    assert with_output(page, "T") == page.replace("3", "2")


def test_a_command_that_fails_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match="ended with 2"):
        list(run_blocks([Block("sh", "labelkin inspect nothing.labelkin\n")], "page"))


def test_every_command_of_labelkin_on_a_page_is_in_a_block_that_is_run():
    """Those in running text, and what is shown of other languages, are not."""
    fence = re.compile(r"^ *```([^\n`]*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
    other = [
        (name_of(path), code)
        for path in PAGES
        for language, code in fence.findall(path.read_text(encoding="utf-8"))
        if re.match(r"(\$ )?labelkin ", code) and language != "sh"
    ]
    assert other == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_the_numbers_worked_out_on_a_page_are_true(path):
    text = path.read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(
        re.sub(r"^```.*$", "", text, flags=re.MULTILINE), {}, path.stem, str(path), 0
    )
    runner = doctest.DocTestRunner()
    runner.run(examples)
    assert runner.failures == 0


def test_the_method_is_worked_through_in_numbers():
    assert ">>> posterior = combine" in (TOP / "docs" / "explanation" / "method.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_are_true(name):
    module = importlib.import_module(name)
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0
