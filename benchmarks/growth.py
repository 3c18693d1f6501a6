"""Growth in documents, labels and features, against the usual alternatives: ``make bench-scale``.

Every measurement is a separate process with one thread, which reports its CPU time and its peak
of memory. At each size all systems take their turns one after the other. Documents are made:
nothing is downloaded but the peers that need an environment of their own, ``benchmarks/.peer`` and
``benchmarks/.peer-omikuji``, which git ignores; they are made the first time. It can be stopped
between two sizes, and goes on there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from importlib.metadata import version
from math import prod
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import growth_page
from benchmarks.growth_child import SYSTEMS
from benchmarks.libmultilabel_peer import PYTHON as LIBMULTILABEL
from benchmarks.libmultilabel_peer import PeerMissingError, prepare_peer
from benchmarks.scale import made_labels
from benchmarks.setting import say

HERE = Path(__file__).parent
OMIKUJI = HERE / ".peer-omikuji" / ("Scripts" if os.name == "nt" else "bin") / "python"
#: CPU seconds after which a process is ended.
_MOST_SECONDS = 90
_TEST = 500
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
#: Words of a label, words of it in a document that has it, and words of no label.
_OWN, _EACH, _OTHER = 20, 4, 40


@dataclass(frozen=True)
class Size:
    """Training documents, labels and features."""

    documents: int
    labels: int
    features: int


BASE = Size(2_000, 200, 5_000)
#: What grows → the sizes, of which one is the base.
GROWTH = {
    "documents": [Size(n, 200, 5_000) for n in (1_000, 2_000, 4_000, 8_000)],
    "labels": [
        *(Size(2_000, p, 5_000) for p in (100, 200, 400, 800)),
        Size(8_000, 3_000, 20_000),
        Size(20_000, 10_000, 40_000),
    ],
    "features": [Size(2_000, 200, v) for v in (2_500, 5_000, 10_000, 20_000)],
}


@dataclass(frozen=True)
class Measured:
    """The costs of one system at one size: medians over rounds.

    Attributes
    ----------
    fit, predict
        CPU seconds, of prediction for 500 documents; ``None``: it did not end.
    mb
        Peak of memory, everything included.
    ndcg
        nDCG@5 on new documents.
    trouble
        Why there is nothing.
    """

    fit: float | None = None
    predict: float | None = None
    mb: float | None = None
    ndcg: float | None = None
    trouble: str = ""


def make_documents(size: Size, folder: Path, seed: int = 0) -> Any:
    """Write tf-idf vectors whose words follow the labels; return the labels of the new documents.

    Label sets have Zipf frequencies and topics of 40 labels, four to five labels per document.
    """
    rng = np.random.default_rng(seed)
    n = size.documents + _TEST
    Y = _all_used(made_labels(n, size.labels, seed), size.documents, rng)
    own = rng.integers(0, size.features, (size.labels, _OWN))
    document = np.repeat(np.arange(n), np.diff(Y.indptr))
    of_labels = own[np.repeat(Y.indices, _EACH), rng.integers(0, _OWN, Y.nnz * _EACH)]
    others = (size.features * rng.random(n * _OTHER) ** 3).astype(int)
    rows = np.concatenate([np.repeat(document, _EACH), np.repeat(np.arange(n), _OTHER)])
    words = np.concatenate([of_labels, others])
    counts = sparse.csr_array((np.ones(len(rows)), (rows, words)), shape=(n, size.features))
    counts.sum_duplicates()
    frequency = np.bincount(counts.indices, minlength=size.features)
    X = counts.copy()
    X.data = (1 + np.log(X.data)) * np.log(n / np.maximum(frequency, 1))[X.indices]
    norm = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.maximum(norm, 1e-12), np.diff(X.indptr))
    parts = {"X": X[: size.documents], "Y": Y[: size.documents], "X_test": X[size.documents :]}
    for name, matrix in parts.items():
        sparse.save_npz(folder / f"{name}.npz", sparse.csr_matrix(matrix), compressed=False)
    return Y[size.documents :]


def _all_used(Y: sparse.csr_array, n_training: int, rng: np.random.Generator) -> Any:
    """Give labels that no training document has to one each: chains must see both classes."""
    missing = np.flatnonzero(Y[:n_training].sum(axis=0) == 0)
    rows = rng.integers(0, n_training, len(missing))
    given = sparse.csr_array((np.ones(len(rows), Y.dtype), (rows, missing)), shape=Y.shape)
    # Whole numbers of the usual size: with 8 bits scikit-learn's one-vs-rest mixes up its columns.
    both = sparse.csr_array(Y + given, dtype=np.int64)
    both.sort_indices()
    return both


def measure_size(size: Size, systems: dict[str, Path], rounds: int, most: int) -> dict[str, Any]:
    """Give every system its turns at one size."""
    turns: dict[str, list[Measured]] = {system: [] for system in systems}
    for round_ in range(rounds):
        with TemporaryDirectory() as name:
            truth = make_documents(size, Path(name), round_)
            for system, python in systems.items():
                done = turns[system]
                if not (done and done[-1].trouble):
                    done.append(_measure(system, python, Path(name), truth, most))
                    say(f"  {size}: {system}: {done[-1]}")
    return {system: _middle(done) for system, done in turns.items()}


def _measure(system: str, python: Path, folder: Path, truth: Any, most: int) -> Measured:
    from labelkin.evaluation.metrics import ndcg_at_k

    (folder / "scores.npz").unlink(missing_ok=True)
    own = ["-I"] if python != Path(sys.executable) else []
    child = str(HERE / "growth_child.py")
    command = [str(python), *own, child, system, str(folder), str(most)]
    one_thread = dict.fromkeys(_THREADS, "1")
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **one_thread}
    )
    if done.returncode < 0:
        return Measured(trouble=f"> {most} s")
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return Measured(trouble=f"failed: {lines[-1] if lines else 'no message'}"[:80])
    found = json.loads(done.stdout.splitlines()[-1])
    scores = sparse.csr_array(sparse.load_npz(folder / "scores.npz"))
    return Measured(**found, ndcg=ndcg_at_k(truth, scores, 5))


def _middle(turns: list[Measured]) -> Measured:
    if turns[-1].trouble:
        return turns[-1]
    names = ("fit", "predict", "mb", "ndcg")
    return Measured(**{name: median(getattr(turn, name) for turn in turns) for name in names})


def peers() -> tuple[dict[str, Path], dict[str, str], dict[str, str]]:
    """Return the Python of every available system, their versions, and the missing systems."""
    here = Path(sys.executable)
    systems = {name: here for name in SYSTEMS if name.startswith(("labelkin", "scikit-learn"))}
    versions, missing = {}, {}
    for name, python, prepare in (
        ("LibMultiLabel", LIBMULTILABEL, prepare_peer),
        ("Omikuji", OMIKUJI, _prepare_omikuji),
    ):
        try:
            versions[name] = prepare()
            systems |= {system: python for system in SYSTEMS if system.startswith(name)}
        except PeerMissingError as reason:
            missing[name] = str(reason)
    return systems, versions, missing


def _prepare_omikuji() -> str:
    """Install Omikuji unless it is there; return its version."""
    code = "import omikuji, scipy, importlib.metadata as m; print(m.version('omikuji'))"
    command = [str(OMIKUJI), "-I", "-c", code]
    if not OMIKUJI.exists():
        say("  installing Omikuji into benchmarks/.peer-omikuji")
        for step in (
            [sys.executable, "-m", "venv", str(OMIKUJI.parent.parent)],
            [str(OMIKUJI), "-m", "pip", "install", "--quiet", "omikuji", "numpy", "scipy"],
        ):
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                raise PeerMissingError(f"Omikuji cannot be installed here: {last}")
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if not found:
        raise PeerMissingError("Omikuji is installed but cannot be imported")
    return found


def measure_growth(
    rounds: int, most: int, keep: Path, write: Path | None = None
) -> growth_page.Growth:
    """Measure every size once, whichever way it grows; the page is written after each of them.

    What an earlier call has measured in the same setting, and left in ``keep``, is not measured
    again. A system that took too long is not asked about sizes that are larger in every respect.
    """
    systems, versions, missing = peers()
    names = ("labelkin", "scikit-learn", "numpy", "scipy", "numba")
    versions = {name: version(name) for name in names} | versions
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    machine += f", Python {platform.python_version()}"
    sizes = {size for sizes in GROWTH.values() for size in sizes}

    def growth(measured: dict[Size, dict[str, Measured]]) -> growth_page.Growth:
        tables = {
            what: [(vars(size), measured[size]) for size in sizes if size in measured]
            for what, sizes in GROWTH.items()
            if any(size in measured for size in sizes)
        }
        order = list(systems)
        left_out = len(sizes) - len(measured)
        return growth_page.Growth(tables, order, machine, versions, missing, rounds, most, left_out)

    measured = _kept(keep, growth({}))
    for size in sorted(sizes - set(measured), key=lambda size: prod(astuple(size))):
        start = time.perf_counter()
        able = {name: python for name, python in systems.items() if _may(name, size, measured)}
        found = measure_size(size, able, rounds, most)
        late = {name: Measured(trouble=f"> {most} s") for name in systems if name not in able}
        measured[size] = {**found, **late}
        keep.write_text(growth(measured).to_json(), encoding="utf-8")
        if write is not None:
            growth_page.write(growth(measured), write)
        say(f"{size}: {time.perf_counter() - start:.0f} s")
    return growth(measured)


def _kept(keep: Path, now: growth_page.Growth) -> dict[Size, dict[str, Measured]]:
    """Return what is kept of an earlier call; nothing, if that was in another setting."""
    if not keep.exists():
        return {}
    before = growth_page.Growth.from_json(keep.read_text(encoding="utf-8"))
    if replace(before, tables={}, left_out=0) != replace(now, tables={}, left_out=0):
        say(f"  {keep.name} was measured in another setting: all is measured again")
        return {}
    return {
        Size(**size): {name: Measured(**one) for name, one in found.items()}
        for rows in before.tables.values()
        for size, found in rows
    }


def _may(name: str, size: Size, measured: dict[Size, dict[str, Measured]]) -> bool:
    """Return whether a system has ended at every smaller size."""
    return not any(
        found[name].trouble and astuple(done) == tuple(map(min, astuple(done), astuple(size)))
        for done, found in measured.items()
        if name in found
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1, help="turns of each (1)")
    parser.add_argument("--seconds", type=int, default=_MOST_SECONDS, help="CPU time of each (90)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the page, Markdown")
    parser.add_argument(
        "--keep",
        type=Path,
        default=HERE / ".growth.json",
        metavar="FILE",
        help="measurements as JSON, from which the next call resumes (benchmarks/.growth.json)",
    )
    chosen = parser.parse_args(arguments)
    growth = measure_growth(chosen.rounds, chosen.seconds, chosen.keep, chosen.write)
    if chosen.write:
        growth_page.write(growth, chosen.write)
    else:
        print(growth_page.tables(growth))


if __name__ == "__main__":
    main()
