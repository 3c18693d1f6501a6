"""``labelkin correct``: a corpus with the changes that were decided on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from labelkin.cli import options
from labelkin.cli.options import argument, option
from labelkin.cli.predict import reading_line
from labelkin.cli.printing import print_message, print_pairs


@options.expand
def correct(
    corpus: options.CorpusName,
    issues: Annotated[
        list[Path],
        argument(
            "Files of issues with decisions, or saved work of a review; the last decision on "
            "an issue counts.",
            metavar="ISSUES",
        ),
    ],
    out: Annotated[Path, option("The corrected corpus, a new file.", "--out", "-o")],
    reading: options.Reading,
    at_least: Annotated[
        float | None,
        option("Also make undecided changes with at least this probability.", min=0, max=1),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a corpus with the decided changes of an audit; nothing else in the file changes.

    Example:  labelkin correct news.jsonl issues.csv --out corrected.jsonl --at-least 0.95

    Example:  labelkin correct news.jsonl issues.saved.sqlite --out corrected.jsonl
    """
    options.check_corpus(corpus)
    options.check_inputs(*issues)
    options.check_out(out, corpus)
    from labelkin.curation.corrected_corpus import read_changes, write_corrected_corpus
    from labelkin.curation.corrections import Corrections

    n_issues, changes = read_changes(issues, at_least)
    if not changes:
        raise ValueError(
            f"At least one issue must be decided as change, got 0 of {n_issues:,}. Write change "
            "into the column decision, or use --at-least."
        )
    corrections = Corrections(changes)
    source = write_corrected_corpus(corpus, out, corrections, **reading.named())
    if not (corrections.added or corrections.removed or corrections.already):
        out.unlink()
        raise ValueError(
            f"At least one change must be made in {corpus}, and {corrections.summary()}. Use the "
            "corpus that was audited, with the --columns and other reading options of the audit."
        )
    json_lines = f"{corpus} is written as JSON lines; of vectors, ids and labels only."
    written = json_lines if source is None else reading_line(source)
    print_message(written, quiet)
    print_pairs(
        [
            ("issues", f"{n_issues:,}, of which {len(changes):,} are to be changed"),
            ("changes", corrections.summary()),
            ("corpus", str(out)),
        ]
    )
