"""``labelkin optimize``: the best number of labels and the best threshold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from labelkin.cli import options
from labelkin.cli.evaluate import open_model_and_corpus, part_of
from labelkin.cli.options import option
from labelkin.cli.printing import echo, print_json, print_message, print_table

if TYPE_CHECKING:
    from labelkin.thresholds import LimitTable

_WORDS = {
    "document_f1": "F1 of documents",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
}


@options.reads_corpus
def optimize(
    model: options.ModelPath,
    corpus: options.CorpusNames,
    reading: options.Reading,
    part: options.WhichPart = None,
    metric: Annotated[
        Literal["document_f1", "micro_f1", "macro_f1"], option("Metric of the printed table.")
    ] = "document_f1",
    plot: Annotated[
        Path | None, option("A picture (.svg), or a page with all tables (.html).")
    ] = None,
    replace: options.Replace = False,
    trusted: options.Trusted = None,
    json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate every limit with every threshold on documents that the model has not seen.

    Prints a table of limits (columns) and thresholds (rows), and the best of each metric beside the
    model's own thresholds. Use the best with `labelkin predict --top LIMIT --threshold THRESHOLD`.

    Example:  labelkin optimize news.labelkin held-out.csv --plot limits.html
    """
    if plot is not None:
        if plot.suffix.lower() not in (".svg", ".html"):
            raise ValueError(f"--plot must be a file .svg or .html, got {plot.name!r}.")
        options.check_out(plot, model, *corpus, replace=replace)
    fitted, loaded = open_model_and_corpus(model, corpus, reading, trusted, quiet)
    chosen = part or ("test" if len(loaded.test) else "all")
    documents, labels = part_of(loaded, chosen, fitted.names.vocabulary)
    print_message(f"{labels.shape[0]:,} documents ({chosen}).", quiet)
    from labelkin.prediction import evaluate_documents, evaluate_limits

    table = evaluate_limits(fitted, documents, labels)
    own = evaluate_documents(fitted, documents, labels).scores()
    best = {name: table.best(name) for name in _WORDS}
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


def _write_plot(plot: Path, table: LimitTable, metric: str, name: str) -> None:
    from labelkin.files import write_atomic
    from labelkin.pages import page_template
    from labelkin.pages.pictures import limit_picture

    if plot.suffix.lower() == ".svg":
        write_atomic(plot, limit_picture(table, metric, _WORDS[metric]).svg)
        return
    tables = []
    for one, words in _WORDS.items():
        best, scores = table.best(one).score, table.scores(one)
        rows = [
            (f"{cut:.2f}", [(f"{score:.3f}", score == best) for score in row])
            for cut, row in zip(table.thresholds, scores, strict=True)
        ]
        tables.append((words, rows))
    pictures = [limit_picture(table, one, words) for one, words in _WORDS.items()]
    page = page_template("limits.html").render(
        name=name, pictures=pictures, limits=table.limits, tables=tables
    )
    write_atomic(plot, page)
