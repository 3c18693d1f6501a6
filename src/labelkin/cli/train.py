"""``labelkin train``: train a model on a corpus, with a summary of its quality."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from labelkin.cli import options
from labelkin.cli.options import ASSIGNED, MODEL, option
from labelkin.cli.printing import (
    counted,
    echo,
    listed,
    print_message,
    print_pairs,
    print_scores,
    watching,
)

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.thresholds import ThresholdRule
    from labelkin.vocabulary import Vocabulary


@options.expand
def train(
    corpus: options.CorpusNames,
    out: Annotated[Path, option("The model file to write.", "--out", "-o")],
    words: options.CountedWords,
    reading: options.Reading,
    preset: Annotated[
        Literal["fast", "default", "strong"] | None,
        option(
            "fast: naive Bayes; default: chosen by the features, an SVM for words; strong: "
            "SVMs of several views of a text, and a label for every document if all training "
            "documents have one, at ten times the cost.",
            panel=MODEL,
        ),
    ] = None,
    content: options.Content = None,
    views: Annotated[
        str | None,
        option(
            "Views of a text for each content classifier: text, title, lead, body, "
            "characters, titled_text; a title is the first line, or --columns title=NAME.",
            panel=MODEL,
            metavar="NAME,...",
        ),
    ] = None,
    top: Annotated[
        int | None,
        option(
            "Candidates per document, for thousands of labels. [default: all labels]",
            panel=MODEL,
            min=1,
        ),
    ] = None,
    labels: options.Labels = "logistic",
    variant: options.VariantName = "soft",
    evidence_weight: options.EvidenceWeight = None,
    rules: options.RulesFile = None,
    saved_work: Annotated[
        Path | None,
        option("Also learn from the work that labelkin serve saved.", panel=MODEL, exists=True),
    ] = None,
    thresholds: options.Thresholds = None,
    at_least: Annotated[
        int | None,
        option("Minimum number of labels per document. [default: 0]", panel=ASSIGNED, min=0),
    ] = None,
    at_most: Annotated[
        int | None, option("Maximum number of labels per document.", panel=ASSIGNED, min=1)
    ] = None,
    vocab: options.VocabularyFile = None,
    label_language: options.LabelLanguage = None,
    random_state: options.RandomState = 0,
    n_jobs: options.NJobs = None,
    all_documents: Annotated[bool, option("Learn from test documents also.", "--all")] = False,
    replace: options.Replace = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a model on a corpus and write it to a file.

    Prints cross-validated scores of the content alone and with the other labels. The file contains
    every step from text to labels.

    Columns, separators and encoding are detected and reported in one line; options override them.
    Test documents are held out, and scored at the end.

    Example:  labelkin train newsroom -o newsroom.labelkin --thresholds micro_f1

    Example:  labelkin train news.csv -o news.labelkin --columns text=body --content naive_bayes

    Example:  labelkin train news.csv -o news.labelkin --columns title=headline --preset strong

    Example:  labelkin train annif.tsv -o topics.labelkin --vocab topics.ttl --rules topics.ttl
    """
    options.check_out(out, *corpus, replace=replace)
    rule = _threshold_rule(thresholds, preset, at_least, at_most)
    loaded = reading.corpus(corpus, quiet)
    is_tested = len(loaded.test) > 0 and not all_documents
    if is_tested:
        held_out = counted(len(loaded.test), "test document")
        note = f"{held_out} held out and scored at the end; --all also learns from them."
        print_message(note, quiet)

    from rich.filesize import decimal

    from labelkin.corpora.corpus import labels_of
    from labelkin.models.builder import FAST_WEIGHT, build_model, plan_for_corpus
    from labelkin.models.training import fit_and_evaluate, held_out_scores
    from labelkin.storage.file import save
    from labelkin.text import WordCounts
    from labelkin.vocabulary.matching import corpus_vocabulary, current_labels

    plan = plan_for_corpus(loaded, preset, (content or "").split(","), (views or "").split(","))
    concepts = corpus_vocabulary(loaded, vocab, label_language, words.language)
    labels_of_all, mark = labels_of(loaded), None
    part = slice(None) if all_documents else loaded.train
    documents, label_sets = loaded.documents[part], labels_of_all.rows(part)
    if saved_work is not None:
        documents, label_sets, mark = _with_saved_work(loaded, part, saved_work, quiet)
    label_sets = current_labels(label_sets, concepts)
    n_documents, n_labels = label_sets.shape
    label_names = label_sets.names.tolist()
    shown = _matched(label_names, concepts, vocab or loaded.name, quiet)
    default_weight = FAST_WEIGHT if preset == "fast" else "auto"
    model = build_model(
        plan,
        WordCounts(**vars(words)),
        top=top,
        labels=labels,
        variant=variant,
        evidence_weight=default_weight if evidence_weight is None else evidence_weight,
        thresholds=rule,
        rules=None if rules is None else options.read_rules(label_names, rules, concepts, quiet),
        n_jobs=n_jobs,
        random_state=random_state,
    )
    sizes = f"{counted(n_documents, 'document')}, {counted(n_labels, 'label')}"
    print_message(f"learning from {sizes}: {listed(shown)}.", quiet)
    with watching(quiet):
        scores = fit_and_evaluate(model, documents, label_sets, verbose=not quiet)
    if concepts is not None:
        (model[-1] if hasattr(model, "steps") else model).concepts_ = concepts
    chosen = {
        "content": ",".join(plan.names),
        "views": ",".join(plan.views),
        "preset": preset,
        "random_state": str(random_state),
        "part": "all" if all_documents else "train",
    }
    summary = {
        "corpus": loaded.name,
        "source": loaded.source,
        "licence": loaded.licence,
        "documents": n_documents,
        "labels": n_labels,
        "options": {name: value for name, value in chosen.items() if value},
        "vocabulary": None if concepts is None else concepts.name,
        "reading": {k: v for k, v in reading.named().items() if k in ("columns", "separator")},
        "saved_work": mark,
        "cross_validated": scores,
    }
    save(model, out, summary={name: x for name, x in summary.items() if x not in (None, {})})
    print_scores(scores)
    if is_tested:
        documents = loaded.documents[loaded.test]
        label_sets = current_labels(labels_of_all.rows(loaded.test), concepts)
        echo("")
        print_scores({"model": held_out_scores(model, documents, label_sets)}, held_out)
    print_pairs([("", ""), ("model", str(out)), ("size", decimal(out.stat().st_size))])


