"""What an experiment leaves on disk, read back without training anything.

::

    DIR/experiment.toml                    the experiment
    DIR/<corpus>/corpus.json               what the corpus is
    DIR/<corpus>/truth.npz                 label sets of its training and test documents
    DIR/<corpus>/runs/<system>@seed<k>/    log_odds.npy, decisions.npy, run.json
    DIR/<corpus>/runs/<system>@<rule>@seed<k>/   decisions.npy, cuts.csv, run.json
    DIR/<corpus>/out_of_fold/<system>@seed<k>/   out_of_fold.npy, run.json

A run with a threshold rule decides on the log-odds of the run without it. What is out of fold are
log-odds of the training documents, by which weights and cuts were learnt; reports need none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.experiment.checked import SCORED, read_array, read_record
from labelkin.experiment.configuration import read_experiment
from labelkin.experiment.plan import Experiment, PlannedRun
from labelkin.experiment.store import DECISIONS, LOG_ODDS
from labelkin.experiment.truth import FACTS, TRUTH, read_facts, read_truth
from labelkin.label_matrix import LabelMatrix

EXPERIMENT, RUNS = "experiment.toml", "runs"


@dataclass(frozen=True)
class Run:
    """One trained system: what it was, and what it says of the test documents.

    Attributes
    ----------
    system
        Its name, ``"NB+BLR+M2"``.
    content, addition
        Its two parts, ``"NB"`` and ``"BLR+M2"``; the addition is empty for the content alone.
    thresholds
        The name of the rule that decided; empty where log-odds were cut at one number.
    corpus, seed
        What it was trained on, and by which seed.
    configuration
        All that decided what came out.
    versions
        Of Python and the packages it was made with.
    seconds
        How long it took: ``"wall"`` and ``"cpu"``, and of these ``"learning_wall"`` and
        ``"learning_cpu"`` to learn from training documents.
    learnt
        What was learnt: ``"evidence_weight"`` and ``"first_place"`` of a learnt weight.
    known_labels
        What known labels are worth to a learnt weight: see ``revealing``.
    folder
        Where it is.
    log_odds_folder
        Where its log-odds are: those of another run where a rule decided.
    """

    system: str
    content: str
    addition: str
    thresholds: str
    corpus: str
    seed: int
    configuration: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: Mapping[str, float]
    learnt: Mapping[str, float]
    known_labels: Sequence[Mapping[str, Any]]
    folder: Path
    log_odds_folder: Path

    def log_odds(self) -> NDArray[np.float64]:
        """Return the log-odds, ``(n_test, n_labels)``, memory-mapped and read only."""
        return read_array(self.log_odds_folder / LOG_ODDS)

    def decisions(self) -> NDArray[np.bool_]:
        """Return the decisions, ``(n_test, n_labels)``, memory-mapped and read only."""
        return read_array(self.folder / DECISIONS)


@dataclass(frozen=True)
class CorpusResults:
    """All runs on one corpus.

    Attributes
    ----------
    name
        Of the corpus.
    facts
        Its source, licence and numbers, and checksums of what went in.
    Y, Y_train
        The label sets of test and training documents.
    ids
        The test documents' own names, ``(n_test,)``, where they have any.
    runs
        Those that give log-odds, in the order of the paper's tables, seed by seed.
    threshold_runs
        Those that decide by a rule on the log-odds of another run.
    """

    name: str
    facts: Mapping[str, Any]
    Y: LabelMatrix
    Y_train: LabelMatrix
    ids: NDArray[Any] | None
    runs: tuple[Run, ...]
    threshold_runs: tuple[Run, ...] = ()

    def run(self, system: str, seed: int | None = None) -> Run:
        """Return the run of a system; of the first seed if none is named."""
        every = [*self.runs, *self.threshold_runs]
        for run in every:
            if run.system == system and seed in (None, run.seed):
                return run
        there_are = ", ".join(dict.fromkeys(run.system for run in every))
        raise ValueError(
            f"There is no run of {system!r} with seed {seed} on {self.name}. Systems: {there_are}."
        )


@dataclass(frozen=True)
class Results:
    """What an experiment has found so far."""

    experiment: Experiment
    corpora: tuple[CorpusResults, ...]
    folder: Path

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs on all corpora that give log-odds."""
        return tuple(run for corpus in self.corpora for run in corpus.runs)

    @property
    def threshold_runs(self) -> tuple[Run, ...]:
        """The runs on all corpora that decide by a rule on the log-odds of another run."""
        return tuple(run for corpus in self.corpora for run in corpus.threshold_runs)


