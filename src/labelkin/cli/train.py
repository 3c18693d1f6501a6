"""``labelkin train``: from a corpus to a model file, with a summary of how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli.options import (
    CorpusName,
    Delimiter,
    Encoding,
    IdColumn,
    LabelsColumn,
    LabelSeparator,
    Quiet,
    TextColumn,
    load_corpus,
)
from labelkin.cli.printing import listed, print_pairs, print_table, size_text, stage, tell
from labelkin.cli.targets import check_model_target, check_not_input, check_place

if TYPE_CHECKING:
    from labelkin.cli.training import Material, Trained
    from labelkin.corpora import Corpus

_NAMES = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "hamming_loss": "Hamming loss",
    "subset_loss": "subset loss",
    "one_error": "one-error",
}


def train(
    corpus: CorpusName,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
    content: Annotated[
        Literal["svm", "naive-bayes", "neighbours"], typer.Option(help="What judges the document.")
    ] = "svm",
    labels: Annotated[
        Literal["logistic", "svm"], typer.Option(help="What judges by the other labels.")
    ] = "logistic",
    variant: Annotated[
        Literal["soft", "hard"],
        typer.Option(help="Other labels as probabilities (M2) or as decisions (M1)."),
    ] = "soft",
    weight: Annotated[
        str, typer.Option(help="Of label evidence: auto, or a number; 1 is the paper's.")
    ] = "auto",
    thresholds: Annotated[
        str | None,
        typer.Option(
            help="A probability (0.5 if not named), a metric to be good at (micro-f1, macro-f1, "
            "document-f1, subset-loss, hamming-loss), or a rule: scut, scutfbr, global, mcut, "
            "rcut, expected-f1.",
        ),
    ] = None,
    at_least: Annotated[int, typer.Option(min=0, help="Labels of a document at least.")] = 0,
    at_most: Annotated[int | None, typer.Option(min=1, help="Labels at most.")] = None,
    rules: Annotated[
        Path | None,
        typer.Option(help="Rules between labels: a table (narrower, broader) or SKOS."),
    ] = None,
    stem: Annotated[bool, typer.Option(help="Reduce words to stems.")] = True,
    language: Annotated[str, typer.Option(help="Of the texts, for stems.")] = "english",
    stop_words: Annotated[str, typer.Option(help="auto, smart, none, or a file.")] = "auto",
    min_documents: Annotated[
        int, typer.Option(min=1, help="Words in fewer documents are left out.")
    ] = 3,
    journal: Annotated[
        Path | None, typer.Option(help="Also learn what labelkin serve has written down.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all that is drawn at random.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Threads; -1 for all cores.")] = None,
    all_documents: Annotated[
        bool, typer.Option("--all", help="Learn from test documents, too.")
    ] = False,
    text_column: TextColumn = None,
    labels_column: LabelsColumn = None,
    id_column: IdColumn = None,
    label_separator: LabelSeparator = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    quiet: Quiet = False,
) -> None:
    """Train a model on a corpus and write it to a file.

    Ends with scores of documents that were left out of training in turn (cross-validation), of the
    content alone and with the other labels. The file holds everything from text to labels.

    In CSV and TSV a header names the columns text and labels, maybe id and split, and ';' stands
    between the labels of a document, unless options say otherwise.

    Example:  labelkin train newsroom -o newsroom.labelkin --thresholds micro-f1
    """
    check_place(out)
    check_not_input(out, corpus)
    check_model_target(out)
    from labelkin.cli import choices

    words = {
        "language": language,
        "stop_words": choices.read_stop_words(stop_words),
        "stem": stem,
        "min_documents": min_documents,
    }
    rule = choices.read_thresholds(thresholds, at_least, at_most)
    evidence_weight = choices.read_weight(weight)
    with stage(f"reading {corpus}", quiet):
        loaded = load_corpus(
            corpus,
            text_column=text_column,
            labels_column=labels_column,
            id_column=id_column,
            label_separator=label_separator,
            delimiter=delimiter,
            encoding=encoding,
        )
        material, mark = _material(loaded, all_documents, journal)
    from labelkin.cli.training import train_model
    from labelkin.method.classifier import LabelDependenceClassifier

    classifier = LabelDependenceClassifier(
        choices.make_content(content, loaded.features, seed),
        choices.LABELS[labels](),
        variant,
        evidence_weight,
        rule,
        _rules(rules, material, quiet),
        n_jobs=jobs,
        random_state=seed,
    )
    steps = choices.make_steps(loaded, content, words)
    _tell_size(material, quiet)
    trained = train_model(material, steps, classifier, quiet)
    options = {"content": content, "labels": labels, "variant": variant, "weight": weight}
    options |= {"thresholds": thresholds or "0.5", "seed": str(seed)}
    options |= {"part": "all" if all_documents else "train"}
    _save(trained, out, _summary(loaded, material, options, mark))


def _material(
    corpus: Corpus, all_documents: bool, journal: Path | None
) -> tuple[Material, list[Any] | None]:
    """Return what is learnt from, and up to where the journal was read."""
    from labelkin.cli.training import Material, add_documents

    part: Any = slice(None) if all_documents else corpus.train
    material = Material(corpus.documents[part], corpus.Y.rows(part))
    if journal is None:
        return material, None
    if corpus.features != "text":
        raise ValueError(f"--journal adds texts, and {corpus.name} has {corpus.features}.")
    from labelkin.service import read_journal

    texts, label_sets, mark = read_journal(journal)
    return add_documents(material, texts, label_sets), list(mark)


def _rules(path: Path | None, material: Material, quiet: bool) -> Any:
    if path is None:
        return None
    from labelkin.cli.choices import read_rules

    names = material.labels.names.tolist()
    stated = read_rules(path)
    rules = stated.only(names)
    tell(f"{len(rules)} rules about labels of the corpus, of {len(stated)} in {path}.", quiet)
    known = set(names)
    unknown = [label for label in stated.labels if label not in known]
    if unknown:
        told = f"{len(unknown)} labels of the rules are not in the corpus: {listed(unknown)}."
        tell(told, quiet)
    return rules


def _tell_size(material: Material, quiet: bool) -> None:
    n_documents, n_labels = material.labels.shape
    tell(f"{n_documents:,} documents, {n_labels:,} labels: {listed(material.labels.names)}.", quiet)


def _summary(
    corpus: Corpus, material: Material, options: dict[str, str], mark: list[Any] | None
) -> dict[str, Any]:
    """Return what the file says about the training; the scores come to it."""
    n_documents, n_labels = material.labels.shape
    return {
        "corpus": corpus.name,
        "source": corpus.source,
        "licence": corpus.licence,
        "documents": n_documents,
        "labels": n_labels,
        "options": options,
        **({} if mark is None else {"journal": mark}),
    }


def _save(trained: Trained, out: Path, summary: dict[str, Any]) -> None:
    """Write the file, then print the scores, the path and the size."""
    from labelkin.storage import save

    save(trained.model, out, summary={**summary, "cross_validated": trained.scores})
    print_scores(trained.scores)
    print_pairs([("", ""), ("model", str(out)), ("size", size_text(out.stat().st_size))])


def print_scores(scores: dict[str, dict[str, float | None]]) -> None:
    """Print the cross-validated scores of the content alone and of the model."""
    systems = {"content": "content alone", "model": "with other labels"}
    rows = [
        [systems.get(name, name), *(_number(told.get(metric)) for metric in _NAMES)]
        for name, told in scores.items()
    ]
    print_table(["cross-validated", *_NAMES.values()], rows)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
