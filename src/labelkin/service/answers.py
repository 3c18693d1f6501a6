"""What a model answers: labels for a text, the reasons, and its labels listed and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from labelkin.explain.contributions import Explanation
from labelkin.explain.label_graph import LabelGraph, circle_order, label_graph
from labelkin.explain.terms import TermExplanation, explain_terms
from labelkin.label_matrix.known import read_known
from labelkin.label_matrix.names import some_of
from labelkin.method.rescorer import LabelRescorer
from labelkin.service import messages
from labelkin.service.models import ServedModel, Snapshot
from labelkin.service.problems import ProblemError
from labelkin.text import WordCounts
from labelkin.text.words import surface_forms

Floats = NDArray[np.float64]
#: What sums in another order leave is no part of anything.
_ROUNDING = 1e-10
#: Labels, terms and neighbours that are named; of the others the sum is given.
_MOST = 30
#: Graphs and maps that were asked for, as long as what they were made from is in use.
_made: WeakKeyDictionary[LabelRescorer, dict[Any, Any]] = WeakKeyDictionary()


class TakenApart(NamedTuple):
    """The posterior log-odds of a document's labels and their parts, ``(n_labels,)`` each."""

    log_odds: Floats
    prior: Floats
    content: Floats
    labels: Floats
    first_place: Floats
    rules: Floats

    def parts(self, j: int) -> messages.Parts:
        return {
            "prior": self.prior[j],
            "content": self.content[j],
            "predicted labels": self.labels[j],
            "first place": self.first_place[j],
            "rules": self.rules[j],
        }


def suggest(model: ServedModel, request: messages.SuggestRequest) -> messages.Suggestions:
    """Return the open labels of a text, most probable first."""
    snapshot = model.snapshot
    known = read_facts(model, snapshot, request.accepted, request.rejected)
    content = model.content(request.text)
    evidence = take_apart(snapshot.rescorer, content.log_odds[0], known)
    is_open = np.ones(len(model.names), bool) if known is None else np.isnan(known[0])
    probability = model.classifier.probabilities(evidence.log_odds)
    suggestions = [
        messages.Suggestion(
            label=model.names[j],
            probability=probability[j],
            log_odds=evidence.log_odds[j],
            parts=evidence.parts(j),
        )
        for j in most_probable(evidence.log_odds, is_open, request.limit)
    ]
    return messages.Suggestions(
        model=model.id,
        suggestions=suggestions,
        known=_known_labels(model, known, {*request.accepted, *request.rejected}),
        n_words=content.n_words,
        learned=snapshot.learned,
    )


def take_apart(rescorer: LabelRescorer, content: Floats, facts: Floats | None) -> TakenApart:
    combination = rescorer.combination_
    row = content[None]
    filled = combination.variant(row)
    if facts is None:
        labels = combination.from_guesses(filled)
    else:
        is_known = ~np.isnan(facts)
        filled = np.where(is_known, facts, filled)
        labels = np.add(*combination.from_guesses_and_facts(filled, is_known))
    combined = combination.posterior(row, facts)
    rules = rescorer.rules_
    final = combined if rules is None else rules.posterior(combined)
    with np.errstate(invalid="ignore"):  # ±inf of what is known
        kept, ruled = combined - (row + labels), final - combined
    prior = combination.prior_log_odds
    parts = (content - prior, labels[0], _beyond_rounding(kept[0]), _beyond_rounding(ruled[0]))
    return TakenApart(final[0], prior, *parts)


def most_probable(log_odds: Floats, is_open: NDArray[np.bool_], limit: int) -> list[int]:
    columns = np.flatnonzero(is_open)
    order = np.argsort(-log_odds[columns], kind="stable")[:limit]
    return [int(j) for j in columns[order]]


def best_labels(
    model: ServedModel, texts: Sequence[str], limit: int, threshold: float
) -> list[list[tuple[str, float]]]:
    """Return the most probable labels of texts and their probabilities, at or above a threshold."""
    rescorer = model.snapshot.rescorer
    posterior = rescorer.rescore(model.content_log_odds(texts))
    probability = model.classifier.probabilities(posterior)
    return [
        [
            (model.names[j], float(chances[j]))
            for j in most_probable(row, chances >= threshold, limit)
        ]
        for row, chances in zip(posterior, probability, strict=True)
    ]


