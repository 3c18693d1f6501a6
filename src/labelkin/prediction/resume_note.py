"""Beside a file of answers that is not finished: what it was begun with, so that it goes on so."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class ResumeNote:
    """The model and the options that answers are made with.

    Attributes
    ----------
    model
        SHA-256 of the model file.
    options
        Whatever else changes the answers, plain values by name.
    """

    model: str
    options: Mapping[str, Any]

    @classmethod
    def of(cls, model: Path, options: Mapping[str, Any]) -> Self:
        """Return the note of work that is to be done with a model file."""
        with model.open("rb") as file:
            return cls(hashlib.file_digest(file, "sha256").hexdigest(), dict(options))

    def check(self, out: Path) -> None:
        """Refuse to go on with answers that another model or other options have begun.

        Answers without a note, as those of finished work are, are taken as they are.
        """
        path = note_path(out)
        if not out.exists() or not out.stat().st_size or not path.exists():
            return
        model, options = _read(path)
        if model != self.model:
            raise ValueError(
                f"{out} must be gone on with by the model it was begun with, got another. Use that "
                "one, or begin anew with another file."
            )
        for name, value in self.options.items():
            if options.get(name) != value:
                raise ValueError(
                    f"{out} must be gone on with as it was begun, with {name} "
                    f"{_said(options.get(name))}, got {_said(value)}. Use the same options, or "
                    "begin anew with another file."
                )

    def write(self, out: Path) -> None:
        """Write the note beside the answers, in one piece."""
        path = note_path(out)
        part = path.with_name(f"{path.name}.part")
        text = json.dumps({"model": self.model, "options": self.options}, indent=1)
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(path)

    def remove(self, out: Path) -> None:
        """Remove the note: the work is finished."""
        note_path(out).unlink(missing_ok=True)


def note_path(out: Path) -> Path:
    """Return where the note of a file of answers is: ``labels.jsonl.resume.json``."""
    return out.with_name(f"{out.name}.resume.json")


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return str(found["model"]), dict(found["options"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            f"{path} must tell what the answers were begun with, and cannot be read. Delete it to "
            "go on all the same, or begin anew with another file."
        ) from None


def _said(value: Any) -> str:
    return "not set" if value is None or value is False else "set" if value is True else str(value)
