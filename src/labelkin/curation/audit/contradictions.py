"""Contradictions: cells that break a rule, and near-duplicate texts with different labels.

At least one of the cells that break a rule is wrong; which one depends on the probability of an
error in each (:func:`one_of_two`, and :func:`labelkin.vocabulary.bound_rules.at_most_one`).
Near-duplicates with different labels are listed; they do not change probabilities, which made the
list of errors worse in 18 of 30 experiments with injected errors and better in 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.feature_extraction.text import HashingVectorizer

from labelkin.label_matrix import LabelMatrix
from labelkin.odds import to_probability
from labelkin.records import short_repr
from labelkin.solvers.cosine_index import unit_rows
from labelkin.validation import validate_sparse
from labelkin.vocabulary.bound_rules import BoundRules, at_most_one

#: Bands of a document's signature, and numbers in a band: documents that agree in a band are
#: compared. Of pairs that share 80 % of their words, 1 in 5,000 is overlooked.
_BANDS, _NUMBERS = 16, 4
#: Each document is compared with at most this many others with the same band.
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


@short_repr
class NearDuplicates(NamedTuple):
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
) -> dict[CellPlace, BrokenRule]:
    """Find the cells that break rules, and change the probability of an error in them.

    Exclusive labels come first, at most one of which is right; then implications in order.
    Unknown cells break no rule.
    """
    if rules is None:
        return {}
    names, reasons = labels.names, dict[CellPlace, str]()
    errors: dict[CellPlace, float] = {}
    before: dict[CellPlace, float] = {}

    def note(i: int, j: int, reason: str) -> None:
        if (i, j) not in errors:
            reasons[i, j] = reason
            errors[i, j] = before[i, j] = log_odds(probability[i, j])

    for group in rules.groups:
        columns = sparse.csr_array(labels.positive[:, list(group)])
        for i in np.flatnonzero(np.diff(columns.indptr) > 1).tolist():
            inside = [group[k] for k in columns.indices[columns.indptr[i] : columns.indptr[i + 1]]]
            for j in inside:
                other = next(k for k in inside if k != j)
                note(i, j, f"{names[j]} and {names[other]} exclude each other")
            right = at_most_one(-np.array([[errors[i, j] for j in inside]]))[0]
            errors.update({(i, j): -float(z) for j, z in zip(inside, right, strict=True)})
    has = labels.positive.tocsc()
    unknown = None if labels.unknown is None else labels.unknown.tocsc()
    for narrower, broader in rules.implies:
        documents = np.setdiff1d(_documents(has, narrower), _documents(has, broader))
        if unknown is not None:
            documents = np.setdiff1d(documents, _documents(unknown, broader))
        for i in documents.tolist():
            for j in (narrower, broader):
                note(i, j, f"{names[narrower]} implies {names[broader]}")
            first, second = errors[i, narrower], errors[i, broader]
            errors[i, narrower] = float(one_of_two(first, second))
            errors[i, broader] = float(one_of_two(second, first))
    for cell, error in errors.items():
        probability[cell] = to_probability(error)
    return {cell: BrokenRule(reasons[cell], errors[cell] - before[cell]) for cell in errors}


def differing_cells(labels: LabelMatrix, pairs: NearDuplicates) -> dict[CellPlace, NearDuplicate]:
    """Return the cells in which near-duplicates differ, each with the nearest that differs.

    Cells that are unknown in one of the two do not differ.
    """
    has, found = labels.positive, dict[CellPlace, NearDuplicate]()
    differs = abs(has[pairs.first] - has[pairs.second])
    if labels.unknown is not None:
        unknown = labels.unknown[pairs.first] + labels.unknown[pairs.second]
        differs = differs - differs.multiply(unknown > 0)
    pair, label = differs.nonzero()
    for k in np.lexsort((label, pair, -pairs.similarity[pair])).tolist():
        q, j = int(pair[k]), int(label[k])
        a, b, similarity = int(pairs.first[q]), int(pairs.second[q]), float(pairs.similarity[q])
        found.setdefault((a, j), NearDuplicate(b, similarity))
        found.setdefault((b, j), NearDuplicate(a, similarity))
    return found


def log_odds(probability: Any) -> float:
    """Return the log-odds of a probability that may be rounded to 0 or 1."""
    return float(logit(np.clip(np.float64(probability), _ALMOST_ZERO, 1 - _ALMOST_ZERO)))


def find_near_duplicates(rows: Any, at_least: float) -> NearDuplicates:
    """Find pairs of documents whose texts are the same or nearly so.

    Each document has a signature of a few numbers (the minima of random numbers of its words, or
    the signs of random projections of a dense row). Documents that agree in a part of it are
    compared by the cosine of their rows. Nothing is as large as documents × documents, and a
    text with thousands of copies is compared with a few of them.

    Parameters
    ----------
    rows : CSR array, array or None
        The documents, as :func:`as_rows` returns them.
    at_least : float
        The least cosine of near-duplicates.

    Returns
    -------
    NearDuplicates
    """
    if rows is None or rows.shape[0] < 2:
        nothing = np.zeros(0, dtype=np.int64)
        return NearDuplicates(nothing, nothing, np.zeros(0))
    keys = _word_keys(rows) if sparse.issparse(rows) else _sign_keys(rows)
    pairs = np.unique(np.concatenate([_neighbours(band) for band in keys]), axis=0)
    similarity = np.concatenate([np.zeros(0), *_cosines(rows, pairs)])
    near = similarity >= at_least - 1e-6
    return NearDuplicates(pairs[near, 0], pairs[near, 1], np.minimum(similarity[near], 1.0))


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


def _documents(columns: sparse.csc_array, j: int) -> NDArray[Any]:
    return columns.indices[columns.indptr[j] : columns.indptr[j + 1]]


def _word_keys(rows: sparse.csr_array) -> Iterator[NDArray[np.int64]]:
    """Yield, per band, one number per document: the minima of random numbers of its words."""
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
    """Yield, per band, one number per document: its sides of random planes."""
    rng = np.random.default_rng(_SEED)
    centred = rows - rows.mean(axis=0)
    bits = int(np.clip(np.ceil(np.log2(len(rows) + 1)), 4, 24))
    for _ in range(_BANDS):
        sides = centred @ rng.standard_normal((rows.shape[1], bits)).astype(np.float32) > 0
        yield sides @ (1 << np.arange(bits, dtype=np.int64))


def _neighbours(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs of documents with the same key, each with the few that follow."""
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
