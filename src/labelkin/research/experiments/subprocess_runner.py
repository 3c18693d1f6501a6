"""Train a related method in a separate process, with a time limit and a measure of memory.

Slow methods spend their time in compiled code, which a timer in the same process cannot interrupt.
The peak memory, with the interpreter and the documents, is comparable between methods.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from labelkin.content.platt_svm import PlattSVM
from labelkin.files import python_command
from labelkin.label_matrix import LabelMatrix
from labelkin.research.experiments.train import Stopwatch

_JOB, _ANSWER = "job.joblib", "answer.joblib"
_PROGRAM = f"import sys; from {__name__} import run_job_file; run_job_file(*sys.argv[1:])"
#: Lines of the process's stderr that an error repeats.
_STDERR_LINES = 5


class Job(NamedTuple):
    """An unfitted classifier, training documents and labels, test documents."""

    model: Any
    X: Any
    labels: LabelMatrix
    X_test: Any


class JobResult(NamedTuple):
    """The results of a job.

    Attributes
    ----------
    log_odds, decisions
        Of the test documents, ``(n_documents, n_labels)``; decisions are the method's own.
    seconds
        ``"learning_wall"``, ``"learning_cpu"``, ``"predicting_wall"`` and ``"predicting_cpu"``.
    memory
        Peak memory of the process, in bytes.
    warnings
        The text of every warning, once.
    """

    log_odds: NDArray[np.float64]
    decisions: NDArray[np.bool_]
    seconds: dict[str, float]
    memory: float
    warnings: list[str]


def run_in_subprocess(job: Job, time_limit: float | None = None) -> JobResult | None:
    """Run a job in another process; return ``None`` if it took more than ``time_limit`` seconds."""
    with TemporaryDirectory(prefix="labelkin-") as folder:
        joblib.dump(job, Path(folder) / _JOB)
        command, environment = python_command(_PROGRAM, folder, os.getpid())
        try:
            done = subprocess.run(
                command,
                env=environment,
                timeout=time_limit,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            stderr_tail = "\n".join(done.stderr.strip().splitlines()[-_STDERR_LINES:])
            raise RuntimeError(
                f"The process that trained {type(job.model).__name__} ended with "
                f"{done.returncode} (negative: a signal, perhaps for lack of memory):\n"
                f"{stderr_tail}"
            )
        answer: JobResult = joblib.load(Path(folder) / _ANSWER)
        return answer


def run_here(job: Job) -> JobResult:
    """Run a job in this process; linear algebra has one thread."""
    model = job.model
    # Compiled code is loaded before the clock starts.
    PlattSVM(cv=2).fit(sparse.eye_array(4, format="csr"), np.eye(4, 2))
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        watch = Stopwatch()
        model.fit(job.X, job.labels)
        seconds, watch = watch.seconds("learning_"), Stopwatch()
        log_odds = np.asarray(model.log_odds(job.X_test))
        seconds |= watch.seconds("predicting_")
        decisions = model.predict(job.X_test)
    decided = decisions.toarray() if sparse.issparse(decisions) else np.asarray(decisions)
    texts = list(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    return JobResult(log_odds, decided > 0, seconds, _peak_memory(), texts)


def _peak_memory() -> float:
    """Return the peak memory of this process in bytes; NaN on Windows."""
    if sys.platform == "win32":
        return float("nan")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)


def run_job_file(folder: str, parent: str) -> None:
    """Run the job in a folder and write the answer; end when the parent process has ended."""
    threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    joblib.dump(run_here(joblib.load(Path(folder) / _JOB)), Path(folder) / _ANSWER)


def _end_with(parent: int) -> None:
    """End this process soon after its parent."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
