"""Names that ``labelkin.content`` exports."""

import subprocess
import sys

import labelkin
from labelkin import content


def test_exported_names_exist():
    shared = set(content.__all__) & set(labelkin.__all__)
    assert "PlattSVM" in shared
    assert all(getattr(content, name) is getattr(labelkin, name) for name in shared)
    assert all(getattr(content, name) for name in content.__all__)


def test_importing_the_package_loads_no_classifier():
    code = "import sys, labelkin.content; sys.exit('labelkin.content.platt_svm' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
