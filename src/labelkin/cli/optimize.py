"""``labelkin optimize``: how many labels to give, and from which probability on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli import options
from labelkin.cli.models import check_kinds, judge, part_of
from labelkin.cli.printing import echo, print_json, print_message, print_table

if TYPE_CHECKING:
    from labelkin.label_matrix import LabelMatrix
    from labelkin.prediction import FittedModel
    from labelkin.thresholds import LimitTable

_WORDS = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "document_f1": "F1 of documents",
    "document_precision": "precision of documents",
    "document_recall": "recall of documents",
}
_DRAWN = ("document_f1", "micro_f1", "macro_f1")
#: Documents × labels scored at a time: 2²² numbers are 32 MB.
_CELLS = 2**22


@options.reads_corpus
def optimize(
    model: options.ModelFile,
    corpus: options.CorpusNames,
    reading: options.Reading,
    part: options.Part = None,
    metric: Annotated[
        Literal["document_f1", "micro_f1", "macro_f1"],
        typer.Option(help="What the printed table shows."),
    ] = "document_f1",
    plot: Annotated[
        Path | None, typer.Option(help="A picture (.svg), or a page with all tables (.html).")
    ] = None,
    replace: options.Replace = False,
    trusted: options.Trusted = None,
    json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Score every limit with every threshold on documents that the model has not seen.

    A table of limits (columns) and thresholds (rows), the best by each measure, and the model's own
    thresholds beside it. What is best is what predict is to be given:

    labelkin predict MODEL INPUT --top LIMIT --threshold THRESHOLD

    Example:  labelkin optimize news.labelkin held-out.csv --plot limits.html
    """
    options.check_model(model)
    options.check_corpus(corpus)
    if plot is not None:
        _check_plot(plot, replace, model, *corpus)
    fitted = options.load_model(model, trusted)
    reading = reading.like(model, corpus)
    loaded = reading.corpus(corpus, quiet, lambda found: check_kinds(fitted, found, str(model)))
    chosen = part or ("test" if len(loaded.test) else "all")
    documents, labels = part_of(loaded, chosen, fitted.names.vocabulary)
    print_message(f"{labels.shape[0]:,} documents ({chosen}).", quiet)
    table = _table(fitted, documents, labels)
    own = judge(fitted, documents, labels).scores()
    best = {name: table.best(name) for name in _DRAWN}
    if plot is not None:
        _write_plot(plot, table, metric, loaded.name)
        print_message(f"{plot} is written.", quiet)
    if json:
        print_json(
            {
                "documents": table.n_documents,
                "limits": list(table.limits),
                "thresholds": list(table.thresholds),
                "best": {name: cell._asdict() for name, cell in best.items()},
                "own_thresholds": {name: own[name] for name in table.METRICS},
                "scores": {name: table.scores(name).tolist() for name in table.METRICS},
                "documents_without_labels": table.empty.tolist(),
            }
        )
        return
    rows = zip(table.thresholds, table.scores(metric), strict=True)
    print_table(
        (_WORDS[metric], *map(str, table.limits)),
        [[f"{cut:.2f}", *(f"{score:.3f}" for score in row)] for cut, row in rows],
    )
    echo("")
    print_table(
        ("best by", "score", "--top", "--threshold", "its own thresholds"),
        [
            [_WORDS[name], f"{b.score:.4f}", str(b.limit), f"{b.threshold:g}", f"{own[name]:.4f}"]
            for name, b in best.items()
        ],
    )


def _table(model: FittedModel, documents: Any, labels: LabelMatrix) -> LimitTable:
    """Score limits and thresholds block by block; labels the model does not know are left out."""
    from labelkin.cli.score_files import labels_in_order
    from labelkin.thresholds import limit_table

    truth = labels_in_order(labels, model.labels.tolist(), "The model and the corpus")
    n_documents, n_labels = truth.shape
    size = max(1, _CELLS // n_labels)
    found: LimitTable | None = None
    for start in range(0, n_documents, size):
        rows = slice(start, start + size)
        probabilities = model.probabilities(model.log_odds(documents[rows]))
        block = limit_table(truth.rows(rows), probabilities)
        found = block if found is None else found + block
    if found is None:
        raise ValueError("There must be documents to score, got none.")
    return found


def _check_plot(plot: Path, replace: bool, *sources: str | Path) -> None:
    if plot.suffix.lower() not in (".svg", ".html"):
        raise ValueError(f"--plot must be a file .svg or .html, got {plot.name!r}.")
    options.check_out(plot, *sources)
    if not replace:
        options.check_new(plot, "--replace overwrites it; else delete it or name another.")


def _write_plot(plot: Path, table: LimitTable, metric: str, name: str) -> None:
    from labelkin.files import write_atomic
    from labelkin.research.reports.documents import page_template
    from labelkin.research.reports.plots import limit_picture

    if plot.suffix.lower() == ".svg":
        write_atomic(plot, limit_picture(table, metric, _WORDS[metric]).svg)
        return
    tables = []
    for one in _DRAWN:
        best, scores = table.best(one).score, table.scores(one)
        rows = [
            (f"{cut:.2f}", [(f"{score:.3f}", score == best) for score in row])
            for cut, row in zip(table.thresholds, scores, strict=True)
        ]
        tables.append((_WORDS[one], rows))
    page = page_template("limits.html").render(
        name=name,
        pictures=[limit_picture(table, one, _WORDS[one]) for one in _DRAWN],
        limits=table.limits,
        tables=tables,
    )
    write_atomic(plot, page)
