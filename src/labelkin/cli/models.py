"""``labelkin inspect``, ``suggest`` and ``evaluate``: one model file, looked at, asked, judged."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from labelkin.cli import options
from labelkin.cli.printing import (
    counted,
    echo,
    listed,
    print_json,
    print_message,
    print_pairs,
    print_scores,
    print_table,
    size_text,
    watching,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from labelkin.corpora import Corpus
    from labelkin.evaluation.metrics import Evaluation
    from labelkin.explain.contributions import Explanation, Posterior
    from labelkin.explain.label_graph import LabelEdge
    from labelkin.label_matrix import LabelMatrix
    from labelkin.prediction import FittedModel
    from labelkin.scaling.blocks import Engine
    from labelkin.storage import ModelFile
    from labelkin.vocabulary import LabelNames, Vocabulary


#: What looks like the path of a file: one word with a slash, or a line with the ending of a file.
_FILE_NAME = re.compile(
    r"\S*[/\\]\S*|.{1,200}\.(?:txt|csv|tsv|tab|jsonl?|ndjson|pdf|docx?|odt|rtf|html?|xml|xlsx?|ods|"
    r"mrc|md|gz)",
    re.IGNORECASE,
)


def inspect(
    model: options.ModelFile,
    top: Annotated[
        int, typer.Option(min=0, help="How many attractions and repulsions to show.")
    ] = 10,
    label_language: options.LabelLanguage = None,
    json: options.AsJson = False,
) -> None:
    """Show what a model file holds: labels, sizes, versions, weights, most related labels.

    Example:  labelkin inspect news.labelkin
    """
    options.check_model(model)
    header, loaded = load_parts(model)
    found = {**describe_file(header), **describe_model(loaded)}
    edges = _edges(loaded, top)
    names = options.vocabulary_names(header.labels, loaded, label_language)
    if names.vocabulary is not None:
        found["vocabulary"] = _described(names)
        found["names"] = names.all(label_language)
    if json:
        print_json({**found, "related": [{"strength": e.strength, **vars(e)} for e in edges]})
        return
    print_pairs(_inspected(found))
    _print_summary(found["summary"] or {})
    if edges:
        echo("")
        header_row = ["most related labels", "at least", "weight"]
        header_row += ["with first", "second", "both", "by chance"]
        shown = dict(zip(names.labels, names.all(label_language), strict=True))
        print_table(header_row, (_edge_row(edge, shown) for edge in edges))


def load_parts(path: Path) -> tuple[ModelFile, Any]:
    """Return what a file says of itself, and its model, to be looked at and not to be asked.

    So it may hold anything: what is read on request is read when a model is asked.
    """
    from labelkin.storage import load, read_header
    from labelkin.storage.trusted import ON_REQUEST

    return read_header(path), load(path, trusted=ON_REQUEST)


def describe_file(header: ModelFile) -> dict[str, Any]:
    """Return what the file says of itself, as plain values."""
    return {
        "file": str(header.path),
        "bytes": header.file_bytes,
        "created": header.created.isoformat(),
        "versions": header.versions,
        "format": header.format_version,
        "model": header.model,
        "labels": list(header.labels),
        "summary": header.summary,
    }


def describe_model(model: Any) -> dict[str, Any]:
    """Return what a model is made of, as plain values; what it has not is left out."""
    from sklearn.pipeline import Pipeline

    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    last = steps[-1]
    found: dict[str, Any] = {"steps": [*map(_one_line, steps[:-1]), type(last).__name__]}
    words = [len(step.vocabulary_) for step in steps if hasattr(step, "vocabulary_")]
    if words:
        found["terms"] = words[0]
    if hasattr(last, "rescorer_"):
        found |= {
            "content": _one_line(last.content_),
            "label_classifier": _one_line(last.rescorer_.labels_),
            "variant": last.variant if isinstance(last.variant, str) else _one_line(last.variant),
            "evidence_weight": float(last.evidence_weight_),
            "thresholds": _one_line(last.thresholds_),
            "rules": 0 if last.rules is None else len(last.rules),
            "cuts": [cut._asdict() for cut in last.thresholds_.table()],
        }
    return found


def _one_line(part: Any) -> str:
    return " ".join(repr(part).split())


def _edges(model: Any, top: int) -> list[LabelEdge]:
    """Return the strongest edges; none for a model whose label evidence has no weights."""
    from labelkin.explain.label_graph import label_graph

    try:
        return list(label_graph(model, top, top).edges)
    except (ValueError, TypeError):
        return []


def _inspected(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what people read of a description, name and value."""
    names = found.get("names", found["labels"])
    lines = [
        ("file", f"{found['file']}, {size_text(found['bytes'])}"),
        ("created", found["created"]),
        ("versions", ", ".join(f"{name} {v}" for name, v in found["versions"].items())),
        ("labels", f"{len(names):,}: {listed(names, 12)}"),
        *([("vocabulary", _vocabulary_line(found["vocabulary"]))] if "vocabulary" in found else []),
        ("steps", " → ".join(found["steps"])),
    ]
    parts = ("terms", "content", "label_classifier", "variant", "evidence_weight", "thresholds")
    for name in (*parts, "rules"):
        if name in found:
            value = found[name]
            text = f"{value:.4g}" if isinstance(value, float) else str(value)
            lines.append((name.replace("_", " "), text))
    return lines


