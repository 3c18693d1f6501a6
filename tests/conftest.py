"""Where outside data is, and how large the long proofs are."""

import os
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
DATA = Path(os.environ.get("LABELKIN_DATA", TOP.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def oracle_folder():
    """Weka's own numbers, beside the data."""
    folder = DATA.parent / "oracle"
    if not (folder / "INDEX.json").exists():
        pytest.skip(f"no Weka oracle at {folder}: set LABELKIN_DATA to the folder beside it")
    return folder


@pytest.fixture(scope="session")
def long_proofs():
    """Whether proofs run at full size (`make test-long`)."""
    return bool(os.environ.get("LABELKIN_LONG"))
