"""The runs on one corpus, made one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.experiment.train import LabelLayer, Learnt, content_blocks, learn_content
from labelkin.experiment.prepared_corpus import Material, prepare
from labelkin.experiment.out_of_fold import OutOfFold
from labelkin.experiment.plan import CorpusChoice, Experiment, PlannedRun
from labelkin.experiment.run_folder import RUNS, Run, first_difference
from labelkin.experiment.revealing import reveal
from labelkin.experiment.stopwatch import Stopwatch
from labelkin.experiment.store import (
    CUTS,
    DECISIONS,
    LOCKS,
    locked,
    new_run,
    write_array,
    write_arrays,
    write_file,
    write_record,
)
from labelkin.experiment.systems import AUTO, Addition, Control
from labelkin.experiment.threshold_rules import cuts_csv, decide, make_rule
from labelkin.experiment.truth import (
    FACTS,
    TRUTH,
    Truth,
    read_facts,
    read_truth,
    write_facts,
    write_truth,
)
from labelkin.experiment.versions import versions
from labelkin.odds import log_odds_of

#: Told how much is done, of how much, and what it is.
Progress = Callable[[int, int, str], None]


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

    def make(self, run: PlannedRun, start: Run | None) -> None:
        """Train a system and write its run; ``start`` is the run that it starts from."""
        watch = Stopwatch()
        if start is not None and run.system.thresholds is not None:
            self._make_decisions(run, start, watch)
        else:
            self._make_log_odds(run, start, watch)

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

    @cached_property
    def out_of_fold(self) -> OutOfFold:
        """The log-odds of training documents that runs learn from."""
        return OutOfFold(self.folder)

    def _make_log_odds(self, run: PlannedRun, start: Run | None, watch: Stopwatch) -> None:
        shape = self.material.Y_test.shape if start is None else start.log_odds().shape

        def tell(what: str) -> None:
            self.tell(0, shape[0], f"{run.name}: {what}")

        learnt = self._learn(run, run.keeps_out_of_fold, tell)
        if run.keeps_out_of_fold:
            self.out_of_fold.keep(run, learnt)
        tell("documents")
        documents = (
            self.material.test_blocks() if start is None else content_blocks(start.log_odds())
        )
        blocks = self._counted(map(learnt.judge, documents), run, shape[0])
        cut = float(log_odds_of(self.experiment.threshold))
        with new_run(self.folder / RUNS / run.name) as part:
            checksums = write_arrays(part, blocks, shape, cut)
            seconds = {**watch.seconds(), **learnt.seconds}
            made = {
                "seconds": seconds,
                "learnt": learnt.facts,
                "known_labels": self._known_labels(run, start, learnt),
                "versions": versions(),
            }
            write_record(part, {**run.record(), **made, "shape": shape, "sha256": checksums})

    def _known_labels(self, run: PlannedRun, start: Run | None, learnt: Learnt) -> list[Any]:
        """Measure what known labels are worth to a learnt weight."""
        addition = run.system.addition
        if start is None or not isinstance(addition, Addition) or addition.weight != AUTO:
            return []
        truth = read_truth(self.folder / TRUTH).test
        return reveal(learnt.judge, np.array(start.log_odds()), truth)

    def _make_decisions(self, run: PlannedRun, start: Run, watch: Stopwatch) -> None:
        """Tune a threshold rule out of fold, and decide on another run's log-odds."""
        if run.start is None or run.system.thresholds is None:
            raise TypeError(f"{run.name} has no threshold rule.")
        scores = start.log_odds()
        self.tell(0, len(scores), f"{run.name}: learning")
        unseen = self._unseen(run.start)
        learning = Stopwatch()
        rule = make_rule(run.system.thresholds)
        rule.fit(unseen if rule.needs_scores else None, self.label_layer.labels)
        learnt = learning.seconds("learning_")
        blocks = self._counted(decide(rule, scores), run, len(scores))
        with new_run(self.folder / RUNS / run.name) as part:
            checksums = {
                DECISIONS: write_array(part / DECISIONS, blocks, np.bool_, scores.shape),
                CUTS: write_file(part / CUTS, cuts_csv(rule).encode()),
            }
            seconds = {**watch.seconds(), **learnt}
            made = {"seconds": seconds, "versions": versions(), "log_odds_of": run.start.name}
            write_record(part, {**run.record(), **made, "shape": scores.shape, "sha256": checksums})

    def _unseen(self, run: PlannedRun) -> NDArray[np.float64]:
        """Return a run's out-of-fold log-odds; learn them again if they are not there."""
        return self.out_of_fold.read(run, lambda: self._learn(run, True, _silent))

    def _learn(self, run: PlannedRun, out_of_fold: bool, tell: Callable[[str], None]) -> Learnt:
        if run.system.addition is None or run.start is None:
            content = self.choice.content[run.system.content]
            return learn_content(content, run.seed, self.material, tell, out_of_fold=out_of_fold)
        addition = run.system.addition
        learns = isinstance(addition, Control) or addition.learns_from_guesses
        tell("learning")
        content_unseen = self._unseen(run.start) if learns or out_of_fold else None
        return self.label_layer.learn(addition, content_unseen, out_of_fold=out_of_fold)

    def _counted(
        self, blocks: Iterable[NDArray[Any]], run: PlannedRun, n_documents: int
    ) -> Iterator[NDArray[Any]]:
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


def _silent(text: str) -> None:
    pass
