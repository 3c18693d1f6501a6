"""``labelkin audit`` and ``correct``: wrong and missing labels, and a corrected corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from labelkin.cli import options
from labelkin.cli.options import argument, option
from labelkin.cli.predict import reading_line
from labelkin.cli.printing import (
    echo,
    print_message,
    print_pairs,
    print_table,
    watching,
)

if TYPE_CHECKING:
    from labelkin.curation.audit import LabelAudit
    from labelkin.curation.audit.corpus_audit import Record

#: Maximum number of issues by default, and number of printed issues.
_MOST, _PRINTED = 1_000, 10
_ENDINGS = (".csv", ".tsv", ".jsonl")


@options.expand
def audit(
    corpus: options.CorpusName,
    words: options.CountedWords,
    reading: options.Reading,
    top: Annotated[
        int | None,
        option(
            f"Number of issues. [default: as many as are worth reading, at most {_MOST:,}]", min=1
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "A new file of issues: .csv or .tsv to edit, .jsonl for labelkin serve --review.",
            "--out",
            "-o",
        ),
    ] = None,
    html: Annotated[Path | None, option("A new HTML file with the issues.")] = None,
    content: options.Content = None,
    labels: options.Labels = "logistic",
    rules: options.RulesFile = None,
    vocab: options.VocabularyFile = None,
    label_language: options.LabelLanguage = None,
    random_state: options.RandomState = 0,
    n_jobs: options.NJobs = None,
    all_documents: Annotated[bool, option("Audit test documents also.", "--all")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Find wrong and missing labels of a corpus, with reasons.

    Each label of each document is compared with the text and with the other labels, by classifiers
    that have not seen the document. The list ends when few further issues are errors.

    Example:  labelkin audit news.jsonl --out issues.csv --html report.html

    Write change, keep or cannot say into the column decision, or decide on a page, issue by issue
    (labelkin serve --review issues.jsonl). `labelkin correct` then writes the corrected corpus.
    """
    if out is not None and out.suffix.lower() not in _ENDINGS:
        raise ValueError(
            f"--out must end in {', '.join(_ENDINGS)}, got {out.name!r}: a table to edit, or "
            "JSON lines to review on the page."
        )
    options.check_out(out, corpus)
    options.check_out(html, corpus)
    with watching(quiet):
        from labelkin.curation.audit.corpus_audit import audit_corpus
        from labelkin.vocabulary.matching import corpus_vocabulary, distinct_names

        loaded = reading.corpus(corpus, quiet)
        label_names = loaded.label_names.tolist()
        concepts = corpus_vocabulary(loaded, vocab, label_language, words.language)
        called = distinct_names(label_names, concepts, vocab or corpus)
        done = audit_corpus(
            loaded,
            content or "svm",
            labels,
            words=vars(words),
            rules=rules and options.read_rules(label_names, rules, concepts, quiet),
            label_names=called,
            all_documents=all_documents,
            top=top,
            most=_MOST,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        _write(done.audit, done.records, called, loaded.name, out, html)
    for note in done.audit.notes_:
        print_message(note, quiet)
    _print(done.audit, done.records, done.shape)
    written = [(name, str(path)) for name, path in (("issues", out), ("page", html)) if path]
    print_pairs([("", ""), *written] if written else [])


@options.expand
def correct(
    corpus: options.CorpusName,
    issues: Annotated[
        list[Path],
        argument(
            "Files of issues with decisions, or saved work of a review; the last decision on "
            "an issue is used.",
            metavar="ISSUES",
            exists=True,
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
    decided = f"{n_issues:,}, of which {len(changes):,} are to be changed"
    print_pairs([("issues", decided), ("changes", corrections.summary()), ("corpus", str(out))])


def _write(
    audited: LabelAudit,
    records: Sequence[Record],
    called: dict[str, str],
    name: str,
    out: Path | None,
    html: Path | None,
) -> None:
    from labelkin.curation.audit.corpus_audit import audit_page, with_names, write_issues
    from labelkin.files import write_atomic

    if html is not None:
        read = [with_names(record) for record in records]
        errors = [
            one._replace(label=called.get(str(one.label), one.label))
            for one in audited.label_errors_
        ]
        page = audit_page(name, read, errors, audited.n_errors_, audited.notes_)
        write_atomic(html, page.encode("utf-8", "backslashreplace"))
    if out is not None:
        write_issues(records, out)


def _print(audited: LabelAudit, records: Sequence[Record], shape: tuple[int, int]) -> None:
    from labelkin.curation.audit.corpus_audit import because, with_names

    missing = sum(one.missing for one in audited.label_errors_)
    wrong = sum(one.wrong for one in audited.label_errors_)
    errors = f"{missing + wrong:,.0f}: {missing:,.0f} labels missing, {wrong:,.0f} wrong"
    print_pairs([("documents", f"{shape[0]:,}"), ("labels", f"{shape[1]:,}")])
    print_pairs([("expected errors", errors)])
    print_pairs([("worth reading", f"the first {audited.list_end_:,}"), ("", "")])
    if not records:
        echo("No label is probably wrong or missing.")
        return
    of_kind: dict[str, list[float]] = {}
    for one in records:
        of_kind.setdefault(one["kind"], []).append(one["probability"])
    print_table(
        ("kind", "listed", "expected errors", "highest probability"),
        [(kind, f"{len(p):,}", f"{sum(p):,.1f}", f"{max(p):.3f}") for kind, p in of_kind.items()],
    )
    echo("")
    rows = []
    for one in map(with_names, records[:_PRINTED]):
        change, probability = f"{one['repair']} {one['label']}", f"{one['probability']:.3f}"
        rows.append((one["document"], change, one["kind"], probability, because(one)))
    header = ("document", "change", "kind", "probability", "because of")
    print_table(header, rows, left=(0, 1, 2, 4))
