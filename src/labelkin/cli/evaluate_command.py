"""``labelkin evaluate``: every metric of a model on a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli.options import (
    AsJson,
    CorpusName,
    Delimiter,
    Encoding,
    IdColumn,
    LabelsColumn,
    LabelSeparator,
    ModelFile,
    Quiet,
    TextColumn,
    load_corpus,
    load_model,
)
from labelkin.cli.printing import listed, print_json, print_table, tell

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.label_matrix import LabelMatrix
    from labelkin.metrics import Evaluation
    from labelkin.prediction import FittedModel

#: Documents × labels judged at a time: 2²² numbers are 32 MB.
_CELLS = 2**22
_COUNTS = ("known", "true", "decided")


def evaluate(
    model: ModelFile,
    corpus: CorpusName,
    part: Annotated[
        Literal["test", "train", "all"] | None,
        typer.Option(
            help="Which documents; if not named, test ones where there are any, else all."
        ),
    ] = None,
    per_label: Annotated[
        bool, typer.Option("--per-label", help="Also print the scores of every label.")
    ] = False,
    json: AsJson = False,
    text_column: TextColumn = None,
    labels_column: LabelsColumn = None,
    id_column: IdColumn = None,
    label_separator: LabelSeparator = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    quiet: Quiet = False,
) -> None:
    """Score a model on a corpus by every metric.

    Example:  labelkin evaluate newsroom.labelkin newsroom --per-label
    """
    fitted = load_model(model)
    loaded = load_corpus(
        corpus,
        text_column=text_column,
        labels_column=labels_column,
        id_column=id_column,
        label_separator=label_separator,
        delimiter=delimiter,
        encoding=encoding,
    )
    _check_kinds(fitted, loaded, str(model))
    chosen = part or ("test" if len(loaded.test) else "all")
    documents, labels = _part(loaded, chosen)
    unknown = _tell_labels(fitted, labels, quiet)
    _tell_if_learnt(model, loaded, chosen, quiet)
    tell(f"{labels.shape[0]:,} documents ({chosen}).", quiet)
    found = judge(fitted, documents, labels)
    if json:
        print_json(_plain(found, chosen, unknown, per_label))
        return
    print_table(("metric", "score"), [(n, f"{v:.5f}") for n, v in found.scores().items()])
    if per_label:
        typer.echo("")
        _print_per_label(found)


def _tell_labels(model: FittedModel, labels: LabelMatrix, quiet: bool) -> list[str]:
    """Tell which labels only the corpus or only the model has; return the former."""
    known = model.labels.tolist()
    here = labels.names[labels.positive.sum(axis=0) > 0].tolist()
    unknown = _without(labels.names.tolist(), known)
    absent = _without(known, here)
    if unknown:
        told = f"unknown to the model and left out: {listed(unknown)}."
        tell(f"{len(unknown)} labels are {told}", quiet)
    if absent:
        told = f"in none of the documents: {listed(absent)}."
        tell(f"{len(absent)} labels of the model are {told}", quiet)
    return unknown


def _without(names: list[Any], others: list[Any]) -> list[str]:
    left_out = set(others)
    return [str(name) for name in names if name not in left_out]


def _tell_if_learnt(path: Path, corpus: Corpus, part: str, quiet: bool) -> None:
    """Warn where the model has seen the documents it is judged on."""
    from labelkin.storage import read_header

    summary = read_header(path).summary or {}
    learnt = str(dict(summary.get("options") or {}).get("part", "train"))
    n_learnt = corpus.Y.shape[0] if learnt == "all" else len(corpus.train)
    # A file may be named by another path than in training: then its size must do.
    like = summary.get("source") == corpus.source or summary.get("documents") == n_learnt
    if summary.get("corpus") == corpus.name and like and (learnt == "all" or part != "test"):
        tell(
            f"Note: the model was trained on documents of {corpus.name} that it is judged on here: "
            "of new documents expect lower scores.",
            quiet,
        )


def judge(model: FittedModel, documents: Any, labels: LabelMatrix) -> Evaluation:
    """Evaluate a model block by block; labels it does not know are left out."""
    from labelkin.metrics import evaluate as evaluate_block

    truth = _known_columns(labels, model.labels)
    n_documents, n_labels = truth.shape
    size = n_documents if model.needs_batch else max(1, _CELLS // max(n_labels, 1))
    blocks = []
    for start in range(0, n_documents, size):
        rows = slice(start, start + size)
        log_odds = model.log_odds(documents[rows])
        blocks.append(evaluate_block(truth.rows(rows), log_odds, model.decide(log_odds)))
    return sum(blocks[1:], blocks[0])


def _check_kinds(model: FittedModel, corpus: Corpus, name: str) -> None:
    takes = "texts" if model.takes_texts else "vectors"
    has = "texts" if corpus.features == "text" else "vectors"
    if takes != has:
        raise ValueError(
            f"{name} takes {takes}, and {corpus.name} has {has}. Evaluate it on a corpus like the "
            "one it was trained on."
        )


def _part(corpus: Corpus, part: str) -> tuple[Any, LabelMatrix]:
    if part == "all":
        return corpus.documents, corpus.Y
    rows = corpus.test if part == "test" else corpus.train
    if not len(rows):
        raise ValueError(f"{corpus.name} has no {part} documents. Use --part all.")
    return corpus.documents[rows], corpus.Y.rows(rows)


def _known_columns(labels: LabelMatrix, names: Any) -> LabelMatrix:
    """Return the labels that the model knows, in its order."""
    import numpy as np

    from labelkin.label_matrix import read_labels

    wanted = set(names.tolist())
    known = np.array([j for j, name in enumerate(labels.names.tolist()) if name in wanted], int)
    if not len(known):
        raise ValueError("The model and the corpus must share labels, and have none in common.")
    return read_labels(labels.columns(known), names=names)


def _plain(found: Evaluation, part: str, unknown: list[str], per_label: bool) -> dict[str, Any]:
    plain = {
        "documents": found.n_documents,
        "labels": len(found.labels),
        "part": part,
        "unknown_labels": unknown,
        "scores": found.scores(),
    }
    if per_label:
        columns = {
            name: [_whole(value) if name in _COUNTS else value for value in values.tolist()]
            for name, values in found.per_label().items()
        }
        plain["per_label"] = [
            {"label": str(label), **{name: values[j] for name, values in columns.items()}}
            for j, label in enumerate(found.labels.tolist())
        ]
    return plain


def _whole(count: float) -> float | int:
    return int(count) if float(count).is_integer() else count


def _print_per_label(found: Evaluation) -> None:
    columns = found.per_label()
    rows = [
        [
            str(label),
            *(
                f"{values[j]:.10g}" if name in _COUNTS else f"{values[j]:.4f}"
                for name, values in columns.items()
            ),
        ]
        for j, label in enumerate(found.labels.tolist())
    ]
    print_table(("label", *columns), rows)
