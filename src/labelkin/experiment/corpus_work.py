"""The runs on one corpus, made one at a time."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from labelkin.experiment.evidence import Blocks, LabelLayer, content_evidence
from labelkin.experiment.material import Material, prepare
from labelkin.experiment.plan import CorpusChoice, Experiment, PlannedRun
from labelkin.experiment.results import RUNS, Run, first_difference
from labelkin.experiment.store import locked, new_run, write_arrays, write_record
from labelkin.experiment.truth import (
    FACTS,
    TRUTH,
    Truth,
    read_facts,
    read_truth,
    write_facts,
    write_truth,
)
from labelkin.odds import log_odds_of

#: Told how much is done, of how much, and what it is.
Progress = Callable[[int, int, str], None]
#: Where lock files are, in every folder that has some.
LOCKS = ".locks"
_PACKAGES = ("labelkin", "numpy", "scipy", "scikit-learn", "joblib", "numba", "PyStemmer")


class CorpusWork:
    """What runs on one corpus share while they are made: the corpus, and fitted label classifiers.

    Both are made when they are first needed: a corpus whose content evidence is there already is
    not even loaded.

    Parameters
    ----------
    experiment, choice
        What is made, and on which of its corpora.
    folder
        Of the corpus, in that of the experiment.
    path
        Where the corpus is; ``None``: where the experiment says.
    tell
        Told of every block of test documents.
    """

    def __init__(
        self,
        experiment: Experiment,
        choice: CorpusChoice,
        folder: Path,
        path: str | os.PathLike[str] | None,
        tell: Progress,
    ) -> None:
        self.experiment = experiment
        self.choice = choice
        self.folder = folder
        self.path = path
        self.tell = tell

    def make(self, run: PlannedRun, content: Run | None) -> None:
        """Train a system and write its run; ``content`` is what an addition is added to."""
        wall, cpu = time.perf_counter(), time.process_time()
        shape = self.material.Y_test.shape if content is None else content.log_odds().shape
        blocks = self._counted(self._log_odds(run, content, shape[0]), run, shape[0])
        cut = float(log_odds_of(self.experiment.threshold))
        with new_run(self.folder / RUNS / run.name) as part:
            checksums = write_arrays(part, blocks, shape, cut)
            seconds = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            made = {"seconds": seconds, "versions": versions()}
            write_record(part, {**run.record(), **made, "shape": shape, "sha256": checksums})

    @cached_property
    def material(self) -> Material:
        """The corpus; its label sets are written down, or found to be those that are."""
        self.tell(0, 1, f"reading {self.choice.name}")
        material = prepare(self.choice, self.experiment.words, self.path)
        with locked(self.folder / LOCKS / "corpus.lock", wait=True):
            has_runs = any(self.folder.glob(f"{RUNS}/*@seed*/run.json"))
            if has_runs and (self.folder / FACTS).exists():
                self._refuse_other_corpus(material)
            write_truth(self.folder / TRUTH, Truth(material.Y_train, material.Y_test, material.ids))
            write_facts(self.folder / FACTS, material.facts)
        return material

    def restore(self) -> None:
        """Make what runs need besides themselves, if somebody has deleted it."""
        if not ((self.folder / TRUTH).exists() and (self.folder / FACTS).exists()):
            _ = self.material

    @cached_property
    def label_layer(self) -> LabelLayer:
        """What the training labels say of one another."""
        return LabelLayer(read_truth(self.folder / TRUTH).train)

    def _log_odds(self, run: PlannedRun, content: Run | None, n_documents: int) -> Blocks:
        def tell(what: str) -> None:
            self.tell(0, n_documents, f"{run.name}: {what}")

        if run.system.addition is None or content is None:
            choice = self.choice.content[run.system.content]
            return content_evidence(choice, run.seed, self.material, tell)
        return self.label_layer.posterior(run.system.addition, content.log_odds(), tell)

    def _counted(self, blocks: Blocks, run: PlannedRun, n_documents: int) -> Blocks:
        """Hand blocks on, and tell how many documents they have been."""
        n_done = 0
        for block in blocks:
            yield block
            n_done += len(block)
            self.tell(n_done, n_documents, f"{run.name}: documents")

    def _refuse_other_corpus(self, material: Material) -> None:
        old = read_facts(self.folder / FACTS).get("sha256")
        changed = first_difference(old, material.facts["sha256"])
        if changed:
            raise ValueError(
                f"The runs in {self.folder} were made on other data: the checksum of {changed}. "
                "Give them another folder (--out), or delete these."
            )


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that have a say in the numbers."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    return {**found, **dict(_package_versions())}


def _package_versions() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:  # an extra that is not installed
            continue
