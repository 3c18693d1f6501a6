"""``labelkin optimize``: the best number of labels and the best threshold."""

from __future__ import annotations

from typing import Annotated, Literal

from labelkin.cli import options
from labelkin.cli.evaluate import open_model_and_corpus, part_of
from labelkin.cli.options import option
from labelkin.cli.printing import echo, print_json, print_message, print_table

_WORDS = {
    "document_f1": "F1 of documents",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
}


@options.expand
def optimize(
    model: options.ModelPath,
    corpus: options.CorpusNames,
    reading: options.Reading,
    part: options.WhichPart = None,
    metric: Annotated[
        Literal["document_f1", "micro_f1", "macro_f1"], option("Metric of the printed table.")
    ] = "document_f1",
    trusted: options.Trusted = None,
    json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate every limit with every threshold on documents that the model has not seen.

    Prints a table of limits (columns) and thresholds (rows), and the best of each metric beside the
    model's own thresholds. Use the best with `labelkin predict --top LIMIT --threshold THRESHOLD`.

    Example:  labelkin optimize news.labelkin held-out.csv --metric micro_f1
    """
    fitted, loaded = open_model_and_corpus(model, corpus, reading, trusted, quiet)
    chosen = part or ("test" if len(loaded.test) else "all")
    documents, labels = part_of(loaded, chosen, fitted.names.vocabulary)
    print_message(f"{labels.shape[0]:,} documents ({chosen}).", quiet)
    from labelkin.prediction import evaluate_documents, evaluate_limits

    table = evaluate_limits(fitted, documents, labels)
    own = evaluate_documents(fitted, documents, labels).scores()
    best = {name: table.best(name) for name in _WORDS}
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
