"""Solvers with numba and without it."""

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import pytest

MODULES = ("cosine_index", "linear_svm", "logistic", "neighbourhoods")


@contextmanager
def numba_missing():
    with ExitStack() as stack:
        for name in MODULES:
            stack.enter_context(patch(f"labelkin.solvers.{name}.load_kernels", return_value=None))
        yield


@pytest.fixture
def without_numba():
    """Call a function as if numba were not installed."""

    def call(function):
        with numba_missing():
            return function()

    return call


@pytest.fixture(params=["numba", "without numba"])
def way(request):
    if request.param == "numba":
        pytest.importorskip("numba", reason="compiled loops need the extra labelkin[fast]")
        yield request.param
    else:
        with numba_missing():
            yield request.param
