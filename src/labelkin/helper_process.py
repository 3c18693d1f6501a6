"""Commands for helper processes."""

from __future__ import annotations

import os
import sys


def python_command(program: str, *arguments: object) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment that run a Python program with these arguments.

    The process imports from the same folders as this one. ``-P`` keeps the working directory out
    of them: it may be a folder of downloaded data with a ``labelkin.py`` in it.
    """
    folders = os.pathsep.join(folder or os.getcwd() for folder in sys.path)  # noqa: PTH109
    command = [sys.executable, "-P", "-c", program, *map(str, arguments)]
    return command, {**os.environ, "PYTHONPATH": folders, "PYTHONSAFEPATH": "1"}
