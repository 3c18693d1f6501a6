"""Nearest documents: ML-kNN, BR-kNN, and logistic regression on the labels of neighbours.

All three count, for each label, how many of a document's k nearest training documents carry it:
its **votes**. They differ in what they make of the votes.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix
from labelkin.odds import constant_labels, count_log_odds, to_log_odds
from labelkin.solvers.cosine_index import index_documents, similar_documents, unit_rows
from labelkin.solvers.logistic import LinearTerm, fit_logistic_layer
from labelkin.validation import check_choice, check_whole_number

Metric = Literal["euclidean", "cosine"]
Matrix = NDArray[np.float64]


class _VotingNeighbours(LogOddsClassifier):
    """Keeps the training documents and counts the votes of the nearest."""

    n_neighbors: int
    metric: Metric
    n_jobs: int | None

    def _remember_documents(self, X: Any, labels: LabelMatrix) -> Matrix:
        """Keep the documents; return the votes on each of them by the others."""
        check_whole_number("n_neighbors", self.n_neighbors)
        check_choice("metric", self.metric, Metric)
        self.documents_ = index_documents(unit_rows(X)) if self.metric == "cosine" else X
        self.labels_ = labels
        return self._votes(X, leave_one_out=True)

    def _votes(self, X: Any, *, leave_one_out: bool = False) -> Matrix:
        """Count the k nearest that carry each label, ``(n_documents, n_labels)``."""
        k, n_train = self.n_neighbors, self.documents_.shape[0]
        if self.metric == "cosine":
            near = similar_documents(
                self.documents_, unit_rows(X), k, leave_one_out=leave_one_out, n_jobs=self.n_jobs
            )
            near = sparse.csr_array((np.sign(near.data), near.indices, near.indptr), near.shape)
        else:
            near = self._nearest(X, min(k, n_train - leave_one_out), leave_one_out)
        return np.asarray((near @ self.labels_.positive).toarray())

    def _nearest(self, X: Any, k: int, leave_one_out: bool) -> sparse.csr_array:
        """Return 1 for each of the k nearest by Euclidean distance, documents × documents."""
        shape = (X.shape[0], self.documents_.shape[0])
        if k == 0:
            return sparse.csr_array(shape)
        # "auto" takes a tree in few dimensions; a document is never its own neighbour then, either.
        search = NearestNeighbors(n_neighbors=k, n_jobs=self.n_jobs).fit(self.documents_)
        index = search.kneighbors(None if leave_one_out else X, return_distance=False)
        parts = (np.ones(index.size), index.ravel(), np.arange(0, index.size + 1, k))
        return sparse.csr_array(parts, shape=shape)


class MLkNN(_VotingNeighbours):
    """Multilabel k nearest neighbours: Bayes' rule on the number of votes (Zhang & Zhou 2007).

    For each label, two distributions of the number j of neighbours with the label are estimated:
    over training documents with the label, and over the others. A new document has the odds

        p(label) / p(no label)  ×  p(j votes | label) / p(j votes | no label).

    Parameters
    ----------
    n_neighbors : int, default 10
        k; all documents if there are fewer.
    smoothing : float, default 1.0
        Added to every count (1 = Laplace).
    metric : "euclidean" or "cosine", default "euclidean"
        Distance between documents. Scale features in a pipeline (``MinMaxScaler``).
    n_jobs : int, optional
        Number of threads of the search.

    Attributes
    ----------
    prior_log_odds_ : array of shape (n_labels,)
    vote_log_odds_ : array of shape (n_neighbors + 1, n_labels)
        log of p(j votes | label) / p(j votes | no label).

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> near = MLkNN(n_neighbors=2).fit(X, [["low"]] * 3 + [["high"]] * 3)
    >>> near.predict_labels([[0.05], [1.3]])
    [('low',), ('high',)]
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        smoothing: float = 1.0,
        metric: Metric = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.metric = metric
        self.n_jobs = n_jobs

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        if not self.smoothing > 0:
            raise ValueError(f"smoothing must be positive, got {self.smoothing!r}; 1 is Laplace.")
        votes = self._remember_documents(X, labels).astype(np.int64)
        s, k = self.smoothing, self.n_neighbors
        (positive, known), truth = labels.counts(), labels.dense()
        self.prior_log_odds_ = np.log(s + positive) - np.log(s + known - positive)
        inside, outside = (_count_votes(votes, truth == value, k) for value in (1, 0))
        self.vote_log_odds_ = (
            np.log(s + inside)
            - np.log(s * (k + 1) + inside.sum(axis=0))
            - np.log(s + outside)
            + np.log(s * (k + 1) + outside.sum(axis=0))
        )
        constant = constant_labels(positive, known)
        self.vote_log_odds_[:, constant] = 0.0
        self.prior_log_odds_[constant] = count_log_odds(positive, known)[constant]

    def _log_odds(self, X: Any) -> Matrix:
        votes = self._votes(X).astype(np.int64)
        return self.prior_log_odds_ + np.take_along_axis(self.vote_log_odds_, votes, axis=0)


