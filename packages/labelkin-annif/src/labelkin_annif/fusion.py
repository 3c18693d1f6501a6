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

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from labelkin.label_matrix import Cells
from labelkin.odds import count_log_odds

Floats = NDArray[np.float64]

#: Minimum score: its logarithm is finite.
_LEAST = 1e-6
#: Number of candidate cells to fit on: few weights are learned.
_MOST_CELLS = 2_000_000


class Fusion(NamedTuple):
    """Weights of the scores of sources, as :meth:`learn` fits them.

    Attributes
    ----------
    sources : list of str
        The sources in order.
    weights : list of float
        Three for each source: presence, log score and log share of the best; then the prior.
    bias : float
        Intercept.
    """

    sources: list[str]
    weights: list[float]
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
        cells = _candidates(scores)
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
        features = _features(cells, scores, count_log_odds(count, truth.shape[0] - 1))
        step = -(-cells.n // _MOST_CELLS)
        model = LogisticRegression(C=1.0, max_iter=1000).fit(features[::step], target[::step])
        fusion = cls(list(scores), model.coef_[0].tolist(), float(model.intercept_[0]))
        return fusion, cells.matrix(features @ fusion.weights + fusion.bias)

    def log_odds(
        self, scores: Mapping[str, sparse.csr_array], prior_log_odds: Floats
    ) -> sparse.csr_array:
        """Return log-odds of the candidates of any source, given those of the subjects' priors."""
        given = {source: scores[source] for source in self.sources}
        cells = _candidates(given)
        features = _features(cells, given, prior_log_odds[cells.label])
        return cells.matrix(features @ self.weights + self.bias)

    @classmethod
    def read(cls, stored: Any) -> Fusion:
        """Return the fusion in the summary of a model file."""
        sources, weights, bias = stored
        if len(weights) != 3 * len(sources) + 1 or not np.isfinite(weights).all():
            raise ValueError(
                f"A fusion of {len(sources)} sources must have {3 * len(sources) + 1} weights, all "
                f"of them numbers, got {len(weights)}. Train the project again."
            )
        return cls(list(sources), list(weights), float(bias))


def _candidates(scores: Mapping[str, sparse.csr_array]) -> Cells:
    """Return the cells that at least one source suggests; scores are positive."""
    return Cells.of(reduce(add, scores.values()))


def _features(
    cells: Cells, scores: Mapping[str, sparse.csr_array], prior: Floats
) -> NDArray[np.float64]:
    features = np.zeros((cells.n, 3 * len(scores) + 1))
    for s, given in enumerate(scores.values()):
        values, best = cells.at(given), given.max(axis=1).toarray().ravel()
        has = values > 0
        score = np.log(np.maximum(values[has], _LEAST))
        features[has, 3 * s] = 1.0
        features[has, 3 * s + 1] = score
        features[has, 3 * s + 2] = score - np.log(np.maximum(best[cells.document[has]], _LEAST))
    features[:, -1] = prior
    return features
