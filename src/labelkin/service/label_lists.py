"""The labels of a model: searched, related to each other, and drawn as a map."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from labelkin.explain.label_graph import LabelEdge, LabelGraph, label_graph
from labelkin.explain.layout import edge_labels, lay_out
from labelkin.method.rescorer import LabelRescorer
from labelkin.service import messages
from labelkin.service.models import ServedModel, Snapshot
from labelkin.service.problems import ProblemError
from labelkin.service.statements import columns_of

#: The canvas of the map: its width over its height, and how much of it a name takes.
_ASPECT, _LETTER_WIDTH, _LINE_HEIGHT, _LONGEST = 1.6, 0.016, 0.045, 24
#: Graphs and maps that were asked for, as long as what they were made from is in use.
_made: WeakKeyDictionary[LabelRescorer, dict[Any, Any]] = WeakKeyDictionary()


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
    graph = _graph(snapshot, 0, 0)
    edges = graph.related(model.classifier.label_names_[column], limit)
    edges = tuple(sorted(edges, key=lambda edge: -abs(edge.to_second)))[:limit]
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
        for edge in edges
    ]
    documents = _documents(snapshot)[column]
    return messages.RelatedLabels(label=label, documents=documents, related=related)


def label_map(model: ServedModel, attractions: int, repulsions: int) -> messages.LabelMap:
    """Return the strongest edges between labels, and where to draw the labels."""
    snapshot = model.snapshot
    made = _made.setdefault(snapshot.rescorer, {})
    key = (attractions, repulsions)
    if key not in made:
        made[key] = _draw(model, snapshot, attractions, repulsions)
    drawn: messages.LabelMap = made[key]
    return drawn


def _draw(
    model: ServedModel, snapshot: Snapshot, attractions: int, repulsions: int
) -> messages.LabelMap:
    edges = _graph(snapshot, attractions, repulsions).edges
    names = edge_labels(edges)
    widths = [min(len(str(name)), _LONGEST) * _LETTER_WIDTH / 2 for name in names]
    half_sizes = np.array([(width, _LINE_HEIGHT / 2) for width in widths]).reshape(-1, 2)
    places = np.clip(lay_out(edges, half_sizes, _ASPECT) / [_ASPECT, 1.0], 0.0, 1.0)
    documents = _documents(snapshot)
    nodes = [
        messages.Node(label=name, documents=documents[model.column[name]], x=x, y=y)
        for name, (x, y) in zip(map(str, names), places.tolist(), strict=True)
    ]
    return messages.LabelMap(nodes=nodes, edges=[_drawn_bond(edge) for edge in edges])


def _drawn_bond(edge: LabelEdge) -> messages.MapBond:
    return messages.MapBond(
        first=str(edge.first),
        second=str(edge.second),
        strength=edge.strength,
        both=edge.n_both,
        expected=edge.n_expected,
    )


def _graph(snapshot: Snapshot, attractions: int, repulsions: int) -> LabelGraph:
    if snapshot.rescorer.combination_.stated is None:
        raise ProblemError(
            409,
            "not-linear",
            "Related labels need label evidence with a weight per pair of labels, and this model "
            "has another kind. Train with LogisticLabels or SVMLabels.",
        )
    made = _made.setdefault(snapshot.rescorer, {})
    key = ("graph", attractions, repulsions)
    if key not in made:
        made[key] = label_graph(snapshot.rescorer, attractions, repulsions)
    graph: LabelGraph = made[key]
    return graph


def _documents(snapshot: Snapshot) -> list[float]:
    """Count the documents that have each label."""
    counts: list[float] = snapshot.rescorer.label_sets_.positives().tolist()
    return counts