def read_results(folder: str | os.PathLike[str], *, partial: bool = False) -> Results:
    """Read what an experiment has left in a folder; every array is checked.

    Parameters
    ----------
    folder
        Where :func:`labelkin.experiment.run_experiment` was told to put it.
    partial
        Whether missing runs are left out instead of being an error.
    """
    folder = Path(folder)
    if not (folder / EXPERIMENT).is_file():
        raise FileNotFoundError(
            f"{folder} must be the folder of an experiment, and has no {EXPERIMENT}."
        )
    experiment = read_experiment(folder / EXPERIMENT)
    planned = experiment.runs() + experiment.threshold_runs()
    missing = [run for run in planned if not _is_there(folder, run)]
    if missing and not partial:
        raise FileNotFoundError(
            f"{folder} is unfinished: {len(missing)} of {len(planned)} runs are missing, the first "
            f"is {missing[0].name} on {missing[0].corpus}. Run the experiment again: it makes what "
            "is missing. partial=True reads what is there."
        )
    runs = [read_run(folder, run) for run in planned if run not in missing]
    begun = dict.fromkeys(run.corpus for run in runs)
    return Results(experiment, tuple(corpus_results(folder, c, runs) for c in begun), folder)


def _is_there(folder: Path, run: PlannedRun) -> bool:
    """Tell whether a run can be read: where a rule decided, also the run it decided on."""
    needed = run.start if run.system.thresholds else None
    return all(run_folder(folder, one).is_dir() for one in (run, needed) if one)


def run_folder(folder: Path, run: PlannedRun) -> Path:
    """Return where a run is, or will be."""
    return folder / run.corpus / RUNS / run.name


def read_run(folder: Path, planned: PlannedRun) -> Run:
    """Read a run and check it: its arrays, and that it is the run that was planned."""
    place = run_folder(folder, planned)
    decides = planned.system.thresholds is not None
    record = read_record(place, {DECISIONS: np.bool_} if decides else SCORED)
    refuse_other(place, record, planned)
    return Run(
        **planned.record(),
        versions=record["versions"],
        seconds=record["seconds"],
        learnt=record.get("learnt", {}),
        known_labels=record.get("known_labels", ()),
        folder=place,
        log_odds_folder=run_folder(folder, planned.start) if decides and planned.start else place,
    )


def refuse_other(place: Path, record: Mapping[str, Any], planned: PlannedRun) -> None:
    """Refuse what was made by another configuration than the planned one."""
    changed = first_difference(record.get("configuration"), planned.configuration)
    if changed:
        raise ValueError(
            f"The run {place} is not of this experiment: {changed}. Give a changed experiment "
            "another folder (--out), or delete the runs that it changes."
        )


def first_difference(old: Any, new: Any, place: str = "") -> str:
    """Say where two nested records differ first; empty if they do not.

    Examples
    --------
    >>> first_difference({"words": {"stem": True}}, {"words": {"stem": False}})
    'words.stem was True and is False'
    """
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return "" if old == new else f"{place} was {_said(old)} and is {_said(new)}"
    for key in sorted({*old, *new}):
        where = f"{place}.{key}" if place else key
        found = first_difference(old.get(key), new.get(key), where)
        if found:
            return found
    return ""


def _said(value: Any) -> str:
    return "not given" if value is None else repr(value)


def corpus_results(folder: Path, corpus: str, runs: Sequence[Run]) -> CorpusResults:
    """Gather what belongs to one corpus."""
    truth = read_truth(folder / corpus / TRUTH)
    ours = [run for run in runs if run.corpus == corpus]
    return CorpusResults(
        name=corpus,
        facts=read_facts(folder / corpus / FACTS),
        Y=truth.test,
        Y_train=truth.train,
        ids=truth.ids,
        runs=tuple(run for run in ours if not run.thresholds),
        threshold_runs=tuple(run for run in ours if run.thresholds),
    )