def _beyond_rounding(values: Floats) -> Floats:
    return np.where(np.abs(values) >= _ROUNDING, values, 0.0)


def _known_labels(
    model: ServedModel, facts: Floats | None, stated: set[str]
) -> list[messages.KnownLabel]:
    if facts is None:
        return []
    return [
        messages.KnownLabel(
            label=model.names[j],
            state="accepted" if facts[0, j] else "rejected",
            because=None if model.names[j] in stated else "rule",
        )
        for j in np.flatnonzero(~np.isnan(facts[0]))
    ]


def explain(model: ServedModel, request: messages.ExplainRequest) -> messages.Explained:
    """Explain one label, as if nothing were known of it."""
    (column,) = columns_of(model, [request.label])
    snapshot = model.snapshot
    accepted = [name for name in request.accepted if name != request.label]
    rejected = [name for name in request.rejected if name != request.label]
    facts = read_facts(model, snapshot, accepted, rejected)
    if facts is not None and not np.isnan(facts[0, column]):
        raise ProblemError(
            409,
            "follows-by-rule",
            f"Whether the text has {request.label!r} follows by a rule from the labels that are "
            "accepted and rejected. Take those back to see what speaks for it.",
        )
    name = model.labels[column]
    content = model.content(request.text).log_odds
    [[explanation]] = snapshot.rescorer.explain(content, known=facts, labels=[name])
    words = _explain_words(model, request.text, name, explanation)
    shown = explanation.labels[:_MOST]
    return messages.Explained(
        label=request.label,
        probability=float(model.classifier.probabilities(explanation.log_odds, column)),
        log_odds=explanation.log_odds,
        parts={
            "prior": explanation.prior,
            "content": explanation.content,
            "predicted labels": explanation.label_evidence,
            "first place": explanation.first_place,
            "rules": explanation.rules,
        },
        labels=[
            messages.LabelContribution(
                label=str(share.label), log_odds=share.share, value=share.value, known=share.known
            )
            for share in shown
        ],
        labels_rest=sum(share.share for share in explanation.labels[_MOST:]),
        constant=explanation.constant,
        **words._asdict(),
    )


class _Words(NamedTuple):
    terms: list[messages.TermContribution] | None
    terms_rest: float
    content_constant: float
    neighbours: list[messages.Neighbour]


def _explain_words(model: ServedModel, text: str, name: Any, explanation: Explanation) -> _Words:
    """Take what the content adds to the prior apart; a model that cannot gives it in one."""
    told = explain_terms(model.pipeline, [text], [name], top=_MOST)
    if told is None:
        return _Words(None, 0.0, explanation.content, [])
    [[words]] = told
    neighbours = [
        messages.Neighbour(
            document=neighbour.document,
            similarity=neighbour.similarity,
            has_label=neighbour.has_label,
        )
        for neighbour in words.neighbours[:_MOST]
    ]
    terms = None if neighbours else _term_parts(model, text, words)
    constant = words.constant + words.clipped - explanation.prior
    return _Words(terms, words.rest, constant, neighbours)


def _term_parts(
    model: ServedModel, text: str, words: TermExplanation
) -> list[messages.TermContribution]:
    counts = model.pipeline[0]
    forms = surface_forms(text, counts) if isinstance(counts, WordCounts) else {}
    return [
        messages.TermContribution(
            term=str(term.term),
            words=list(dict.fromkeys(form.word for form in forms.get(term.term, ()))),
            log_odds=term.share,
        )
        for term in words.terms
    ]


