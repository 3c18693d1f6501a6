"""Which labels attract or repel each other most, and the training documents behind it."""

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

from labelkin.explain.contributions import check_top
from labelkin.label_matrix import names_to_columns
from labelkin.records import MOST_ROWS, html_table, short_repr, shortened

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]

#: Pairs looked at together: what lies between weights and edges stays small.
_BLOCK = 1 << 20
#: How sure a bound is, on one side: the best of thousands of pairs are wanted; and how many pairs
#: get theirs at a time.
_CONFIDENCE, _AT_A_TIME = 0.999, 4096


#: Of an edge that documents do not bear out: it is drawn, but hardly.
_FAINTEST = 0.1


def borne_out(
    strength: ArrayLike,
    n_first: ArrayLike,
    n_second: ArrayLike,
    n_both: ArrayLike,
    n_documents: float,
) -> Floats:
    """Return how much of the strength between labels the documents bear out, at the least.

    Of the documents with the rarer label, some have the other one, too. The share is certain only
    within bounds (Clopper and Pearson's, 99.9 % on one side); the one nearer to chance says what
    the rarer label adds to the log-odds of the other at the least. The result is that or the
    strength, whichever is nearer to 0; and 0 where the bound is on the other side of chance. A
    pair that is seen together once bears out little, however high its learned weights.

    Parameters
    ----------
    strength : array-like
        Mean weights of pairs in log-odds; above 0 they attract each other.
    n_first, n_second, n_both : array-like of the same shape
        Documents with the first label, with the second, with both.
    n_documents : float
        Documents in all.

    Returns
    -------
    ndarray
        Bounds of the same shape, with the signs of the strengths.

    Examples
    --------
    >>> borne_out([6.9, 3.1, -4.0], [16, 433, 900], [9, 212, 700], [1, 200, 0], 7769).round(1)
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
    """How two labels speak for or against each other, and the counts behind it.

    Counts are whole numbers unless the model was fitted with fractions as ``sample_weight``.

    Attributes
    ----------
    first, second
        The labels.
    to_second, to_first
        What the first label, once it is known, adds to the log-odds of the second, and the other
        way round.
    n_first, n_second, n_both
        Training documents with the first, with the second, with both.
    n_expected
        Documents with both, were the labels independent.
    bound
        What the documents bear out of the strength, as :func:`borne_out` has it.

    Examples
    --------
    >>> from labelkin import LabelRescorer, label_graph
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
        """Mean of both directions, in log-odds; above 0 the labels attract each other."""
        return (self.to_second + self.to_first) / 2

    @property
    def pull(self) -> float:
        """What a line between the labels is drawn by: the bound, never quite 0."""
        return math.copysign(max(abs(self.bound), _FAINTEST), self.strength)

    def __str__(self) -> str:
        """Say it in a line."""
        joint = "+" if self.strength > 0 else "/"
        return (
            f"{self.strength:+.2f}  {self.first} {joint} {self.second}: "
            f"{self.n_both:.10g} of {self.n_first:.10g} and {self.n_second:.10g}, "
            f"{self.n_expected:.1f} by chance"
        )


