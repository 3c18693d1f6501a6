"""Solvers: logistic regression and linear SVMs of all labels at once, similar documents.

Loops that NumPy cannot express are compiled in :mod:`labelkin.solvers.kernels`, which needs numba
(the extra ``fast``). Each solver has a slower way without it, through SciPy or scikit-learn.
"""

from types import ModuleType


def load_kernels() -> ModuleType | None:
    """Return the compiled loops; ``None`` without numba."""
    try:
        from labelkin.solvers import kernels
    except ImportError:
        return None
    return kernels
