"""Helper processes, which do not import from the working directory.

It may be a folder of downloaded data with a ``labelkin.py`` or a ``json.py`` in it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def python_command(program: str, *arguments: object) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment that run a Python program with these arguments.

    The process imports from the folders of this one, except for the working directory.
    """
    folders = [path for folder in sys.path if (path := Path(folder).resolve()) != Path.cwd()]
    # The folder of labelkin last, even if it is the working directory: others are beside it.
    paths = os.pathsep.join(map(str, [*folders, Path(__file__).resolve().parent.parent]))
    command = [sys.executable, "-P", "-c", program, *map(str, arguments)]
    return command, {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
