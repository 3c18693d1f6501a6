"""``labelkin inspect``: the contents of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from labelkin.cli import options
from labelkin.cli.options import option
from labelkin.cli.printing import (
    echo,
    listed,
    print_json,
    print_pairs,
    print_scores,
    print_table,
)

if TYPE_CHECKING:
    from labelkin.explain.graph import LabelEdge
    from labelkin.storage import ModelFile


def inspect(
    model: options.ModelPath,
    top: Annotated[
        int, option("Number of attractions and of repulsions between labels.", min=0)
    ] = 10,
    label_language: options.LabelLanguage = None,
    json: options.AsJson = False,
) -> None:
    """Show the contents of a model file: labels, sizes, versions, weights, most related labels.

    Example:  labelkin inspect news.labelkin
    """
    header, loaded = load_parts(model)
    from labelkin.models.builder import describe_model
    from labelkin.vocabulary import LabelNames, vocabulary_of

    found = {
        "file": str(header.path),
        "bytes": header.file_bytes,
        "created": header.created.isoformat(),
        "versions": header.versions,
        "format": header.format_version,
        "model": header.model,
        "labels": list(header.labels),
        "summary": header.summary,
        **describe_model(loaded),
    }
    edges = _edges(loaded, top)
    names = LabelNames(header.labels, vocabulary_of(loaded))
    options.check_language(names, label_language)
    if (vocabulary := names.vocabulary) is not None:
        found["vocabulary"] = {
            "name": vocabulary.name,
            "concepts": len(vocabulary),
            "languages": list(vocabulary.languages),
            "language": vocabulary.language,
            "labels_named": names.n_named,
        }
        found["names"] = names.all(label_language)
    if json:
        print_json({**found, "related": [{"strength": e.strength, **vars(e)} for e in edges]})
        return
    print_pairs(_lines(found))
    _print_summary(found["summary"] or {})
    if edges:
        echo("")
        header_row = ["most related labels", "at least", "weight"]
        header_row += ["with first", "second", "both", "by chance"]
        shown = dict(zip(names.labels, names.all(label_language), strict=True))
        print_table(header_row, (_edge_row(edge, shown) for edge in edges))


def load_parts(path: Path) -> tuple[ModelFile, Any]:
    """Return the header of a file and its model, also with trusted parts."""
    from labelkin.storage import load, read_header
    from labelkin.storage.trusted import ON_REQUEST

    return read_header(path), load(path, trusted=ON_REQUEST)


def _edges(model: Any, top: int) -> list[LabelEdge]:
    """Return the strongest edges; none if the label evidence has no weights."""
    from labelkin.explain.graph import label_graph

    try:
        return list(label_graph(model, top, top).edges)
    except (ValueError, TypeError):
        return []


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a description as names and values."""
    from rich.filesize import decimal

    names = found.get("names", found["labels"])
    lines = [
        ("file", f"{found['file']}, {decimal(found['bytes'])}"),
        ("created", found["created"]),
        ("versions", ", ".join(f"{name} {v}" for name, v in found["versions"].items())),
        ("labels", f"{len(names):,}: {listed(names, 12)}"),
    ]
    if "vocabulary" in found:
        one = found["vocabulary"]
        languages = f" in {', '.join(one['languages'])}" if one["languages"] else ""
        sizes = f"{one['concepts']:,} concepts{languages}, {one['labels_named']:,} of them labels"
        lines.append(("vocabulary", f"{one['name']}: {sizes}"))
    lines.append(("steps", " → ".join(found["steps"])))
    parts = ("terms", "content", "label_classifier", "variant", "evidence_weight", "thresholds")
    for name in (*parts, "rules"):
        if name in found:
            value = found[name]
            text = f"{value:.4g}" if isinstance(value, float) else str(value)
            lines.append((name.replace("_", " "), text))
    return lines


def _print_summary(summary: dict[str, Any]) -> None:
    plain = {name: value for name, value in summary.items() if not isinstance(value, dict)}
    if plain:
        echo("")
        print_pairs([(f"trained: {name}", str(value)) for name, value in plain.items()])
    if scores := summary.get("cross_validated"):
        echo("")
        print_scores(scores)


def _edge_row(edge: LabelEdge, names: dict[str, str]) -> list[str]:
    first, second = (names.get(str(one), str(one)) for one in (edge.first, edge.second))
    return [
        f"{first} {'+' if edge.strength > 0 else '/'} {second}",
        f"{edge.bound:+.2f}",
        f"{edge.strength:+.2f}",
        *(f"{n:.10g}" for n in (edge.n_first, edge.n_second, edge.n_both)),
        f"{edge.n_expected:.1f}",
    ]
