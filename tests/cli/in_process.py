"""The command line, called in this process."""

import io
import sys
import warnings
from dataclasses import dataclass
from unittest import mock

from labelkin.cli import main


@dataclass(frozen=True)
class Done:
    """Output and exit code of a call."""

    code: int
    out: str
    err: str

    def refused(self, code=2):
        """Return the only line on stderr; stdout is empty and there is no traceback."""
        assert (self.code, self.out) == (code, ""), self
        assert "Traceback" not in self.err
        assert len(self.err.splitlines()) == 1, self.err
        return self.err.strip()

    def done(self):
        """Return stdout of a call without errors."""
        assert self.code == 0, self.err
        return self.out


def call(*arguments, stdin=b""):
    """Call ``labelkin`` with these arguments."""
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"),
        "stdout": io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True),
        "stderr": io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True),
    }
    with mock.patch.multiple(sys, **streams), warnings.catch_warnings():
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    printed = (streams[name].buffer.getvalue().decode() for name in ("stdout", "stderr"))
    return Done(code, *printed)
