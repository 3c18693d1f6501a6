"""``labelkin audit``: which labels of a corpus are wrong or missing; and a corrected corpus."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelkin.cli import options
from labelkin.cli.predict import reading_line
from labelkin.cli.printing import (
    echo,
    print_message,
    print_pairs,
    print_table,
    progress_bars,
    resumable,
)

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.curation.audit import LabelAudit
    from labelkin.curation.corrections import Corrections, Decision
    from labelkin.research.reports.issues import ShownIssue

#: Issues that are listed where nobody says how many, and those that are printed.
_MOST, _PRINTED = 1_000, 10
_ENDINGS = (".csv", ".tsv", ".jsonl")
_SQLITE = b"SQLite format 3\0"


@options.reads_corpus
def audit(
    corpus: options.CorpusName,
    reading: options.Reading,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many of the surest issues; if not named, as many as are worth reading, at "
            f"most {_MOST:,}.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="A new file of issues: .csv or .tsv to edit, .jsonl for labelkin serve --review. "
            "With --apply: the corrected corpus.",
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="A new page with the issues.")] = None,
    apply: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Do not audit, but make the changes decided on in a file of issues, or in the "
            "journal of a review; may be given again, the last word counts.",
        ),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="With --apply: also make undecided changes that are at least so probable.",
        ),
    ] = None,
    content: options.Content = "svm",
    labels: options.Labels = "logistic",
    rules: options.RulesFile = None,
    vocab: options.Vocab = None,
    label_language: options.LabelLanguage = None,
    stem: options.Stem = True,
    language: options.Language = "english",
    stop_words: options.StopWords = "auto",
    min_documents: options.MinDocuments = 3,
    random_state: options.RandomState = 0,
    n_jobs: options.NJobs = None,
    all_documents: Annotated[
        bool, typer.Option("--all", help="Audit test documents, too.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Find labels of a corpus that are wrong or missing, with reasons; or correct them.

    Each label of each document is judged by the text and by the document's other labels, by
    classifiers that have not seen the document. The list ends where reading on is not worth it.

    If the work is stopped, the same command goes on where it was (with --out or --html).

    Example:  labelkin audit news.jsonl --out issues.csv --html report.html

    Write change, keep or cannot say into the column decision, or decide on a page, issue by issue
    (labelkin serve --review issues.jsonl). Then make the changes; nothing else in the file changes:

    Example:  labelkin audit news.jsonl --apply issues.csv --out corrected.jsonl --at-least 0.95
    """
    options.check_corpus(corpus)
    if apply:
        _check_apply(corpus, apply, out, html)
        assert out is not None
        _apply(corpus, reading, apply, at_least, out, quiet)
        return
    if at_least is not None:
        raise ValueError("--at-least goes with --apply: it says which changes are made.")
    _check_audit(corpus, out, html)
    options.check_input(rules)
    options.check_vocabulary(vocab)
    words = {
        "language": language,
        "stop_words": options.read_stop_words(stop_words),
        "stem": stem,
        "min_documents": min_documents,
    }
    start = time.perf_counter()
    with resumable("" if out or html else None), _one_line(quiet) as report:
        report(f"reading {corpus}", 0, 0)
        from labelkin.cli import auditing, training, vocabularies
        from labelkin.corpora.corpus import labels_of
        from labelkin.registry import part_class

        loaded = reading.corpus(
            corpus,
            quiet,
            lambda found: auditing.check_auditable(
                labels_of(found).rows(slice(None) if all_documents else found.train), corpus
            ),
        )
        part: Any = slice(None) if all_documents else loaded.train
        documents, given = loaded.documents[part], labels_of(loaded).rows(part)
        names = loaded.names()
        if not all_documents:
            names = [names[i] for i in loaded.train]
        concepts = vocabularies.corpus_vocabulary(loaded, vocab, label_language, language)
        called = vocabularies.names_of(given.names.tolist(), concepts, vocab or corpus)
        bound = rules and vocabularies.rules_between(given.names.tolist(), rules, quiet, concepts)
        steps = training.make_steps(loaded, training.ChosenContent((content,)), words)
        X: Any = documents
        for step in steps:
            report("words", 0, 0)
            X = step.fit_transform(X)
        made_of = {"content": content, "random_state": random_state, "words": words}
        kept = auditing.KeptEvidence.beside(out or html, made_of, X, given)
        evidence = auditing.content_evidence(
            X,
            given,
            lambda: training.make_content(
                training.ChosenContent((content,)), loaded.features, random_state
            ),
            kept,
            report,
            n_jobs,
        )
        if evidence.n_kept:
            going_on = f"{evidence.n_kept} of {len(evidence.classifiers)} parts of the content"
            print_message(f"{going_on} evidence were there; going on.", quiet)
        report("label evidence", 0, 0)
        from labelkin.curation.audit import LabelAudit

        audited = LabelAudit(
            labels=part_class("labels", labels)(),
            rules=bound or None,
            # Vectors of a few numbers are often alike without being of one document.
            duplicate_similarity=None if loaded.features == "numbers" else 0.95,
            scale="log_odds",
            n_jobs=n_jobs,
            random_state=random_state,
        ).fit(X, given, scores=evidence.log_odds)
        report("reasons", 0, 0)
        texts = documents if loaded.features == "text" else None
        shown = auditing.shown_issues(
            audited,
            min(audited.list_end_, _MOST) if top is None else top,
            X, given, names, texts, evidence, steps, loaded.terms,
        )  # fmt: skip
        shown = [issue.called(called) for issue in shown]
        _write(audited, shown, called, loaded, out, html)
        kept.remove()
    for note in audited.notes_:
        print_message(note, quiet)
    print_message(f"audited in {time.perf_counter() - start:.1f} s.", quiet)
    _print(audited, shown, given.shape, out, html)


