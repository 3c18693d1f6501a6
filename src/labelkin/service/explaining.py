"""Which words and which other labels speak for one label of a text, and which against it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from labelkin.explain.contributions import Explanation
from labelkin.explain.terms import TermExplanation, explain_terms
from labelkin.service import messages
from labelkin.service.models import ServedModel
from labelkin.service.problems import ProblemError
from labelkin.service.statements import columns_of, read_facts
from labelkin.text import WordCounts
from labelkin.text.words import surface_forms

#: Labels, terms and neighbours that are named; of the others the sum is told.
_MOST = 30


def explain(model: ServedModel, request: messages.ExplainRequest) -> messages.Explained:
    """Explain one label, as if nothing had been said of it."""
    (column,) = columns_of(model, [request.label])
    snapshot = model.snapshot
    accepted = [name for name in request.accepted if name != request.label]
    refused = [name for name in request.refused if name != request.label]
    facts = read_facts(model, snapshot, accepted, refused)
    if facts is not None and not np.isnan(facts[0, column]):
        raise ProblemError(
            409,
            "follows-by-rule",
            f"Whether the text has {request.label!r} follows by a rule from the labels that are "
            "accepted and refused. Take those back to see what speaks for it.",
        )
    name = model.classifier.label_names_[column]
    content = model.content(request.text).log_odds
    [[explanation]] = snapshot.rescorer.explain(content[None], known=facts, labels=[name])
    words = _explain_words(model, request.text, name, explanation)
    shown = explanation.labels[:_MOST]
    return messages.Explained(
        label=request.label,
        probability=float(model.classifier.probabilities(explanation.log_odds, column)),
        log_odds=explanation.log_odds,
        parts=_parts(explanation),
        labels=[_label_part(share) for share in shown],
        labels_rest=sum(share.share for share in explanation.labels[_MOST:]),
        constant=explanation.constant,
        **words._asdict(),
    )


class _Words(NamedTuple):
    terms: list[messages.TermPart] | None
    terms_rest: float
    content_constant: float
    neighbours: list[messages.NeighbourPart]


def _explain_words(model: ServedModel, text: str, name: Any, explanation: Explanation) -> _Words:
    """Take what the content adds to the prior apart; a model that cannot tells it in one."""
    told = explain_terms(model.pipeline, [text], [name], top=_MOST)
    if told is None:
        return _Words(None, 0.0, explanation.content, [])
    [[words]] = told
    neighbours = [
        messages.NeighbourPart(
            document=neighbour.document,
            similarity=neighbour.similarity,
            has_label=neighbour.has_label,
        )
        for neighbour in words.neighbours[:_MOST]
    ]
    terms = None if neighbours else _term_parts(model, text, words)
    constant = words.constant + words.clipped - explanation.prior
    return _Words(terms, words.rest, constant, neighbours)


def _term_parts(model: ServedModel, text: str, words: TermExplanation) -> list[messages.TermPart]:
    counts = model.pipeline[0]
    forms = surface_forms(text, counts) if isinstance(counts, WordCounts) else {}
    return [
        messages.TermPart(
            term=str(term.term),
            words=list(dict.fromkeys(form.word for form in forms.get(term.term, ()))),
            share=term.share,
        )
        for term in words.terms
    ]


def _label_part(share: Any) -> messages.LabelPart:
    return messages.LabelPart(
        label=str(share.label), share=share.share, value=share.value, known=share.known
    )


def _parts(explanation: Explanation) -> messages.Parts:
    return messages.Parts(
        prior=explanation.prior,
        content=explanation.content,
        labels=explanation.label_evidence,
        first_place=explanation.first_place,
        rules=explanation.rules,
    )
