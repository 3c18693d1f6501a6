"""Write docs/findings/related-methods.md and its pictures from result folders.

``python -m docs.make.related RESULTS…`` in the root of the repository, where RESULTS are the result
folders of ``docs/experiments/configurations/related-….toml``. Every number comes from stored runs;
wins and losses are counted alike.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path

from docs.make.pages import write_from_folders, write_page
from docs.make.ranks import CONTROL, Comparison, compare, ranks_sections

from labelkin.research.experiments.plan import LOSSES, METRICS
from labelkin.research.reports.results import read_outcomes
from labelkin.research.reports.tables import markdown_text

PAGE = Path(__file__).parent.parent / "findings" / "related-methods.md"
_OPENING = """\
[Related methods](../explanation/related-methods.md) on test documents, each with the same content
classifier (a linear SVM with probabilities) where it asks one, and with the settings its authors
recommend; nothing is tuned. `labelkin` is this library with that classifier, `labelkin-defaults` as
it comes. Bold is the best on a corpus. This page is written by `python -m docs.make.related
RESULTS…`."""


def write_related(
    folders: Iterable[str | os.PathLike[str]], out: str | os.PathLike[str] = PAGE
) -> Path:
    """Write the page on related methods."""
    outcomes = [outcome for f in folders for outcome in read_outcomes(f, partial=False, rules=True)]
    comparison = compare(outcomes)
    if not comparison.systems:
        raise ValueError("The folders must hold runs of related methods, and hold none.")
    sections = ranks_sections(comparison)
    parts = ["# Related methods: comparison", _OPENING, count_wins(comparison), *sections]
    return write_page(out, "\n\n".join(parts) + "\n")


def count_wins(comparison: Comparison, control: str = CONTROL) -> str:
    """Count, method by method, the pairs (corpus, metric) where ours is better, equal, worse."""
    lines = []
    for system in comparison.systems:
        if system == control:
            continue
        counts = [0, 0, 0]
        for metric in METRICS:
            for corpus in comparison.corpora:
                ours, theirs = (comparison.value(metric, s, corpus) for s in (control, system))
                lead = (theirs - ours) if metric in LOSSES else (ours - theirs)
                if not math.isnan(lead):  # both are there
                    counts[0 if lead > 1e-12 else 2 if lead < -1e-12 else 1] += 1
        if sum(counts):
            better, equal, worse = counts
            lines.append(
                (worse - better, f"| {markdown_text(system)} | {better} | {equal} | {worse} |")
            )
    head = [
        f"On how many pairs of corpus and metric `{control}` is better, equal and worse than each:",
        "",
        "| against | better | equal | worse |",
        "| --- | ---: | ---: | ---: |",
    ]
    return "\n".join([*head, *(line for _, line in sorted(lines, reverse=True))])


if __name__ == "__main__":
    write_from_folders(write_related, PAGE, __doc__)
