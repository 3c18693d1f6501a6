"""``labelkin train``: from a corpus to a model file, with a summary of how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli import options
from labelkin.cli.printing import (
    counted,
    echo,
    listed,
    print_message,
    print_pairs,
    print_scores,
    size_text,
    stage,
)
from labelkin.registry import names

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.vocabulary import Vocabulary

#: Metrics that thresholds can be chosen for, as labelkin.thresholds.rule_for knows them.
METRICS = ("micro_f1", "macro_f1", "document_f1", "subset_loss", "hamming_loss")
#: scikit-learn's names of four of them.
_SCIKIT_LEARN = ("f1_micro", "f1_macro", "f1_samples", "zero_one_loss")


@options.reads_corpus
def train(
    corpus: options.CorpusNames,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
    reading: options.Reading,
    preset: Annotated[
        Literal["fast", "default", "strong"] | None,
        typer.Option(
            help="fast: naive Bayes; default: what the features suggest, an SVM for words; strong: "
            "several views of a text, each with an SVM, and a label for every document where all "
            "training documents have one, at ten times the cost."
        ),
    ] = None,
    content: options.Contents = None,
    views: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="What each content classifier sees of a text, of text, title, lead, body, "
            "characters and titled_text; a title is the first line, or --columns title=NAME.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(min=1, help="Candidates per document, for thousands of labels; else all."),
    ] = None,
    labels: options.Labels = "logistic",
    variant: options.Variant = "soft",
    evidence_weight: Annotated[
        str | None,
        typer.Option(
            help="Of label evidence: auto, if not named, learns it; a number fixes it, 1 is the "
            "paper's."
        ),
    ] = None,
    thresholds: Annotated[
        str | None,
        typer.Option(
            help="A probability (0.5 if not named), a metric to be good at "
            f"({', '.join(METRICS)}), or a rule ({', '.join(names('thresholds'))}).",
        ),
    ] = None,
    at_least: Annotated[
        int | None,
        typer.Option(min=0, help="Labels of a document at least; 0 if not named."),
    ] = None,
    at_most: Annotated[int | None, typer.Option(min=1, help="Labels at most.")] = None,
    rules: options.RulesFile = None,
    vocab: options.Vocab = None,
    label_language: options.LabelLanguage = None,
    stem: options.Stem = True,
    language: options.Language = "english",
    stop_words: options.StopWords = "auto",
    min_documents: options.MinDocuments = 3,
    saved_work: Annotated[
        Path | None,
        typer.Option(help="Also learn from the documents and answers saved on the page."),
    ] = None,
    random_state: options.RandomState = 0,
    n_jobs: options.NJobs = None,
    all_documents: Annotated[
        bool, typer.Option("--all", help="Learn from test documents, too.")
    ] = False,
    replace: options.Replace = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a model on a corpus and write it to a file.

    Ends with scores of documents that were left out of training in turn (cross-validation), of the
    content alone and with the other labels. The file holds everything from text to labels.

    In CSV and TSV a header names the columns. What is not named by options is found out: which
    columns have texts, labels and ids, what separates them, and the encoding; one line says it.
    Test documents are kept aside, and scored at the end.

    Example:  labelkin train newsroom -o newsroom.labelkin --thresholds micro_f1

    Example:  labelkin train news.csv -o news.labelkin --columns text=body --content naive_bayes

    Example:  labelkin train news.csv -o news.labelkin --columns title=headline --preset strong

    Example:  labelkin train annif.tsv -o topics.labelkin --vocab topics.ttl --rules topics.ttl
    """
    options.check_corpus(corpus)
    options.check_input(rules)
    options.check_vocabulary(vocab)
    options.check_input(saved_work)
    options.check_out(out, *corpus)
    options.check_model_target(out, replace)
    asked_weight = evidence_weight or ("0.1" if preset == "fast" else "auto")
    weight = options.read_evidence_weight(asked_weight)
    cut = _read_thresholds(thresholds)
    if at_most is not None and at_least is not None and at_most < at_least:
        raise ValueError(f"--at-most must not be below --at-least, got {at_most} and {at_least}.")
    words = {
        "language": language,
        "stop_words": options.read_stop_words(stop_words),
        "stem": stem,
        "min_documents": min_documents,
    }
    with stage(f"reading {', '.join(corpus)}", quiet):
        loaded = reading.corpus(corpus, quiet)
    if len(loaded.test) and not all_documents:
        aside = f"{counted(len(loaded.test), 'test document')} kept aside and scored at the end"
        print_message(f"{aside}; --all learns from them, too.", quiet)
    from labelkin.cli import training, vocabularies
    from labelkin.models.classifier import LabelDependenceClassifier
    from labelkin.registry import part_class
    from labelkin.storage import save
    from labelkin.thresholds import LabelLimits, as_rule
    from labelkin.vocabulary import LabelNames

    documents = training.training_documents(loaded, all_documents, saved_work, quiet)
    concepts = vocabularies.corpus_vocabulary(loaded, vocab, label_language, language)
    label_sets = vocabularies.current_labels(documents.labels, concepts)
    n_merged = documents.labels.shape[1] - label_sets.shape[1]
    documents = documents._replace(labels=label_sets)
    label_names = label_sets.names.tolist()
    shown = LabelNames(label_names, concepts)
    vocabularies.print_matches(shown, vocab or loaded.name, n_merged, quiet)
    rule = as_rule(cut, "log_odds")
    chosen = training.choose_content(preset, content, views, loaded)
    least = training.choose_at_least(preset, at_least, label_sets, quiet)
    classifier = LabelDependenceClassifier(
        training.make_content(chosen, loaded.features, random_state, top, words),
        labels=part_class("labels", labels)(),
        variant=variant,
        evidence_weight=weight,
        thresholds=LabelLimits(rule, at_least=least, at_most=at_most)
        if least or at_most is not None
        else rule,
        rules=None
        if rules is None
        else vocabularies.rules_between(label_names, rules, quiet, concepts),
        n_jobs=n_jobs,
        random_state=random_state,
    )
    steps = training.make_steps(loaded, chosen, words)
    size = {"documents": documents.labels.shape[0], "labels": len(label_names)}
    sizes = [counted(number, name.removesuffix("s")) for name, number in size.items()]
    print_message(f"learning from {', '.join(sizes)}: {listed(shown.all())}.", quiet)
    model, scores = training.train_model(documents, steps, classifier, quiet)
    if concepts is not None:
        classifier.concepts_ = concepts
    summary = {
        "corpus": loaded.name,
        "source": loaded.source,
        "licence": loaded.licence,
        **size,
        "options": {
            "content": chosen.name,
            **({"views": ",".join(chosen.views)} if chosen.views else {}),
            **({} if preset is None else {"preset": preset}),
            "labels": labels,
            "variant": variant,
            "evidence_weight": asked_weight,
            "thresholds": thresholds or "0.5",
            "random_state": str(random_state),
            **({} if top is None else {"top": str(top)}),
            "part": "all" if all_documents else "train",
        },
        **({} if concepts is None else {"vocabulary": concepts.name}),
        **({"reading": kept} if (kept := reading.kept()) else {}),
        **({} if documents.mark is None else {"saved_work": documents.mark}),
        "cross_validated": scores,
    }
    save(model, out, summary=summary)
    print_scores(scores)
    if len(loaded.test) and not all_documents:
        _print_test_scores(model, loaded, concepts)
    _note_saved_work(out, saved_work)
    print_pairs([("", ""), ("model", str(out)), ("size", size_text(out.stat().st_size))])


def _note_saved_work(out: Path, saved_work: Path | None) -> None:
    """Print a note about saved work beside the model that was not learned from."""
    beside = out.with_suffix(".saved.sqlite")
    if saved_work is None and beside.exists():
        print_message(
            f"Note: the label evidence learns from {beside} when the model is served; "
            "--saved-work also learns its words."
        )


def _print_test_scores(model: Any, corpus: Corpus, concepts: Vocabulary | None) -> None:
    """Print how good the model is on documents that it has not seen, nor chosen anything by."""
    from labelkin.cli.models import judge, part_of
    from labelkin.prediction import fitted_model
    from labelkin.research.reports.scores import METRICS as SHOWN

    documents, labels = part_of(corpus, "test", concepts)
    found = judge(fitted_model(model, "The model"), documents, labels).scores()
    title = counted(len(corpus.test), "test document")
    echo("")
    print_scores({"model": {name: found[name] for name in SHOWN}}, title)


def _read_thresholds(text: str | None) -> float | str | None:
    """Return thresholds as the classifier takes them: a probability, or a name of either kind."""
    if text is None or text in (*METRICS, *_SCIKIT_LEARN, *names("thresholds")):
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
