"""Out-of-fold log-odds on disk: what runs say of training documents as if they were new.

They are made when the run itself is, if others will need them, and kept in a folder of their own:
an experiment that grows can make them later without touching the run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.experiment.checked import read_array, read_record
from labelkin.experiment.train import Learnt
from labelkin.experiment.plan import PlannedRun
from labelkin.experiment.run_folder import refuse_other
from labelkin.experiment.store import (
    LOCKS,
    OUT_OF_FOLD,
    locked,
    new_run,
    write_array,
    write_record,
)
from labelkin.experiment.versions import versions

#: Where they are, in the folder of a corpus.
UNSEEN = "out_of_fold"


class OutOfFold:
    """The out-of-fold log-odds of the runs on one corpus, in whose ``folder`` they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._checked: set[str] = set()

    def keep(self, run: PlannedRun, learnt: Learnt) -> None:
        """Write what a run has learnt, unless it is there."""
        with self._locked(run):
            if not self._place(run).exists():
                self._write(run, learnt)

    def read(self, run: PlannedRun, learn: Callable[[], Learnt]) -> NDArray[np.float64]:
        """Return the log-odds, ``(n_train, n_labels)``; what is not there is learnt now."""
        place = self._place(run)
        if run.name not in self._checked:
            with self._locked(run):
                if not place.exists():
                    self._write(run, learn())
            refuse_other(place, read_record(place, {OUT_OF_FOLD: np.float64}), run)
            self._checked.add(run.name)
        return read_array(place / OUT_OF_FOLD)

    def _place(self, run: PlannedRun) -> Path:
        return self.folder / UNSEEN / run.name

    def _locked(self, run: PlannedRun) -> Any:
        return locked(self.folder / LOCKS / f"{run.name}.{UNSEEN}.lock", wait=True)

    def _write(self, run: PlannedRun, learnt: Learnt) -> None:
        unseen = learnt.out_of_fold
        if unseen is None:
            raise TypeError(f"{run.name} was learnt without its out-of-fold log-odds.")
        with new_run(self._place(run)) as part:
            checksum = write_array(part / OUT_OF_FOLD, [unseen], np.float64, unseen.shape)
            made = {"seconds": learnt.seconds, "versions": versions(), "shape": unseen.shape}
            write_record(part, {**run.record(), **made, "sha256": {OUT_OF_FOLD: checksum}})
