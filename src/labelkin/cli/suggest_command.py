"""``labelkin suggest``: ranked labels for one text, which react to what a person states."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelkin.cli.options import AsJson, ModelFile, load_model
from labelkin.cli.printing import listed, print_json, print_table, tell

if TYPE_CHECKING:
    from labelkin.explain.contributions import Explanation
    from labelkin.explain.terms import TermExplanation
    from labelkin.prediction import FittedModel

_WORDS = 6
_LABELS = 5


def suggest(
    model: ModelFile,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The document; - reads it from stdin.")
    ],
    accept: Annotated[
        list[str] | None, typer.Option(help="A label it has; may be given again.")
    ] = None,
    refuse: Annotated[
        list[str] | None, typer.Option(help="A label it has not; may be given again.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what speaks for and against each label.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="How many labels.")] = 10,
    json: AsJson = False,
) -> None:
    """Suggest labels for one text, most probable first; the others react to accept and refuse.

    Example:  labelkin suggest news.labelkin "Wheat exports rose." --accept grain --explain
    """
    document = _stdin() if text == "-" else text
    fitted = load_model(model)
    fitted.check_texts(str(model))
    _check_suggests(fitted, str(model))
    known = _known(fitted, accept or [], refuse or [])
    answer = suggestions(fitted, document, known, top)
    if not _has_known_words(fitted, document):
        tell("No word of the text is known to the model: the answer is the same for any such text.")
    if json:
        print_json({"known": known, "suggestions": [_plain(*told) for told in answer]})
        return
    rows = [
        [e.label, f"{e.probability:.4f}", "✓" if given else "", *_parts(e)]
        for e, given, _ in answer
    ]
    print_table(("label", "probability", "assigned", "prior", "content", "other labels"), rows)
    for state, names in known.items():
        if names:
            typer.echo(f"{state}: {', '.join(map(str, names))}")
    for e, _, words in answer if explain else ():
        typer.echo("")
        _print_reasons(e, words)


Told = tuple["Explanation", bool, "TermExplanation | None"]


def suggestions(model: FittedModel, text: str, known: dict[str, Any], top: int) -> list[Told]:
    """Return the most probable open labels: why, whether the thresholds give them, and words."""
    from labelkin.explain.terms import explain_terms

    vectors = model.vectors([text])
    given = model.decide(model.classifier.log_odds(vectors, known))[0]
    place = {name: j for j, name in enumerate(model.labels.tolist())}
    (explained,) = model.classifier.explain(vectors, top=top, known=known)
    named = [e.label for e in explained]
    words = explain_terms(model.whole, [text], named, top=_WORDS) if named else None
    told = [None] * len(named) if words is None else words[0]
    return [(e, bool(given[place[e.label]]), word) for e, word in zip(explained, told, strict=True)]


def _has_known_words(model: FittedModel, text: str) -> bool:
    import numpy as np
    from scipy import sparse

    vectors = model.vectors([text])
    n_words = vectors.count_nonzero() if sparse.issparse(vectors) else np.count_nonzero(vectors)
    return bool(n_words)


def _known(model: FittedModel, accept: list[str], refuse: list[str]) -> dict[str, list[Any]]:
    """Return the labels that a person has stated, as the model calls them."""
    names = {str(name): name for name in model.labels.tolist()}
    for option, texts in (("--accept", accept), ("--refuse", refuse)):
        for text in texts:
            if text not in names:
                raise ValueError(_unknown(option, text, list(names)))
    both = [text for text in accept if text in refuse]
    if both:
        raise ValueError(f"A label is accepted or refused, got {both[0]!r} both. Name it once.")
    return {
        "accepted": [names[text] for text in dict.fromkeys(accept)],
        "refused": [names[text] for text in dict.fromkeys(refuse)],
    }


def _unknown(option: str, text: str, names: list[str]) -> str:
    like = get_close_matches(text, names, n=3)
    way_out = f"Did you mean {' or '.join(map(repr, like))}?" if like else f"It has {listed(names)}"
    return f"{option} must be one of the {len(names)} labels of the model, got {text!r}. {way_out}"


def _stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8-sig")


def _check_suggests(model: FittedModel, name: str) -> None:
    if not hasattr(model.classifier, "rescorer_"):
        raise ValueError(
            f"{name} must be a LabelDependenceClassifier to react to labels, got a "
            f"{type(model.classifier).__name__}. labelkin train makes such files."
        )


def _parts(e: Explanation) -> list[str]:
    """Write prior, content and all the rest, which add up to the log-odds."""
    return [f"{part:+.2f}" for part in (e.prior, e.content, e.log_odds - e.prior - e.content)]


def _plain(e: Explanation, given: bool, words: TermExplanation | None) -> dict[str, Any]:
    told = e.to_dict() | {"label": str(e.label), "given": given}
    told["words"] = [] if words is None else [[str(t.term), t.share] for t in words.terms]
    return told


def _print_reasons(e: Explanation, words: TermExplanation | None) -> None:
    """Print the parts of one label's log-odds; they add up to it."""
    typer.echo(str(e))
    if words is None:
        return
    if words.terms:
        shares = [f"{t.term} {t.share:+.2f}" for t in words.terms]
        rest = e.content - sum(t.share for t in words.terms)
        typer.echo(f"  words: {', '.join(shares)}, all else {rest:+.2f}; content {e.content:+.2f}")
    if words.neighbours:
        near = [f"{n.document} ({n.similarity:.2f})" for n in words.neighbours[:_LABELS]]
        typer.echo("  nearest training documents: " + ", ".join(near))
