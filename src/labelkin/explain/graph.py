"""The label graph: attractions and repulsions between labels, with their document counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special
from scipy.sparse.csgraph import reverse_cuthill_mckee
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from labelkin.label_matrix import names_to_columns
from labelkin.records import MOST_ROWS, short_repr, shortened
from labelkin.validation import check_whole_number

_Floats = NDArray[np.float64]
_Columns = NDArray[np.int64]

#: One-sided confidence of bounds, for the best of thousands of pairs; number of bounds at a time.
_CONFIDENCE, _AT_A_TIME = 0.999, 4096


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
        # NaN without common documents, or if all are common: nothing is supported.
        lowest = special.betaincinv(both, rare - both + 1, 1 - _CONFIDENCE)
        highest = special.betaincinv(both + 1, rare - both, _CONFIDENCE)
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

    def __str__(self) -> str:
        """Return the edge in one line."""
        joint = "+" if self.strength > 0 else "/"
        return (
            f"{self.strength:+.2f}  {self.first} {joint} {self.second}: "
            f"{self.n_both:.10g} of {self.n_first:.10g} and {self.n_second:.10g}, "
            f"{self.n_expected:.1f} by chance"
        )


def _cells(matrix: Any, rows: _Columns, columns: _Columns) -> Any:
    """Return cells of a dense or sparse matrix; SciPy returns a sparse matrix for no cells."""
    return np.asarray(matrix[rows, columns]).ravel() if len(rows) else np.zeros(0)


@dataclass(frozen=True, eq=False)
class LabelGraph:
    """The strongest edges between the labels of a model; :func:`label_graph` computes it.

    Attributes
    ----------
    edges
        The strongest attractions, strongest first, then the strongest repulsions.
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
    names: NDArray[Any]
    weights: Any
    counts: sparse.csr_array
    n_documents: float
    rest: _Floats | None = None

    def related(self, label: Any, top: int = 10) -> tuple[LabelEdge, ...]:
        """Return the strongest edges to one label, at most ``top`` for and ``top`` against it.

        ``first`` is the other label and ``second`` this one. Edges are sorted by ``to_second``:
        those for the label first, then those against it. ``to_first`` may have the other sign.
        """
        check_whole_number("top", top)
        j = int(names_to_columns([label], self.names)[0])
        others = self.weights[:, [j]].nonzero()[0]
        added = self._added(others, np.full(len(others), j))
        supports = np.argsort(-added, kind="stable")[: min(top, np.count_nonzero(added > 0))]
        opposes = np.argsort(added, kind="stable")[: min(top, np.count_nonzero(added < 0))]
        others = others[np.concatenate([supports, opposes])]
        return tuple(self._edges_of(others, np.full(len(others), j)))

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
        j = int(names_to_columns([label], self.names)[0])
        others = np.union1d(self.weights[:, [j]].nonzero()[0], self.weights[[j]].nonzero()[1])
        own = self.strongest(n_attractions, n_repulsions, (np.full(len(others), j), others))
        ends = np.sort(names_to_columns([edge.second for edge in own], self.names))
        low, high = (ends[side] for side in np.triu_indices(len(ends), 1))
        linked = (_cells(self.weights, low, high) != 0) | (_cells(self.weights, high, low) != 0)
        between = self.strongest(n_attractions, n_repulsions, (low[linked], high[linked]))
        return replace(self, edges=(*own, *between))

    def strongest(
        self,
        n_attractions: int = 14,
        n_repulsions: int = 14,
        pairs: tuple[_Columns, _Columns] | None = None,
    ) -> list[LabelEdge]:
        """Return the strongest attractions, strongest first, then the strongest repulsions.

        The order is that of the supported strength, then of the strength.

        Parameters
        ----------
        n_attractions, n_repulsions : int, default 14
            Maximum number of edges of each kind.
        pairs : tuple of arrays, optional
            The columns of the first and the second labels; default: all pairs.
        """
        check_whole_number("n_attractions", n_attractions, least=0)
        check_whole_number("n_repulsions", n_repulsions, least=0)
        first, second = self._all_pairs() if pairs is None else pairs
        strength = self._strengths(first, second)
        attractions = self._best(first, second, strength, n_attractions)
        repulsions = self._best(first, second, strength, n_repulsions, sign=-1)
        best = np.concatenate([attractions, repulsions])
        return self._edges_of(first[best], second[best])

    def table(self) -> list[dict[str, Any]]:
        """Return a row per edge, ready for ``pandas.DataFrame`` or ``polars.DataFrame``."""
        return [{"strength": edge.strength, **vars(edge)} for edge in self.edges]

    def __str__(self) -> str:
        """Return the edges, a line each."""
        return "\n".join(map(str, self.edges))

    def __repr__(self) -> str:
        title = f"LabelGraph: {len(self.names)} labels, {len(self.edges)} edges"
        return "\n".join([title, *shortened([str(edge) for edge in self.edges], MOST_ROWS)])

    def _added(self, first: _Columns, second: _Columns) -> _Floats:
        """Return what each first label adds to its second, given by columns."""
        weights = _cells(self.weights, first, second)
        return weights if self.rest is None else weights + self.rest[second]

    def _strengths(self, first: _Columns, second: _Columns) -> _Floats:
        """Return the mean weight of both directions of each pair, given by columns."""
        return (self._added(first, second) + self._added(second, first)) / 2

    def _bounds(self, first: _Columns, second: _Columns) -> _Floats:
        """Return the supported strength of each pair, given by columns."""
        n_with, both = self.counts.diagonal(), _cells(self.counts, first, second)
        strength = self._strengths(first, second)
        return supported_strength(strength, n_with[first], n_with[second], both, self.n_documents)

    def _all_pairs(self) -> tuple[_Columns, _Columns]:
        """Return the columns of all pairs k < j of labels, or of neighbours."""
        n_labels = len(self.names)
        if not sparse.issparse(self.weights):
            return np.triu_indices(n_labels, 1)
        stored = sparse.coo_array(self.weights)
        low, high = np.minimum(stored.row, stored.col), np.maximum(stored.row, stored.col)
        numbers = np.unique(low.astype(np.int64) * n_labels + high)
        return numbers // n_labels, numbers % n_labels

    def _edges_of(self, first: _Columns, second: _Columns) -> list[LabelEdge]:
        """Return the edge of each first with its second label, given by columns."""
        n_with, both = self.counts.diagonal(), _cells(self.counts, first, second)
        columns = (
            self.names[first],
            self.names[second],
            self._added(first, second),
            self._added(second, first),
            n_with[first],
            n_with[second],
            both,
            n_with[first] * n_with[second] / max(self.n_documents, 1),
            self._bounds(first, second),
        )
        return [
            LabelEdge(*row) for row in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def _best(
        self, first: _Columns, second: _Columns, strength: _Floats, n_most: int, sign: int = 1
    ) -> _Columns:
        """Return the places of the pairs of a sign with the highest bound, then strength."""
        size = sign * strength
        order = np.argsort(-size, kind="stable")[: np.count_nonzero(size > 0)]
        bound, best = np.zeros(len(size)), np.zeros(0, dtype=np.int64)
        for start in range(0, len(order) if n_most else 0, _AT_A_TIME):
            take = order[start : start + _AT_A_TIME]
            # No bound is above its strength.
            if len(best) == n_most and size[take[0]] < bound[best[-1]]:
                break
            bound[take] = sign * self._bounds(first[take], second[take])
            best = np.concatenate([best, take])
            keys = (second[best], first[best], -size[best], -bound[best])
            best = best[np.lexsort(keys)][:n_most]
        return best


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
    varying = (~paper.constant).astype(np.float64)
    if sparse.issparse(term.weights):
        weights: Any = sparse.csc_array(sparse.diags_array(varying) @ term.weights)
        weights.eliminate_zeros()
    else:
        weights = term.weights * varying[:, None]
    sets = rescorer.label_sets_
    graph = LabelGraph(
        (), rescorer.label_names_, weights, sets.together(), sets.n_documents, term.rest
    )
    return replace(graph, edges=tuple(graph.strongest(n_attractions, n_repulsions)))


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


def circle_order(pulls: Sequence[tuple[Any, Any, float]]) -> list[Any]:
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
