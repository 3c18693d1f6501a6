"""What the members of an ensemble say of documents beyond the prior, all in one shape."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from labelkin.content.members import Member, innermost
from labelkin.content.naive_bayes import NaiveBayes
from labelkin.content.nearest_neighbours import NearestNeighbours
from labelkin.label_matrix import Cells
from labelkin.odds import log_odds_of

Floats = NDArray[np.float64]


class MemberEvidence(NamedTuple):
    """What members say beyond the prior.

    Attributes
    ----------
    values
        ``(n_members, n_documents, n_labels)``; of candidates ``(n_members, n_cells)``.
    cells
        The candidates; ``None``: all cells.
    """

    values: Floats
    cells: Cells | None = None

    @classmethod
    def of(
        cls, members: list[Member], views: list[Any], log_odds: list[Any], prior: Floats
    ) -> MemberEvidence:
        """Return the evidence of documents; one whose view is empty says nothing."""
        patterns = [Cells.of(z) for z in log_odds if sparse.issparse(z)]
        if not patterns:
            values = np.empty((len(members), *log_odds[0].shape))
            for k, (member, view) in enumerate(zip(members, views, strict=True)):
                values[k] = beyond_prior(member.classifier, log_odds[k], prior)
                values[k, is_empty(view)] = 0.0
            return cls(values)
        cells = patterns[0]
        for pattern in patterns[1:]:
            cells = cells.union(pattern)[0]
        values = np.empty((len(members), cells.n))
        for k, (member, view) in enumerate(zip(members, views, strict=True)):
            found = _at(cells, log_odds[k])
            values[k] = beyond_prior(member.classifier, found, prior[cells.label])
            values[k, is_empty(view)[cells.document]] = 0.0
        return cls(values, cells)

    def some(self, members: list[int]) -> MemberEvidence:
        """Return the evidence of some members."""
        return self._replace(values=self.values[members])

    def documents(self, rows: NDArray[np.bool_]) -> tuple[MemberEvidence, Any]:
        """Return the evidence of some documents, and where they are among the values of all."""
        if self.cells is None:
            return MemberEvidence(self.values[:, rows]), rows
        cells, places = self.cells.take(np.flatnonzero(rows))
        return MemberEvidence(self.values[:, places], cells), places

    def of_labels(self, numbers: Floats) -> Floats:
        """Return one number per label as something that values can be multiplied with."""
        return numbers if self.cells is None else numbers[self.cells.label]

    def matrix(self, values: Floats) -> Any:
        """Return values as log-odds: dense, or a CSR array of the candidates."""
        return values if self.cells is None else self.cells.matrix(values)


def beyond_prior(classifier: Any, log_odds: Floats, prior: Floats) -> Floats:
    """Return finite evidence beyond the prior, label by label along the last axis.

    Naive Bayes multiplies words as if each were news: its evidence is the logarithm of its
    log-odds. A share of k votes is that of k + 1, the last vote being the prior's, so that none of
    k is not impossible.
    """
    inner = innermost(classifier)
    if isinstance(inner, NaiveBayes):
        beyond = log_odds - prior
        return np.asarray(np.sign(beyond) * np.log1p(np.abs(beyond)))
    votes = _votes(inner)
    if votes is not None:
        share = (votes * expit(log_odds) + expit(prior)) / (votes + 1)
        return log_odds_of(share) - prior
    return log_odds - prior


def is_empty(view: Any) -> NDArray[np.bool_]:
    """Return which documents a view has nothing of; all are there where it is not numbers."""
    if sparse.issparse(view):
        return np.diff(sparse.csr_array(view).indptr) == 0
    if getattr(view, "ndim", 0) == 2 and np.asarray(view).dtype.kind == "f":
        return np.isnan(np.asarray(view)).all(axis=1)
    return np.zeros(length(view), dtype=np.bool_)


def length(X: Any) -> int:
    """Return the number of documents, of whatever kind."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _votes(classifier: Any) -> int | None:
    """Return how many vote where probabilities are shares of votes; ``None`` where they are not."""
    if isinstance(classifier, NearestNeighbours):
        return int(classifier.n_neighbors)
    trees = getattr(classifier, "n_estimators", None)
    return int(trees) if trees is not None and hasattr(classifier, "estimators_") else None


def _at(cells: Cells, log_odds: Any) -> Floats:
    """Return a member's log-odds at all candidates; where it has none, its lowest of the document.

    A document without any candidate of its own has the lowest of all.
    """
    if not sparse.issparse(log_odds):
        return cells.at(log_odds)
    own = Cells.of(log_odds)
    place, found = cells.find(own)
    lowest = np.full(cells.shape[0], log_odds.data.min(initial=0.0))
    some = np.flatnonzero(np.diff(own.indptr))
    if len(some):
        lowest[some] = np.minimum.reduceat(log_odds.data, own.indptr[some])
    values = lowest[cells.document]
    values[place[found]] = log_odds.data[found]
    return values
