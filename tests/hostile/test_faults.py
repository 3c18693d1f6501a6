"""Each writing call fails once (full disk, input error, kill): old or new state, no other."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(
    COMPILER is None or not sys.platform.startswith("linux"), reason="faults need a C compiler"
)


@pytest.fixture(scope="module")
def layer(tmp_path_factory):
    """Compile the layer that makes calls fail."""
    made = tmp_path_factory.mktemp("faults") / "faults.so"
    command = [COMPILER, "-shared", "-fPIC", "-O1", "-w", "-o", made, HERE / "faults.c", "-ldl"]
    subprocess.run(command, check=True)
    return made


@pytest.mark.parametrize(
    ("scene", "every"),
    [
        ("save", 1),
        ("saved work", 4),
        ("predict", 9),
        ("train", 3),
    ],
)
def test_any_fault_leaves_old_or_new_state(layer, tmp_path, scene, every, long_proofs):
    done = subprocess.run(
        [sys.executable, HERE / "fault_runs.py", scene, tmp_path, str(1 if long_proofs else every)],
        env={**os.environ, "LD_PRELOAD": str(layer), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    print(f"{scene}: {seen['calls']} calls, {seen['cases']} cases")
    assert seen["cases"] >= 6, "the layer is not loaded"
    assert seen["bad"] == []