class LabelPairs(NamedTuple):
    """What is known of every two labels.

    Attributes
    ----------
    names
        The labels, ``(n_labels,)``.
    weights
        ``[k, j]``: what label k adds to the log-odds of label j, ``(n_labels, n_labels)``; where
        labels are told from their neighbours it is CSC, and the others are no pairs.
    counts
        Documents that have both labels, and on the diagonal those that have one, same shape.
    n_documents
        Documents in all.
    rest
        What every other label adds to label j besides, ``(n_labels,)``; ``None``: nothing.
    """

    names: NDArray[Any]
    weights: Any
    counts: sparse.csr_array
    n_documents: float
    rest: Floats | None = None

    def added(self, first: Columns, second: Columns) -> Floats:
        """Return what each first label adds to its second, given by columns."""
        if not np.size(first):  # of no pairs SciPy returns a sparse matrix
            return np.zeros(0)
        weights = np.asarray(self.weights[first, second], dtype=np.float64).ravel()
        return weights if self.rest is None else weights + self.rest[second]

    def added_to(self, j: int) -> Floats:
        """Return what each label of a pair with label j adds to it, ``(n_labels,)``; else 0."""
        if not sparse.issparse(self.weights):
            said = self.weights[:, j].copy()
            said[j] = 0.0
            return np.asarray(said)
        speakers = self.weights.indices[self.weights.indptr[j] : self.weights.indptr[j + 1]]
        said = np.zeros(len(self.names))
        if len(speakers):
            said[speakers] = self.added(speakers, np.full(len(speakers), j))
        return said

    def strongest(self, n_attractions: int = 14, n_repulsions: int = 14) -> list[LabelEdge]:
        """Return the strongest attractions, strongest first, then the strongest repulsions.

        The strongest are those that documents bear out most; where there are too few of these, the
        others follow by their strength.
        """
        for name, number in (("n_attractions", n_attractions), ("n_repulsions", n_repulsions)):
            if number < 0:
                raise ValueError(f"{name} must be at least 0, got {number!r}.")
        attractions, repulsions = _best(self, 1, n_attractions), _best(self, -1, n_repulsions)
        return self.edges(*attractions) + self.edges(*repulsions)

    def strengths(self, j: int) -> Floats:
        """Return how strong the edge of label j with each other label is; 0 where there is none."""
        if not sparse.issparse(self.weights):
            both = (self.weights[:, j] + self.weights[j, :]) / 2
            both[j] = 0.0
            return np.asarray(both)
        others = np.union1d(self.weights[:, [j]].nonzero()[0], self.weights[[j], :].nonzero()[1])
        strengths = np.zeros(len(self.names))
        if len(others):
            mine = np.full(len(others), j)
            strengths[others] = (self.added(others, mine) + self.added(mine, others)) / 2
        return strengths

    def bounds(self, first: Columns, second: Columns, strength: Floats) -> Floats:
        """Return what the documents bear out of the strength of each pair, given by columns."""
        if not len(first):
            return np.zeros(0)  # SciPy takes nothing at no places to be a sparse matrix
        n_with = self.counts.diagonal()
        both = np.asarray(self.counts[first, second]).ravel()
        return borne_out(strength, n_with[first], n_with[second], both, self.n_documents)

    def among(self, columns: Columns) -> LabelPairs:
        """Return what is known of every two of some labels."""
        rest = None if self.rest is None else self.rest[columns]
        return LabelPairs(
            self.names[columns],
            self.weights[columns][:, columns],
            self.counts[columns][:, columns],
            self.n_documents,
            rest,
        )

    def edges(self, first: Columns, second: Columns) -> list[LabelEdge]:
        """Return the edge of each first with its second label, given by columns."""
        if not len(first):
            return []  # SciPy takes nothing at no places to be a sparse matrix
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
    """The labels of a model and what holds them together; :func:`label_graph` makes it.

    Attributes
    ----------
    edges
        The strongest attractions, strongest first, then the strongest repulsions.
    pairs
        All weights and counts.

    Examples
    --------
    >>> from labelkin import LabelRescorer, label_graph
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
        """Return who speaks most for one label and who against it, each ``top`` at most.

        In each edge ``first`` is the other label, ``second`` this one, and ``to_second`` what the
        edges are ordered by: those for the label come first, then those against it, strongest
        first. (What ``label`` says in return, ``to_first``, may be of the other sign.)
        """
        check_top(top)
        j = int(names_to_columns([label], self.pairs.names)[0])
        said = self.pairs.added_to(j)
        speakers = np.concatenate([_highest(sign * said, top) for sign in (1, -1)])
        return tuple(self.pairs.edges(speakers, np.full(len(speakers), j)))

    def around(self, label: Any, n_attractions: int = 14, n_repulsions: int = 14) -> LabelGraph:
        """Return the neighbourhood of one label: its strongest edges, and those between their ends.

        A graph of a few labels, however many the model has. Edges of the label come first, by
        what documents bear out of them, attractions before repulsions; then, as many again at
        most, those of its neighbours with each other.

        Parameters
        ----------
        label : label
            The one in the middle, as the model calls it.
        n_attractions, n_repulsions : int, default 14
            How many edges of each kind the label has at most, and as many its neighbours.

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

        Solid blue lines are attractions, dashed orange ones repulsions; the thicker, the more of
        their strength documents bear out.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; ``None``: those of a new figure (``pip install "labelkin[plot]"``).
        """
        axes = _new_axes() if ax is None else ax
        draw_on_circle(axes, [(b.first, b.second, b.pull) for b in self.edges])
        return axes

    def __str__(self) -> str:
        """List the edges, a line each."""
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
    """Return which labels attract and repel each other most, with the counts behind it.

    Parameters
    ----------
    model : LabelDependenceClassifier, LabelRescorer or pipeline
        A fitted :class:`LabelDependenceClassifier` or :class:`LabelRescorer`, or a pipeline that
        ends in one. Its label classifier must be linear: :class:`LogisticLabels` or
        :class:`SVMLabels`.
    n_attractions, n_repulsions : int, default 14
        How many edges of each kind are wanted, where there are as many. Labels that none or all
        training documents have are in none.

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
        rescorer.label_names_, weights, rescorer.label_counts_, rescorer.n_documents_, term.rest
    )
    return LabelGraph(tuple(pairs.strongest(n_attractions, n_repulsions)), pairs)