def _check_apply(corpus: str, apply: list[Path], out: Path | None, html: Path | None) -> None:
    for path in apply:
        options.check_input(path)
    if out is None:
        raise ValueError("--apply writes a corrected corpus: name it by --out.")
    if html is not None:
        raise ValueError("--html goes with an audit, and --apply makes none. Leave one out.")
    options.check_out(out, corpus)
    options.check_new(out)


def _check_audit(corpus: str, out: Path | None, html: Path | None) -> None:
    if out is not None and out.suffix.lower() not in _ENDINGS:
        raise ValueError(
            f"--out must end in {', '.join(_ENDINGS)}, got {out.name!r}: a table to edit, or "
            "JSON lines to review on the page."
        )
    for path in (out, html):
        if path is not None:
            options.check_out(path, corpus)
            options.check_new(path)


@contextmanager
def _one_line(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show in one line of a terminal what is being done, and how much of it is done."""
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.progress import TimeElapsedColumn

    with progress_bars("{task.description}", TimeElapsedColumn(), shown=True) as bar:
        task = bar.add_task("", total=None)

        def report(what: str, done: int, total: int) -> None:
            share = f", part {done + 1} of {total}" if total > 1 else ""
            bar.update(task, description=f"{what}{share} …")

        yield report


def _write(
    audited: LabelAudit,
    shown: list[ShownIssue],
    called: Mapping[str, str],
    corpus: Corpus,
    out: Path | None,
    html: Path | None,
) -> None:
    from labelkin.files import write_atomic
    from labelkin.research.reports.issues import write_issues

    if html is not None:
        from labelkin.research.reports.audit_page import audit_page

        read = [issue.in_names() for issue in shown]
        errors = [
            one._replace(label=called.get(str(one.label), one.label))
            for one in audited.label_errors_
        ]
        page = audit_page(corpus.name, read, errors, audited.n_errors_, audited.notes_)
        write_atomic(html, page.encode("utf-8", "backslashreplace"))
    if out is not None:
        write_issues(shown, out)


def _print(
    audited: LabelAudit,
    shown: list[ShownIssue],
    shape: tuple[int, int],
    out: Path | None,
    html: Path | None,
) -> None:
    from labelkin.research.reports.issues import because

    missing = sum(one.missing for one in audited.label_errors_)
    wrong = sum(one.wrong for one in audited.label_errors_)
    print_pairs(
        [
            ("documents", f"{shape[0]:,}"),
            ("labels", f"{shape[1]:,}"),
            ("expected errors", f"{missing + wrong:,.0f}: {missing:,.0f} labels missing, "
             f"{wrong:,.0f} wrong"),
            ("worth reading", f"the surest {audited.list_end_:,}"),
            ("", ""),
        ]
    )  # fmt: skip
    if not shown:
        echo("No label is probably wrong or missing.")
    else:
        of_kind: dict[str, list[float]] = {}
        for one in shown:
            of_kind.setdefault(one.kind, []).append(one.probability)
        print_table(
            ("kind", "listed", "expected errors", "surest"),
            [
                (kind, f"{len(p):,}", f"{sum(p):,.1f}", f"{max(p):.3f}")
                for kind, p in of_kind.items()
            ],
        )
        echo("")
        print_table(
            ("document", "change", "kind", "probability", "because of"),
            [
                (
                    one.document,
                    f"{one.repair} {one.label}",
                    one.kind,
                    f"{one.probability:.3f}",
                    because(one),
                )
                for one in (issue.in_names() for issue in shown[:_PRINTED])
            ],
            left=(0, 1, 2, 4),
        )
    written = [("issues", out), ("page", html)]
    print_pairs([("", "")] if out or html else [])
    print_pairs([(name, str(path)) for name, path in written if path])


def _apply(
    corpus: str,
    reading: options.Reading,
    apply: list[Path],
    at_least: float | None,
    out: Path,
    quiet: bool,
) -> None:
    """Write a corpus with the changes that are decided on."""
    from labelkin.curation.corrections import Corrections, chosen_changes

    changes: dict[tuple[str, str], Decision] = {}
    n_decided = 0
    for path in apply:
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
    """Read a file of issues, or the answers in a journal."""
    with path.open("rb") as file:
        is_journal = file.read(len(_SQLITE)) == _SQLITE
    if not is_journal:
        from labelkin.curation.corrections import read_decisions

        return read_decisions(path)
    from labelkin.service import read_answers

    return read_answers(path)


def _write_corpus(
    corpus: str, reading: options.Reading, out: Path, corrections: Corrections
) -> str:
    """Write a file of JSON lines or a table in its form, else JSON lines; return a report."""
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
