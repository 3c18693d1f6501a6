"""The fixtures of the service's tests, and the package as if it were installed."""

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SERVICE = HERE.parents[2] / "tests" / "service"
sys.path[:0] = [str(SERVICE), str(HERE.parent / "src")]

_SPEC = importlib.util.spec_from_file_location("service_fixtures", SERVICE / "conftest.py")
_FIXTURES = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_FIXTURES)
newsroom, news_model = _FIXTURES.newsroom, _FIXTURES.news_model
news_file, ruled_file, client = _FIXTURES.news_file, _FIXTURES.ruled_file, _FIXTURES.client


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory):
    """Write the entry point that an installation writes."""
    folder = tmp_path_factory.mktemp("installed")
    info = folder / "labelkin_label_studio-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: labelkin-label-studio\nVersion: 0")
    project = (HERE.parent / "pyproject.toml").read_text()
    (point,) = [line for line in project.splitlines() if line.startswith("label-studio = ")]
    text = point.replace('"', "")
    (info / "entry_points.txt").write_text(f"[labelkin.service]\n{text}\n")
    sys.path.append(str(folder))
    yield
    sys.path.remove(str(folder))
