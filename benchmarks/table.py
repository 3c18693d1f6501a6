"""Records of measurements; the text table and the page are views of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.timing import Ratio

COLUMNS = ("subject", "against", "measured", "target", "verdict", "check in the same run")
COMMAND = "python -m benchmarks --write docs/findings/benchmarks.md"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    subject, against
        The part of labelkin, and the alternative.
    value
        The number the target is about; ``None`` when it could not be measured.
    target
        The largest value that is good enough; ``None`` for a line that only informs.
    measured
        The value with its unit and spread, or the reason why it is missing.
    check
        What was verified beside the time.
    """

    subject: str
    against: str
    value: float | None
    target: float | None
    measured: str
    check: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target was reached."""
        if self.value is None:
            return "skipped"
        if self.target is None:
            return "information"
        return "reached" if self.value <= self.target else "missed"


def ratio_row(
    subject: str, against: str, measured: Ratio, target: float | None, check: str = ""
) -> Row:
    """Make a line of a CPU ratio and its extremes over the rounds."""
    text = f"{measured.middle:.3f} × ({measured.low:.3f}–{measured.high:.3f})"
    return Row(subject, against, measured.middle, target, text, check)


def skipped_row(subject: str, against: str, target: float | None, reason: str) -> Row:
    """Make a line for what cannot be measured here."""
    return Row(subject, against, None, target, f"skipped: {reason}")


def cells(row: Row) -> tuple[str, ...]:
    """Return the row as text, in the order of ``COLUMNS``."""
    target = "" if row.target is None else f"≤ {row.target:g}"
    return row.subject, row.against, row.measured, target, row.verdict, row.check


def text_table(rows: Sequence[Row]) -> str:
    """Lay the rows out in columns."""
    lines = [COLUMNS, *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(_padded(line, widths) for line in lines)


def markdown_page(rows: Sequence[Row], setting: Sequence[str]) -> str:
    """Return the page of the documentation: how it was measured, on what, and the table."""
    table = [COLUMNS, ("---",) * len(COLUMNS), *map(cells, rows)]
    return "\n".join(
        [
            "# What it costs",
            "",
            "Ratios of CPU time, alternating in one run: peer, ours, peer, ours, …; the median",
            "over the rounds, and in brackets the lowest and the highest. Below 1 × labelkin needs",
            f"less. This page is written by `{COMMAND}`;",
            "`make bench` prints the same table.",
            "",
            *(f"- {line}" for line in setting),
            "",
            *("| " + " | ".join(line) + " |" for line in map(_escaped, table)),
            "",
        ]
    )


def _padded(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def _escaped(line: Sequence[str]) -> tuple[str, ...]:
    return tuple(text.replace("|", r"\|") for text in line)
