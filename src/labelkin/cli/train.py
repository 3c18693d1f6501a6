"""``labelkin train``: from a corpus to a model file, with a summary of how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelkin.cli import options
from labelkin.cli.printing import listed, print_message, print_pairs, print_scores, size_text, stage
from labelkin.registry import names

#: Metrics that thresholds can be chosen for, as labelkin.thresholds.rule_for knows them.
METRICS = ("micro_f1", "macro_f1", "document_f1", "subset_loss", "hamming_loss")


@options.reads_corpus
def train(
    corpus: options.CorpusName,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
    reading: options.Reading,
    content: options.Content = "svm",
    top: Annotated[
        int | None,
        typer.Option(min=1, help="Candidates per document, for thousands of labels; else all."),
    ] = None,
    labels: options.Labels = "logistic",
    variant: options.Variant = "soft",
    evidence_weight: options.EvidenceWeight = "auto",
    thresholds: Annotated[
        str | None,
        typer.Option(
            help="A probability (0.5 if not named), a metric to be good at "
            f"({', '.join(METRICS)}), or a rule ({', '.join(names('thresholds'))}).",
        ),
    ] = None,
    at_least: Annotated[int, typer.Option(min=0, help="Labels of a document at least.")] = 0,
    at_most: Annotated[int | None, typer.Option(min=1, help="Labels at most.")] = None,
    rules: options.RulesFile = None,
    vocab: options.Vocab = None,
    label_language: options.LabelLanguage = None,
    stem: options.Stem = True,
    language: options.Language = "english",
    stop_words: options.StopWords = "auto",
    min_documents: options.MinDocuments = 3,
    journal: Annotated[
        Path | None,
        typer.Option(help="Also learn from what people have saved and reviewed on the page."),
    ] = None,
    random_state: options.RandomState = 0,
    n_jobs: options.NJobs = None,
    all_documents: Annotated[
        bool, typer.Option("--all", help="Learn from test documents, too.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a model on a corpus and write it to a file.

    Ends with scores of documents that were left out of training in turn (cross-validation), of the
    content alone and with the other labels. The file holds everything from text to labels.

    In CSV and TSV a header names the columns text and labels, maybe id and split, and ';' stands
    between the labels of a document, unless options say otherwise.

    Example:  labelkin train newsroom -o newsroom.labelkin --thresholds micro_f1

    Example:  labelkin train news.csv -o news.labelkin --columns text=body --content naive_bayes

    Example:  labelkin train annif.tsv -o topics.labelkin --vocab topics.ttl --rules topics.ttl
    """
    options.check_corpus(corpus)
    options.check_input(rules)
    options.check_vocabulary(vocab)
    options.check_input(journal)
    options.check_out(out, corpus)
    options.check_model_target(out)
    weight = options.read_evidence_weight(evidence_weight)
    cut = _read_thresholds(thresholds)
    if at_most is not None and at_most < at_least:
        raise ValueError(f"--at-most must not be below --at-least, got {at_most} and {at_least}.")
    words = {
        "language": language,
        "stop_words": options.read_stop_words(stop_words),
        "stem": stem,
        "min_documents": min_documents,
    }
    with stage(f"reading {corpus}", quiet):
        loaded = reading.corpus(corpus)
    from labelkin.cli import training, vocabularies
    from labelkin.method.classifier import LabelDependenceClassifier
    from labelkin.registry import part_class
    from labelkin.storage import save
    from labelkin.thresholds import LabelLimits, as_rule
    from labelkin.vocabulary import LabelNames

    documents = training.training_documents(loaded, all_documents, journal, quiet)
    concepts = vocabularies.corpus_vocabulary(loaded, vocab, label_language, language)
    n_before = documents.labels.shape[1]
    documents = documents._replace(labels=vocabularies.current_labels(documents.labels, concepts))
    label_names = documents.labels.names.tolist()
    shown = LabelNames(label_names, concepts)
    if concepts is not None:
        vocabularies.check_matches(shown, vocab or loaded.name)
        print_message(f"{vocabularies.describe(shown)}.", quiet)
        if n_before > len(label_names):
            n_merged = n_before - len(label_names)
            print_message(f"{n_merged} labels were merged into their successors.", quiet)
    rule = as_rule(cut, "log_odds")
    limited = at_least > 0 or at_most is not None
    classifier = LabelDependenceClassifier(
        training.make_content(content, loaded.features, random_state, top),
        part_class("labels", labels)(),
        variant,
        weight,
        LabelLimits(rule, at_least, at_most) if limited else rule,
        None if rules is None else vocabularies.rules_between(label_names, rules, quiet, concepts),
        n_jobs=n_jobs,
        random_state=random_state,
    )
    steps = training.make_steps(loaded, content, words)
    size = {"documents": documents.labels.shape[0], "labels": len(label_names)}
    sizes = ", ".join(f"{number:,} {name}" for name, number in size.items())
    print_message(f"{sizes}: {listed(shown.all())}.", quiet)
    model, scores = training.train_model(documents, steps, classifier, quiet)
    if concepts is not None:
        classifier.concepts_ = concepts
    summary = {
        "corpus": loaded.name,
        "source": loaded.source,
        "licence": loaded.licence,
        **size,
        "options": {
            "content": content,
            "labels": labels,
            "variant": variant,
            "evidence_weight": evidence_weight,
            "thresholds": thresholds or "0.5",
            "random_state": str(random_state),
            **({} if top is None else {"top": str(top)}),
            "part": "all" if all_documents else "train",
        },
        **({} if concepts is None else {"vocabulary": concepts.name}),
        **({} if documents.journal is None else {"journal": documents.journal}),
        "cross_validated": scores,
    }
    save(model, out, summary=summary)
    print_scores(scores)
    print_pairs([("", ""), ("model", str(out)), ("size", size_text(out.stat().st_size))])


def _read_thresholds(text: str | None) -> float | str | None:
    """Return thresholds as the classifier takes them: a probability, or a name of either kind."""
    if text is None or text in (*METRICS, *names("thresholds")):
        return text
    try:
        number = float(text)
    except ValueError:
        raise ValueError(
            f"thresholds must be a probability, a metric ({', '.join(METRICS)}) or a rule "
            f"({', '.join(names('thresholds'))}), got {text!r}."
        ) from None
    if not 0 < number < 1:
        raise ValueError(f"thresholds must be strictly between 0 and 1, got {text}.")
    return number
