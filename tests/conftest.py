"""Where outside data is, and how large the long proofs are."""

import os
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
DATA = Path(os.environ.get("LABELKIN_DATA", TOP.parent / "shared" / "data"))


@pytest.fixture(autouse=True)
def own_search_path():
    """Remove after each test the environment variable that the command line sets."""
    yield
    os.environ.pop("PYTHONSAFEPATH", None)


@pytest.fixture(scope="session")
def oracle_folder():
    """Weka's own numbers; tests/oracle/README.md says how they came about."""
    return Path(__file__).parent / "oracle"


@pytest.fixture(scope="session")
def long_proofs():
    """Whether proofs run at full size (`make test-long`)."""
    return bool(os.environ.get("LABELKIN_LONG"))
