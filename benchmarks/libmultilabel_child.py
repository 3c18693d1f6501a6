"""Fit LibMultiLabel once and report its CPU time; run by the Python of ``benchmarks/.peer``.

    python libmultilabel_child.py FOLDER OPTIONS

reads ``X_train.npz``, ``Y_train.npz`` and ``X_test.npz``, prints the CPU seconds of a fit with
these LIBLINEAR options as JSON, and writes ``decision_values.npy`` of the test documents and
``weights.npy``, ``(n_features, n_labels)``, the bias last where the options ask for one.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import psutil
from libmultilabel import linear
from scipy import sparse


def main(folder: Path, options: str) -> None:
    X, Y, X_test = (
        sparse.load_npz(folder / f"{name}.npz") for name in ("X_train", "Y_train", "X_test")
    )
    psutil.cpu_count = lambda logical=True: 1  # one thread, as all systems in these benchmarks
    linear.train_1vsrest(Y, X, options=options, verbose=False)  # first touches are not measured
    start = time.process_time()
    model = linear.train_1vsrest(Y, X, options=options, verbose=False)
    seconds = time.process_time() - start
    np.save(folder / "decision_values.npy", linear.predict_values(model, X_test))
    np.save(folder / "weights.npy", _dense(model.weights))
    print(json.dumps({"seconds": seconds}))


def _dense(weights: object) -> np.ndarray:
    return weights.toarray() if sparse.issparse(weights) else np.asarray(weights)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
