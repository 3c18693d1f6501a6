"""Content evidence by the most similar documents: the share of them that carries the label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix
from labelkin.method.content.similar_documents import (
    index_documents,
    similar_documents,
    unit_rows,
)
from labelkin.method.log_odds_classifier import LogOddsClassifier
from labelkin.odds import count_log_odds, log_odds_of


class NearestNeighbours(LogOddsClassifier):
    """k nearest neighbours by cosine similarity; a neighbour's vote is its similarity.

    Negative similarities count 0. A document without a similar neighbour, for instance one without
    words, has the prior. Ties at rank k go to the document that came first in training.

    Parameters
    ----------
    n_neighbors
        k; all documents where there are fewer.
    clip
        Shares of 0 and 1, and what lies closer to them, count as ``clip`` and ``1 - clip``.
    n_jobs
        Threads over blocks of documents.
    """

    def __init__(
        self, n_neighbors: int = 30, *, clip: float = 1e-6, n_jobs: int | None = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.clip = clip
        self.n_jobs = n_jobs

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        if not (isinstance(self.n_neighbors, int | np.integer) and self.n_neighbors >= 1):
            raise ValueError(
                f"n_neighbors must be a whole number of at least 1, got {self.n_neighbors!r}."
            )
        self.index_ = index_documents(unit_rows(X))
        self.labels_ = labels

    def _learn_out_of_fold(self, X: Any, labels: LabelMatrix) -> NDArray[np.float64]:
        """Leave one out: a document is not its own neighbour, and not in its prior."""
        self._learn(X, labels)
        similar = similar_documents(
            self.index_, unit_rows(X), self.n_neighbors, leave_one_out=True, n_jobs=self.n_jobs
        )
        positive, known = labels.counts()
        own = labels.positive.toarray()
        own_known = 1.0 if labels.unknown is None else 1.0 - labels.unknown.toarray()
        return self._shares(similar, positive - own, known - own_known)

    def _log_odds(self, X: Any) -> NDArray[np.float64]:
        similar = similar_documents(self.index_, unit_rows(X), self.n_neighbors, n_jobs=self.n_jobs)
        return self._shares(similar, *self.labels_.counts())

    def _shares(
        self,
        similar: sparse.csr_array,
        positive: NDArray[np.float64],
        known: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Log-odds of the similarity-weighted share of neighbours that carry the label.

        The prior where nobody votes, and for labels that none or all of the documents carry.
        """
        votes = (similar @ self.labels_.positive).toarray()
        voters = np.broadcast_to(np.asarray(similar.sum(axis=1)).reshape(-1, 1), votes.shape)
        if self.labels_.unknown is not None:
            voters = voters - (similar @ self.labels_.unknown).toarray()
        counted = (voters > 0) & (positive > 0) & (positive < known)
        share = np.divide(votes, voters, out=np.zeros_like(votes), where=counted)
        log_odds = log_odds_of(np.minimum(share, 1.0), clip=self.clip)
        return np.where(counted, log_odds, count_log_odds(positive, known))
