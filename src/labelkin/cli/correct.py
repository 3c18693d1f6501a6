"""``labelkin correct``: a corpus with the changes that were decided on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelkin.cli import options
from labelkin.cli.predict import reading_line
from labelkin.cli.printing import print_message, print_pairs

if TYPE_CHECKING:
    from labelkin.curation.corrections import Corrections, Decision

_SQLITE = b"SQLite format 3\0"


@options.reads_corpus
def correct(
    corpus: options.CorpusName,
    issues: Annotated[
        list[Path],
        typer.Argument(
            metavar="ISSUES",
            help="Files of issues with decisions, or saved work of a review; the last decision on "
            "an issue counts.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The corrected corpus, a new file.")],
    reading: options.Reading,
    at_least: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Also make undecided changes with at least this probability."
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a corpus with the decided changes of an audit; nothing else in the file changes.

    Example:  labelkin correct news.jsonl issues.csv --out corrected.jsonl --at-least 0.95

    Example:  labelkin correct news.jsonl issues.saved.sqlite --out corrected.jsonl
    """
    options.check_corpus(corpus)
    for path in issues:
        options.check_input(path)
    options.check_out(out, corpus)
    options.check_new(out)
    from labelkin.curation.corrections import Corrections, chosen_changes

    changes: dict[tuple[str, str], Decision] = {}
    n_decided = 0
    for path in issues:
        decisions = _decisions(path)
        n_decided += len(decisions)
        decided = {(one.document, one.label) for one in decisions if one.answer}
        changes = {cell: one for cell, one in changes.items() if cell not in decided}
        changes |= chosen_changes(decisions, at_least)
    if not changes:
        raise ValueError(
            f"At least one issue must be decided as change, got 0 of {n_decided:,}. Write change "
            "into the column decision, or use --at-least."
        )
    corrections = Corrections(changes.values())
    report = _write_corpus(corpus, reading, out, corrections)
    if not (corrections.added or corrections.removed or corrections.already):
        out.unlink()
        raise ValueError(
            f"At least one change must be made in {corpus}, and {corrections.summary()}. Use the "
            "corpus that was audited, with the --columns and other reading options of the audit."
        )
    print_message(report, quiet)
    print_pairs(
        [
            ("issues", f"{n_decided:,}, of which {len(changes):,} are to be changed"),
            ("changes", corrections.summary()),
            ("corpus", str(out)),
        ]
    )


def _decisions(path: Path) -> list[Decision]:
    """Read a file of issues, or the answers in saved work."""
    with path.open("rb") as file:
        is_saved_work = file.read(len(_SQLITE)) == _SQLITE
    if is_saved_work:
        from labelkin.curation.saved_work import read_answers

        return read_answers(path)
    from labelkin.curation.corrections import read_decisions

    return read_decisions(path)


def _write_corpus(
    corpus: str, reading: options.Reading, out: Path, corrections: Corrections
) -> str:
    """Write a table in the form of the input, else JSON lines; return a report."""
    from labelkin.corpora import KNOWN, text_format
    from labelkin.corpora.documents import Documents
    from labelkin.curation.corrected_files import CORRECTED, write_corrected, write_json_lines

    format = None if corpus in KNOWN else text_format(Path(corpus))
    if format in CORRECTED:
        named = reading.named()
        for name in ("path", "merge_spellings"):
            named.pop(name, None)
        needed: tuple[Any, ...] = ("text", "labels")
        documents = Documents(
            corpus, needed=("id", *needed) if format == "jsonl" else needed, **named
        )
        write_corrected(documents, format, out, corrections)
        return reading_line(documents)
    loaded = reading.corpus(corpus)
    is_text = loaded.features == "text"
    names, test = loaded.names(), set(loaded.test.tolist())

    def lines() -> Iterator[dict[str, Any]]:
        for i, labels in enumerate(loaded.label_sets()):
            text = str(loaded.documents[i]) if is_text else None
            corrected = corrections.apply(names[i], text, labels)
            yield {
                "id": names[i],
                **({"text": text} if is_text else {}),
                "labels": list(labels if corrected is None else corrected),
                "split": "test" if i in test else "train",
            }

    write_json_lines(lines(), out)
    about = "" if is_text else ", ids and labels only, because its documents are vectors"
    return f"{corpus} is written as JSON lines{about}."
