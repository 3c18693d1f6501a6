"""Log-odds of subjects from the scores of several sources.

A source of Annif returns subjects with scores between 0 and 1, on its own scale: a similarity, a
vote, a probability. One logistic regression over all candidate cells of documents with known
subjects combines them:

    log-odds = b + c · log-odds of the subject's prior
                 + Σ over sources that have it: (d_s + e_s · log score + f_s · log (score / best))

where *best* is the document's highest score from that source. It has three weights per source and
two more, so that few documents suffice, also for rare subjects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from labelkin.label_matrix import Cells

Floats = NDArray[np.float64]

#: Minimum score: its logarithm is finite.
_LEAST = 1e-6
#: Added to the numbers of documents with and without a subject.
_SMOOTHING = 0.5
#: Number of candidate cells to fit on: few weights are learned.
_MOST_CELLS = 2_000_000


@dataclass(frozen=True)
class Fusion:
    """Weights of the scores of sources, as :meth:`learn` fits them.

    Attributes
    ----------
    sources : tuple of str
        The sources in order.
    weights : array of shape (3 × n_sources + 1,)
        For each source: presence, log score and log share of the best; then the prior.
    bias : float
        Intercept.
    """

    sources: tuple[str, ...]
    weights: Floats
    bias: float

    @classmethod
    def learn(
        cls, scores: Mapping[str, sparse.csr_array], truth: sparse.csr_array
    ) -> tuple[Fusion, sparse.csr_array]:
        """Fit to documents with known subjects; return also their log-odds.

        Parameters
        ----------
        scores : mapping of str to csr_array
            By source, documents × subjects: scores of documents it was not trained on.
        truth : csr_array
            1 where a document has a subject.
        """
        cells = candidates(list(scores.values()))
        target = cells.at(truth) > 0
        if not target.any() or target.all():
            raise ValueError(
                "Documents to train on must have subjects that the sources suggest, and others "
                f"that they suggest wrongly, got {int(target.sum())} right ones among "
                f"{cells.n} suggestions. Are the sources trained, and is it the same vocabulary?"
            )
        positive = np.asarray(truth.sum(axis=0)).ravel()
        # The prior of a document's subject leaves the document out.
        count = positive[cells.label] - target
        features = _features(cells, scores, log_odds_of_counts(count, truth.shape[0] - 1))
        step = -(-cells.n // _MOST_CELLS)
        model = LogisticRegression(C=1.0, max_iter=1000).fit(features[::step], target[::step])
        fusion = cls(tuple(scores), model.coef_[0], float(model.intercept_[0]))
        return fusion, cells.matrix(features @ fusion.weights + fusion.bias)

    def log_odds(
        self, scores: Mapping[str, sparse.csr_array], prior_log_odds: Floats
    ) -> sparse.csr_array:
        """Return log-odds of the candidates of any source, given those of the subjects' priors."""
        cells = candidates([scores[source] for source in self.sources])
        given = {source: scores[source] for source in self.sources}
        features = _features(cells, given, prior_log_odds[cells.label])
        return cells.matrix(features @ self.weights + self.bias)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the model file."""
        return {
            "sources": list(self.sources),
            "weights": self.weights.tolist(),
            "bias": self.bias,
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Fusion:
        """Return a fusion from the result of :meth:`to_dict`."""
        sources = tuple(map(str, found["sources"]))
        weights = np.array(found["weights"], dtype=np.float64)
        if weights.shape != (3 * len(sources) + 1,) or not np.isfinite(weights).all():
            raise ValueError(
                f"A fusion of {len(sources)} sources must have {3 * len(sources) + 1} weights, all "
                f"of them numbers, got {weights.shape}. Train the project again."
            )
        return cls(sources, weights, float(found["bias"]))


def candidates(scores: Sequence[sparse.csr_array]) -> Cells:
    """Return the cells that at least one source suggests."""
    patterns = [Cells.of(sorted_scores(one)) for one in scores]
    cells = patterns[0]
    for pattern in patterns[1:]:
        cells = cells.union(pattern)[0]
    return cells


def sorted_scores(scores: Any) -> sparse.csr_array:
    """Return a sorted copy without duplicates and zeros, which are not suggestions."""
    matrix = sparse.csr_array(scores, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _features(
    cells: Cells, scores: Mapping[str, sparse.csr_array], prior: Floats
) -> NDArray[np.float64]:
    features = np.zeros((cells.n, 3 * len(scores) + 1))
    for s, given in enumerate(scores.values()):
        values = cells.at(sorted_scores(given))
        has = values > 0
        best = np.zeros(cells.shape[0])
        np.maximum.at(best, cells.document, values)
        score = np.log(np.maximum(values[has], _LEAST))
        features[has, 3 * s] = 1.0
        features[has, 3 * s + 1] = score
        features[has, 3 * s + 2] = score - np.log(np.maximum(best[cells.document[has]], _LEAST))
    features[:, -1] = prior
    return features


def log_odds_of_counts(positive: Floats, n_documents: float) -> Floats:
    """Return the smoothed log-odds of each subject, from its number of documents."""
    return np.log((positive + _SMOOTHING) / (n_documents - positive + _SMOOTHING))