def _print_summary(summary: dict[str, Any]) -> None:
    plain = {name: value for name, value in summary.items() if not isinstance(value, dict)}
    if plain:
        echo("")
        print_pairs([(f"trained: {name}", str(value)) for name, value in plain.items()])
    scores = summary.get("cross_validated")
    if isinstance(scores, dict) and all(isinstance(row, dict) for row in scores.values()):
        echo("")
        print_scores(scores)


def _described(names: LabelNames) -> dict[str, Any]:
    """Return what a model's vocabulary is, as plain values."""
    vocabulary = names.vocabulary
    assert vocabulary is not None
    return {
        "name": vocabulary.name,
        "concepts": len(vocabulary),
        "languages": list(vocabulary.languages),
        "language": vocabulary.language,
        "labels_named": names.n_named,
    }


def _vocabulary_line(found: dict[str, Any]) -> str:
    languages = f" in {', '.join(found['languages'])}" if found["languages"] else ""
    sizes = f"{found['concepts']:,} concepts{languages}, {found['labels_named']:,} of them labels"
    return f"{found['name']}: {sizes}"


def _edge_row(edge: LabelEdge, names: dict[str, str]) -> list[str]:
    first, second = (names.get(str(one), str(one)) for one in (edge.first, edge.second))
    return [
        f"{first} {'+' if edge.strength > 0 else '/'} {second}",
        f"{edge.bound:+.2f}",
        f"{edge.strength:+.2f}",
        *(f"{n:.10g}" for n in (edge.n_first, edge.n_second, edge.n_both)),
        f"{edge.n_expected:.1f}",
    ]


