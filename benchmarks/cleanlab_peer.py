"""What cleanlab thinks of every cell, from the same out-of-fold probabilities.

cleanlab lives in a virtual environment of its own, ``benchmarks/.peer-cleanlab``, which git ignores
and which is made the first time; it runs in a child process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

HERE = Path(__file__).parent
PEER = HERE / ".peer-cleanlab"
PYTHON = PEER / ("Scripts" if os.name == "nt" else "bin") / "python"


def cleanlab_suspicion(labels: Any, probabilities: Any) -> Any:
    """Return 1 − cleanlab's quality of every cell, ``(n_documents, n_labels)``."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER)], check=True)
        subprocess.run([str(PYTHON), "-m", "pip", "install", "--quiet", "cleanlab"], check=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        given = labels.positive.toarray().astype(np.int8)
        np.savez(folder / "given.npz", labels=given, probabilities=probabilities)
        child = [str(PYTHON), "-I", str(HERE / "cleanlab_child.py"), name]
        subprocess.run(child, check=True, capture_output=True)
        return 1 - np.load(folder / "quality.npy")
