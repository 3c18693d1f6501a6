"""Train one system in a process of its own: its time can be limited, its memory measured.

What is slow is often compiled code, which no timer inside the process interrupts; the process as a
whole can be ended. Its largest memory, with the interpreter and the documents, is the same kind of
number for every system.
"""

from __future__ import annotations

import os
import signal
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
from labelkin.helper_process import python_command
from labelkin.label_matrix import LabelMatrix
from labelkin.research.experiments.train import Matrix, Stopwatch

_JOB, _ANSWER = "job.joblib", "answer.joblib"
_PROGRAM = "import sys; from labelkin.research.experiments.apart import main; main(*sys.argv[1:])"
#: Lines of what a process wrote that an error repeats.
_LAST_LINES = 5
#: A process that only waits is ended, too, after so many times the limit by the clock on the wall.
_PATIENCE = 20
_COUNTS_CPU = hasattr(signal, "setitimer")


class Job(NamedTuple):
    """What is to be trained and asked.

    Attributes
    ----------
    model
        An unfitted classifier.
    X, labels
        Training documents as it sees them, and their labels.
    X_test
        Test documents as it sees them.
    unseen, content
        Where it starts from the evidence of binary relevance: log-odds of the training documents as
        if unseen, and of the test documents, both × labels. ``None``: it starts from documents.
    """

    model: Any
    X: Any
    labels: LabelMatrix
    X_test: Any
    unseen: Matrix | None = None
    content: Matrix | None = None


class Answer(NamedTuple):
    """What came out.

    Attributes
    ----------
    log_odds, decisions
        Of the test documents, ``(n_documents, n_labels)``; decisions are the system's own.
    seconds
        ``"learning_wall"``, ``"learning_cpu"``, ``"predicting_wall"`` and ``"predicting_cpu"``.
    memory
        The most memory the process had, in bytes.
    warnings
        What was warned of, each text once.
    """

    log_odds: Matrix
    decisions: NDArray[np.bool_]
    seconds: dict[str, float]
    memory: float
    warnings: list[str]


def train_apart(job: Job, time_limit: float | None = None) -> Answer | None:
    """Do a job in another process; ``None`` if it took more than ``time_limit`` seconds.

    They are seconds of the processor, so that who else uses the machine does not decide which
    systems are in a table; of the clock where a system cannot limit them (Windows).
    """
    patience = _PATIENCE if _COUNTS_CPU else 1
    with TemporaryDirectory(prefix="labelkin-") as folder:
        joblib.dump(job, Path(folder) / _JOB)
        command, environment = python_command(_PROGRAM, folder, os.getpid(), time_limit or 0)
        try:
            done = subprocess.run(
                command,
                env=environment,
                timeout=patience * time_limit if time_limit else None,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        if _COUNTS_CPU and done.returncode == -signal.SIGPROF:
            return None
        if done.returncode != 0:
            last = "\n".join(done.stderr.strip().splitlines()[-_LAST_LINES:])
            how = f"ended with {done.returncode}"
            if done.returncode < 0:
                how = f"was ended by signal {-done.returncode}, perhaps for lack of memory"
            raise RuntimeError(
                f"The process that trained {type(job.model).__name__} {how}. It wrote:\n{last}"
            )
        answer: Answer = joblib.load(Path(folder) / _ANSWER)
        return answer


def do_job(job: Job) -> Answer:
    """Train, ask, and measure both; linear algebra has one thread."""
    model = job.model
    # compiled code is loaded before the clock starts
    PlattSVM(cv=2).fit(sparse.eye_array(4, format="csr"), np.eye(4, 2))
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        watch = Stopwatch()
        if job.unseen is None:
            model.fit(job.X, job.labels)
        else:
            model.fit_on_evidence(job.X, job.labels, job.unseen)
        seconds, watch = watch.seconds("learning_"), Stopwatch()
        if job.content is None:
            log_odds = np.asarray(model.log_odds(job.X_test))
            seconds |= watch.seconds("predicting_")
            decisions = model.predict(job.X_test)
            decided = decisions.toarray() if hasattr(decisions, "toarray") else decisions
        else:
            log_odds = model.log_odds_on_evidence(job.X_test, job.content)
            seconds |= watch.seconds("predicting_")
            decided = log_odds > 0
    said = list(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    return Answer(log_odds, np.asarray(decided) > 0, seconds, _largest_memory(), said)


def _largest_memory() -> float:
    """Return the most memory this process has had, in bytes; NaN where the system does not say."""
    if sys.platform == "win32":
        return float("nan")
    import resource

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(largest if sys.platform == "darwin" else 1024 * largest)


def main(folder: str, parent: str, time_limit: str) -> None:
    """Do the job that lies in a folder, and leave the answer there, for as long as one waits.

    The parent's number is given: who asks for it may have been orphaned while starting.
    """
    if _COUNTS_CPU:  # the signal ends the process even inside compiled code; 0: never
        signal.setitimer(signal.ITIMER_PROF, float(time_limit))
    threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    joblib.dump(do_job(joblib.load(Path(folder) / _JOB)), Path(folder) / _ANSWER)


def _end_with(parent: int) -> None:
    """End this process soon after its parent has, however that ended."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
