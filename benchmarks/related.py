"""Related methods: chains against scikit-learn's, ML-kNN against scikit-multilearn-ng's.

scikit-multilearn-ng is in a separate virtual environment, ``benchmarks/.peer-multilearn``,
which git ignores; it is made the first time. It runs in a child process that reports the CPU time
of fit and prediction alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as TheirChain

from benchmarks.setting import Setting, say
from benchmarks.table import Row, ratio_row, skipped_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.research.related import ClassifierChain, MLkNN

HERE = Path(__file__).parent
PEER = HERE / ".peer-multilearn"
PYTHON = PEER / ("Scripts" if os.name == "nt" else "bin") / "python"
#: The size of yeast: training and test documents, features, labels.
SIZES = (1500, 917, 103, 14)
#: Labels of the chain, the most frequent: scikit-learn's takes seconds for each.
N_LABELS = 10


def measure_chains(setting: Setting) -> list[Row]:
    """Fit and predict a chain of logistic regressions over the most frequent labels."""
    train, test = setting.corpus.train, setting.corpus.test
    frequent = np.argsort(-train.indicator.sum(axis=0), kind="stable")[:N_LABELS]
    Y = train.indicator[:, frequent]
    base = LogisticRegression(max_iter=1000)

    def ours() -> object:
        return ClassifierChain(base).fit(train.tfidf, Y).predict(test.tfidf)

    def peer() -> object:
        return TheirChain(base).fit(train.tfidf, Y).predict(test.tfidf)

    seconds = alternate({"peer": timed(peer), "ours": timed(ours)}, setting.rounds)
    differ = int(np.sum(np.asarray(ours()) != np.asarray(peer())))
    check = f"{differ} of {test.tfidf.shape[0] * N_LABELS} decisions differ"
    against = "scikit-learn ClassifierChain(LogisticRegression), fit + predict"
    subject = f"ClassifierChain(LogisticRegression), {N_LABELS} labels, fit + predict"
    return [ratio_row(subject, against, ratio(seconds["ours"], seconds["peer"]), 1.0, check)]


def measure_mlknn(setting: Setting) -> list[Row]:
    """Fit and predict on made numbers of the size of yeast."""
    subject, target = "MLkNN(10), fit + predict_proba", 0.2
    version = _prepare_peer()
    if not version:
        return [skipped_row(subject, "scikit-multilearn-ng", target, "it cannot be installed")]
    n_train, n_test, n_features, n_labels = SIZES
    random = np.random.default_rng(0)
    centres = random.normal(size=(n_labels, n_features))
    Y = (random.random((n_train + n_test, n_labels)) < 0.3).astype(np.int64)
    X = Y @ centres + 3 * random.normal(size=(n_train + n_test, n_features))
    with TemporaryDirectory() as name:
        np.savez(Path(name) / "data.npz", X=X[:n_train], Y=Y[:n_train], X_test=X[n_train:])

        def ours() -> np.ndarray:
            return MLkNN(10).fit(X[:n_train], Y[:n_train]).predict_proba(X[n_train:])

        turns = {"peer": partial(_run_peer, name), "ours": timed(ours)}
        seconds = alternate(turns, setting.rounds)
        theirs = np.load(Path(name) / "probability.npy")
    # In training it counts a document as its own neighbour; MULAN and ours do not.
    check = (
        f"mean |ΔP| {np.abs(ours() - theirs).mean():.1e}: its documents are their own neighbours"
    )
    against = f"scikit-multilearn-ng {version} MLkNN(10), fit + predict_proba"
    return [ratio_row(subject, against, ratio(seconds["ours"], seconds["peer"]), target, check)]


def _prepare_peer() -> str:
    """Install the peer unless it is there; return its version, or nothing."""
    if not PYTHON.exists():
        say("  installing scikit-multilearn-ng into benchmarks/.peer-multilearn (once)")
        made = subprocess.run([sys.executable, "-m", "venv", str(PEER)], check=False)
        command = [str(PYTHON), "-m", "pip", "install", "--quiet", "scikit-multilearn-ng"]
        if made.returncode or subprocess.run(command, check=False).returncode:
            return ""
    code = "import skmultilearn, importlib.metadata as m; print(m.version('scikit-multilearn-ng'))"
    command = [str(PYTHON), "-I", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _run_peer(folder: str) -> float:
    command = [str(PYTHON), "-I", str(HERE / "multilearn_child.py"), folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"scikit-multilearn-ng failed: {done.stderr.strip()[-300:]}")
    return float(json.loads(done.stdout)["seconds"])
