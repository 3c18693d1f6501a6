"""Make the golden files again: ``python tests/golden/make.py [newsroom] [reuters21578] [answers]``.

Without names, all of them; Reuters-21578 is looked for in ``$LABELKIN_DATA``. Run it only for
a number that changes intentionally; the commit gives the reason.

The files hold numbers and no text of a corpus. ``made_with.json`` has the machine and the
versions, with which results are reproducible to the bit.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from golden_answers import golden_answers
from golden_systems import CORPORA, golden_numbers
from threadpoolctl import threadpool_info

HERE = Path(__file__).parent
MADE_WITH = HERE / "made_with.json"
ANSWERS = HERE / "answers.json"


def surroundings():
    """Return what the last digits depend on: libraries, and what the processor can do."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    blas = {
        f"{pool['internal_api']} {pool['version']} {pool['architecture']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return {
        **{package: version(package) for package in packages},
        "blas": sorted(blas),
        "simd": np.show_config(mode="dicts")["SIMD Extensions"]["found"],
    }


def make(names):
    """Write the files of these names."""
    for name in CORPORA.keys() & names:
        np.savez_compressed(HERE / f"{name}.npz", **golden_numbers(CORPORA[name]()))
    if "answers" in names:
        with TemporaryDirectory() as folder:
            answers = golden_answers(Path(folder))
        lines = [f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items()]
        ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    MADE_WITH.write_text(json.dumps(surroundings(), indent=1) + "\n")


if __name__ == "__main__":
    make(sys.argv[1:] or [*CORPORA, "answers"])