def _rescorer_of(model: Any) -> Any:
    """Return a model's rescorer; classes above this module are known by what they have."""
    if isinstance(model, Pipeline):
        return _rescorer_of(model.steps[-1][1])
    if not (hasattr(model, "rescore") or hasattr(model, "evidence_weight")):
        raise TypeError(
            "model must be a LabelDependenceClassifier, a LabelRescorer or a pipeline that ends in "
            f"one, got {model!r:.60}. Of a search, pass best_estimator_."
        )
    check_is_fitted(model)
    return model if hasattr(model, "rescore") else model.rescorer_


def _best(pairs: LabelPairs, sign: int, n_most: int) -> tuple[Columns, Columns]:
    """Return the n_most pairs of a sign that documents bear out most, then those by strength."""
    # Rows: bound, strength, first, second; highest bound first.
    found = np.zeros((4, 0))
    for first, second in _plausible(pairs, sign) if n_most else ():
        strength = sign * (pairs.added(first, second) + pairs.added(second, first)) / 2
        order = np.argsort(-strength, kind="stable")
        for start in range(0, len(order), _AT_A_TIME):
            take = order[start : start + _AT_A_TIME]
            # No bound is above its strength: the rest cannot be better.
            if strength[take[0]] <= (found[0, -1] if found.shape[1] == n_most else 0.0):
                break
            bound = sign * pairs.bounds(first[take], second[take], sign * strength[take])
            found = np.hstack([found, [bound, strength[take], first[take], second[take]]])
            found = found[:, found[0] > 0]
            found = found[:, np.lexsort((found[3], found[2], -found[1], -found[0]))[:n_most]]
    first, second = found[2:].astype(np.int64)
    n_missing = n_most - len(first)
    if n_missing:
        extreme = _extreme_neighbours if sparse.issparse(pairs.weights) else _extreme_pairs
        others = np.array(extreme(pairs, sign, n_most))
        n_labels = len(pairs.names)
        is_new = ~np.isin(others[0] * n_labels + others[1], first * n_labels + second)
        first, second = np.hstack([[first, second], others[:, is_new][:, :n_missing]])
    return first, second


