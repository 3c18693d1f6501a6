"""Run an experiment in children that are killed; a program for test_experiment_resuming.py.

Arguments: the experiment, the folder for results, and the distance of the moments at which a child
is killed. Each time the experiment is finished here; prints the folders and the errors as JSON. The
program has one thread, so that it can fork; the children inherit what is imported, and are cheap.
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

EXPERIMENT, OUT = parse_experiment(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
train._BLOCK_DOCUMENTS = 15


def main() -> None:
    """Kill a child at each moment in turn."""
    bad: list[str] = []
    folders: list[Path] = []
    killed = True
    while killed:  # there are more moments
        moment = len(folders) * int(sys.argv[3])
        folders.append(OUT / str(moment))
        child = os.fork()
        if not child:
            work(folders[-1], moment)
        killed = os.waitpid(child, 0)[1] != 0
        if (folders[-1] / "experiment.toml").exists():
            try:
                read_results(folders[-1], partial=True)
            except Exception as error:
                bad.append(repr(error))
        run_experiment(EXPERIMENT, folders[-1])
    print(json.dumps({"folders": list(map(str, folders)), "bad": bad}))


def work(folder: Path, kill_at: int) -> None:
    """Run the experiment and end this process; at a moment, kill it."""
    moments = count()

    def moment(*_: Any) -> None:
        if next(moments) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def between(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **options: Any) -> Any:
            moment()
            result = function(*arguments, **options)
            moment()
            return result

        return called

    for owner, name in (
        (files, "to_disk"),
        (files, "names_to_disk"),
        (Path, "rename"),
        (Path, "replace"),
        (runs.shutil, "rmtree"),
    ):
        setattr(owner, name, between(getattr(owner, name)))
    status = 1
    try:
        run_experiment(EXPERIMENT, folder, progress=moment)
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
