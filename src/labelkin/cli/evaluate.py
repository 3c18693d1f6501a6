"""``labelkin evaluate`` and ``optimize``: metrics of a model, and of limits and thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from labelkin.cli import options
from labelkin.cli.options import option
from labelkin.cli.printing import (
    counted,
    echo,
    listed,
    print_json,
    print_message,
    print_table,
    watching,
)

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.evaluation.metrics import Evaluation
    from labelkin.label_matrix import LabelMatrix
    from labelkin.prediction import FittedModel


_WORDS = {"document_f1": "F1 of documents", "micro_f1": "micro F1", "macro_f1": "macro F1"}


@options.expand
def evaluate(
    model: options.ModelPath,
    corpus: options.CorpusNames,
    reading: options.Reading,
    part: options.WhichPart = None,
    per_label: Annotated[
        bool, option("Also print the scores of every label.", "--per-label")
    ] = False,
    label_language: options.LabelLanguage = None,
    trusted: options.Trusted = None,
    json: options.AsJson = False,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate a model on a corpus by every metric.

    Example:  labelkin evaluate newsroom.labelkin newsroom --per-label

    Example:  labelkin evaluate news.labelkin held-out.csv --columns text=body --json
    """
    fitted = options.open_model(model, trusted)
    names = options.check_language(fitted.names, label_language)
    loaded, chosen, documents, labels = _read_part(model, fitted, corpus, reading, part, quiet)
    unknown = _report_labels(fitted, labels, quiet)
    if not quiet and _has_seen(model, loaded, chosen):
        print_message(
            f"Note: the model was trained on documents of {loaded.name} that it is evaluated on "
            "here. Expect lower scores on new documents."
        )
    from labelkin.prediction.in_blocks import evaluate_documents

    with watching(quiet), options.cluster(dask) as engine:
        found = evaluate_documents(fitted, documents, labels, engine)
    if found.n_ranked is not None and found.n_ranked < found.n_documents:
        print_message(
            f"Ranking measures (one-error, coverage, precision@k and others) are over the "
            f"{counted(found.n_ranked, 'document')} that have labels.",
            quiet,
        )
    rows = _per_label(found) if per_label else []
    if json:
        plain = {
            "documents": found.n_documents,
            "labelled_documents": found.n_ranked,
            "labels": len(found.labels),
            "part": chosen,
            "unknown_labels": unknown,
            "scores": found.scores(),
        }
        print_json({**plain, "per_label": rows} if per_label else plain)
        return
    echo(f"{_in_words(found, chosen)}\n")
    print_table(("metric", "score"), [(n, f"{v:.5f}") for n, v in found.scores().items()])
    if rows:
        echo("")
        rows = [{**row, "label": names.of(row["label"], label_language)} for row in rows]
        cells = [[f"{x:.4f}" if isinstance(x, float) else str(x) for x in r.values()] for r in rows]
        print_table(list(rows[0]), cells)


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
    fitted = options.open_model(model, trusted)
    _, chosen, documents, labels = _read_part(model, fitted, corpus, reading, part, quiet)
    print_message(f"{labels.shape[0]:,} documents ({chosen}).", quiet)
    from labelkin.prediction.in_blocks import evaluate_documents, evaluate_limits

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


def _read_part(
    model: Path,
    fitted: FittedModel,
    corpus: list[str],
    reading: options.Reading,
    part: str | None,
    quiet: bool,
) -> tuple[Corpus, str, Any, LabelMatrix]:
    """Return a corpus, a part of it, and the documents and current labels of the part."""
    from labelkin.corpora.corpus import labels_of
    from labelkin.vocabulary.matching import current_labels

    found = reading.corpus(corpus, quiet, model)
    takes = "texts" if fitted.takes_texts else "vectors"
    has = "texts" if found.features == "text" else "vectors"
    if takes != has:
        raise ValueError(
            f"{model} takes {takes}, and {found.name} has {has}. Evaluate it on a corpus like the "
            "one it was trained on."
        )
    chosen = part or ("test" if len(found.test) else "all")
    rows: Any = {"all": slice(None), "test": found.test, "train": found.train}[chosen]
    if chosen != "all" and not len(rows):
        raise ValueError(f"{found.name} has no {chosen} documents. Use --part all.")
    labels = current_labels(labels_of(found), fitted.vocabulary)
    return found, chosen, found.documents[rows], labels.rows(rows)


def _in_words(found: Evaluation, part: str) -> str:
    scores = found.scores()
    right, share = scores["micro_precision"], scores["micro_recall"]
    return (
        f"{counted(found.n_documents, 'document')} ({part}), {counted(len(found.labels), 'label')}."
        f" {right:.0%} of the assigned labels are right (micro precision), and {share:.0%} of the "
        f"right labels are found (micro recall). Both in one number: micro F1 "
        f"{scores['micro_f1']:.3f}."
    )


def _report_labels(model: FittedModel, labels: LabelMatrix, quiet: bool) -> list[str]:
    """Report labels that only the corpus or only the model has; return the former."""
    ours = [str(name) for name in model.labels.tolist()]
    here = {str(name) for name in labels.names[labels.counts()[0] > 0].tolist()}
    known = set(ours)
    unknown = [str(name) for name in labels.names.tolist() if str(name) not in known]
    absent = [name for name in ours if name not in here]
    if unknown:
        left_out = f"unknown to the model and left out: {listed(unknown)}."
        print_message(f"{len(unknown)} labels are {left_out}", quiet)
    if absent:
        nowhere = f"in none of the documents: {listed(absent)}."
        print_message(f"{len(absent)} labels of the model are {nowhere}", quiet)
    return unknown


def _has_seen(path: Path, corpus: Corpus, part: str) -> bool:
    """Whether the model was trained on these documents, by the summary in its file."""
    from labelkin.storage import read_header

    summary = read_header(path).summary or {}
    seen = str(dict(summary.get("options") or {}).get("part", "train"))
    n_seen = corpus.Y.shape[0] if seen == "all" else len(corpus.train)
    # The path may differ from that of training; then the size is compared.
    is_like = summary.get("source") == corpus.source or summary.get("documents") == n_seen
    return summary.get("corpus") == corpus.name and is_like and (seen == "all" or part != "test")


def _per_label(found: Evaluation) -> list[dict[str, Any]]:
    """Return the scores of every label; counts are whole numbers."""
    columns = {name: values.tolist() for name, values in found.per_label().items()}
    for name in ("known", "true", "decided"):
        columns[name] = [*map(int, columns[name])]
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return [{"label": str(x), **row} for x, row in zip(found.labels.tolist(), rows, strict=True)]
