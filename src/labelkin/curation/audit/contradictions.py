"""Contradictions: cells that break a rule, and near-duplicate texts with different labels.

Of cells that break a rule at least one is wrong; which one follows from how probable an error is
in each (:func:`one_of_two`, and :func:`labelkin.vocabulary.rules.bound.at_most_one`).
Near-duplicates with different labels are listed; they do not change probabilities, which made the
list of errors worse in 18 of 30 experiments with injected errors and better in 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.feature_extraction.text import HashingVectorizer

from labelkin.label_matrix import LabelMatrix
from labelkin.odds import probability_of
from labelkin.records import short_repr
from labelkin.scikit_learn import sound_sparse
from labelkin.solvers.cosine_index import unit_rows
from labelkin.vocabulary.rules.bound import BoundRules, at_most_one

#: Bands of a document's signature, and numbers in a band: documents that agree in a band are
#: compared. Of two that share 80 % of their words, 1 in 5,000 pairs is overlooked.
_BANDS, _NUMBERS = 16, 4
#: So many documents with the same band are compared with their next ones only.
_NEXT = 4
_PRIME = 2**31 - 1
_SEED = 20_130_515
_ROWS = 8192
_TEXT_FEATURES = 2**18
_ALMOST_ZERO = 1e-7


#: Document and column.
Cell = tuple[int, int]


class BrokenCell(NamedTuple):
    """A cell that takes part in breaking a rule.

    Attributes
    ----------
    partner
        The label, a column, with which it cannot stand.
    kind
        ``"implies"``: one label is given, the broader one is not. ``"exclusive"``: both are given.
    added
        What that adds to the log-odds of an error in the cell.
    """

    partner: int
    kind: Literal["implies", "exclusive"]
    added: float

    def words(self, names: NDArray[Any], j: int, given: bool) -> str:
        """Return the rule in words."""
        if self.kind == "exclusive":
            return f"{names[j]} and {names[self.partner]} exclude each other"
        narrower, broader = (j, self.partner) if given else (self.partner, j)
        return f"{names[narrower]} implies {names[broader]}"


class TwinCell(NamedTuple):
    """A cell in which a document with the same text is labelled otherwise.

    Attributes
    ----------
    document
        The twin.
    similarity
        Cosine of the two.
    """

    document: int
    similarity: float


@short_repr
class Twins(NamedTuple):
    """Pairs of documents with the same or nearly the same text.

    Attributes
    ----------
    first, second
        Documents, ``(n_pairs,)`` each, ``first < second``.
    similarity
        Their cosine, ``(n_pairs,)``.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]

    @classmethod
    def none(cls) -> Twins:
        """Return no pairs."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing, np.zeros(0))


def one_of_two(first: Any, second: Any) -> Any:
    """Return the log-odds of an error in the first cell, given that one of the two is wrong.

    Errors are independent otherwise: odds a and b leave (a, not b), (b, not a) and both, so that
    the first has odds a·(1 + b) ÷ b.

    Examples
    --------
    Two cells that are wrong with probability ½ each: of three ways in which one of them is wrong,
    two have the first one wrong.

    >>> bool(np.isclose(one_of_two(0.0, 0.0), np.log(2)))
    True
    """
    return first + np.logaddexp(0.0, -second)


def settle_rules(
    labels: LabelMatrix, rules: BoundRules | None, probability: NDArray[np.float32]
) -> dict[Cell, BrokenCell]:
    """Find the cells that break rules, and change the probability of an error in them.

    Exclusive labels first, of which at most one is right; then implications, one after another.
    Unknown cells break no rule.
    """
    if rules is None:
        return {}
    broken: dict[Cell, tuple[int, Literal["implies", "exclusive"]]] = {}
    errors: dict[Cell, float] = {}
    before: dict[Cell, float] = {}

    def note(i: int, j: int, partner: int, kind: Literal["implies", "exclusive"]) -> None:
        broken.setdefault((i, j), (partner, kind))
        if (i, j) not in errors:
            errors[i, j] = before[i, j] = log_odds(probability[i, j])

    for group in rules.groups:
        columns = sparse.csr_array(labels.positive[:, list(group)])
        for i in np.flatnonzero(np.diff(columns.indptr) > 1).tolist():
            inside = [group[k] for k in columns.indices[columns.indptr[i] : columns.indptr[i + 1]]]
            for j in inside:
                note(i, j, next(other for other in inside if other != j), "exclusive")
            right = at_most_one(-np.array([[errors[i, j] for j in inside]]))[0]
            errors.update({(i, j): -float(z) for j, z in zip(inside, right, strict=True)})
    has = labels.positive.tocsc()
    unknown = None if labels.unknown is None else labels.unknown.tocsc()
    for narrower, broader in rules.implies:
        documents = np.setdiff1d(_documents(has, narrower), _documents(has, broader))
        if unknown is not None:
            documents = np.setdiff1d(documents, _documents(unknown, broader))
        for i in documents.tolist():
            note(i, narrower, broader, "implies")
            note(i, broader, narrower, "implies")
            first, second = errors[i, narrower], errors[i, broader]
            errors[i, narrower] = float(one_of_two(first, second))
            errors[i, broader] = float(one_of_two(second, first))
    for cell, error in errors.items():
        probability[cell] = probability_of(error)
    return {cell: BrokenCell(*broken[cell], errors[cell] - before[cell]) for cell in broken}


def differing_twins(labels: LabelMatrix, twins: Twins) -> dict[Cell, TwinCell]:
    """Return the cells in which twins differ; of several twins the nearest that differs.

    Cells that are unknown in one of the two do not differ.
    """
    has, found = labels.positive, dict[Cell, TwinCell]()
    differs = abs(has[twins.first] - has[twins.second])
    if labels.unknown is not None:
        unknown = labels.unknown[twins.first] + labels.unknown[twins.second]
        differs = differs - differs.multiply(unknown > 0)
    pair, label = differs.nonzero()
    for k in np.lexsort((label, pair, -twins.similarity[pair])).tolist():
        q, j = int(pair[k]), int(label[k])
        a, b, similarity = int(twins.first[q]), int(twins.second[q]), float(twins.similarity[q])
        found.setdefault((a, j), TwinCell(b, similarity))
        found.setdefault((b, j), TwinCell(a, similarity))
    return found


def log_odds(probability: Any) -> float:
    """Return the log-odds of a probability that may be rounded to 0 or 1."""
    return float(logit(np.clip(np.float64(probability), _ALMOST_ZERO, 1 - _ALMOST_ZERO)))


def find_twins(X: Any, at_least: float, verbose: int = 0) -> Twins:
    """Find pairs of documents whose texts are the same or nearly so.

    Each document has a signature of a few numbers (the least of random numbers of its words, or
    the signs of random projections where ``X`` is dense); documents that agree in a part of it are
    compared, by the cosine of their rows. Nothing is ever as large as documents × documents, and a
    text of which there are thousands of copies is compared with a few of them.

    Parameters
    ----------
    X : sparse matrix, array or sequence of texts
        The documents; of anything else there are no twins.
    at_least : float
        The cosine from which on two documents are twins.

    Returns
    -------
    Twins
    """
    rows = as_rows(X)
    if rows is None or rows.shape[0] < 2:
        return Twins.none()
    keys = _word_keys(rows) if sparse.issparse(rows) else _sign_keys(rows)
    pairs = np.unique(np.concatenate([_neighbours(band) for band in keys]), axis=0)
    similarity = np.concatenate([np.zeros(0), *_cosines(rows, pairs)])
    near = similarity >= at_least - 1e-6
    return Twins(pairs[near, 0], pairs[near, 1], np.minimum(similarity[near], 1.0))


def as_rows(X: Any) -> Any:
    """Return documents as rows of length 1; ``None`` where they are neither texts nor numbers."""
    if X is None:
        return None
    X = sound_sparse(X)
    if not sparse.issparse(X) and not isinstance(X, str) and len(X) and isinstance(_first(X), str):
        words = HashingVectorizer(n_features=_TEXT_FEATURES, alternate_sign=False)
        return unit_rows(words.transform(X))
    try:
        array = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if array.ndim != 2 or not np.isfinite(array.data if sparse.issparse(array) else array).all():
        return None
    return unit_rows(array)


def _first(X: Any) -> Any:
    return X.iloc[0] if hasattr(X, "iloc") else X[0]


def _documents(columns: sparse.csc_array, j: int) -> NDArray[Any]:
    return columns.indices[columns.indptr[j] : columns.indptr[j + 1]]


def _word_keys(rows: sparse.csr_array) -> Iterator[NDArray[np.int64]]:
    """Yield, per band, one number per document: of its words, the least by some random orders."""
    rng = np.random.default_rng(_SEED)
    filled = np.flatnonzero(np.diff(rows.indptr))
    starts = rows.indptr[filled].astype(np.intp)
    for _ in range(_BANDS):
        key = np.full(rows.shape[0], -1, dtype=np.int64)
        key[filled] = 0
        for _ in range(_NUMBERS):
            order = rng.integers(1, _PRIME, rows.shape[1])
            if len(filled):
                least = np.minimum.reduceat(order[rows.indices], starts)
                key[filled] = (key[filled] * 1_000_003 + least) % (2**61 - 1)
        yield key


def _sign_keys(rows: NDArray[np.float32]) -> Iterator[NDArray[np.int64]]:
    """Yield, per band, one number per document: on which side of random planes it lies."""
    rng = np.random.default_rng(_SEED)
    centred = rows - rows.mean(axis=0)
    bits = int(np.clip(np.ceil(np.log2(len(rows) + 1)), 4, 24))
    for _ in range(_BANDS):
        sides = centred @ rng.standard_normal((rows.shape[1], bits)).astype(np.float32) > 0
        yield sides @ (1 << np.arange(bits, dtype=np.int64))


def _neighbours(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs of documents with the same key, each with the few that come next."""
    order = np.argsort(key, kind="stable")
    order = order[key[order] >= 0]
    pairs = []
    for step in range(1, _NEXT + 1):
        same = key[order[step:]] == key[order[:-step]]
        pairs.append(np.column_stack([order[:-step][same], order[step:][same]]))
    return np.concatenate(pairs).astype(np.int64)


def _cosines(rows: Any, pairs: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
    for start in range(0, len(pairs), _ROWS):
        first, second = rows[pairs[start : start + _ROWS, 0]], rows[pairs[start : start + _ROWS, 1]]
        if sparse.issparse(rows):
            yield np.asarray(first.multiply(second).sum(axis=1), dtype=np.float64).ravel()
        else:
            yield np.einsum("ij,ij->i", first, second).astype(np.float64)