def read_facts(
    model: ServedModel, snapshot: Snapshot, accepted: Sequence[str], rejected: Sequence[str]
) -> Floats | None:
    if not accepted and not rejected:
        return None
    columns_of(model, [*accepted, *rejected])
    known = read_known({"accepted": accepted, "refused": rejected}, 1, np.array(model.names))
    rules = snapshot.rescorer.rules_
    if rules is None:
        return known
    try:
        return rules.complete_known(known)
    except ValueError as error:
        raise ProblemError(422, "rule-broken", str(error)) from None


def columns_of(model: ServedModel, labels: Sequence[str]) -> list[int]:
    """Return the columns of labels; names that the model does not have are a problem."""
    missing = sorted({name for name in labels if name not in model.column})
    if missing:
        raise ProblemError(
            422,
            "unknown-label",
            f"Labels must be among the {len(model.names)} of the model {model.id}, got "
            f"{some_of(missing)}. GET /api/models/{model.id}/labels lists them.",
        )
    return [model.column[name] for name in labels]


def search_labels(model: ServedModel, query: str, limit: int, offset: int) -> messages.LabelList:
    """Return the labels that contain a text, in any case; those that begin with it come first."""
    wanted = query.casefold().strip()
    places = [(name.casefold().find(wanted), name) for name in model.names]
    found = sorted((place > 0, name.casefold(), name) for place, name in places if place >= 0)
    documents = _documents(model.snapshot)
    labels = [
        messages.LabelCount(label=name, documents=documents[model.column[name]])
        for _, _, name in found[offset : offset + limit]
    ]
    return messages.LabelList(labels=labels, total=len(found))


def related_labels(model: ServedModel, label: str, limit: int) -> messages.RelatedLabels:
    """Return the labels that speak most for a label or against it, strongest first."""
    (column,) = columns_of(model, [label])
    snapshot = model.snapshot
    edges = _graph(snapshot, 0, 0).related(model.labels[column], limit)
    related = [
        messages.RelatedLabel(
            label=str(edge.first),
            to=edge.to_first,
            **{"from": edge.to_second},
            strength=edge.strength,
            both=edge.n_both,
            expected=edge.n_expected,
            documents=edge.n_first,
        )
        for edge in sorted(edges, key=lambda edge: -abs(edge.to_second))[:limit]
    ]
    documents = _documents(snapshot)[column]
    return messages.RelatedLabels(label=label, documents=documents, related=related)


def label_map(model: ServedModel, attractions: int, repulsions: int) -> messages.LabelMap:
    """Return the strongest edges between labels, and the labels on a circle, kin beside kin."""
    snapshot = model.snapshot
    edges = _graph(snapshot, attractions, repulsions).bonds
    names = circle_order([(edge.first, edge.second, edge.strength) for edge in edges])
    documents = _documents(snapshot)
    angles = 2 * np.pi * np.arange(len(names)) / max(len(names), 1)
    places = np.column_stack([1 + np.cos(angles), 1 + np.sin(angles)]) / 2
    nodes = [
        messages.Node(label=name, documents=documents[model.column[name]], x=x, y=y)
        for name, (x, y) in zip(map(str, names), places.tolist(), strict=True)
    ]
    drawn = [
        messages.Edge(
            first=str(edge.first),
            second=str(edge.second),
            strength=edge.strength,
            both=edge.n_both,
            expected=edge.n_expected,
        )
        for edge in edges
    ]
    return messages.LabelMap(nodes=nodes, edges=drawn)


def _graph(snapshot: Snapshot, attractions: int, repulsions: int) -> LabelGraph:
    if snapshot.rescorer.combination_.stated is None:
        raise ProblemError(
            409,
            "not-linear",
            "Related labels need label evidence with a weight per pair of labels, and this model "
            "has another kind. Train with LogisticLabels or SVMLabels.",
        )
    made = _made.setdefault(snapshot.rescorer, {})
    key = (attractions, repulsions)
    if key not in made:
        made[key] = label_graph(snapshot.rescorer, attractions, repulsions)
    graph: LabelGraph = made[key]
    return graph


def _documents(snapshot: Snapshot) -> list[float]:
    """Count the documents that have each label."""
    counts: list[float] = snapshot.rescorer.label_sets_.positives().tolist()
    return counts