def suggest(
    model: options.ModelFile,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="The document, or a file with it; - reads stdin."),
    ],
    as_text: Annotated[
        bool, typer.Option("--text", help="TEXT is the document, even if it looks like a file.")
    ] = False,
    accept: Annotated[
        list[str] | None, typer.Option(help="A label it has; may be given again.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option(help="A label it has not; may be given again.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what speaks for and against each label.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="How many labels.")] = 10,
    include: options.Include = None,
    exclude: options.Exclude = None,
    label_language: options.LabelLanguage = None,
    trusted: options.Trusted = None,
    json: options.AsJson = False,
) -> None:
    """Suggest labels for one text, most probable first; the others react to accept and reject.

    Example:  labelkin suggest news.labelkin "Wheat exports rose." --accept grain --explain

    Labels are named by what the documents have, a URI as a rule, or by a name or notation of the
    model's vocabulary. A concept of the vocabulary that the model was not trained on is marked as
    not yet learned and has no effect on the other labels.

    Example:  labelkin suggest news.labelkin article.txt --reject corn --json
    """
    options.check_model(model)
    document = text if as_text else _document(text)
    fitted = options.load_model(model, trusted)
    fitted.check_texts(str(model))
    fitted.check_label_evidence(str(model))
    names = options.label_names(fitted, label_language)
    known, unlearned = _known_labels(fitted, accept or [], reject or [])
    allowed = names.allowed(include or (), exclude or ())
    content = fitted.content([document])
    if fitted.has_few_words([document], content.vectors).any():
        print_message(
            "Note: the model knows few words of the text, or none. Another language, or another "
            "subject? Check the labels."
        )
    posterior = fitted.posterior(content, known)
    (explained,) = posterior.explain(top=top, label_names=_allowed_labels(posterior, allowed, top))
    decided = dict(zip(fitted.labels.tolist(), posterior.decisions()[0].tolist(), strict=True))
    words = _words(fitted, content.vectors, explained) if json or explain else []
    if json:
        rows = [
            {
                **e.to_dict(),
                "label": str(e.label),
                **_shown(names, e.label, label_language),
                "given": decided[e.label],
                "words": w.terms,
            }
            for e, w in zip(explained, words, strict=True)
        ]
        print_json({"known": known, "not_learned": unlearned, "suggestions": rows})
        return
    header = ("label", "probability", "assigned", "prior", "content", "other labels")
    print_table(
        header if names.vocabulary is None else (*header, "uri"),
        [_suggestion_row(e, decided[e.label], names, label_language) for e in explained],
        left=(0, len(header)),
    )
    for state, labels in known.items():
        shown = [names.of(x, label_language) for x in labels]
        shown += [f"{names.of(x, label_language)} (not yet learned)" for x in unlearned[state]]
        if shown:
            echo(f"{state}: {', '.join(shown)}")
    for e, w in zip(explained, words, strict=False):
        echo("")
        _print_reasons(_named(e, names, label_language), w)


def _document(text: str) -> str:
    """Return a text, or what is in the file of this name, or on stdin."""
    from labelkin.corpora.documents import check_plain, format_of
    from labelkin.corpora.lines import decoded_lines

    if text == "-":
        return "".join(decoded_lines(sys.stdin.buffer, None, "stdin"))
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):  # too long for a name
        is_file = False
    if not is_file:
        if _FILE_NAME.fullmatch(text):
            raise ValueError(f"{text}: No such file. If it is the document, use --text.")
        return text
    if format_of(Path(text)) != "text":
        raise ValueError(
            f"{text} must be one document, and is a file of documents. Use labelkin predict."
        )
    document = "".join(decoded_lines(text, None))
    check_plain(Path(text))
    if not document.strip():
        raise ValueError(f"{text} must have a text, and is empty.")
    print_message(f"{text} is a file: its {counted(len(document), 'character')} are the document.")
    return document


def _known_labels(
    model: FittedModel, accept: list[str], reject: list[str]
) -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """Return the labels that a person has decided; those of the model, and concepts beside them."""
    labels = {str(name): name for name in model.labels.tolist()}
    read = partial(model.names.read, or_concept=True)
    accepted = dict.fromkeys(read(text, "--accept") for text in accept)
    rejected = dict.fromkeys(read(text, "--reject") for text in reject)
    both = [text for text in accepted if text in rejected]
    if both:
        raise ValueError(f"A label is accepted or rejected, got {both[0]!r} both. Name it once.")
    decided = {"accepted": accepted, "rejected": rejected}
    return (
        {state: [labels[x] for x in some if x in labels] for state, some in decided.items()},
        {state: [x for x in some if x not in labels] for state, some in decided.items()},
    )


def _allowed_labels(posterior: Posterior, allowed: NDArray[np.bool_], top: int) -> list[Any] | None:
    """Return the best open labels of a document that may be given; ``None``: all may."""
    if allowed.all():
        return None
    from labelkin.label_matrix import best_labels

    # What is known, or follows from it by rules, is infinite.
    is_open = abs(posterior.log_odds) < float("inf")
    [columns] = best_labels(posterior.log_odds, top, is_open & allowed)
    return posterior.names[columns].tolist()


