"""Scores of cleanlab for every cell, from the same out-of-fold probabilities.

cleanlab is in a separate virtual environment, ``benchmarks/.peer-cleanlab``, which git ignores and
the first call creates; it runs in one child process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

HERE = Path(__file__).parent
PEER = HERE / ".peer-cleanlab"
PYTHON = PEER / ("Scripts" if os.name == "nt" else "bin") / "python"


def cleanlab_suspicion(labels: Any, probabilities: Any) -> Any:
    """Return 1 − cleanlab's quality of every cell, ``(n_documents, n_labels)``."""
    child = _child()
    assert child.stdin is not None
    assert child.stdout is not None
    with TemporaryDirectory() as name:
        folder = Path(name)
        given = labels.positive.toarray().astype(np.int8)
        np.savez(folder / "given.npz", labels=given, probabilities=probabilities)
        child.stdin.write(f"{name}\n")
        child.stdin.flush()
        if child.stdout.readline().strip() != "done":
            raise RuntimeError("cleanlab was installed, and failed: its message stands above.")
        return 1 - np.load(folder / "quality.npy")


@cache
def _child() -> subprocess.Popen[str]:
    """Install cleanlab unless it is there, and start it; it ends when this process does."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER)], check=True)
        subprocess.run([str(PYTHON), "-m", "pip", "install", "--quiet", "cleanlab"], check=True)
    command = [str(PYTHON), "-I", str(HERE / "cleanlab_child.py")]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
