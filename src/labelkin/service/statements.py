"""What a request says of a document: its text, the labels accepted and refused; checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labelkin.label_matrix.record import some_of
from labelkin.service.limits import Limits
from labelkin.service.models import ServedModel, Snapshot
from labelkin.service.problems import ProblemError


def check_text(text: str, limits: Limits) -> None:
    """Refuse a text that is too long."""
    if len(text) > limits.text_characters:
        raise ProblemError(
            413,
            "text-too-long",
            f"A text may have {limits.text_characters} characters, got {len(text)}. "
            "Send its beginning, or a summary.",
        )


def check_batch(n_documents: int, limits: Limits) -> None:
    """Refuse too many documents at a time."""
    if n_documents > limits.batch_documents:
        raise ProblemError(
            413,
            "batch-too-large",
            f"A request may have {limits.batch_documents} documents, got {n_documents}. "
            "Send them in several requests.",
        )


def check_labels(accepted: Sequence[str], refused: Sequence[str], limits: Limits) -> None:
    """Refuse too many labels, names that are too long, and labels that are both."""
    for word, labels in (("accepted", accepted), ("refused", refused)):
        if len(labels) > limits.stated_labels:
            raise ProblemError(
                422,
                "too-many-labels",
                f"At most {limits.stated_labels} labels may be {word}, got {len(labels)}.",
            )
        longest = max(map(len, labels), default=0)
        if longest > limits.label_characters:
            raise ProblemError(
                422,
                "label-too-long",
                f"A label may have {limits.label_characters} characters, got one of {longest} "
                f"among those {word}.",
            )
    both = sorted(set(accepted) & set(refused))
    if both:
        raise ProblemError(
            422,
            "contradiction",
            f"A label can be accepted or refused, got {some_of(both)} as both. Take one back.",
        )


def read_facts(
    model: ServedModel, snapshot: Snapshot, accepted: Sequence[str], refused: Sequence[str]
) -> NDArray[np.float64] | None:
    """Return 1 for accepted and 0 for refused labels, NaN for open ones, ``(1, n_labels)``.

    What follows by the model's rules is included. ``None``: all labels are open.
    """
    if not accepted and not refused:
        return None
    facts = np.full((1, len(model.names)), np.nan)
    facts[0, columns_of(model, accepted)] = 1.0
    facts[0, columns_of(model, refused)] = 0.0
    rules = snapshot.rescorer.rules_
    if rules is None:
        return facts
    try:
        return rules.complete_known(facts)
    except ValueError as error:
        raise ProblemError(422, "rule-broken", str(error)) from None


def columns_of(model: ServedModel, labels: Sequence[str]) -> list[int]:
    """Return the columns of labels; names that the model does not have are told."""
    missing = sorted({name for name in labels if name not in model.column})
    if missing:
        raise ProblemError(
            422,
            "unknown-label",
            f"Labels must be among the {len(model.names)} of the model {model.id}, got "
            f"{some_of(missing)}. GET /api/models/{model.id}/labels lists them.",
        )
    return [model.column[name] for name in labels]
