"""How much the label set of a document would tell: its entropy, with labels that depend.

Labels that are uncertain together are not uncertain one by one. Where a document is either about
wheat and grain or about neither, the posterior of both is ½ and they have an entropy of 1 bit each,
and one answer settles both: the pair has 1 bit, not 2. The sum of the entropies counts such bits
twice, and so prefers documents in which the same doubt stands under many names.

The posterior gives p_j = p(label j | document), and the term of known labels
(:class:`labelkin.learned.terms.KnownLabels`) gives p(j | document, k) for an answer on k: for an
accepted and for a rejected k, the log-odds of j differ by the weight Δ_kj. With its mean over both
directions as the log-odds ratio, every pair of labels has a 2 × 2 table with the marginals p_k and
p_j, and so a mutual information I_kj. These determine a bound of the joint entropy

    H(labels) ≤ Σ_j H_j − Σ_(edges of a tree) I_kj

for every tree, exactly where the labels' dependence is that tree; the least such bound is the tree
with the most information (Chow and Liu), which is found here for the most uncertain labels of a
document. All in bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr

from labelkin.label_matrix import Cells
from labelkin.label_matrix.cells import BestCells, best_of
from labelkin.solvers.logistic import LinearTerm

Matrix = NDArray[np.float64]

#: The most uncertain labels of a document, whose dependence is counted; the others hardly matter.
MOST_LABELS = 16
#: Odds ratios beyond this are as good as one label deciding the other.
_STRONGEST = 30.0
#: Documents whose pairs of labels are looked at together.
_BLOCK = 2048


class LabelBits(NamedTuple):
    """What each document's most uncertain labels would tell, and all of its labels together.

    Attributes
    ----------
    total
        The entropy of each document's label set, ``(n_documents,)``.
    labels
        Its most uncertain labels, most uncertain first, ``(n_documents, n_shown)``; −1 where there
        are fewer.
    bits
        What each of them adds to those it was reached from: their sum and the entropies of the
        labels that are not shown are the total.
    reached
        The label that tells most about it among those before; −1 for the first ones.
    """

    total: Matrix
    labels: NDArray[np.intp]
    bits: Matrix
    reached: NDArray[np.intp]


def binary_entropy(p: Any) -> Matrix:
    """Return the entropy of labels with these probabilities, in bits."""
    p = np.asarray(p, dtype=np.float64)
    return np.asarray((entr(p) + entr(1.0 - p)) / np.log(2.0))


def pair_information(p: Any, q: Any, log_odds_ratio: Any) -> Matrix:
    """Return the mutual information of two labels, in bits.

    Parameters
    ----------
    p, q : array
        Their probabilities.
    log_odds_ratio : array
        By how much the log-odds of one rise when the other goes from "no" to "yes".

    Examples
    --------
    >>> float(pair_information(0.5, 0.5, 0.0)), round(float(pair_information(0.5, 0.5, 30.0)), 3)
    (0.0, 1.0)
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    ratio = np.exp(np.clip(log_odds_ratio, -_STRONGEST, _STRONGEST))
    spread = 1.0 + (p + q) * (ratio - 1.0)
    root = np.sqrt(np.maximum(spread**2 - 4.0 * ratio * (ratio - 1.0) * p * q, 0.0))
    both = np.clip(
        2.0 * ratio * p * q / (spread + root), np.maximum(p + q - 1, 0), np.minimum(p, q)
    )
    joint = entr(both) + entr(p - both) + entr(q - both) + entr(np.maximum(1 - p - q + both, 0.0))
    told = binary_entropy(p) + binary_entropy(q) - joint / np.log(2.0)
    return np.maximum(told, 0.0)