def _threshold_rule(
    thresholds: Any, preset: str | None, at_least: int | None, at_most: int | None
) -> ThresholdRule | None:
    """Return a rule with limits of the number of labels; an unknown name is an error."""
    least: Any = "auto" if at_least is None and preset == "strong" else at_least or 0
    has_limits = least or at_most is not None
    if thresholds is None and not has_limits:
        return None
    from labelkin.thresholds import LabelLimits, rule_for

    rule = rule_for(thresholds)
    return LabelLimits(rule, at_least=least, at_most=at_most) if has_limits else rule


def _with_saved_work(corpus: Corpus, part: Any, saved_work: Path, quiet: bool) -> Any:
    """Return training documents, their labels, and the position in the saved work."""
    from labelkin.curation.corrected_corpus import training_documents

    documents, labels, mark, corrections = training_documents(corpus, part, saved_work)
    if corrections:
        print_message(f"{saved_work}: {corrections}.", quiet)
    return documents, labels, mark


def _matched(
    labels: list[Any], vocabulary: Vocabulary | None, source: str, quiet: bool
) -> list[Any]:
    """Report how many labels a vocabulary names; return the names. No name is an error."""
    if vocabulary is None:
        return labels
    from labelkin.vocabulary import LabelNames

    names = LabelNames(labels, vocabulary)
    names.check_some(source)
    languages = f" in {listed(vocabulary.languages)}" if vocabulary.languages else ""
    print_message(
        f"{vocabulary.name}: {len(vocabulary):,} concepts{languages}; {names.n_named:,} of "
        f"{len(labels):,} labels have a name.",
        quiet,
    )
    return names.all()