def _count_votes(votes: NDArray[np.int64], counted: NDArray[np.bool_], k: int) -> Matrix:
    """Return how many of the counted documents have j votes on a label, ``(k + 1, n_labels)``."""
    n_labels = votes.shape[1]
    place = votes * n_labels + np.arange(n_labels)
    n_found = np.bincount(place[counted], minlength=(k + 1) * n_labels)
    return n_found.reshape(k + 1, n_labels).astype(np.float64)


class BRkNN(_VotingNeighbours):
    """Binary relevance by k nearest neighbours: the probability is the share of votes.

    Each label is given where more than half of the neighbours carry it; the neighbours are searched
    once for all labels (Spyromitros, Tsoumakas & Vlahavas 2008).

    Parameters
    ----------
    n_neighbors : int, default 10
        k; all documents if there are fewer.
    metric : "euclidean" or "cosine", default "euclidean"
        Distance between documents.
    clip : float, default 1e-6
        Shares of 0 and 1 count as ``clip`` and ``1 - clip``.
    n_jobs : int, optional
        Number of threads of the search.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> near = BRkNN(n_neighbors=3).fit(X, [["low"]] * 3 + [["high"]] * 3)
    >>> near.predict_proba([[0.7]]).round(2).tolist()
    [[0.67, 0.33]]
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        metric: Metric = "euclidean",
        clip: float = 1e-6,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.clip = clip
        self.n_jobs = n_jobs

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        self._remember_documents(X, labels)

    def _log_odds(self, X: Any) -> Matrix:
        return self._shares(self._votes(X), min(self.n_neighbors, self.labels_.shape[0]))

    def _shares(self, votes: Matrix, k: int) -> Matrix:
        log_odds = to_log_odds(votes / max(k, 1), clip=self.clip)
        counts = self.labels_.counts()
        return np.where(constant_labels(*counts), count_log_odds(*counts), log_odds)


class IBLR(_VotingNeighbours):
    """Instance-based logistic regression (Cheng & Hüllermeier 2009).

    The votes on *all* labels are the inputs of a logistic regression for each: that a neighbour
    carries one label may be evidence for, or against, another.

    Parameters
    ----------
    n_neighbors : int, default 10
        k; all documents if there are fewer.
    ridge : float, default 1e-8
        Penalty on the squared weights, tiny as in the authors' program; raise it for rare labels.
    metric : "euclidean" or "cosine", default "euclidean"
        Distance between documents.
    n_jobs : int, optional
        Number of threads of the search.

    Attributes
    ----------
    votes_term_ : LinearTerm
        From shares of votes, between 0 and 1, to log-odds.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> near = IBLR(n_neighbors=2, ridge=0.1).fit(X, [["low"]] * 3 + [["high"]] * 3)
    >>> near.predict_labels([[0.05], [1.3]])
    [('low',), ('high',)]
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        ridge: float = 1e-8,
        metric: Metric = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.metric = metric
        self.n_jobs = n_jobs

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        if not self.ridge > 0:
            raise ValueError(f"ridge must be positive, got {self.ridge!r}.")
        inputs = self._remember_documents(X, labels) / self.n_neighbors
        (positive, known), n_labels = labels.counts(), labels.shape[1]
        constant = constant_labels(positive, known)
        varying = np.flatnonzero(~constant)
        weights, bias = np.zeros((n_labels, n_labels)), count_log_odds(positive, known)
        if len(varying):
            targets = labels.columns(varying)
            solved = fit_logistic_layer(
                inputs,
                targets.positive,
                np.ones(labels.shape[0]),
                np.full(len(varying), 2 * self.ridge),
                unknown=targets.unknown,
                own_column_zero=False,
            )
            weights[:, varying], bias[varying] = solved.weights, solved.bias
        self.votes_term_ = LinearTerm(weights, bias)

    def _log_odds(self, X: Any) -> Matrix:
        return self.votes_term_.at(self._votes(X) / self.n_neighbors)