def label_bits(probabilities: Any, term: LinearTerm | None = None) -> LabelBits:
    """Return what the label sets of documents would tell.

    Parameters
    ----------
    probabilities : array or CSR array of shape (n_documents, n_labels)
        The posterior; of a CSR array the stored labels are candidates, and the others certain.
    term : LinearTerm, optional
        What a known label adds to the others; ``None``: labels are independent, and their
        entropies are summed.

    Examples
    --------
    >>> label_bits(np.array([[0.5, 0.5, 0.0]])).total.tolist()
    [2.0]
    """
    entropy, chosen = _most_uncertain(probabilities)
    n_documents, width = chosen.shape
    bits = np.zeros((n_documents, width))
    reached = np.full((n_documents, width), -1, dtype=np.intp)
    saved = np.zeros(n_documents)
    for start in range(0, n_documents, _BLOCK):
        rows = slice(start, min(start + _BLOCK, n_documents))
        there, columns = chosen[rows] >= 0, np.maximum(chosen[rows], 0)
        p = _taken(probabilities, rows, columns, there)
        bits[rows] = binary_entropy(p)
        if term is None or width < 2:
            continue
        apart = _weights_between(term, columns)
        apart = (apart + apart.swapaxes(1, 2)) / 2
        told = pair_information(p[:, :, None], p[:, None, :], apart)
        parent, gain = _best_tree(told, root=bits[rows].argmax(axis=1))
        bits[rows] -= gain
        saved[rows] = gain.sum(axis=1)
        found = np.take_along_axis(columns, parent, axis=1)
        reached[rows] = np.where(gain > 0, found, -1)
    order = np.argsort(-bits, axis=1, kind="stable")
    return LabelBits(
        np.maximum(entropy - saved, 0.0),
        np.take_along_axis(chosen, order, axis=1),
        np.take_along_axis(bits, order, axis=1),
        np.take_along_axis(reached, order, axis=1),
    )


def _most_uncertain(probabilities: Any) -> tuple[Matrix, NDArray[np.intp]]:
    """Return the sum of entropies of each document, and the columns of the highest ones."""
    if sparse.issparse(probabilities):
        cells = Cells.of(probabilities)
        entropies = cells.matrix(binary_entropy(probabilities.data))
        best = Cells.of(best_of(entropies, MOST_LABELS))
        chosen, _ = best.side_by_side(best.label.astype(np.intp), -1)
        return cells.sums_by_document(entropies.data), chosen
    entropies = binary_entropy(probabilities)
    best_ones = BestCells(entropies.shape[0], entropies.shape[1], MOST_LABELS)
    best_ones.add(entropies, np.arange(entropies.shape[1]))
    chosen = best_ones.matrix().indices.reshape(len(entropies), -1)
    return entropies.sum(axis=1), chosen.astype(np.intp)


def _taken(matrix: Any, rows: slice, columns: NDArray[np.intp], there: NDArray[np.bool_]) -> Matrix:
    """Return what a matrix, dense or CSR, has in some columns of each row; 0 where nothing is."""
    some = matrix[rows]
    if not sparse.issparse(some):
        return np.where(there, np.take_along_axis(some, columns, axis=1), 0.0)
    # Candidates are few: found by their numbers, not by one look-up each.
    wanted = Cells(np.concatenate(([0], np.cumsum(there.sum(axis=1)))), columns[there], some.shape)
    result = np.zeros(columns.shape)
    result[there] = wanted.at(some)
    return result


def _weights_between(term: LinearTerm, columns: NDArray[np.intp]) -> Matrix:
    """Return the weights between some labels of each document, ``(n_documents, m, m)``."""
    k, j = columns[:, :, None], columns[:, None, :]
    if not sparse.issparse(term.weights):
        found = np.asarray(term.weights[k, j])
    else:
        weights = term.weights
        numbers = np.repeat(np.arange(weights.shape[1]), np.diff(weights.indptr))
        numbers = numbers * weights.shape[0] + weights.indices
        order = np.argsort(numbers, kind="stable")
        wanted = j * weights.shape[0] + k
        place = np.minimum(np.searchsorted(numbers, wanted, sorter=order), len(numbers) - 1)
        at = order[place]
        found = np.where(numbers[at] == wanted, weights.data[at], 0.0)
    if term.rest is not None:
        found = found + term.rest[j]
    return np.where(k == j, 0.0, found)


def _best_tree(told: Matrix, root: NDArray[np.intp]) -> tuple[NDArray[np.intp], Matrix]:
    """Return each label's parent in the tree that has the most information, and that information.

    Prim's algorithm, for all documents side by side.
    """
    n, m, _ = told.shape
    rows = np.arange(n)
    best, parent = told[rows, root], np.repeat(root[:, None], m, axis=1)
    gain, outside = np.zeros((n, m)), np.ones((n, m), dtype=np.bool_)
    outside[rows, root] = False
    for _ in range(m - 1):
        new = np.where(outside, best, -1.0).argmax(axis=1)
        gain[rows, new] = best[rows, new]
        outside[rows, new] = False
        closer = outside & (told[rows, new] > best)
        best = np.where(closer, told[rows, new], best)
        parent = np.where(closer, new[:, None], parent)
    return parent, gain
