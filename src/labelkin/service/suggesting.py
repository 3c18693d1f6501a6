"""A text → its open labels, most probable first, each with the parts of its log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.method.rescorer import LabelRescorer
from labelkin.service import messages
from labelkin.service.models import ServedModel
from labelkin.service.statements import read_facts

Floats = NDArray[np.float64]
#: What sums in another order leave is no part of anything.
_ROUNDING = 1e-10


class TakenApart(NamedTuple):
    """The posterior log-odds of a document's labels and their parts, ``(n_labels,)`` each."""

    log_odds: Floats
    prior: Floats
    content: Floats
    labels: Floats
    first_place: Floats
    rules: Floats

    def parts(self, j: int) -> messages.Parts:
        """Return the parts of one label."""
        return messages.Parts(
            prior=self.prior[j],
            content=self.content[j],
            labels=self.labels[j],
            first_place=self.first_place[j],
            rules=self.rules[j],
        )


def suggest(model: ServedModel, request: messages.SuggestRequest) -> messages.Suggestions:
    """Return the open labels of a text, most probable first."""
    snapshot = model.snapshot
    facts = read_facts(model, snapshot, request.accepted, request.refused)
    content = model.content(request.text)
    evidence = take_apart(snapshot.rescorer, content.log_odds, facts)
    is_open = np.ones(len(model.names), bool) if facts is None else np.isnan(facts[0])
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
        known=_known_labels(model, facts, {*request.accepted, *request.refused}),
        n_words=content.n_words,
        learned=snapshot.learned,
    )


def take_apart(rescorer: LabelRescorer, content: Floats, facts: Floats | None) -> TakenApart:
    """Take the posterior of one document apart, for all its labels at once.

    Parameters
    ----------
    rescorer
        What the labels say of each other.
    content
        Content log-odds, ``(n_labels,)``.
    facts
        1 and 0 where labels are known, NaN where they are open, ``(1, n_labels)``; what is told of
        a known label means nothing. ``None``: all are open.
    """
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
    """Return the columns of the most probable open labels."""
    columns = np.flatnonzero(is_open)
    order = np.argsort(-log_odds[columns], kind="stable")[:limit]
    return [int(j) for j in columns[order]]


def suggest_plainly(
    model: ServedModel, texts: Sequence[str], limit: int, threshold: float
) -> list[list[tuple[str, float]]]:
    """Return the most probable labels of texts and their probabilities, at or above a threshold."""
    rescorer = model.snapshot.rescorer
    contents = [model.content(texts[0])] if len(texts) == 1 else model.contents(texts)
    if not contents:
        return []
    posterior = rescorer.rescore(np.array([content.log_odds for content in contents]))
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
            state="accepted" if facts[0, j] else "refused",
            because=None if model.names[j] in stated else "rule",
        )
        for j in np.flatnonzero(~np.isnan(facts[0]))
    ]
