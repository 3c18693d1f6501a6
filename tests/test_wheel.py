"""The wheel works alone in a clean environment; both distributions carry what they should."""

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOP = Path(__file__).parent.parent
PROGRAM = TOP / "tests" / "only_the_wheel.py"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build both distributions; the wheel is made of the source distribution."""
    out = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "build", "--outdir", str(out), str(TOP)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return out


@pytest.fixture(scope="module")
def wheel(built):
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def sdist(built):
    return next(built.glob("*.tar.gz"))


def test_wheel_works_in_a_clean_environment(wheel, tmp_path):
    """Only the core dependencies are there, by links; extras are out of sight."""
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    site = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    linked = link_requirements("labelkin", site)
    assert {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"} <= linked
    done = subprocess.run(
        [python, "-I", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "('a',)" in done.stdout


def test_wheel_contains_every_file_of_the_package(wheel):
    """Stop words, experiments, templates and pages are no modules, and must be there."""
    package = TOP / "src" / "labelkin"
    files = {
        f"labelkin/{path.relative_to(package)}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert any(name.endswith(".txt") for name in files)
    assert files - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_source_distribution_contains_tests_and_pages(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = [
        *("README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff", "Makefile", "pyproject.toml"),
        *(
            "RELEASING.md",
            "CODE_OF_CONDUCT.md",
            "hatch_build.py",
            ".github/workflows/release.yml",
            ".pre-commit-config.yaml",
        ),
        *("tests/conftest.py", "tests/oracle/INDEX.json", "tests/oracle/README.md"),
        *("tests/oracle/M1_t0_blr.json", "tests/oracle/M4_train_labels.csv"),
    ]
    assert set(wanted) - names == set()
    for folder in ("docs", "examples", "benchmarks", "src/labelkin"):
        assert any(name.startswith(f"{folder}/") for name in names), folder


def test_metadata_of_the_project_are_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        said = Parser().parsestr(archive.read(name).decode())
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    assert said["Author"] == "labelkin developers"
    assert said["Version"] == project["version"]
    assert said["Requires-Python"] == ">=3.11"
    assert said["License-Expression"] == "BSD-3-Clause"
    assert said.get_all("Project-URL") is None
    assert said["Description-Content-Type"] == "text/markdown"
    assert re.findall(r"\]\((?!https://)[^)]*\)", said.get_payload()) == []
    assert "(`docs/findings/beyond.md`)" in said.get_payload()
    assert "Typing :: Typed" in said.get_all("Classifier")
    assert set(said.get_all("Provides-Extra")) == set(project["optional-dependencies"])
    assert f"version: {project['version']}" in (TOP / "CITATION.cff").read_text()


def link_requirements(project, site):
    """Link what a project with its extras requires, and what that requires, from this environment.

    Returns the names of the linked distributions.
    """
    wanted, seen = [Requirement(project)], set()
    while wanted:
        requirement = wanted.pop()
        if str(requirement) not in seen:
            seen.add(str(requirement))
            wanted += requirements_of(requirement)
    names = {canonicalize_name(Requirement(text).name) for text in seen} - {"labelkin"}
    for name in names:
        dist = distribution(name)
        for top in {file.parts[0] for file in dist.files} - {"..", "__pycache__"}:
            if not (site / top).exists():  # several distributions may share a folder
                (site / top).symlink_to(dist.locate_file(top))
    return names


def requirements_of(requirement):
    """Return what a distribution requires here with the extras that are asked for."""
    extras = requirement.extras or {""}
    every = [Requirement(text) for text in distribution(requirement.name).requires or []]
    return [
        r
        for r in every
        if r.marker is None or any(r.marker.evaluate({"extra": extra}) for extra in extras)
    ]
