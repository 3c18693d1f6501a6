"""The README and the tutorials, typed from the first line to the last on a fresh machine.

The install lines of the README are run where a clone would be: pip builds the wheel and installs
it. The packages of ``[all]`` are linked from this environment, in long proofs downloaded by pip. A
package that a page uses and ``[all]`` lacks is an error.
"""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from docs.make.page_code import blocks_of
from test_docs_run import same_output
from test_wheel import link_requirements

TOP = Path(__file__).parent.parent
PROGRAM = TOP / "tests" / "typed_blocks.py"
PAGES = [TOP / "README.md", *sorted((TOP / "docs" / "tutorials").glob("*-*.md"))]
#: Blocks with these commands need a clone or corpora from the network; other tests run them.
NOT_TYPED = ("make ", "labelkin corpus fetch", "labelkin experiment run reuters21578")

pytestmark = pytest.mark.xdist_group("typed pages")


def blocks_on(page):
    return blocks_of(page.read_text(encoding="utf-8"))


def is_install(block):
    return "pip install" in block.code


def run(command, cwd, path, stdin=None):
    # Without PYTHONPATH: the source of this checkout would hide the installed package.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LABELKIN"))}
    environment |= {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}", "PIP_NO_COMPILE": "1"}
    done = subprocess.run(
        command,
        input=stdin,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory, long_proofs):
    """Run the README's install lines where a clone would be; return the folder of programs."""
    clone = tmp_path_factory.mktemp("clone")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(TOP / name, clone)
    shutil.copytree(TOP / "src", clone / "src", ignore=shutil.ignore_patterns("__pycache__"))
    [install] = filter(is_install, blocks_on(TOP / "README.md"))
    if not long_proofs:  # pip finds the requirements there
        venv.create(clone / ".venv", with_pip=False)
        link_requirements("labelkin[all]", next(clone.glob(".venv/lib/python*/site-packages")))
    run(["bash", "-euo", "pipefail", "-c", install.code], clone, Path(sys.executable).parent)
    return clone / ".venv" / "bin"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_runs_as_printed_after_its_install_lines(page, environment, tmp_path):
    typed = [
        block
        for block in blocks_on(page)
        if not is_install(block) and not any(command in block.code for command in NOT_TYPED)
    ]
    assert typed
    blocks = json.dumps([(block.language, block.code) for block in typed])
    command = [str(environment / "python"), "-I", str(PROGRAM)]
    printed = json.loads(run(command, tmp_path, environment, blocks).splitlines()[-1])
    for block, text in zip(typed, printed, strict=True):
        assert block.shown is None or same_output(block.shown, text), (
            f"{block.code}\nprints\n{text}\nand not\n{block.shown}"
        )


@pytest.mark.parametrize("page", [*PAGES, TOP / "docs" / "install.md"], ids=lambda page: page.stem)
def test_pages_install_as_the_readme_does(page):
    [readme] = filter(is_install, blocks_on(TOP / "README.md"))
    assert readme.code.startswith("python3 -m venv ")
    assert readme in blocks_on(page)