def _shown(names: LabelNames, label: Any, language: str | None) -> dict[str, str | None]:
    """Return what a vocabulary says of a label, as plain values."""
    if names.vocabulary is None:
        return {}
    return {
        "uri": names.uri(label),
        "name": names.of(label, language),
        "notation": names.notation(label),
    }


def _named(e: Explanation, names: LabelNames, language: str | None) -> Explanation:
    """Return an explanation with the names of labels in their place, for people."""
    if names.vocabulary is None:
        return e
    others = (one._replace(label=names.of(one.label, language)) for one in e.labels)
    return replace(e, label=names.of(e.label, language), labels=tuple(others))


class _Words(NamedTuple):
    """What the content evidence of one label comes from: words and what they add; or documents."""

    terms: list[tuple[str, float]]
    neighbours: list[tuple[int, float]]


def _words(model: FittedModel, vectors: Any, explained: list[Explanation]) -> list[_Words]:
    """Return the strongest words of each label; none where the classifier has nothing exact."""
    labels = [e.label for e in explained]
    found = model.reasons(vectors, labels, top=6)
    if found is None:
        return [_Words([], [])] * len(labels)
    return [
        _Words(
            [(str(t.term), t.log_odds) for t in one.terms],
            [(n.document, n.similarity) for n in one.neighbours[:5]],
        )
        for one in found[0]
    ]


def _suggestion_row(
    e: Explanation, is_given: bool, names: LabelNames, language: str | None
) -> list[str]:
    """Write a label with its prior, content and all the rest, which add up to the log-odds."""
    name, uri = names.of(e.label, language), names.uri(e.label)
    prior, content = e.parts["prior"], e.parts["content"]
    parts = [f"{part:+.2f}" for part in (prior, content, e.log_odds - prior - content)]
    cells = [name, f"{e.probability:.4f}", "✓" if is_given else "", *parts]
    return cells if names.vocabulary is None else [*cells, uri]


def _print_reasons(e: Explanation, words: _Words) -> None:
    """Print the parts of one label's log-odds; they add up to it."""
    echo(str(e))
    if words.terms:
        content = e.parts["content"]
        rest = content - sum(added for _, added in words.terms)
        strongest = ", ".join(f"{term} {added:+.2f}" for term, added in words.terms)
        echo(f"  words: {strongest}, all else {rest:+.2f}; content {content:+.2f}")
    if words.neighbours:
        near = ", ".join(f"{document} ({cosine:.2f})" for document, cosine in words.neighbours)
        echo(f"  nearest training documents: {near}")


@options.reads_corpus
def evaluate(
    model: options.ModelFile,
    corpus: options.CorpusNames,
    reading: options.Reading,
    part: options.Part = None,
    per_label: Annotated[
        bool, typer.Option("--per-label", help="Also print the scores of every label.")
    ] = False,
    label_language: options.LabelLanguage = None,
    trusted: options.Trusted = None,
    json: options.AsJson = False,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
) -> None:
    """Score a model on a corpus by every metric.

    Example:  labelkin evaluate newsroom.labelkin newsroom --per-label

    Example:  labelkin evaluate news.labelkin held-out.csv --columns text=body --json
    """
    options.check_model(model)
    options.check_corpus(corpus)
    fitted = options.load_model(model, trusted)
    reading = reading.like(model, corpus)
    loaded = reading.corpus(corpus, quiet, lambda found: check_kinds(fitted, found, str(model)))
    chosen = part or ("test" if len(loaded.test) else "all")
    names = options.label_names(fitted, label_language)
    documents, labels = part_of(loaded, chosen, names.vocabulary)
    unknown = _report_labels(fitted, labels, quiet)
    if not quiet and _has_seen(model, loaded, chosen):
        print_message(
            f"Note: the model was trained on documents of {loaded.name} that it is judged on here: "
            "of new documents expect lower scores."
        )
    with watching(quiet), options.cluster(dask) as engine:
        found = judge(fitted, documents, labels, engine)
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


