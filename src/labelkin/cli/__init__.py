"""The command line ``labelkin``: options, one call into the library, printing.

Results go to stdout, messages and progress to stderr. Exit codes: 0 done, 1 the work failed or was
interrupted, 2 the call or its input was wrong. A wrong call or wrong input ends with one line.

Options are called as the parameters of Python (``--evidence-weight``, ``evidence_weight``), so that
an error of the library can name the option. Modules are loaded by the command that needs them:
``labelkin --help`` loads no scikit-learn, and neither does a call with a wrong path of a file.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from labelkin.files import printable

_NEEDS = {"typer", "rich", "click"}
_CLI_EXTRA = 'The command line needs typer and rich: pip install "labelkin[cli]"'
_OF_DISKS = {errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT}
_LONGEST_MESSAGE = 2_000
_INTERRUPTED = 130  # typer's exit code for Ctrl-C


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end with its exit code; ``None``: the arguments of this process."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the parent process, as daemons do
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    os.environ["PYTHONSAFEPATH"] = "1"  # no helper process imports from the working directory
    try:
        code = _run(arguments)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    if code == _INTERRUPTED:
        if sys.stderr.isatty():
            sys.stderr.write("\n")  # the terminal shows ^C, possibly after the name of a stage
        _end("Interrupted.", 1)
    raise SystemExit(code)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        from labelkin.cli.app import invoke

        code = invoke(arguments)
        sys.stdout.flush()
        return code
    except UnicodeError as error:
        _end(f"The text must be in the encoding that is named, got: {error}.", 2)
    except BrokenPipeError:  # the reader of stdout has closed it
        _forget_stdout()
        return 1
    except ConnectionError as error:
        _end(_which_file(error), 1 if error.errno is None else 2)  # 1: a cluster that was lost
    except OSError as error:
        if error.errno not in _OF_DISKS:
            _end(_which_file(error), 2)
        _forget_stdout()
        # An error of a file contains its name.
        _end(f"stdout: {error.strerror}." if error.filename is None else _which_file(error), 1)
    except MemoryError as error:
        _end(f"There is not enough memory. {error}", 1)
    except (ValueError, TypeError, ImportError) as error:
        missing = isinstance(error, ModuleNotFoundError) and str(error.name).split(".")[0]
        hinted = getattr(error, "on_command_line", error.__str__)  # options, not parameters
        message = hinted().replace("stem=False", "--no-stem")
        for name in re.findall(r"--(\w[\w-]*)", " ".join(arguments or sys.argv)):
            parameter = name.replace("-", "_")  # as the library calls the option
            message = re.sub(rf"(?:^|\b(?=\w*_)){parameter}\b", f"--{name}", message)
        _end(_CLI_EXTRA if missing in _NEEDS else message, 2)


def _forget_stdout() -> None:
    """Discard output that cannot be written: Python would try again at exit and report it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _which_file(error: OSError) -> str:
    """Return the name of the file and the reason; errors of labelkin contain both."""
    if error.strerror is None:
        return str(error)
    if error.filename is None:  # without the number that str() puts before it
        return f"{error.strerror.removesuffix('.')}."
    return f"{error.filename}: {error.strerror}."


def _end(message: str, code: int) -> NoReturn:
    line = " ".join(message.split())
    if len(line) > _LONGEST_MESSAGE:  # it may contain a whole input
        line = f"{line[: _LONGEST_MESSAGE // 2]} … {line[-_LONGEST_MESSAGE // 2 :]}"
    sys.stderr.write(f"labelkin: {printable(line)}\n")
    raise SystemExit(code)
