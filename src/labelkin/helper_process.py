"""Helper processes, which do not import from the working directory.

It may be a folder of downloaded data with a ``labelkin.py`` or a ``json.py`` in it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from joblib import Parallel


def python_command(program: str, *arguments: object) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment that run a Python program with these arguments.

    The process imports from the folders of this one, except for the working directory.
    """
    ours, here = Path(__file__).resolve().parent.parent, Path.cwd()
    folders = [path for folder in sys.path if (path := Path(folder).resolve()) != here]
    # Ours last, unless this process has it elsewhere: beside it there may be other packages.
    paths = os.pathsep.join(map(str, folders if ours in folders else [*folders, ours]))
    command = [sys.executable, "-P", "-c", program, *map(str, arguments)]
    return command, {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}


class SafeParallel(Parallel):
    """``joblib.Parallel`` whose processes do not import from the working directory."""

    def __call__(self, tasks: Iterable[Any]) -> Any:
        """Return the results of the tasks."""
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            return super().__call__(tasks)
        finally:
            os.environ.pop("PYTHONSAFEPATH", None)
            if before is not None:
                os.environ["PYTHONSAFEPATH"] = before
