"""The command line: ``labelkin``. It parses, calls the library, and prints.

Results go to stdout, messages and progress to stderr. Exit codes: 0 done, 1 the work failed or was
interrupted, 2 the call or its input was wrong. Whatever a user can do wrong ends in one line.

Options are called as the parameters of Python (``--evidence-weight``, ``evidence_weight``), so that
an error of the library names the option. Modules are loaded by the command that needs them:
``labelkin --help`` loads no scikit-learn, and neither does a call whose paths or names are wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

_NEEDS = {"typer", "rich", "click"}
_CLI_EXTRA = 'The command line needs typer and rich: pip install "labelkin[cli]"'
_INTERRUPTED = 130  # what typer makes of Ctrl-C


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end with its exit code; ``None``: the arguments of this process."""
    try:
        code = _run(arguments)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    if code == _INTERRUPTED:
        if sys.stderr.isatty():
            sys.stderr.write("\n")  # the terminal has shown ^C, maybe behind a stage of work
        _end("Interrupted.", 1)
    raise SystemExit(code)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        from labelkin.cli.app import run

        return run(arguments)
    except UnicodeError as error:
        _end(f"The text must be in the encoding that is named, got: {error}.", 2)
    except OSError as error:
        _end(_which_file(error), 2)
    except (ValueError, TypeError, ImportError) as error:
        missing = isinstance(error, ModuleNotFoundError) and str(error.name).split(".")[0]
        _end(_CLI_EXTRA if missing in _NEEDS else str(error), 2)


def _which_file(error: OSError) -> str:
    """Name the file, then say why; an error of our own says it all."""
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}."


def _end(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"labelkin: {' '.join(message.split())}\n")
    raise SystemExit(code)
