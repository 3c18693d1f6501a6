"""How much one request may ask for, and how much work is taken at a time."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The bounds of the service; whatever is beyond them is refused with a problem of its own.

    Attributes
    ----------
    body_bytes
        Size of a request's body.
    text_characters
        Length of one text.
    batch_documents
        Documents in one ``suggest-batch`` or ``learn``.
    stated_labels
        Labels accepted, and labels refused, for one document.
    label_characters
        Length of a label's name.
    workers
        Requests worked on at the same time.
    waiting
        Requests that may wait for their turn; the next one is told to come back later.
    seconds
        From the first byte of a request to its answer.
    """

    body_bytes: int = 8 * 2**20
    text_characters: int = 1_000_000
    batch_documents: int = 256
    stated_labels: int = 1_000
    label_characters: int = 1_000
    workers: int = 4
    waiting: int = 256
    seconds: float = 30.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value, least = getattr(self, field.name), 0 if field.name == "waiting" else 1
            if field.name == "seconds":
                least = 0
            if not value >= least:
                raise ValueError(f"{field.name} must be at least {least}, got {value!r}.")
