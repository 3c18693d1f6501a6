"""The SVM with probabilities against one plain fit of LibMultiLabel, which has none.

LibMultiLabel needs a compiler and many packages, so it lives in a virtual environment of its own,
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
from labelkin.method.content.platt_svm import PlattSVM

HERE = Path(__file__).parent
PEER = HERE / ".peer"
PYTHON = PEER / ("Scripts" if os.name == "nt" else "bin") / "python"
AGAINST = "LibMultiLabel train_1vsrest (-s 1), fit without probabilities"
TARGETS = {"PlattSVM, fit": (False, 2.6), "PlattSVM(free_bias=True), fit": (True, 3.5)}


def measure_libmultilabel(setting: Setting) -> list[Row]:
    """Fit all labels: LibMultiLabel's SVM once, ours six times (five folds) and the sigmoid."""
    reason = _prepare_peer()
    if reason:
        return [skipped_row(name, AGAINST, target, reason) for name, (_, target) in TARGETS.items()]
    with TemporaryDirectory() as name:
        folder = Path(name)
        _save(setting.corpus, folder)
        turns = {AGAINST: partial(_run_peer, folder)}
        fits = {name: _fit(setting.corpus, free) for name, (free, _) in TARGETS.items()}
        turns.update({name: timed(fit) for name, fit in fits.items()})
        seconds = alternate(turns, setting.rounds)
        theirs = np.load(folder / "decision_values.npy")
    test = setting.corpus.test
    peer_f1 = micro_f1(test.Y, theirs > 0)
    rows = []
    for name, (_, target) in TARGETS.items():
        f1 = micro_f1(test.Y, fits[name]().log_odds(test.tfidf) > 0)
        measured = ratio(seconds[name], seconds[AGAINST])
        rows.append(ratio_row(name, AGAINST, measured, target, f"micro F1 {f1}, peer {peer_f1}"))
    return rows


def _fit(corpus: Benchmark, free_bias: bool) -> Callable[[], Any]:
    model = PlattSVM(free_bias=free_bias, random_state=0)
    return lambda: model.fit(corpus.train.tfidf, corpus.train.labels)


def _prepare_peer() -> str:
    """Install LibMultiLabel unless it is there; return why it cannot be had, or nothing."""
    if _works():
        return ""
    say("  installing LibMultiLabel into benchmarks/.peer (some minutes, once)")
    for command in (
        [sys.executable, "-m", "venv", str(PEER)],
        [str(PYTHON), "-m", "pip", "install", "--quiet", "libmultilabel"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"LibMultiLabel cannot be installed here ({_last_line(done.stderr)})"
    return "" if _works() else "LibMultiLabel is installed but cannot be imported"


def _works() -> bool:
    command = [str(PYTHON), "-c", "import libmultilabel.linear"]
    return PYTHON.exists() and not subprocess.run(command, capture_output=True, check=False).returncode


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no message"


def _save(corpus: Benchmark, folder: Path) -> None:
    matrices = {
        "X_train": corpus.train.tfidf,
        "Y_train": corpus.train.labels.positive,
        "X_test": corpus.test.tfidf,
    }
    for name, matrix in matrices.items():
        sparse.save_npz(folder / f"{name}.npz", sparse.csr_matrix(matrix))


def _run_peer(folder: Path) -> float:
    command = [str(PYTHON), "-I", str(HERE / "libmultilabel_child.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"LibMultiLabel was installed, and failed: {_last_line(done.stderr)}")
    return float(json.loads(done.stdout)["seconds"])
