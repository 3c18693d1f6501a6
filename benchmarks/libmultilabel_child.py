"""Fit LibMultiLabel once and report its CPU time; run by the Python of ``benchmarks/.peer``.

    python libmultilabel_child.py FOLDER

reads ``X_train.npz``, ``Y_train.npz`` and ``X_test.npz``, prints the CPU seconds of the fit as JSON
and writes ``decision_values.npy`` of the test documents.
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

OPTIONS = "-s 1"


def main(folder: Path) -> None:
    X, Y, X_test = (
        sparse.load_npz(folder / f"{name}.npz") for name in ("X_train", "Y_train", "X_test")
    )
    psutil.cpu_count = lambda logical=True: 1  # one thread, as everybody in these benchmarks
    linear.train_1vsrest(Y, X, options=OPTIONS, verbose=False)  # first touches are not measured
    start = time.process_time()
    model = linear.train_1vsrest(Y, X, options=OPTIONS, verbose=False)
    seconds = time.process_time() - start
    np.save(folder / "decision_values.npy", linear.predict_values(model, X_test))
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
