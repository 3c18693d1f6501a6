"""``labelkin train``: train a model on a corpus, with a summary of its quality."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from labelkin.cli import options
from labelkin.cli.options import ASSIGNED, MODEL, option
from labelkin.cli.printing import (
    METRIC_WORDS,
    counted,
    echo,
    listed,
    print_message,
    print_pairs,
    print_scores,
    size_text,
    timed_stage,
    watching,
)

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.label_matrix import LabelMatrix
    from labelkin.vocabulary import Vocabulary

#: Labels from which SVMs without candidates get a hint.
_MANY_LABELS = 1000


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
        Path | None, option("Also learn from the work that labelkin serve saved.", panel=MODEL)
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
    options.check_corpus(corpus)
    options.check_inputs(rules, saved_work)
    options.check_vocabulary(vocab)
    options.check_out(out, *corpus, replace=replace)
    _check_limits(at_least, at_most)
    from labelkin.thresholds import LabelLimits, rule_for

    rule = rule_for(thresholds)
    parameters = words.parameters()
    with timed_stage(f"reading {', '.join(corpus)}", quiet):
        loaded = reading.corpus(corpus, quiet)
    is_tested = len(loaded.test) > 0 and not all_documents
    if is_tested:
        held_out = f"{counted(len(loaded.test), 'test document')} held out and scored at the end"
        print_message(f"{held_out}; --all also learns from them.", quiet)

    from labelkin.models.builder import DEFAULTS, build_model, build_part, plan_for_corpus
    from labelkin.models.training import fit_and_evaluate
    from labelkin.storage import save
    from labelkin.text import WordCounts
    from labelkin.vocabulary.matching import corpus_vocabulary, current_labels

    plan = plan_for_corpus(
        loaded, preset, (content or "").split(","), (views or "").replace(" ", "").split(",")
    )
    if "svm" in plan.names and top is None and loaded.Y.shape[1] > _MANY_LABELS:
        print_message(
            f"An SVM for each of {loaded.Y.shape[1]:,} labels takes long. --n-jobs uses more "
            "cores; --content nearest_neighbours --top 100 takes a small part of the time.",
            quiet,
        )
    documents, found, mark = _documents(loaded, all_documents, saved_work, quiet)
    concepts = corpus_vocabulary(loaded, vocab, label_language, words.language)
    label_sets = current_labels(found, concepts)
    n_documents, n_labels = label_sets.shape
    label_names = label_sets.names.tolist()
    shown = _matched(label_names, concepts, vocab or loaded.name, quiet, found.shape[1])
    least = _at_least(preset, at_least, label_sets, quiet)
    weight = evidence_weight
    if weight is None:
        weight = DEFAULTS[preset or "default"].get("evidence_weight", "auto")
    model = build_model(
        plan,
        WordCounts(**parameters),
        top=top,
        labels=build_part("labels", labels),
        variant=variant,
        evidence_weight=weight,
        thresholds=LabelLimits(rule, at_least=least, at_most=at_most)
        if least or at_most is not None
        else rule,
        rules=None if rules is None else read_rules(label_names, rules, concepts, quiet),
        n_jobs=n_jobs,
        random_state=random_state,
    )
    sizes = f"{counted(n_documents, 'document')}, {counted(n_labels, 'label')}"
    print_message(f"learning from {sizes}: {listed(shown)}.", quiet)
    with watching(quiet):
        scores = fit_and_evaluate(
            model, documents, label_sets, partial(timed_stage, quiet=quiet), verbose=not quiet
        )
    if concepts is not None:
        (model[-1] if hasattr(model, "steps") else model).concepts_ = concepts
    chosen = {
        "content": str(plan),
        "views": ",".join(plan.views) or None,
        "preset": preset,
        "labels": labels,
        "variant": variant,
        "evidence_weight": weight if weight == "auto" else f"{weight:g}",
        "thresholds": f"{thresholds or 0.5}",
        "random_state": str(random_state),
        "top": None if top is None else str(top),
        "part": "all" if all_documents else "train",
    }
    summary = {
        "corpus": loaded.name,
        "source": loaded.source,
        "licence": loaded.licence,
        "documents": n_documents,
        "labels": n_labels,
        "options": _given(chosen),
        "vocabulary": None if concepts is None else concepts.name,
        "reading": reading.kept() or None,
        "saved_work": mark,
        "cross_validated": scores,
    }
    save(model, out, summary=_given(summary))
    print_scores(scores)
    if is_tested:
        _print_test_scores(model, loaded, concepts)
    _print_file(out, saved_work)


def _check_limits(at_least: int | None, at_most: int | None) -> None:
    if at_most is not None and at_least is not None and at_most < at_least:
        raise ValueError(f"--at-most must not be below --at-least, got {at_most} and {at_least}.")


def _print_file(out: Path, saved_work: Path | None) -> None:
    beside = out.with_suffix(".saved.sqlite")
    if saved_work is None and beside.exists():
        print_message(
            f"Note: the label evidence learns from {beside} when the model is served; "
            "--saved-work also learns its words."
        )
    print_pairs([("", ""), ("model", str(out)), ("size", size_text(out.stat().st_size))])


def _at_least(preset: str | None, at_least: int | None, labels: LabelMatrix, quiet: bool) -> int:
    """Return the minimum number of labels; print a note if every training document has one."""
    if at_least is not None or not (labels.positive.sum(axis=1) > 0).all():
        return at_least or 0
    least = int(preset == "strong")
    hint = "every new one will get one" if least else "--at-least 1 gives one to every new one also"
    print_message(f"Every training document has a label: {hint}.", quiet)
    return least


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _documents(
    corpus: Corpus, all_documents: bool, saved_work: Path | None, quiet: bool
) -> tuple[Any, LabelMatrix, list[Any] | None]:
    """Return training documents, their labels, and the position in the saved work."""
    if saved_work is None:
        from labelkin.corpora.corpus import labels_of

        part: Any = slice(None) if all_documents else corpus.train
        return corpus.documents[part], labels_of(corpus).rows(part), None
    from labelkin.curation.corrected_corpus import training_documents
    from labelkin.curation.saved_work import read_answers, read_saved_documents

    texts, label_sets, mark = read_saved_documents(saved_work)
    documents, labels, corrections = training_documents(
        corpus,
        all_documents,
        decisions=read_answers(saved_work),
        texts=texts,
        label_sets=label_sets,
    )
    if corrections:
        print_message(f"{saved_work}: {corrections}.", quiet)
    return documents, labels, list(mark)


def _matched(
    labels: list[Any], vocabulary: Vocabulary | None, source: str, quiet: bool, n_before: int
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
    if n_before > len(labels):
        print_message(f"{n_before - len(labels)} labels were merged into their successors.", quiet)
    return names.all()


def read_rules(labels: list[Any], path: Path, vocabulary: Vocabulary | None, quiet: bool) -> Any:
    """Read rules between labels and report how many apply."""
    from labelkin.vocabulary.matching import rules_between

    found = rules_between(labels, path, vocabulary)
    number = f"{len(found.rules)} rules about labels of the corpus, of {found.n_found} in {path}."
    print_message(number, quiet)
    if found.unknown:
        print_message(
            f"{len(found.unknown)} labels of the rules are not in the corpus: "
            f"{listed(found.unknown)}.",
            quiet,
        )
    return found.rules


def _print_test_scores(model: Any, corpus: Corpus, concepts: Vocabulary | None) -> None:
    from labelkin.cli.evaluate import part_of
    from labelkin.prediction import evaluate_documents, fitted_model

    documents, labels = part_of(corpus, "test", concepts)
    found = evaluate_documents(fitted_model(model), documents, labels).scores()
    echo("")
    title = counted(len(corpus.test), "test document")
    print_scores({"model": {name: found[name] for name in METRIC_WORDS}}, title)
