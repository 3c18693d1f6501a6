"""What Prodigy and doccano write of a document, as the keys that documents have here.

doccano's JSON lines have ``text`` and ``label``, a list: only the name of the key is another one.
Prodigy's have more to say. Its choices (``accept``, of ``options``) and ``cats`` are label sets; a
question about one label (``label`` and ``answer``) is a known label. What a person has skipped
(``"answer": "ignore"``), and choices that were rejected as a whole, say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

#: What people answer in Prodigy.
_ANSWERS = ("accept", "reject", "ignore")


def translated(objects: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, Any]]:
    """Yield JSON objects and their places, those of Prodigy in our keys; what was skipped is not.

    Examples
    --------
    >>> chosen = {"text": "Tea.", "options": [{"id": "tea"}], "accept": ["tea"], "answer": "accept"}
    >>> asked = {"text": "Milk.", "label": "tea", "answer": "reject"}
    >>> skipped = {"text": "?", "label": "tea", "answer": "ignore"}
    >>> for _, one in translated([("", chosen), ("", asked), ("", skipped)]):
    ...     print(one["text"], one.get("labels"), one.get("rejected"))
    Tea. ['tea'] None
    Milk. None ['tea']
    """
    for place, found in objects:
        ours = _from_prodigy(found) if is_prodigys(found) else found
        if ours is not None:
            yield place, ours


def is_prodigys(found: dict[str, Any]) -> bool:
    """Return whether an object is one of Prodigy's: answered, or with categories."""
    if found.get("answer") in _ANSWERS:
        return any(key in found for key in ("accept", "label", "cats", "_input_hash"))
    cats = found.get("cats")
    return isinstance(cats, dict) and all(isinstance(value, int | float) for value in cats.values())


def _from_prodigy(found: dict[str, Any]) -> dict[str, Any] | None:
    """Return an object with ``labels``, or known labels; ``None``: nothing was said."""
    answer = found.get("answer", "accept")
    label = found.get("label")
    rest = {key: value for key, value in found.items() if key != "label"}
    if answer == "ignore":
        return None
    if isinstance(label, str) and "accept" not in found:
        return rest | ({"accepted": [label]} if answer == "accept" else {"rejected": [label]})
    if answer == "reject":
        return None
    if "accept" in found:
        return rest | {"labels": found["accept"]}
    cats = found.get("cats")
    if isinstance(cats, dict):
        return rest | {"labels": [name for name, value in cats.items() if value >= 0.5]}
    return rest
