"""Content evidence by nearest neighbours: the share of them that has the label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelkin.content.term_contributions import (
    ContentContributions,
    ContributionsOfDocuments,
    NeighbourVote,
    check_columns,
)
from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import Cells, LabelMatrix
from labelkin.label_matrix.cells import best_of, check_top
from labelkin.odds import constant_labels, count_log_odds, to_log_odds
from labelkin.solvers.cosine_index import index_documents, similar_documents, unit_rows
from labelkin.validation import check_whole_number


class NearestNeighbours(LogOddsClassifier):
    """k nearest neighbours by cosine similarity, weighted by the similarity.

    Negative similarities count as 0. A document without a similar neighbour, such as one without
    words, has the prior. Of equally similar documents at rank k the first in training is used.

    Parameters
    ----------
    n_neighbors : int, default 30
        k; all documents if there are fewer.
    clip : float, default 1e-6
        Shares are clipped to [``clip``, ``1 - clip``].
    top : int, optional
        Number of candidates per document: log-odds, probabilities and decisions are sparse, with
        the ``top`` best labels of the neighbours of each document. Default: all labels.
    n_jobs : int, optional
        Number of threads over blocks of documents.

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    >>> near = NearestNeighbours(n_neighbors=2).fit(X, [["sea"], ["sea"], ["town"]])
    >>> near.predict_labels([[1.0, 0.2]])
    [('sea',)]
    """

    leaves_one_out = True

    def __init__(
        self,
        n_neighbors: int = 30,
        *,
        clip: float = 1e-6,
        top: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.clip = clip
        self.top = top
        self.n_jobs = n_jobs

    def term_contributions(self, X: Any, columns: ArrayLike) -> ContributionsOfDocuments:
        """Return the neighbours with a vote on some labels, for a few documents.

        ``[i][k]`` is document i and label ``columns[k]``. There are no terms: the constant is equal
        to the log-odds.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.
        columns : array of int
            Columns of labels.

        Returns
        -------
        list of lists of ContentContributions
        """
        check_is_fitted(self)
        documents = self._read_documents(X, reset=False)
        labels = self.labels_.columns(check_columns(columns, self.labels_.shape[1]))
        similar = self._similar(documents)
        log_odds = clone(self).set_params(top=None)._voted(similar, labels)
        return [
            [
                ContentContributions((), float(log_odds[i, k]), neighbours)
                for k, neighbours in enumerate(_votes(similar[[i]], labels))
            ]
            for i in range(len(log_odds))
        ]

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        check_whole_number("n_neighbors", self.n_neighbors)
        if self.top is not None:
            check_top(self.top)
        self.index_ = index_documents(unit_rows(X))
        self.labels_ = labels

    def _learn_out_of_fold(self, X: Any, labels: LabelMatrix) -> Any:
        """Leave one out: a document is not its own neighbour, and not part of its prior."""
        self._learn(X, labels)
        similar = similar_documents(
            self.index_, unit_rows(X), self.n_neighbors, leave_one_out=True, n_jobs=self.n_jobs
        )
        return self._voted(similar, labels, left_out=True)

    def _log_odds(self, X: Any) -> Any:
        return self._voted(self._similar(X), self.labels_)

    def _similar(self, X: Any) -> sparse.csr_array:
        return similar_documents(self.index_, unit_rows(X), self.n_neighbors, n_jobs=self.n_jobs)

    def _voted(self, similar: sparse.csr_array, labels: LabelMatrix, left_out: bool = False) -> Any:
        """Return the log-odds of the similarity-weighted share of neighbours with the label.

        The prior if no neighbour has a vote, and for constant labels. Candidates are the labels of
        the neighbours. ``left_out``: documents are not part of their priors.
        """
        votes = sparse.csr_array(similar @ labels.positive)
        votes.sum_duplicates()
        cells = None if self.top is None else Cells.of(votes)
        positive, known = labels.counts()
        voters = np.asarray(similar.sum(axis=1)).reshape(-1, 1)
        if cells is not None:
            positive, known = positive[cells.label], known[cells.label]
            voters = voters[cells.document, 0]

        def at(matrix: Any) -> NDArray[np.float64]:
            return matrix.toarray() if cells is None else cells.at(sparse.csr_array(matrix))

        if labels.unknown is not None:
            voters = voters - at(similar @ labels.unknown)
        if left_out:
            positive = positive - at(labels.positive)
            known = known - (1.0 if labels.unknown is None else 1.0 - at(labels.unknown))
        voted = at(votes)
        counted = (voters > 0) & ~constant_labels(positive, known)
        share = np.divide(voted, voters, out=np.zeros_like(voted), where=counted)
        log_odds = to_log_odds(np.minimum(share, 1.0), clip=self.clip)
        values = np.where(counted, log_odds, count_log_odds(positive, known))
        return values if cells is None else best_of(cells.matrix(values), int(self.top or 1))


def _votes(similar: sparse.csr_array, labels: LabelMatrix) -> Iterator[tuple[NeighbourVote, ...]]:
    """Yield the votes for one document, label by label; none for constant labels."""
    order = np.argsort(-similar.data, kind="stable")
    documents, similarity = similar.indices[order], similar.data[order]
    cells = labels.rows(documents).dense()
    for cell, positive, known in zip(cells.T, *labels.counts(), strict=True):
        votes = np.where(np.isnan(cell), 0.0, similarity)
        is_counted = 0 < positive < known and votes.any()
        yield tuple(
            NeighbourVote(
                int(documents[i]),
                float(similarity[i]),
                None if np.isnan(cell[i]) else bool(cell[i]),
                float(votes[i] / votes.sum()),
            )
            for i in range(len(documents) if is_counted else 0)
        )
