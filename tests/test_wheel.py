"""The wheel, alone in a clean environment, imports, trains and carries its type marker."""

import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

TOP = Path(__file__).parent.parent
PROGRAM = """
import labelkin
assert "site-packages" in labelkin.__file__, labelkin.__file__
try:
    import numba
except ImportError:
    pass
else:
    raise AssertionError("numba is an extra: it should be out of sight")
model = labelkin.LabelDependenceClassifier(content=labelkin.NaiveBayes())
model.fit([[2, 0], [0, 2], [1, 1]], [["a"], ["b"], ["a", "b"]])
print(model.label_sets(model.predict([[3, 0]])), labelkin.__version__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(TOP)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return next(out.glob("*.whl"))


def test_the_wheel_works_in_a_clean_environment(wheel, tmp_path):
    """Only the core dependencies are there, lent by link; extras are out of sight."""
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    site = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    _lend_core_dependencies(site)
    done = subprocess.run(
        [python, "-c", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "('a',)" in done.stdout


def test_the_wheel_carries_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "labelkin/py.typed" in names
    assert "labelkin/experiment/configurations/reuters21578.toml" in names
    assert "labelkin/experiment/template.toml" in names
    assert not [n for n in names if not n.startswith(("labelkin/", "labelkin-"))]


def _lend_core_dependencies(site):
    """Link what labelkin requires, and what that requires, from this environment."""
    wanted, seen = core_requirements("labelkin"), set()
    while wanted:
        name = wanted.pop()
        if name not in seen:
            seen.add(name)
            wanted |= core_requirements(name)
            _link(distribution(name), site)
    assert {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"} <= seen


def core_requirements(name):
    """Names that a distribution requires here, extras left out."""
    wanted = [Requirement(text) for text in distribution(name).requires or []]
    return {r.name for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""})}


def _link(dist, site):
    for top in {file.parts[0] for file in dist.files} - {"..", "__pycache__"}:
        (site / top).symlink_to(dist.locate_file(top))
