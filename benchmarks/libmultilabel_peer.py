"""The SVM with probabilities against one plain fit of LibMultiLabel, which has none.

LibMultiLabel needs a compiler and many packages: it is in a separate virtual environment,
``benchmarks/.peer``, which git ignores; it is made the first time. Its fit runs in a child process
that reports the CPU time of the fit alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.corpus import Benchmark
from benchmarks.setting import Setting, say
from benchmarks.svm import micro_f1
from benchmarks.table import Row, ratio_row, skipped_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.content.platt_svm import PlattSVM

HERE = Path(__file__).parent
PEER = HERE / ".peer"
OPTIONS = "-s 1"
PYTHON = PEER / ("Scripts" if os.name == "nt" else "bin") / "python"
TARGETS = {"PlattSVM, fit": (False, 2.6), "PlattSVM(free_bias=True), fit": (True, 3.5)}


class PeerMissingError(RuntimeError):
    """LibMultiLabel is not available on this machine; the message has the reason."""


def measure_libmultilabel(setting: Setting) -> list[Row]:
    """Fit all labels: LibMultiLabel's SVM once, ours six times (five folds) and the sigmoid."""
    try:
        against = f"LibMultiLabel {prepare_peer()} train_1vsrest ({OPTIONS}), fit, no probabilities"
    except PeerMissingError as reason:
        return [
            skipped_row(name, "LibMultiLabel", target, str(reason))
            for name, (_, target) in TARGETS.items()
        ]
    fits = {name: _fit(setting.corpus, free) for name, (free, _) in TARGETS.items()}
    with TemporaryDirectory() as name:
        folder = Path(name)
        save_corpus(setting.corpus, folder)
        ours = {name: timed(fit) for name, fit in fits.items()}
        seconds = alternate({"peer": partial(run_peer, folder, OPTIONS), **ours}, setting.rounds)
        theirs = np.load(folder / "decision_values.npy")
    test = setting.corpus.test
    peer_f1 = micro_f1(test.indicator, theirs > 0)
    rows = []
    for name, (_, target) in TARGETS.items():
        f1 = micro_f1(test.indicator, fits[name]().log_odds(test.tfidf) > 0)
        measured = ratio(seconds[name], seconds["peer"])
        rows.append(ratio_row(name, against, measured, target, f"micro F1 {f1}, peer {peer_f1}"))
    return rows


def _fit(corpus: Benchmark, free_bias: bool) -> Callable[[], Any]:
    model = PlattSVM(free_bias=free_bias, random_state=0)
    return lambda: model.fit(corpus.train.tfidf, corpus.train.labels)


def prepare_peer() -> str:
    """Install LibMultiLabel unless it is there; return its version."""
    if not _version():
        say("  installing LibMultiLabel into benchmarks/.peer (some minutes, once)")
        _call([sys.executable, "-m", "venv", str(PEER)])
        _call([str(PYTHON), "-m", "pip", "install", "--quiet", "libmultilabel"])
    if not _version():
        raise PeerMissingError("LibMultiLabel is installed but cannot be imported")
    return _version()


def _version() -> str:
    """Return the version of what can be imported, or nothing."""
    code = "import libmultilabel.linear, importlib.metadata as m; print(m.version('libmultilabel'))"
    if not PYTHON.exists():
        return ""
    command = [str(PYTHON), "-I", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _call(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerMissingError(f"LibMultiLabel cannot be installed here: {_last_line(done.stderr)}")


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no message"


def save_corpus(corpus: Benchmark, folder: Path) -> None:
    """Write what the child process reads."""
    matrices = {
        "X_train": corpus.train.tfidf,
        "Y_train": corpus.train.labels.positive,
        "X_test": corpus.test.tfidf,
    }
    for name, matrix in matrices.items():
        sparse.save_npz(folder / f"{name}.npz", sparse.csr_matrix(matrix))


def run_peer(folder: Path, options: str) -> float:
    """Fit in a child process with these LIBLINEAR options; return the CPU seconds of the fit."""
    command = [str(PYTHON), "-I", str(HERE / "libmultilabel_child.py"), str(folder), options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"LibMultiLabel was installed, and failed: {_last_line(done.stderr)}")
    return float(json.loads(done.stdout)["seconds"])