def _in_words(found: Evaluation, part: str) -> str:
    """Return the main scores in sentences."""
    scores = found.scores()
    right, share = scores["micro_precision"], scores["micro_recall"]
    return (
        f"{counted(found.n_documents, 'document')} ({part}), {counted(len(found.labels), 'label')}."
        f" {right:.0%} of the assigned labels are right (micro precision), and {share:.0%} of the "
        f"right labels are found (micro recall). Both in one number: micro F1 "
        f"{scores['micro_f1']:.3f}."
    )


def check_kinds(model: FittedModel, corpus: Corpus, name: str) -> None:
    """Raise where a model takes texts and a corpus has vectors, or the other way round."""
    takes = "texts" if model.takes_texts else "vectors"
    has = "texts" if corpus.features == "text" else "vectors"
    if takes != has:
        raise ValueError(
            f"{name} takes {takes}, and {corpus.name} has {has}. Evaluate it on a corpus like the "
            "one it was trained on."
        )


def part_of(
    corpus: Corpus, part: str, vocabulary: Vocabulary | None = None
) -> tuple[Any, LabelMatrix]:
    """Return the documents of a part of a corpus, and their labels as a vocabulary has them."""
    from labelkin.corpora.corpus import labels_of

    labels = labels_of(corpus)
    if vocabulary is not None:
        from labelkin.cli.vocabularies import current_labels

        labels = current_labels(labels, vocabulary)
    if part == "all":
        return corpus.documents, labels
    rows = corpus.test if part == "test" else corpus.train
    if not len(rows):
        raise ValueError(f"{corpus.name} has no {part} documents. Use --part all.")
    return corpus.documents[rows], labels.rows(rows)


def _report_labels(model: FittedModel, labels: LabelMatrix, quiet: bool) -> list[str]:
    """Report which labels only the corpus or only the model has; return the former."""
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
    """Whether the model was trained on the documents it is to be judged on, as its file says."""
    from labelkin.storage import read_header

    summary = read_header(path).summary or {}
    seen = str(dict(summary.get("options") or {}).get("part", "train"))
    n_seen = corpus.Y.shape[0] if seen == "all" else len(corpus.train)
    # A file may be named by another path than in training: then its size must do.
    is_like = summary.get("source") == corpus.source or summary.get("documents") == n_seen
    return summary.get("corpus") == corpus.name and is_like and (seen == "all" or part != "test")


#: Documents × labels judged at a time: 2²² numbers are 32 MB.
_CELLS = 2**22


def judge(
    model: FittedModel, documents: Any, labels: LabelMatrix, engine: Engine | None = None
) -> Evaluation:
    """Evaluate a model block by block; labels it does not know are left out."""
    from labelkin.cli.score_files import labels_in_order
    from labelkin.prediction import judge_blocks
    from labelkin.scaling.blocks import row_blocks
    from labelkin.scaling.progress import track

    truth = labels_in_order(labels, model.labels.tolist(), "The model and the corpus")
    truth = replace(truth, names=model.labels, classes=model.labels)  # "0" of a file is the label 0
    n_documents, n_labels = truth.shape
    size = n_documents if model.needs_batch else max(1, _CELLS // n_labels)
    blocks = track(
        row_blocks(documents, truth, size=size), "documents evaluated", -(-n_documents // size)
    )
    return judge_blocks(model, blocks, engine=engine)


def _per_label(found: Evaluation) -> list[dict[str, Any]]:
    """Return the scores of every label; counts are whole numbers."""
    columns = {name: values.tolist() for name, values in found.per_label().items()}
    for name in ("known", "true", "decided"):
        columns[name] = [*map(int, columns[name])]
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return [{"label": str(x), **row} for x, row in zip(found.labels.tolist(), rows, strict=True)]