def _plausible(pairs: LabelPairs, sign: int) -> Iterator[tuple[Columns, Columns]]:
    """Yield pairs k < j, among them all those of a sign that documents may bear out."""
    n_with, n_labels = pairs.counts.diagonal(), len(pairs.names)
    if sparse.issparse(pairs.weights):
        yield _neighbours(pairs)
    elif sign > 0:
        together = sparse.coo_array(sparse.triu(pairs.counts, 1))
        yield together.row.astype(np.int64), together.col.astype(np.int64)
    else:
        # Never together, the rarer label's documents must still be more than chance would need.
        least = -np.expm1(np.log1p(-_CONFIDENCE) / np.maximum(n_with, 1e-9))
        needed = least * np.maximum(pairs.n_documents - n_with, 0)
        step = max(1, _BLOCK // max(n_labels, 1))
        for start in range(0, n_labels, step):
            mine, all_ = n_with[start : start + step, None], n_with[None, start:]
            rarer = np.where(mine < all_, needed[start : start + step, None], needed[None, start:])
            k, j = np.nonzero(rarer < np.maximum(mine, all_) + 1)
            yield k[k < j] + start, j[k < j] + start


def _neighbours(pairs: LabelPairs) -> tuple[Columns, Columns]:
    """Return every pair k < j of labels of which one is told from the other."""
    stored = sparse.coo_array(pairs.weights)
    numbers = np.unique(
        np.minimum(stored.row, stored.col).astype(np.int64) * len(pairs.names)
        + np.maximum(stored.row, stored.col)
    )
    return numbers // len(pairs.names), numbers % len(pairs.names)


def _extreme_neighbours(pairs: LabelPairs, sign: int, n_most: int) -> tuple[Columns, Columns]:
    """Return the n_most pairs of neighbours as :func:`_extreme_pairs` does of all labels."""
    first, second = _neighbours(pairs)
    if not len(first):
        return first, second
    best = _highest(sign * (pairs.added(first, second) + pairs.added(second, first)) / 2, n_most)
    return first[best], second[best]


def _extreme_pairs(pairs: LabelPairs, sign: int, n_most: int) -> tuple[Columns, Columns]:
    """Return the n_most pairs k < j whose mean weight has the sign and is strongest.

    Of equally strong pairs the first come first. Rows are taken in blocks, and of a block only
    those pairs that beat what has been found: no second matrix of all pairs is made or sorted.
    """
    weights, n_labels = pairs.weights, len(pairs.names)
    step = max(1, _BLOCK // max(n_labels, 1))
    first, second, strength = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    for start in range(0, n_labels if n_most else 0, step):
        rows = slice(start, start + step)
        block = sign * (weights[rows, start:] + weights[start:, rows].T) / 2
        k, j = np.nonzero(block > (strength[-1] if len(strength) == n_most else 0.0))
        k, j = k[k < j], j[k < j]
        strength = np.concatenate([strength, block[k, j]])
        best = _highest(strength, n_most)
        first = np.concatenate([first, k + start])[best]
        second = np.concatenate([second, j + start])[best]
        strength = strength[best]
    return first, second


def _highest(values: Floats, n_most: int) -> Columns:
    """Return where the highest values above 0 are, highest first, of equal ones the first first."""
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


#: A label, another one, and how strongly they attract (above 0) or repel each other.
Pull = tuple[Any, Any, float]

_LONGEST_NAME = 24
#: Where the circle's radius is 1: that of the picture, without names and more per letter.
_RIM, _LETTER = 1.1, 0.028
#: How attractions and repulsions are drawn: they differ by colour and by line.
_ATTRACTS = {"color": "#1a5fb4", "linestyle": "-", "label": "speak for each other"}
_REPELS = {"color": "#b5490f", "linestyle": (0, (4, 2.5)), "label": "speak against each other"}


def draw_on_circle(axes: Any, pulls: Sequence[Pull]) -> None:
    """Draw the labels and a line per pull on matplotlib axes; the stronger, the thicker."""
    names = circle_order(pulls)
    angles = 2 * np.pi * np.arange(len(names)) / max(len(names), 1)
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    at = dict(zip(names, places, strict=True))
    axes.set_axis_off()
    axes.set_aspect("equal")
    reach = _RIM + _LETTER * max((len(short_name(str(name))) for name in names), default=0)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    strongest = max((abs(pull[2]) for pull in pulls), default=1.0)
    for style, sign in ((_ATTRACTS, 1), (_REPELS, -1)):
        lines = [pull for pull in pulls if sign * pull[2] > 0]
        for i, (first, second, strength) in enumerate(lines):
            width = 0.8 + 3.2 * abs(strength) / strongest
            named = {**style, "label": style["label"] if i == 0 else None}
            axes.plot(*_curve(at[first], at[second]), linewidth=width, zorder=1, **named)
    axes.scatter(*places.T, s=18, color="#66707a", zorder=2)
    for name, angle in zip(names, angles, strict=True):
        _write_name(axes, short_name(str(name)), angle)
    if pulls:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, frameon=False)


def circle_order(pulls: Sequence[Pull]) -> list[Any]:
    """Return the labels, each once, so that those that attract each other are near each other.

    Examples
    --------
    >>> circle_order([("tea", "sugar", 2.0), ("milk", "gold", 1.0), ("sugar", "milk", 1.0)])
    ['tea', 'sugar', 'milk', 'gold']
    """
    names = sorted(dict.fromkeys(name for pull in pulls for name in pull[:2]), key=str)
    place = {name: i for i, name in enumerate(names)}
    kin = [(place[first], place[second]) for first, second, strength in pulls if strength > 0]
    ends = np.array(kin + [pair[::-1] for pair in kin], dtype=np.int64).reshape(-1, 2).T
    shape = (len(names), len(names))
    graph = sparse.csr_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape)
    return [names[i] for i in reverse_cuthill_mckee(graph, symmetric_mode=True)] if names else []


def short_name(name: str) -> str:
    """Make any name fit beside others: one line of printable characters, not too many."""
    name = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _curve(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bend a line towards the middle, away from the names between its ends."""
    t = np.linspace(0, 1, 33)[:, None]
    bend = 0.3 * (start + end)
    return np.asarray((1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end).T


def _write_name(axes: Any, name: str, angle: float) -> None:
    """Write outwards from the circle, and never upside down."""
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
