"""The label graph: attractions and repulsions between labels, with their document counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special
from scipy.sparse.csgraph import reverse_cuthill_mckee
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from labelkin.explain.contributions import check_n_suggestions
from labelkin.label_matrix import names_to_columns
from labelkin.records import MOST_ROWS, html_table, short_repr, shortened

_Floats = NDArray[np.float64]
_Columns = NDArray[np.int64]

#: Number of pairs in a block.
_BLOCK = 1 << 20
#: One-sided confidence of bounds, for the best of thousands of pairs; number of bounds at a time.
_CONFIDENCE, _AT_A_TIME = 0.999, 4096


#: Width of an edge without support by documents.
_FAINTEST = 0.1


def supported_strength(
    strength: ArrayLike,
    n_first: ArrayLike,
    n_second: ArrayLike,
    n_both: ArrayLike,
    n_documents: float,
) -> _Floats:
    """Return the part of the strength between labels that the documents support.

    The share of the documents with the rarer label that also have the other one has a confidence
    interval (Clopper and Pearson, 99.9 % on one side). Its end nearer to chance is the least that
    the rarer label adds to the log-odds of the other. The result is that or the strength,
    whichever is nearer to 0, and 0 if the interval contains chance. One common document supports
    little, even if the learned weights are high.

    Parameters
    ----------
    strength : array-like
        Mean weights of pairs in log-odds; positive if they attract each other.
    n_first, n_second, n_both : array-like of the same shape
        Documents with the first label, with the second, with both.
    n_documents : float
        Documents in all.

    Returns
    -------
    ndarray
        Bounds of the same shape and signs.

    Examples
    --------
    >>> strength, n_first, n_second = [6.9, 3.1, -4.0], [16, 433, 900], [9, 212, 700]
    >>> supported_strength(strength, n_first, n_second, [1, 200, 0], 7769).round(1)
    array([ 0. ,  3.1, -2.7])
    """
    strength = np.asarray(strength, dtype=np.float64)
    first, second = np.asarray(n_first, dtype=np.float64), np.asarray(n_second, dtype=np.float64)
    rare, common = np.minimum(first, second), np.maximum(first, second)
    both = np.clip(np.asarray(n_both, dtype=np.float64), 0, rare)
    attracts = strength > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        lowest = np.where(both > 0, special.betaincinv(both, rare - both + 1, 1 - _CONFIDENCE), 0.0)
        highest = np.where(rare > both, special.betaincinv(both + 1, rare - both, _CONFIDENCE), 1.0)
        share = np.where(attracts, lowest, highest)
        elsewhere = (common - share * rare + 0.5) / (np.maximum(n_documents - rare, 0) + 1)
        added = special.logit(share) - special.logit(np.clip(elsewhere, 0.0, 1.0))
        size = np.nan_to_num(np.where(attracts, added, -added))
    return np.asarray(np.sign(strength) * np.clip(size, 0.0, np.abs(strength)))


@short_repr
@dataclass(frozen=True)
class LabelEdge:
    """The evidence of two labels for or against each other, and their counts.

    Counts are whole numbers unless the model was fitted with fractions as ``sample_weight``.

    Attributes
    ----------
    first, second
        The labels.
    to_second, to_first
        What the first label, if it is known, adds to the log-odds of the second, and vice versa.
    n_first, n_second, n_both
        Training documents with the first, with the second, with both.
    n_expected
        Expected documents with both if the labels were independent.
    bound
        The supported strength (:func:`supported_strength`).

    Examples
    --------
    >>> from labelkin import LabelRescorer
    >>> from labelkin.explain import label_graph
    >>> Y = [["wheat", "grain"]] * 8 + [["grain"]] * 4 + [["gold"]] * 7 + [[]]
    >>> graph = label_graph(LabelRescorer(evidence_weight=1).fit(Y), n_repulsions=1)
    >>> edge = graph.edges[0]
    >>> edge.first, edge.second, edge.n_both, round(edge.n_expected, 1)
    ('grain', 'wheat', 8, 4.8)
    >>> round(edge.to_first, 2), round(edge.to_second, 2), round(edge.strength, 2)
    (1.29, 0.93, 1.11)
    """

    first: Any
    second: Any
    to_second: float
    to_first: float
    n_first: float
    n_second: float
    n_both: float
    n_expected: float
    bound: float = 0.0

    @property
    def strength(self) -> float:
        """Mean of both directions, in log-odds; positive if the labels attract each other."""
        return (self.to_second + self.to_first) / 2

    @property
    def pull(self) -> float:
        """The bound, at least a little, for the width of a line."""
        return math.copysign(max(abs(self.bound), _FAINTEST), self.strength)

    def __str__(self) -> str:
        """Return the edge in one line."""
        joint = "+" if self.strength > 0 else "/"
        return (
            f"{self.strength:+.2f}  {self.first} {joint} {self.second}: "
            f"{self.n_both:.10g} of {self.n_first:.10g} and {self.n_second:.10g}, "
            f"{self.n_expected:.1f} by chance"
        )


class LabelPairs(NamedTuple):
    """Weights and counts of all pairs of labels.

    Attributes
    ----------
    names
        The labels, ``(n_labels,)``.
    weights
        ``[k, j]``: what label k adds to the log-odds of label j, ``(n_labels, n_labels)``; CSC if
        labels have neighbours, and only these are pairs.
    counts
        Documents that have both labels, and on the diagonal those that have one, same shape.
    n_documents
        Documents in all.
    rest
        What every other label adds to label j in addition, ``(n_labels,)``; ``None``: nothing.
    """

    names: NDArray[Any]
    weights: Any
    counts: sparse.csr_array
    n_documents: float
    rest: _Floats | None = None

    def added(self, first: _Columns, second: _Columns) -> _Floats:
        """Return what each first label adds to its second, given by columns."""
        if not np.size(first):  # SciPy returns a sparse matrix for no pairs
            return np.zeros(0)
        weights = np.asarray(self.weights[first, second], dtype=np.float64).ravel()
        return weights if self.rest is None else weights + self.rest[second]

    def added_to(self, j: int) -> _Floats:
        """Return what each label of a pair with label j adds to it, ``(n_labels,)``; else 0."""
        others = np.delete(np.arange(len(self.names)), j)
        if sparse.issparse(self.weights):
            others = self.weights.indices[self.weights.indptr[j] : self.weights.indptr[j + 1]]
        added = np.zeros(len(self.names))
        added[others] = self.added(others, np.full(len(others), j))
        return added

    def strongest(self, n_attractions: int = 14, n_repulsions: int = 14) -> list[LabelEdge]:
        """Return the strongest attractions, strongest first, then the strongest repulsions.

        The order is that of the supported strength, then of the strength.
        """
        for name, number in (("n_attractions", n_attractions), ("n_repulsions", n_repulsions)):
            if number < 0:
                raise ValueError(f"{name} must be at least 0, got {number!r}.")
        attractions, repulsions = _best(self, 1, n_attractions), _best(self, -1, n_repulsions)
        return self.edges(*attractions) + self.edges(*repulsions)

    def strengths(self, j: int) -> _Floats:
        """Return the strength of the edge of label j with each other label; 0 without edge."""
        others = np.delete(np.arange(len(self.names)), j)
        if sparse.issparse(self.weights):
            weights = self.weights
            others = np.union1d(weights[:, [j]].nonzero()[0], weights[[j], :].nonzero()[1])
        strengths, mine = np.zeros(len(self.names)), np.full(len(others), j)
        strengths[others] = (self.added(others, mine) + self.added(mine, others)) / 2
        return strengths

    def bounds(self, first: _Columns, second: _Columns, strength: _Floats) -> _Floats:
        """Return the supported strength of each pair, given by columns."""
        if not len(first):
            return np.zeros(0)  # SciPy returns a sparse matrix for no pairs
        n_with = self.counts.diagonal()
        both = np.asarray(self.counts[first, second]).ravel()
        return supported_strength(strength, n_with[first], n_with[second], both, self.n_documents)

    def among(self, columns: _Columns) -> LabelPairs:
        """Return the pairs of some labels."""
        rest = None if self.rest is None else self.rest[columns]
        return LabelPairs(
            self.names[columns],
            self.weights[columns][:, columns],
            self.counts[columns][:, columns],
            self.n_documents,
            rest,
        )

    def edges(self, first: _Columns, second: _Columns) -> list[LabelEdge]:
        """Return the edge of each first with its second label, given by columns."""
        if not len(first):
            return []  # SciPy returns a sparse matrix for no pairs
        n_with = self.counts.diagonal()
        to_second, to_first = self.added(first, second), self.added(second, first)
        columns = (
            self.names[first],
            self.names[second],
            to_second,
            to_first,
            n_with[first],
            n_with[second],
            np.asarray(self.counts[first, second]).ravel(),
            n_with[first] * n_with[second] / max(self.n_documents, 1),
            self.bounds(first, second, (to_second + to_first) / 2),
        )
        return [
            LabelEdge(*row) for row in zip(*(column.tolist() for column in columns), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class LabelGraph:
    """The strongest edges between the labels of a model; :func:`label_graph` computes it.

    Attributes
    ----------
    edges
        The strongest attractions, strongest first, then the strongest repulsions.
    pairs
        All weights and counts.

    Examples
    --------
    >>> from labelkin import LabelRescorer
    >>> from labelkin.explain import label_graph
    >>> Y = [["wheat", "grain"]] * 8 + [["grain"]] * 4 + [["gold"]] * 7 + [[]]
    >>> graph = label_graph(LabelRescorer(evidence_weight=1).fit(Y), n_repulsions=1)
    >>> print(graph)
    +1.11  grain + wheat: 8 of 12 and 8, 4.8 by chance
    -1.74  gold / grain: 0 of 7 and 12, 4.2 by chance
    >>> graph.table()[0]["n_both"]
    8
    """

    edges: tuple[LabelEdge, ...]
    pairs: LabelPairs

    def related(self, label: Any, top: int = 10) -> tuple[LabelEdge, ...]:
        """Return the strongest edges to one label, at most ``top`` for and ``top`` against it.

        ``first`` is the other label and ``second`` this one. Edges are sorted by ``to_second``:
        those for the label first, then those against it. ``to_first`` may have the other sign.
        """
        check_n_suggestions(top)
        j = int(names_to_columns([label], self.pairs.names)[0])
        added = self.pairs.added_to(j)
        others = np.concatenate([_highest(sign * added, top) for sign in (1, -1)])
        return tuple(self.pairs.edges(others, np.full(len(others), j)))

    def around(self, label: Any, n_attractions: int = 14, n_repulsions: int = 14) -> LabelGraph:
        """Return the neighbourhood of one label: its strongest edges, and those between their ends.

        Edges of the label come first, by supported strength, attractions before repulsions; then,
        at most as many, those between its neighbours.

        Parameters
        ----------
        label : label
            A label of the model.
        n_attractions, n_repulsions : int, default 14
            Maximum number of edges of each kind, for the label and for its neighbours.

        Examples
        --------
        >>> from labelkin import LabelRescorer
        >>> Y = [["wheat", "grain"]] * 8 + [["grain"]] * 4 + [["gold"]] * 7 + [["silver"]] * 3
        >>> graph = label_graph(LabelRescorer(evidence_weight=1).fit(Y))
        >>> print(graph.around("wheat", n_repulsions=1))
        +1.28  wheat + grain: 8 of 8 and 12, 4.4 by chance
        -1.02  wheat / gold: 0 of 8 and 7, 2.5 by chance
        -1.85  gold / grain: 0 of 7 and 12, 3.8 by chance
        """
        j = int(names_to_columns([label], self.pairs.names)[0])
        strengths = self.pairs.strengths(j)
        others = np.flatnonzero(strengths)
        strength = strengths[others]
        bound = self.pairs.bounds(others, np.full(len(others), j), strength)
        order = others[np.lexsort((-np.abs(strength), -np.abs(bound)))]
        sides = (strengths[order] > 0, n_attractions), (strengths[order] < 0, n_repulsions)
        others = np.concatenate([order[side][:most] for side, most in sides])
        edges = self.pairs.edges(np.full(len(others), j), others)
        pairs = self.pairs.among(np.append(np.sort(others), j))
        between = pairs.among(np.arange(len(others))).strongest(n_attractions, n_repulsions)
        return LabelGraph((*edges, *between), pairs)

    def table(self) -> list[dict[str, Any]]:
        """Return a row per edge, ready for ``pandas.DataFrame`` or ``polars.DataFrame``."""
        return [{"strength": edge.strength, **vars(edge)} for edge in self.edges]

    def plot(self, ax: Any = None) -> Any:
        """Draw the edges, labels on a circle; return the matplotlib axes.

        Solid blue lines are attractions, dashed orange ones repulsions; their width is the
        supported strength.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; ``None``: those of a new figure (``pip install "labelkin[plot]"``).
        """
        axes = _new_axes() if ax is None else ax
        _draw_on_circle(axes, self.edges)
        return axes

    def __str__(self) -> str:
        """Return the edges, a line each."""
        return "\n".join(map(str, self.edges))

    def __repr__(self) -> str:
        return "\n".join([self._title(), *shortened([str(b) for b in self.edges], MOST_ROWS)])

    def _repr_html_(self) -> str:
        rows = [(f"{b.strength:+.2f}", f"{b.first}", f"{b.second}", f"{b.n_both:.10g}")
                for b in self.edges[:MOST_ROWS]]  # fmt: skip
        more = [(one,) for one in shortened([""] * len(self.edges), MOST_ROWS)[MOST_ROWS:]]
        head = ("strength", "label", "label", "documents with both")
        return html_table(self._title(), [head, *rows, *more])

    def _title(self) -> str:
        return f"LabelGraph: {len(self.pairs.names)} labels, {len(self.edges)} edges"


def label_graph(model: Any, n_attractions: int = 14, n_repulsions: int = 14) -> LabelGraph:
    """Return the strongest attractions and repulsions between labels, with their counts.

    Parameters
    ----------
    model : LabelDependenceClassifier, LabelRescorer or pipeline
        A fitted :class:`LabelDependenceClassifier` or :class:`LabelRescorer`, or a pipeline that
        ends in one. Its label classifier must be linear: :class:`LogisticLabels` or
        :class:`SVMLabels`.
    n_attractions, n_repulsions : int, default 14
        Maximum number of edges of each kind. Labels of no or all training documents have no edges.

    Returns
    -------
    LabelGraph

    Examples
    --------
    >>> from labelkin import LabelRescorer
    >>> Y = [["wheat", "grain"]] * 8 + [["grain"]] * 4 + [["gold"]] * 7 + [[]]
    >>> graph = label_graph(LabelRescorer(evidence_weight=1).fit(Y), n_repulsions=1)
    >>> print(graph)
    +1.11  grain + wheat: 8 of 12 and 8, 4.8 by chance
    -1.74  gold / grain: 0 of 7 and 12, 4.2 by chance
    >>> [edge.first for edge in graph.related("wheat")]
    ['grain', 'gold']
    """
    rescorer = _rescorer_of(model)
    paper = rescorer.combination_.predicted.paper
    term = paper.linear
    if term is None:
        raise ValueError(
            "A label graph needs linear label evidence, a weight per pair of labels, got "
            f"labels={rescorer.labels!r:.60}. Fit with labels=LogisticLabels() or SVMLabels()."
        )
    weights = term.weights
    if sparse.issparse(weights):
        weights = weights.copy()
        weights.data[paper.constant[weights.indices]] = 0.0
        weights.eliminate_zeros()
    elif paper.constant.any():
        weights = np.where(paper.constant[:, None], 0.0, weights)
    pairs = LabelPairs(
        rescorer.label_names_,
        weights,
        rescorer.label_sets_.together(),
        rescorer.label_sets_.n_documents,
        term.rest,
    )
    return LabelGraph(tuple(pairs.strongest(n_attractions, n_repulsions)), pairs)


def _rescorer_of(model: Any) -> Any:
    """Return the rescorer of a model, by its attributes: its classes are in a higher layer."""
    if isinstance(model, Pipeline):
        return _rescorer_of(model.steps[-1][1])
    if not (hasattr(model, "rescore") or hasattr(model, "evidence_weight")):
        raise TypeError(
            "model must be a LabelDependenceClassifier, a LabelRescorer or a pipeline that ends in "
            f"one, got {model!r:.60}. Of a search, pass best_estimator_."
        )
    check_is_fitted(model)
    return model if hasattr(model, "rescore") else model.rescorer_


def _best(pairs: LabelPairs, sign: int, n_most: int) -> tuple[_Columns, _Columns]:
    """Return the n_most pairs of a sign with the highest supported, then highest strength."""
    # Rows: bound, strength, first, second; the highest bound first.
    found = np.zeros((4, 0))
    for first, second in _pairs_in_blocks(pairs) if n_most else ():
        strength = sign * (pairs.added(first, second) + pairs.added(second, first)) / 2
        order = np.argsort(-strength, kind="stable")
        order = order[: np.count_nonzero(strength > 0)]
        for start in range(0, len(order), _AT_A_TIME):
            take = order[start : start + _AT_A_TIME]
            # No bound is above its strength.
            if found.shape[1] == n_most and strength[take[0]] < found[0, -1]:
                break
            bound = sign * pairs.bounds(first[take], second[take], sign * strength[take])
            found = np.hstack([found, [bound, strength[take], first[take], second[take]]])
            found = found[:, np.lexsort((found[3], found[2], -found[1], -found[0]))[:n_most]]
    return found[2].astype(np.int64), found[3].astype(np.int64)


def _pairs_in_blocks(pairs: LabelPairs) -> Iterator[tuple[_Columns, _Columns]]:
    """Yield all pairs k < j of labels, or of neighbours."""
    n_labels = len(pairs.names)
    if sparse.issparse(pairs.weights):
        stored = sparse.coo_array(pairs.weights)
        low, high = np.minimum(stored.row, stored.col), np.maximum(stored.row, stored.col)
        numbers = np.unique(low.astype(np.int64) * n_labels + high)
        yield numbers // n_labels, numbers % n_labels
        return
    step = max(1, _BLOCK // max(n_labels, 1))
    for start in range(0, n_labels, step):
        rows = np.arange(start, min(start + step, n_labels))
        first, second = np.nonzero(np.arange(n_labels) > rows[:, None])
        yield first + start, second


def _highest(values: _Floats, n_most: int) -> _Columns:
    """Return the places of the highest values above 0, in order; of equal ones the first."""
    places = np.flatnonzero(values > 0) if n_most else np.zeros(0, np.int64)
    if 0 < n_most < len(places):
        least = np.partition(values[places], -n_most)[-n_most]
        places = places[values[places] >= least]
    return places[np.argsort(-values[places], kind="stable")][:n_most]


def _new_axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('Plots need matplotlib: pip install "labelkin[plot]"') from error
    return pyplot.subplots(figsize=(7.5, 7.5), layout="constrained")[1]


#: Two labels and the strength of their attraction, or repulsion (below 0).
_Pull = tuple[Any, Any, float]

_LONGEST_NAME = 24
#: Radius of the picture without names, and per letter of a name; that of the circle is 1.
_RIM, _LETTER = 1.1, 0.028
#: Styles of attractions and repulsions: colour and line differ.
_ATTRACTS = {"color": "#1a5fb4", "linestyle": "-", "label": "support each other"}
_REPELS = {"color": "#b5490f", "linestyle": (0, (4, 2.5)), "label": "oppose each other"}


def _draw_on_circle(axes: Any, edges: Sequence[LabelEdge]) -> None:
    """Draw the labels and a line for each edge on matplotlib axes."""
    names = circle_order([(edge.first, edge.second, edge.pull) for edge in edges])
    angles = 2 * np.pi * np.arange(len(names)) / max(len(names), 1)
    at = dict(zip(names, np.column_stack([np.cos(angles), np.sin(angles)]), strict=True))
    reach = _RIM + _LETTER * max((len(short_name(str(name))) for name in names), default=0)
    axes.set_axis_off()
    axes.set(aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach))
    strongest = max((abs(edge.pull) for edge in edges), default=1.0)
    for style, sign in ((_ATTRACTS, 1), (_REPELS, -1)):
        lines = [edge for edge in edges if sign * edge.pull > 0]
        for i, edge in enumerate(lines):
            width = 0.8 + 3.2 * abs(edge.pull) / strongest
            named = {**style, "label": style["label"] if i == 0 else None}
            axes.plot(*_curve(at[edge.first], at[edge.second]), linewidth=width, zorder=1, **named)
    axes.scatter([x for x, _ in at.values()], [y for _, y in at.values()], s=18, color="#66707a")
    for name, angle in zip(names, angles, strict=True):
        _write_name(axes, short_name(str(name)), angle)
    if edges:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, frameon=False)


def circle_order(pulls: Sequence[_Pull]) -> list[Any]:
    """Return the labels in an order with those that attract each other close together.

    Examples
    --------
    >>> circle_order([("tea", "sugar", 2.0), ("milk", "gold", 1.0), ("sugar", "milk", 1.0)])
    ['tea', 'sugar', 'milk', 'gold']
    """
    names = sorted(dict.fromkeys(name for pull in pulls for name in pull[:2]), key=str)
    place = {name: i for i, name in enumerate(names)}
    near = [(place[first], place[second]) for first, second, strength in pulls if strength > 0]
    ends = np.array(near + [pair[::-1] for pair in near], dtype=np.int64).reshape(-1, 2).T
    shape = (len(names), len(names))
    graph = sparse.csr_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape)
    return [names[i] for i in reverse_cuthill_mckee(graph, symmetric_mode=True)] if names else []


def short_name(name: str) -> str:
    """Return a name in one short line of printable characters."""
    name = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _curve(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a line that is bent towards the middle of the circle."""
    t = np.linspace(0, 1, 33)[:, None]
    bend = 0.3 * (start + end)
    return np.asarray((1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end).T


def _write_name(axes: Any, name: str, angle: float) -> None:
    """Write a name outwards from the circle, not upside down."""
    left = np.cos(angle) < -1e-9
    axes.text(
        1.05 * np.cos(angle),
        1.05 * np.sin(angle),
        name,
        rotation=np.degrees(angle) + (180 if left else 0),
        rotation_mode="anchor",
        ha="right" if left else "left",
        va="center",
        fontsize=8,
        parse_math=False,  # a label may hold a dollar sign
    )
