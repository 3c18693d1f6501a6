"""Growth: what more documents and more labels cost, in time and memory (``make bench-scale``).

Each measurement is a separate process, on synthetic label sets: Zipf frequencies, topics of 40
labels, four to five labels per document, and for content a document's true labels among candidates,
with noise. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from itertools import islice, pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import Cells

#: Labels of a topic, and how many labels a document has on average.
_TOPIC, _LABELS_EACH = 40, 4.5


def made_labels(n_documents: int, n_labels: int, seed: int = 0) -> sparse.csr_array:
    """Return label sets: a document has a topic, most of its labels are of it, some of any.

    Both the topics and the labels within them have Zipf frequencies.
    """
    rng = np.random.default_rng(seed)
    n_topics = max(1, n_labels // _TOPIC)
    sizes = 1 + rng.poisson(_LABELS_EACH - 1 + 0.6, n_documents)
    document = np.repeat(np.arange(n_documents), sizes)
    topic = np.repeat(_zipf(rng, n_topics, n_documents), sizes)
    strays = rng.random(len(document)) < 0.15
    topic[strays] = _zipf(rng, n_topics, int(strays.sum()))
    label = np.minimum(topic * _TOPIC + _zipf(rng, _TOPIC, len(document)), n_labels - 1)
    shuffled = rng.permutation(n_labels)  # frequencies must not follow the numbers of the labels
    cells = np.unique(document * n_labels + shuffled[label])
    indptr = np.searchsorted(cells, np.arange(n_documents + 1) * n_labels)
    label = (cells % n_labels).astype(np.int32)
    ones = np.ones(len(cells), np.int8)
    return sparse.csr_array((ones, label, indptr.astype(np.int32)), (n_documents, n_labels))


def made_candidates(Y: sparse.csr_array, k: int = 100, seed: int = 1) -> sparse.csr_array:
    """Return log-odds of k candidates per document: true labels score higher, most of them are in.

    The others are the labels of a document's topic, as a content classifier would confuse them, and
    any.
    """
    rng = np.random.default_rng(seed)
    n_documents, n_labels = Y.shape
    popular = Y.indices[rng.integers(0, Y.nnz, (n_documents, k))]
    kin = np.repeat(np.arange(n_documents), np.diff(Y.indptr))
    is_found = rng.random(Y.nnz) < 0.95
    document = np.concatenate([np.repeat(np.arange(n_documents), k), kin[is_found]])
    label = np.concatenate([popular.ravel(), Y.indices[is_found]])
    cells = np.unique(document.astype(np.int64) * n_labels + label)
    pattern = Cells(
        np.searchsorted(cells, np.arange(n_documents + 1, dtype=np.int64) * n_labels),
        (cells % n_labels).astype(np.int32),
        Y.shape,
    )
    truth = pattern.at(Y)
    scores = rng.normal(-4.5, 1.5, pattern.n) + truth * rng.normal(4.5, 1.5, pattern.n)
    return pattern.matrix(scores)


def made_texts(Y: sparse.csr_array, n_words: int = 20_000, seed: int = 1) -> list[str]:
    """Return a text for each label set: five of twenty words of each label, and forty of any."""
    words = np.random.default_rng(0).integers(0, n_words, (Y.shape[1], 20))
    letters = "bcdfghjklmnpqrtvwxz"  # nothing that a stemmer would cut off
    names = ["".join(four) for four in islice(product(letters, repeat=4), n_words)]
    rng = np.random.default_rng(seed)
    texts = []
    for start, stop in pairwise(Y.indptr.tolist()):
        own = words[np.repeat(Y.indices[start:stop], 5), rng.integers(0, 20, 5 * (stop - start))]
        texts.append(" ".join(names[k] for k in [*own, *_zipf(rng, n_words, 40)]))
    return texts


def _zipf(rng: np.random.Generator, n: int, size: int) -> NDArray[np.int64]:
    weights = 1 / np.arange(1, n + 1) ** 0.8
    ends = np.cumsum(weights) / weights.sum()
    return np.searchsorted(ends, rng.random(size))


def measure(task: str, n_documents: int, n_labels: int, n_candidates: int) -> dict[str, Any]:
    """Do one task in this process; return seconds of CPU, peak memory and the result."""
    from labelkin.method.label_evidence import LogisticLabels
    from labelkin.models.rescorer import LabelRescorer

    LogisticLabels(neighbours=2).fit(np.eye(4))  # compile, or load what is compiled
    with TemporaryDirectory() as folder:
        parts = _made_elsewhere(Path(folder), task, n_documents, n_labels, n_candidates)
        Y, scores = parts["Y"], parts.get("scores")
    result: dict[str, Any] = {"labels_per_document": Y.nnz / n_documents}
    fitted = None
    if task == "rescore":
        fitted = LabelRescorer(scale="log_odds").fit(parts["train"])
    before = _peak_mb()
    start = time.process_time()
    if task == "layer":
        layer = LogisticLabels(neighbours=32).fit(Y)
        result["weights_per_label"] = layer.weights_.nnz / n_labels
    elif task == "rescore" and fitted is not None:
        fitted.rescore(scores)
    else:
        learned = LabelRescorer(scale="log_odds", evidence_weight="auto").fit(Y, scores=scores)
        result["evidence_weight"] = learned.evidence_weight_
    result["cpu_seconds"] = time.process_time() - start
    return {**result, "mb_before": before, "mb_peak": _peak_mb()}


def _made_elsewhere(folder: Path, task: str, *numbers: int) -> dict[str, sparse.csr_array]:
    """Make label sets and scores in another process: what that takes is not to be measured."""
    command = [sys.executable, "-m", "benchmarks.scale", "--make", str(folder), task]
    subprocess.run([*command, *map(str, numbers)], check=True)
    return {path.stem: sparse.csr_array(sparse.load_npz(path)) for path in folder.glob("*.npz")}


def make(folder: Path, task: str, n_documents: int, n_labels: int, n_candidates: int) -> None:
    """Write what a task needs."""
    Y = made_labels(n_documents, n_labels)
    sparse.save_npz(folder / "Y.npz", Y, compressed=False)
    if task == "rescore":
        train = made_labels(10 * n_documents, n_labels, 2)
        sparse.save_npz(folder / "train.npz", train, compressed=False)
    if task != "layer":
        scores = made_candidates(Y, n_candidates)
        sparse.save_npz(folder / "scores.npz", scores, compressed=False)


def _peak_mb() -> float:
    """Return the most memory that this program has held."""
    try:  # what resource has to say begins with what the parent held when it started this process
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


#: Task, documents, labels, candidates: the default measurements.
PLAN = [
    *(("layer", n, p, 0) for n in (25_000, 50_000, 100_000) for p in (5_000, 10_000, 20_000)),
    ("rescore", 10_000, 10_000, 100),
    ("rescore", 10_000, 100_000, 100),
    ("auto", 10_000, 1_000, 50),
    ("auto", 45_000, 4_000, 100),
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--one", nargs=4, metavar=("TASK", "DOCUMENTS", "LABELS", "CANDIDATES"))
    parser.add_argument("--make", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the table, Markdown")
    chosen = parser.parse_args()
    if chosen.make:
        folder, task, *numbers = chosen.make
        make(Path(folder), task, *map(int, numbers))
        return
    if chosen.one:
        task, *numbers = chosen.one
        print(json.dumps(measure(task, *map(int, numbers))))
        return
    lines = ["| task | documents | labels | CPU s | MB | |", "|---|---|---|---|---|---|"]
    for task, n, p, k in PLAN:
        found = _in_a_process(task, n, p, k)
        rest = ", ".join(
            f"{name.replace('_', ' ')} {value:.3g}"
            for name, value in found.items()
            if name not in ("cpu_seconds", "mb_peak")
        )
        lines.append(
            f"| {task} | {n:,} | {p:,} | {found['cpu_seconds']:.2f} | {found['mb_peak']:.0f} "
            f"| {rest} |"
        )
        print(lines[-1], flush=True)
    if chosen.write:
        chosen.write.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _in_a_process(task: str, *numbers: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale", "--one", task, *map(str, numbers)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
