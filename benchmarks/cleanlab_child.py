"""Score labels with cleanlab; run by the Python of ``benchmarks/.peer-cleanlab``.

Each line of the standard input is a folder: ``given.npz`` (labels, probabilities) is read from it,
``quality.npy``, documents × labels, written to it, and "done" printed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class


def score(folder: Path) -> None:
    given = np.load(folder / "given.npz")
    labels = [np.flatnonzero(row).tolist() for row in given["labels"]]
    quality = get_label_quality_scores_per_class(labels, given["probabilities"])
    np.save(folder / "quality.npy", quality)


if __name__ == "__main__":
    for line in sys.stdin:
        score(Path(line.strip()))
        print("done", flush=True)
