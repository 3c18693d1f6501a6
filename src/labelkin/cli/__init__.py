"""The command line: ``labelkin``. It parses, calls one function, and prints.

Results go to stdout, talk and progress to stderr. Exit codes: 0 done, 1 the work failed, 2 the call
or its input was wrong.
"""

from __future__ import annotations

import sys
from typing import NoReturn

_NEEDS = {"typer", "rich", "click"}


def main() -> None:
    """Run the command; whatever a user can do wrong ends in one line on stderr."""
    try:
        from labelkin.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in _NEEDS:
            raise
        _end('The command line needs typer and rich: pip install "labelkin[cli]"', 2)
    try:
        app()
    except OSError as error:
        _end(_told(error), 2)
    except (ValueError, TypeError, ImportError) as error:
        _end(str(error), 2)


def _told(error: OSError) -> str:
    """Say which file, then why; an error of our own says it all."""
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}."


def _end(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"labelkin: {message}\n")
    raise SystemExit(code)
