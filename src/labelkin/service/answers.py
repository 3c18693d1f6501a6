"""Answers of a model: labels of a text, reasons, and its labels as a list and as a map.

A request about a text computes its words, its content evidence and its posterior once; the answer
is read from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from labelkin.explain.contributions import Explanation, Posterior
from labelkin.explain.graph import LabelEdge, LabelGraph, circle_order, label_graph
from labelkin.label_matrix import best_labels, read_known, to_dense
from labelkin.models.rescorer import LabelRescorer
from labelkin.prediction.fitted_model import DocumentContent
from labelkin.service import messages
from labelkin.service.messages import ProblemError
from labelkin.service.models import ServedModel, Snapshot
from labelkin.text.words import SurfaceForm, surface_forms
from labelkin.validation import abbreviate

#: Maximum number of labels, terms and neighbours; the others are summed up.
_MOST = 30
#: Label graphs of rescorers that are in use.
_graphs: WeakKeyDictionary[LabelRescorer, LabelGraph] = WeakKeyDictionary()


def suggest_open_labels(model: ServedModel, request: messages.SuggestRequest) -> dict[str, Any]:
    """Return the open labels of a text, most probable first; :class:`messages.Suggestions`."""
    snapshot = model.snapshot
    known = _known(model, request.accepted, request.rejected)
    content = model.content(request.text)
    with _problem_if_rule_broken(snapshot, known):
        posterior = model.fitted.posterior(content, known, snapshot.rescorer)
    log_odds = posterior.log_odds
    is_open = np.isfinite(log_odds)
    if request.include or request.exclude:
        is_open &= _allowed(model, request.include, request.exclude)
    # By columns and in one piece: this is asked at every keystroke.
    [columns] = best_labels(log_odds, request.limit, is_open)
    parts = [part.name for part in posterior.parts]
    figures = (posterior.probabilities(), log_odds, *(part.log_odds for part in posterior.parts))
    suggestions = [
        {
            "label": model.names[j],
            "probability": probability,
            "log_odds": total,
            "parts": dict(zip(parts, added, strict=True)),
        }
        for j, (probability, total, *added) in zip(
            columns, np.concatenate(figures)[:, columns].T.tolist(), strict=True
        )
    ]
    given = {*request.accepted, *request.rejected}
    known_labels = [
        {
            "label": model.names[j],
            "state": "accepted" if log_odds[0, j] > 0 else "rejected",
            "because": None if model.names[j] in given else "rule",
        }
        for j in np.flatnonzero(np.isinf(log_odds[0]) & ~_no_candidates(posterior)[0])
    ]
    shown = (str(one["label"]) for one in (*suggestions, *known_labels))
    names = model.shown.vocabulary and _names(model, shown, request.language)
    return {
        "model": model.id,
        "suggestions": suggestions,
        "known": known_labels,
        "n_words": None if content.n_words is None else int(content.n_words[0]),
        "learned": snapshot.learned,
        "n_open": int(is_open.sum()),
        **({"names": names} if names else {}),
    }


def most_probable_labels(
    model: ServedModel,
    texts: Sequence[str],
    known: Sequence[Mapping[str, Sequence[str]]],
    *,
    limit: int,
    threshold: float,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> list[list[tuple[str, float]]]:
    """Return the most probable labels of texts, and their probabilities.

    Each text has at most ``limit`` labels with at least the probability ``threshold``. Accepted
    labels come first; rejected ones, and labels outside the candidate set, are left out.
    """
    log_odds = posterior_log_odds(model, model.snapshot, texts, known)
    probability = model.classifier.probabilities(log_odds)
    is_possible = (probability >= threshold) & (log_odds > -np.inf)
    is_wanted = is_possible & _allowed(model, include, exclude)
    return [
        [(model.names[j], float(row[j])) for j in columns]
        for row, columns in zip(probability, best_labels(log_odds, limit, is_wanted), strict=True)
    ]


def posterior_log_odds(
    model: ServedModel,
    snapshot: Snapshot,
    texts: Sequence[str],
    known: Sequence[Mapping[str, Sequence[str]]],
) -> NDArray[np.float64]:
    """Return the posterior log-odds of texts, ``(n_texts, n_labels)``, given their known labels."""
    if not texts:
        return np.zeros((0, len(model.names)))
    states = None
    if any(labels for one in known for labels in one.values()):
        states = read_known(known, len(texts), model.name_array)
    with _problem_if_rule_broken(snapshot, states):
        return to_dense(model.fitted.scores(texts, states, snapshot.rescorer))


def explain(model: ServedModel, request: messages.ExplainRequest) -> messages.Explained:
    """Explain one label, whether or not it is known."""
    _check_names(model, [request.label])
    others = (
        [name for name in names if name != request.label]
        for names in (request.accepted, request.rejected)
    )
    known = _known(model, *others)
    content = model.content(request.text)
    snapshot = model.snapshot
    with _problem_if_rule_broken(snapshot, known):
        posterior = model.fitted.posterior(content, known, snapshot.rescorer)
    label = model.labels[model.column[request.label]]
    [explanations] = posterior.explain(label_names=[label])
    if _no_candidates(posterior)[0, model.column[request.label]]:
        raise ProblemError(
            409,
            "no-candidate",
            f"{request.label!r} must be a candidate of the text to be explained. Accept it to see "
            "its effect on the candidates.",
        )
    if not explanations:
        raise ProblemError(
            409,
            "follows-by-rule",
            f"Whether the text has {request.label!r} follows by a rule from the labels that are "
            "accepted and rejected. Withdraw those to see its evidence.",
        )
    (explanation,) = explanations
    return messages.Explained.model_validate(
        {
            **replace(explanation, labels=explanation.labels[:_MOST]).to_dict(),
            "constant": explanation.constant,
            "labels_rest": sum(one.log_odds for one in explanation.labels[_MOST:]),
            **_content_reasons(model, request.text, content, explanation),
            "names": _names(
                model,
                map(str, (request.label, *(one.label for one in explanation.labels[:_MOST]))),
                request.language,
            ),
        }
    )


def _allowed(
    model: ServedModel, include: Sequence[str], exclude: Sequence[str]
) -> NDArray[np.bool_] | Literal[True]:
    """Return which labels may be suggested; ``True``: all of them."""
    if not include and not exclude:
        return True
    try:
        return model.shown.allowed(include, exclude, prefix="")
    except ValueError as error:
        raise ProblemError(422, "unknown-label", str(error)) from None


def _known(
    model: ServedModel, accepted: Sequence[str], rejected: Sequence[str]
) -> NDArray[np.float64] | None:
    """Return 1 and 0 for the known labels, NaN for open ones; ``None``: all are open."""
    if not accepted and not rejected:
        return None
    _check_names(model, [*accepted, *rejected])
    known = np.full((1, len(model.names)), np.nan)
    known[0, [model.column[name] for name in accepted]] = 1.0
    known[0, [model.column[name] for name in rejected]] = 0.0
    return known


@contextmanager
def _problem_if_rule_broken(snapshot: Snapshot, known: Any) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        if known is None or snapshot.rescorer.rules_ is None:
            raise
        raise ProblemError(422, "rule-broken", str(error)) from None


def _no_candidates(posterior: Posterior) -> NDArray[np.bool_]:
    """Return which labels are neither known nor candidates of the content, of each document."""
    if posterior.candidates is None:
        return np.zeros(posterior.log_odds.shape, dtype=np.bool_)
    is_open = True if posterior.known is None else np.isnan(posterior.known)
    return ~posterior.candidates & np.isneginf(posterior.log_odds) & is_open


def _check_names(model: ServedModel, names: Sequence[str]) -> None:
    missing = sorted({name for name in names if name not in model.column})
    if missing:
        raise ProblemError(
            422,
            "unknown-label",
            f"Labels must be among the {len(model.names)} of the model {model.id}, got "
            f"{abbreviate(missing)}. GET /api/models/{model.id}/labels lists them.",
        )


def _content_reasons(
    model: ServedModel, text: str, content: DocumentContent, explanation: Explanation
) -> dict[str, Any]:
    """Return the contributions of terms; in one number if the model has no contributions."""
    found = model.fitted.reasons(content.vectors, [explanation.label], top=_MOST)
    if found is None:
        constant = explanation.parts["content"]
        return {"terms": None, "terms_rest": 0.0, "content_constant": constant, "neighbours": []}
    [[reasons]] = found
    forms: dict[str, list[SurfaceForm]] = {}
    for counts in model.fitted.word_counts:
        forms |= surface_forms(text, counts)
    forms |= {f"{term} (title)": found for term, found in forms.items()}  # terms of a title view
    terms = [
        {
            "term": str(name),
            "words": list(dict.fromkeys(form.word for form in forms.get(name, ()))),
            "log_odds": added,
        }
        for name, added, _ in reasons.terms
    ]
    return {
        "terms": None if reasons.neighbours else terms,
        "terms_rest": reasons.rest,
        "content_constant": reasons.constant + reasons.clipped - explanation.parts["prior"],
        "neighbours": reasons.neighbours[:_MOST],
    }


def _names(model: ServedModel, labels: Iterable[str], language: str | None) -> messages.Names:
    """Return the names of labels; none if the model has no vocabulary."""
    if model.shown.vocabulary is None:
        return {}
    return {label: model.shown.of(label, language) for label in labels}


def search_labels(
    model: ServedModel, query: str, limit: int, offset: int, language: str | None = None
) -> messages.LabelList:
    """Return the labels that contain a text, in any case; those that begin with it come first.

    The names of a vocabulary include alternative labels and notations. If no name contains the
    text, labels with similar names are returned.
    """
    found = model.shown.search(query, language)
    is_similar = not found
    if is_similar:
        found = model.shown.similar(query, language)
    shown, documents = model.shown.all(language), _documents(model.snapshot)
    labels = [
        messages.LabelFound(
            label=model.names[j],
            documents=documents[j],
            matched=None if matched == shown[j] else matched,
        )
        for j, matched in found[offset : offset + limit]
    ]
    names = _names(model, (one.label for one in labels), language)
    return messages.LabelList(
        labels=labels, total=len(found), similar=is_similar and bool(found), names=names
    )


def related_labels(
    model: ServedModel, label: str, limit: int, language: str | None = None
) -> messages.RelatedLabels:
    """Return the labels that are the strongest evidence for or against a label."""
    _check_names(model, [label])
    snapshot, column = model.snapshot, model.column[label]
    edges = _graph(snapshot).related(model.labels[column], limit)
    strongest = sorted(edges, key=lambda edge: -abs(edge.to_second))[:limit]
    documents = _documents(snapshot)[column]
    names = _names(model, [label, *(str(edge.first) for edge in strongest)], language)
    return messages.RelatedLabels.model_validate(
        {"label": label, "documents": documents, "related": strongest, "names": names}
    )


def label_map(
    model: ServedModel,
    attractions: int,
    repulsions: int,
    label: str | None = None,
    language: str | None = None,
) -> messages.LabelMap:
    """Return the strongest edges between labels, and the labels on a circle.

    Of all labels; or of one, in the middle, and of its neighbours with each other.
    """
    snapshot = model.snapshot
    graph = _graph(snapshot)
    if label is None:
        edges: Sequence[LabelEdge] = graph.strongest(attractions, repulsions)
    else:
        _check_names(model, [label])
        edges = graph.around(model.labels[model.column[label]], attractions, repulsions).edges
    ring = circle_order([(edge.first, edge.second, edge.strength) for edge in edges])
    names = [name for name in map(str, ring) if name != label]
    angles = 2 * np.pi * np.arange(len(names)) / max(len(names), 1)
    places = zip(names, (1 + np.cos(angles)) / 2, (1 + np.sin(angles)) / 2, strict=True)
    middle = [] if label is None else [(label, 0.5, 0.5)]
    documents = _documents(snapshot)
    nodes = [
        messages.Node(label=name, documents=documents[model.column[name]], x=x, y=y)
        for name, x, y in (*middle, *places)
    ]
    called = _names(model, (node.label for node in nodes), language)
    return messages.LabelMap.model_validate({"nodes": nodes, "edges": edges, "names": called})


def _graph(snapshot: Snapshot) -> LabelGraph:
    rescorer = snapshot.rescorer
    if rescorer.label_weights_ is None:
        raise ProblemError(
            409,
            "not-linear",
            "Related labels need label evidence with a weight per pair of labels, and this model "
            "has another kind. Train with LogisticLabels or SVMLabels.",
        )
    if rescorer not in _graphs:
        _graphs[rescorer] = label_graph(rescorer, 0, 0)
    return _graphs[rescorer]


def _documents(snapshot: Snapshot) -> list[float]:
    """Count the documents that have each label."""
    counts: list[float] = snapshot.rescorer.label_sets_.positives().tolist()
    return counts
