"""``labelkin inspect``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelkin.cli.options import AsJson, ModelFile
from labelkin.cli.talk import listed, print_json, print_pairs, print_table, size_text

if TYPE_CHECKING:
    from labelkin.explain.label_graph import LabelEdge
    from labelkin.storage import ModelFile as Header

_SHOWN = 12


def inspect(
    model: ModelFile,
    top: Annotated[
        int, typer.Option(min=0, help="How many attractions and repulsions to show.")
    ] = 10,
    json: AsJson = False,
) -> None:
    """Show what a model file holds: labels, sizes, versions, weights, most related labels.

    Example:  labelkin inspect news.labelkin
    """
    header, loaded = load_parts(model)
    facts = {**describe_file(header), **describe_model(loaded)}
    edges = _bonds(loaded, top)
    if json:
        print_json({**facts, "related": [{"strength": b.strength, **vars(b)} for b in edges]})
        return
    print_pairs(_lines(facts))
    _print_summary(facts["summary"])
    _print_bonds(edges)


def load_parts(path: Path) -> tuple[Header, Any]:
    """Return what a file says of itself, and its model."""
    from labelkin.storage import load, read_header

    return read_header(path), load(path)


def describe_file(header: Header) -> dict[str, Any]:
    """Return what the file says of itself, as plain values."""
    return {
        "file": str(header.path),
        "bytes": header.file_bytes,
        "created": header.created.isoformat(),
        "versions": header.versions,
        "format": header.format_version,
        "model": header.model,
        "labels": list(header.labels),
        "summary": header.summary,
    }


def describe_model(model: Any) -> dict[str, Any]:
    """Return what a model is made of, as plain values; what it has not is left out."""
    from sklearn.pipeline import Pipeline

    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    last = steps[-1]
    found: dict[str, Any] = {"steps": [*map(_said, steps[:-1]), type(last).__name__]}
    words = [len(step.vocabulary_) for step in steps if hasattr(step, "vocabulary_")]
    if words:
        found["terms"] = words[0]
    if hasattr(last, "rescorer_"):
        found |= {
            "content": _said(last.content_),
            "label_classifier": _said(last.rescorer_.labels_),
            "variant": last.variant if isinstance(last.variant, str) else _said(last.variant),
            "evidence_weight": float(last.evidence_weight_),
            "thresholds": _said(last.thresholds_),
            "rules": 0 if last.rules is None else len(last.rules),
            "cuts": [cut._asdict() for cut in last.thresholds_.table()],
        }
    return found


def _said(part: Any) -> str:
    return " ".join(repr(part).split())


def _bonds(model: Any, top: int) -> list[LabelEdge]:
    """Return the strongest edges; none for a model whose label evidence has no weights."""
    from labelkin.explain.label_graph import label_graph

    try:
        return list(label_graph(model, top, top).edges)
    except (ValueError, TypeError):
        return []


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    names = facts["labels"]
    lines = [
        ("file", f"{facts['file']}, {size_text(facts['bytes'])}"),
        ("created", facts["created"]),
        ("versions", ", ".join(f"{name} {v}" for name, v in facts["versions"].items())),
        ("labels", f"{len(names):,}: {listed(names, _SHOWN)}"),
        ("steps", " → ".join(facts["steps"])),
    ]
    lines += [(name.replace("_", " "), _text(facts[name])) for name in _PARTS if name in facts]
    return lines


_PARTS = (
    "terms",
    "content",
    "label_classifier",
    "variant",
    "evidence_weight",
    "thresholds",
    "rules",
)


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _print_summary(summary: dict[str, Any] | None) -> None:
    from labelkin.cli.train_command import print_scores

    if not summary:
        return
    typer.echo("")
    plain = [(name, str(value)) for name, value in summary.items() if not isinstance(value, dict)]
    print_pairs([(f"trained: {name}", value) for name, value in plain])
    scores = summary.get("cross_validated")
    if isinstance(scores, dict) and all(isinstance(told, dict) for told in scores.values()):
        typer.echo("")
        print_scores(scores)


def _print_bonds(edges: list[LabelEdge]) -> None:
    if not edges:
        return
    typer.echo("")
    rows = [
        [
            f"{edge.first} {'+' if edge.strength > 0 else '/'} {edge.second}",
            f"{edge.strength:+.2f}",
            *(f"{n:.10g}" for n in (edge.n_first, edge.n_second, edge.n_both)),
            f"{edge.n_expected:.1f}",
        ]
        for edge in edges
    ]
    header = ("most related labels", "weight", "with first", "second", "both", "by chance")
    print_table(header, rows)
