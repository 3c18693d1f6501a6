"""Where to draw the labels of a label graph: kin together, no two names on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from labelkin.explain.label_graph import LabelEdge

Floats = NDArray[np.float64]

#: Lengths at which the springs of the layout rest: kin close, labels that shun each other apart, …
_ATTRACTION, _REPULSION = 1.0, 1.2
#: … and how far apart labels stand that no path joins, as a share of the longest path.
_NO_PATH = 0.7


def edge_labels(edges: Sequence[LabelEdge]) -> list[Any]:
    """Return the labels that have an edge, in alphabetical order."""
    labels = dict.fromkeys(label for edge in edges for label in (edge.first, edge.second))
    return sorted(labels, key=str)


def lay_out(edges: Sequence[LabelEdge], half_sizes: Floats, aspect: float, seed: int = 0) -> Floats:
    """Place the labels so that kin stand together and no two names overlap.

    Parameters
    ----------
    edges
        What holds the labels together.
    half_sizes
        Half the width and half the height of every label's name, ``(n_names, 2)``, in the order of
        :func:`edge_labels`, in units of the canvas: its height is 1, its width ``aspect``.
    aspect
        Width of the canvas over its height.
    seed
        Of the places the labels start from.

    Returns
    -------
    The middle of every name, ``(n_names, 2)``, inside the canvas where the names find room in it.
    """
    names = edge_labels(edges)
    if not names:
        return np.zeros((0, 2))
    start = np.random.default_rng(seed).standard_normal((len(names), 2))
    places = _relax(start, _distances(edges, names))
    canvas = np.array([aspect, 1.0])
    places = _fill(places, half_sizes, canvas)
    for _ in range(200):
        if not _push_apart(places, half_sizes):
            break
        np.clip(places, half_sizes, canvas - half_sizes, out=places)
    return places


def _distances(edges: Sequence[LabelEdge], names: Sequence[Any]) -> Floats:
    """How far apart labels should be: along the shortest path of edges."""
    place = {name: i for i, name in enumerate(names)}
    lengths = np.full((len(names), len(names)), np.inf)
    for edge in edges:
        length = _ATTRACTION if edge.strength > 0 else _REPULSION
        lengths[place[edge.first], place[edge.second]] = length
    distances: Floats = shortest_path(np.where(np.isinf(lengths), 0, lengths), directed=False)
    farthest = distances[np.isfinite(distances)].max(initial=_ATTRACTION)
    return np.where(np.isinf(distances), max(_NO_PATH * farthest, 2 * _REPULSION), distances)


def _relax(places: Floats, distances: Floats, n_steps: int = 300) -> Floats:
    """Move towards the wanted distances, near ones first (stress majorisation, weights 1/d²)."""
    n_names = len(places)
    wanted = distances + np.eye(n_names)  # the diagonal must not divide by 0
    weights = (1 - np.eye(n_names)) / wanted**2
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(n_steps):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        pull = weights * wanted / np.maximum(apart, 1e-9)
        places = inverse @ (np.diag(pull.sum(axis=1)) - pull) @ places
    return places


def _fill(places: Floats, half_sizes: Floats, canvas: Floats) -> Floats:
    """Turn the long side level, and stretch the places over the canvas."""
    centred = places - places.mean(axis=0)
    turned = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    spread = np.ptp(turned, axis=0)
    flat = spread <= 1e-9 * spread.max()
    scaled = (turned - turned.min(axis=0)) / np.where(flat, 1.0, spread)
    scaled[:, flat] = 0.5
    return half_sizes + scaled * (canvas - 2 * half_sizes)


def _push_apart(places: Floats, half_sizes: Floats) -> bool:
    """Move overlapping names apart, along the side where less is needed; return whether any did."""
    moved = False
    for i in range(len(places)):
        for j in range(i):
            overlap = half_sizes[i] + half_sizes[j] - np.abs(places[i] - places[j])
            if overlap.min() <= 1e-6:
                continue
            side = int(overlap.argmin())
            step = overlap[side] / 2 * (1 if places[i, side] >= places[j, side] else -1)
            places[i, side] += step
            places[j, side] -= step
            moved = True
    return moved
