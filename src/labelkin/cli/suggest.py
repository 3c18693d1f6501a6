"""``labelkin suggest``: labels for one text, with reasons."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from labelkin.cli import options
from labelkin.cli.options import argument, option
from labelkin.cli.printing import counted, echo, print_json, print_message, print_table

if TYPE_CHECKING:
    from labelkin.explain.contributions import Explanation, Posterior, TermExplanation
    from labelkin.prediction import FittedModel

#: Texts that look like the path of a file: a word with a slash, or a line with a file ending.
_FILE_NAME = re.compile(
    r"\S*[/\\]\S*|.{1,200}\.(?:txt|csv|tsv|tab|jsonl?|ndjson|pdf|docx?|odt|rtf|html?|xml|xlsx?|ods|"
    r"mrc|md|gz)",
    re.IGNORECASE,
)
_MOST_WORDS, _MOST_NEIGHBOURS = 6, 5


def suggest(
    model: options.ModelPath,
    text: Annotated[
        str, argument("The document, or a file with it; - reads stdin.", metavar="TEXT")
    ],
    as_text: Annotated[
        bool, option("TEXT is the document, even if it looks like a file.", "--text")
    ] = False,
    accept: Annotated[list[str] | None, option("A label of the text; may be repeated.")] = None,
    reject: Annotated[
        list[str] | None, option("A label that does not apply; may be repeated.")
    ] = None,
    explain: Annotated[
        bool, option("Show the evidence for and against each label.", "--explain")
    ] = False,
    top: Annotated[int, option("Number of labels.", min=1)] = 10,
    include: options.Include = None,
    exclude: options.Exclude = None,
    label_language: options.LabelLanguage = None,
    trusted: options.Trusted = None,
    json: options.AsJson = False,
) -> None:
    """Suggest labels for one text, most probable first, given accepted and rejected labels.

    Example:  labelkin suggest news.labelkin "Wheat exports rose." --accept grain --explain

    Labels are named as in the training documents, or by a name, URI or notation of the model's
    vocabulary. A concept of the vocabulary without training documents is marked as not yet learned
    and has no effect on other labels.

    Example:  labelkin suggest news.labelkin article.txt --reject corn --json
    """
    document = text if as_text else _document(text)
    fitted = options.open_model(model, trusted, texts=True)
    if not fitted.has_label_evidence:
        raise ValueError(
            f"{model} must be a LabelDependenceClassifier to react to labels, got a "
            f"{type(fitted.classifier).__name__}. labelkin train makes such files."
        )
    if label_language is not None:
        options.check_language(fitted.names, label_language)
    known, unlearned = _known_labels(fitted, accept or [], reject or [])
    content = fitted.content([document])
    if fitted.has_few_words([document], content.vectors).any():
        print_message(
            "Note: the model knows few words of the text, or none. Another language, or another "
            "subject? Check the labels."
        )
    posterior = fitted.posterior(content, known if any(known.values()) else None)
    best = None
    if include or exclude:
        allowed = fitted.names.allowed(include or (), exclude or ())
        best = _best_allowed(posterior, allowed, top)
    (explained,) = posterior.explain(top=top, label_names=best)
    decided = dict(zip(fitted.labels.tolist(), posterior.decisions()[0].tolist(), strict=True))
    reasons = None
    if json or explain:
        reasons = fitted.reasons(content.vectors, [e.label for e in explained], _MOST_WORDS)
    terms = reasons[0] if reasons else [None] * len(explained)
    if json:
        rows = [
            {
                **e.to_dict(),
                "label": str(e.label),
                **_in_vocabulary(fitted, e.label, label_language),
                "given": decided[e.label],
                "words": [] if t is None else [(str(one.term), one.log_odds) for one in t.terms],
            }
            for e, t in zip(explained, terms, strict=True)
        ]
        print_json({"known": known, "not_learned": unlearned, "suggestions": rows})
        return
    shown = {}  # label → name
    if fitted.vocabulary is not None:
        shown = dict(zip(fitted.labels.tolist(), fitted.names.all(label_language), strict=True))
    _print_table(explained, decided, shown, fitted)
    for state, labels in known.items():
        called = [str(shown.get(x, x)) for x in labels]
        called += [
            f"{fitted.names.of(x, label_language)} (not yet learned)" for x in unlearned[state]
        ]
        if called:
            echo(f"{state}: {', '.join(called)}")
    if explain:
        for e, t in zip(explained, terms, strict=True):
            _print_reasons(e, t, shown)


def _document(text: str) -> str:
    """Return a text, or the contents of the file of this name, or stdin."""
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
    """Return accepted and rejected labels of the model, and concepts outside the model."""
    labels = {str(name): name for name in model.labels.tolist()}
    accepted = dict.fromkeys(model.names.read(x, "--accept", or_concept=True) for x in accept)
    rejected = dict.fromkeys(model.names.read(x, "--reject", or_concept=True) for x in reject)
    both = [text for text in accepted if text in rejected]
    if both:
        raise ValueError(f"A label is accepted or rejected, got {both[0]!r} both. Name it once.")
    decided = {"accepted": accepted, "rejected": rejected}
    return (
        {state: [labels[x] for x in some if x in labels] for state, some in decided.items()},
        {state: [x for x in some if x not in labels] for state, some in decided.items()},
    )


def _best_allowed(posterior: Posterior, allowed: Any, top: int) -> list[Any]:
    """Return the best open labels of a document that may be assigned."""
    from labelkin.label_matrix import best_labels

    # Known labels, and those that follow from them by rules, are infinite.
    is_open = abs(posterior.log_odds) < float("inf")
    [columns] = best_labels(posterior.log_odds, top, is_open & allowed)
    return list(posterior.names[columns].tolist())


def _in_vocabulary(model: FittedModel, label: Any, language: str | None) -> dict[str, str | None]:
    """Return URI, name and notation of a label."""
    if model.vocabulary is None:
        return {}
    names = model.names
    name, notation = names.of(label, language), names.notation(label)
    return {"uri": names.uri(label), "name": name, "notation": notation}


def _print_table(
    explained: list[Explanation],
    decided: dict[Any, bool],
    shown: dict[Any, str],
    fitted: FittedModel,
) -> None:
    """Print a row per label; prior, content and other labels add up to the log-odds."""
    header = ["label", "probability", "assigned", "prior", "content", "other labels"]
    rows = []
    for e in explained:
        prior, content = e.parts["prior"], e.parts["content"]
        parts = [f"{part:+.2f}" for part in (prior, content, e.log_odds - prior - content)]
        assigned = "✓" if decided[e.label] else ""
        rows.append([str(shown.get(e.label, e.label)), f"{e.probability:.4f}", assigned, *parts])
    if shown:
        rows = [[*row, fitted.names.uri(e.label)] for row, e in zip(rows, explained, strict=True)]
        header.append("uri")
    print_table(header, rows, left=(0, 6))


def _print_reasons(e: Explanation, found: TermExplanation | None, shown: dict[Any, str]) -> None:
    """Print the parts of one label's log-odds; they add up to it."""
    others = (one._replace(label=shown.get(one.label, one.label)) for one in e.labels)
    echo("")
    echo(str(replace(e, label=shown.get(e.label, e.label), labels=tuple(others))))
    if found is None:
        return
    if found.terms:
        content = e.parts["content"]
        rest = content - sum(one.log_odds for one in found.terms)
        strongest = ", ".join(f"{one.term} {one.log_odds:+.2f}" for one in found.terms)
        echo(f"  words: {strongest}, all else {rest:+.2f}; content {content:+.2f}")
    if found.neighbours:
        near = found.neighbours[:_MOST_NEIGHBOURS]
        listed = ", ".join(f"{one.document} ({one.similarity:.2f})" for one in near)
        echo(f"  nearest training documents: {listed}")
