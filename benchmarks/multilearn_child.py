"""Fit scikit-multilearn-ng's MLkNN and predict once, in its separate environment.

    python multilearn_child.py FOLDER

reads ``data.npz``, prints the CPU seconds as JSON and writes ``probability.npy``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from skmultilearn.adapt import MLkNN


def main(folder: Path) -> None:
    data = np.load(folder / "data.npz")
    X, Y, X_test = data["X"], data["Y"], data["X_test"]
    MLkNN(k=10, s=1.0).fit(X[:50], Y[:50]).predict_proba(X[:5])  # first touches are not measured
    start = time.process_time()
    found = MLkNN(k=10, s=1.0).fit(X, Y).predict_proba(X_test)
    seconds = time.process_time() - start
    np.save(folder / "probability.npy", found.toarray())
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
