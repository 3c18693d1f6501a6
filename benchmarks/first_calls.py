"""The first call of what numba compiles: paid once, and kept out of the other lines."""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from benchmarks.setting import Setting
from benchmarks.table import Row, skipped_row
from labelkin.content.nearest_neighbours import NearestNeighbours
from labelkin.content.platt_svm import PlattSVM

AGAINST = "(nobody)"


def measure_first_calls(setting: Setting) -> list[Row]:
    """Fit a handful of documents, where the work itself takes next to nothing."""
    try:
        import numba
    except ImportError as error:
        return [skipped_row("first call, compiling", AGAINST, None, str(error))]
    X = sparse.csr_matrix(np.eye(8))
    Y = np.tile([[1, 0], [0, 1]], (4, 1))
    return [
        _first_call(model, X, Y, f"numba {numba.__version__}, nothing cached")
        for model in (PlattSVM(random_state=0), NearestNeighbours(2))
    ]


def _first_call(model: PlattSVM | NearestNeighbours, X: object, Y: object, check: str) -> Row:
    start = time.process_time()
    model.fit(X, Y).predict_proba(X)
    seconds = time.process_time() - start
    subject = f"{type(model).__name__}, first call, compiling"
    return Row(subject, AGAINST, seconds, None, f"{seconds:.1f} s CPU", check)
