"""Score labels with cleanlab; run by the Python of ``benchmarks/.peer-cleanlab``.

    python cleanlab_child.py FOLDER

reads ``given.npz`` (labels, probabilities) and writes ``quality.npy``, documents × labels.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class


def main(folder: Path) -> None:
    given = np.load(folder / "given.npz")
    labels = [np.flatnonzero(row).tolist() for row in given["labels"]]
    quality = get_label_quality_scores_per_class(labels, given["probabilities"])
    np.save(folder / "quality.npy", quality)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
