"""Modules in the working directory are not imported by helper processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import labelkin

NAMES = ("labelkin", "numpy", "json", "joblib", "pickle", "sklearn", "random")
SOURCE = Path(labelkin.__file__).parent.parent
#: Programs of a user; their own imports are complete before the folder is entered.
PROGRAMS = {
    "command": """
import labelkin.files as helper
import subprocess
enter()
command, environment = helper.python_command("import json, numpy, labelkin")
subprocess.run(command, env=environment, check=True)
""",
    "joblib on the command line": """
from contextlib import suppress
import numpy as np
from sklearn.linear_model import LogisticRegression
from labelkin import PerLabel, cli
enter()
with suppress(SystemExit):
    cli.main(["--version"])
X = np.eye(8)
PerLabel(LogisticRegression(), n_jobs=2).fit(X, X[:, :2].astype(int)).predict_proba(X)
""",
    "experiment": """
import numpy as np
from labelkin.research.experiments.subprocess_runner import Job, run_in_subprocess
from labelkin.label_matrix import read_labels
from labelkin.research.related import BRkNN
enter()
X = np.eye(8)
assert run_in_subprocess(Job(BRkNN(), X, read_labels(X[:, :2]), X)) is not None
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_helper_process_imports_from_the_working_directory(tmp_path, program):
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text("open('imported', 'w').close(); raise SystemExit(7)")
    # as in an interactive session, the working directory is on the path
    start = "import os, sys\ndef enter(): os.chdir(sys.argv[1])\n"
    done = subprocess.run(
        [sys.executable, "-c", start + PROGRAMS[program], tmp_path],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert not (tmp_path / "imported").exists(), done.stderr
    assert done.returncode == 0, done.stderr
