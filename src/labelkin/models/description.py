"""Descriptions of models as plain values."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


def describe_model(model: Any) -> dict[str, Any]:
    """Return the parts of a model as plain values."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    last = steps[-1]
    found: dict[str, Any] = {"steps": [*map(_one_line, steps[:-1]), type(last).__name__]}
    words = [len(step.vocabulary_) for step in steps if hasattr(step, "vocabulary_")]
    if words:
        found["terms"] = words[0]
    if hasattr(last, "rescorer_"):
        found |= {
            "content": _one_line(last.content_),
            "label_classifier": _one_line(last.rescorer_.labels_),
            "variant": last.variant if isinstance(last.variant, str) else _one_line(last.variant),
            "evidence_weight": float(last.evidence_weight_),
            "thresholds": _one_line(last.thresholds_),
            "rules": 0 if last.rules is None else len(last.rules),
            "cuts": [cut._asdict() for cut in last.thresholds_.table()],
        }
    return found


def _one_line(part: Any) -> str:
    return " ".join(repr(part).split())
