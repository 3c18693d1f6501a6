"""Contradictions: cells that break a rule, and near-duplicate texts with different labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from labelkin.label_matrix import LabelMatrix
from labelkin.odds import to_log_odds, to_probability
from labelkin.solvers.cosine_index import unit_rows
from labelkin.validation import validate_sparse
from labelkin.vocabulary.bound_rules import BoundRules, at_most_one

#: Minimum cosine of near-duplicates.
_SIMILAR = 0.95
#: Bands of a signature, and numbers per band. Documents that agree in a band are compared; 1 in
#: 5,000 pairs that share 80 % of their words is missed.
_BANDS, _NUMBERS = 16, 4
#: Each document is compared with at most this many others of the same band.
_NEXT = 4
_PRIME = 2**31 - 1
_SEED = 20_130_515
_ROWS = 8192
_TEXT_FEATURES = 2**18
_ALMOST_ZERO = 1e-7

#: Document and column.
CellPlace = tuple[int, int]


class BrokenRule(NamedTuple):
    """The rule that a cell breaks, in words, and its contribution to the log-odds of an error."""

    reason: str
    log_odds: float


class NearDuplicate(NamedTuple):
    """A document with nearly the same text and a different value of a cell, and their cosine."""

    document: int
    similarity: float


def settle_rules(
    labels: LabelMatrix, rules: BoundRules | None, probability: NDArray[np.float32]
) -> dict[CellPlace, BrokenRule]:
    """Find the cells that break rules, and change the probability of an error in them.

    Of labels that exclude each other, at most one is right; of the two cells of a broken
    implication also. The probabilities are conditioned on this, with errors independent otherwise.
    Unknown cells break no rule.
    """
    reasons = dict[CellPlace, str]()
    before, after = dict[CellPlace, float](), dict[CellPlace, float]()
    for i, reason_of in _broken(labels, rules) if rules else ():
        cells = [(i, j) for j in reason_of]
        for cell in cells:
            reasons.setdefault(cell, reason_of[cell[1]])
            error = float(to_log_odds(probability[cell], clip=_ALMOST_ZERO))
            after.setdefault(cell, before.setdefault(cell, error))
        right = at_most_one(-np.array([[after[cell] for cell in cells]]))[0]
        after.update(zip(cells, (-right).tolist(), strict=True))
    for cell, error in after.items():
        probability[cell] = to_probability(error)
    return {cell: BrokenRule(reasons[cell], after[cell] - before[cell]) for cell in after}


def _broken(labels: LabelMatrix, rules: BoundRules) -> Iterator[tuple[int, dict[int, str]]]:
    """Yield documents, and the columns of a broken rule with its words: exclusive groups first."""
    names = labels.names
    for group in rules.groups:
        columns = labels.positive[:, list(group)]
        for i in np.flatnonzero(np.diff(columns.indptr) > 1).tolist():
            inside = [group[k] for k in columns.indices[columns.indptr[i] : columns.indptr[i + 1]]]
            others = {j: next(k for k in inside if k != j) for j in inside}
            yield i, {j: f"{names[j]} and {names[k]} exclude each other" for j, k in others.items()}
    for narrower, broader in rules.implies:
        reason = f"{names[narrower]} implies {names[broader]}"
        is_broken = (labels.column(narrower) == 1) & (labels.column(broader) == 0)
        for i in np.flatnonzero(is_broken).tolist():
            yield i, {narrower: reason, broader: reason}


def differing_cells(
    labels: LabelMatrix, pairs: NDArray[np.int64], similarity: NDArray[np.float64]
) -> dict[CellPlace, NearDuplicate]:
    """Return the cells in which near-duplicates differ, each with the nearest one that differs.

    Cells that are unknown in one of the two do not differ.
    """
    has, found = labels.positive, dict[CellPlace, NearDuplicate]()
    differs = abs(has[pairs[:, 0]] - has[pairs[:, 1]])
    if labels.unknown is not None:
        unknown = labels.unknown[pairs[:, 0]] + labels.unknown[pairs[:, 1]]
        differs = differs - differs.multiply(unknown > 0)
    pair, label = differs.nonzero()
    for k in np.lexsort((label, pair, -similarity[pair])).tolist():
        (a, b), j = pairs[pair[k]].tolist(), int(label[k])
        found.setdefault((a, j), NearDuplicate(b, float(similarity[pair[k]])))
        found.setdefault((b, j), NearDuplicate(a, float(similarity[pair[k]])))
    return found


def find_near_duplicates(rows: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find pairs of documents whose texts are the same or nearly the same.

    The signature of a document consists of minima of random numbers of its words. Documents that
    agree in a band of it are compared by the cosine of their rows. Memory does not grow with the
    square of the number of documents, and a text with thousands of copies is compared with a few.

    Parameters
    ----------
    rows : CSR array, array or None
        The documents, as :func:`as_rows` returns them. If numbers are negative, no pairs are
        returned: such vectors are not counts of words, and are often similar by chance.

    Returns
    -------
    pairs : array of shape (n_pairs, 2)
        Documents, the first one before the second one.
    similarity : array of shape (n_pairs,)
        Their cosine, at least 0.95.
    """
    rows = sparse.csr_array((0, 0)) if rows is None else sparse.csr_array(rows)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if len(filled) < 2 or rows.data.min() < 0:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    keys = _signatures(rows, rows.indptr[filled])
    pairs = filled[np.unique(np.concatenate([_neighbours(key) for key in keys]), axis=0)]
    similarity = np.zeros(len(pairs))
    for start in range(0, len(pairs), _ROWS):
        block = slice(start, start + _ROWS)
        products = rows[pairs[block, 0]].multiply(rows[pairs[block, 1]])
        similarity[block] = products.sum(axis=1)
    near = similarity >= _SIMILAR - 1e-6
    return pairs[near], np.minimum(similarity[near], 1.0)


def as_rows(X: Any) -> Any:
    """Return documents as rows of length 1; ``None`` if they are neither texts nor numbers."""
    if X is None:
        return None
    X = validate_sparse(X)
    if sparse.issparse(X):
        return unit_rows(X) if np.isfinite(X.data).all() else None
    if len(X) and isinstance(X.iloc[0] if hasattr(X, "iloc") else X[0], str):
        words = HashingVectorizer(n_features=_TEXT_FEATURES, alternate_sign=False)
        return unit_rows(words.transform(X))
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return unit_rows(array) if array.ndim == 2 and np.isfinite(array).all() else None


def _signatures(rows: sparse.csr_array, starts: Any) -> Iterator[NDArray[np.int64]]:
    """Yield, per band, one number per document with words."""
    rng = np.random.default_rng(_SEED)
    for _ in range(_BANDS):
        key = np.zeros(len(starts), dtype=np.int64)
        for _ in range(_NUMBERS):
            order = rng.integers(1, _PRIME, rows.shape[1])
            least = np.minimum.reduceat(order[rows.indices], starts.astype(np.intp))
            key = (key * 1_000_003 + least) % (2**61 - 1)
        yield key


def _neighbours(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs of documents with the same key, each document with the few that follow."""
    order = np.argsort(key, kind="stable")
    pairs = []
    for step in range(1, _NEXT + 1):
        same = key[order[step:]] == key[order[:-step]]
        pairs.append(np.column_stack([order[:-step][same], order[step:][same]]))
    return np.concatenate(pairs)
