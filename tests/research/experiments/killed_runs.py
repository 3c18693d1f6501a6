"""Run an experiment in children that are killed; a program for test_experiment_resuming.py.

It has one thread, so that it can fork; the children inherit what is imported, and are cheap.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from labelkin import files
from labelkin.research.experiments import (
    parse_experiment,
    read_results,
    run_experiment,
    runs,
    train,
)

EXPERIMENT, OUT = parse_experiment(Path(sys.argv[2]).read_text()), Path(sys.argv[3])
train._BLOCK_DOCUMENTS = 15  # several moments in every run


def main() -> None:
    """Do what the first argument names; print what was seen as JSON."""
    print(json.dumps(SCENES[sys.argv[1]]()))


def every_moment() -> dict[str, Any]:
    """Kill a child at each moment in turn; finish the experiment here each time."""
    bad: list[str] = []
    folders: list[Path] = []
    killed = True
    while killed:  # there are more moments
        moment = len(folders) * int(os.environ["KILL_AT_EVERY"])
        folders.append(OUT / str(moment))
        killed = wait(fork(lambda: work(folders[-1], kill_at=moment))) != 0  # noqa: B023
        check_partial(folders[-1], bad)
        run_experiment(EXPERIMENT, folders[-1])
    return {"folders": list(map(str, folders)), "bad": bad}


def two_at_once() -> dict[str, Any]:
    """Stop a child in the middle of its first run, run the experiment here, kill the child."""
    first = fork(lambda: work(OUT, stop_at="NB@seed0 on newsroom"))
    os.waitpid(first, os.WUNTRACED)
    error = ""
    try:
        run_experiment(EXPERIMENT, OUT)
    except BlockingIOError as raised:
        error = str(raised)
    os.kill(first, signal.SIGKILL)
    wait(first)
    return {"error": error}


def work(folder: Path, *, kill_at: int = -1, stop_at: str = "") -> None:
    """Run the experiment; at a moment, send ourselves a signal."""
    moments = count()

    def moment() -> None:
        if next(moments) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def see(done: int, total: int, text: str) -> None:
        moment()
        if text == stop_at:
            os.kill(os.getpid(), signal.SIGSTOP)

    for owner, name in (
        (files, "to_disk"),
        (files, "names_to_disk"),
        (Path, "rename"),
        (Path, "replace"),
        (runs.shutil, "rmtree"),
    ):
        setattr(owner, name, between(getattr(owner, name), moment))
    run_experiment(EXPERIMENT, folder, progress=see)


def between(function: Callable[..., Any], moment: Callable[[], None]) -> Callable[..., Any]:
    """Count a moment before and after a call."""

    def called(*arguments: Any, **options: Any) -> Any:
        moment()
        result = function(*arguments, **options)
        moment()
        return result

    return called


def check_partial(folder: Path, bad: list[str]) -> None:
    """Append an error to ``bad`` if the results after a kill cannot be read."""
    if (folder / "experiment.toml").exists():
        try:
            read_results(folder, partial=True)
        except Exception as error:
            bad.append(repr(error))


def fork(do: Callable[[], None]) -> int:
    """Start a child process that calls ``do``."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        do()
        status = 0
    finally:
        os._exit(status)


def wait(child: int) -> int:
    """Return a child's exit status, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


SCENES: dict[str, Callable[[], dict[str, Any]]] = {
    scene.__name__: scene for scene in (every_moment, two_at_once)
}

if __name__ == "__main__":
    main()
