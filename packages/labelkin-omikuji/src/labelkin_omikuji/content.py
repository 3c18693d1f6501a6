"""Content evidence by Omikuji: trees of linear classifiers, for thousands of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse

from labelkin.estimator import LogOddsClassifier, read_splits
from labelkin.evaluation.splits import CrossValidation
from labelkin.label_matrix import Cells, LabelMatrix
from labelkin.label_matrix.cells import best_of, check_top
from labelkin.odds import count_log_odds, to_log_odds
from labelkin.scikit_learn import rows_of
from labelkin.solvers.grouped_logistic import fit_sigmoid
from labelkin.validation import check_whole_number
from labelkin_omikuji.forest import OmikujiForest

#: Number of cells on which the sigmoid is fitted.
_ENOUGH_CELLS = 1_000_000
#: Scores closer to 0 or 1 are clipped.
_CLIP = 1e-6


class OmikujiContent(LogOddsClassifier):
    """Trees over labels, with a linear classifier at every branch, by Omikuji.

    Labels with similar documents share branches, and a document visits the best branches only:
    the time of training and prediction depends little on the number of labels. A sigmoid, fitted to
    the out-of-fold scores of all labels together, turns scores into log-odds. The final trees are
    trained on all documents.

    Omikuji draws the first branches of a tree and accepts no seed: two fits differ slightly. A
    model that is saved and loaded returns the same scores.

    Parameters
    ----------
    n_trees : int, default 3
        Number of trees whose scores are averaged.
    cv : int, splitter or iterable of splits, default 5
        Folds for out-of-fold evidence and the sigmoid, stratified over all labels; or splits, as
        scikit-learn's ``cv``.
    top : int, optional
        Number of candidates per document: log-odds, probabilities and decisions are sparse, of the
        ``top`` best labels. ``None``: all labels.
    n_jobs : int, optional
        Number of threads of Omikuji.
    random_state : int or RandomState, optional
        Of the folds.

    Attributes
    ----------
    forest_ : OmikujiForest or None
        The files of the trained trees; ``None`` if no document has a label.
    slope_, shift_ : float
        Of the sigmoid, on log-odds.
    prior_log_odds_ : array of shape (n_labels,)

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.8]] * 5
    >>> trees = OmikujiContent(random_state=0).fit(X, [["sea"], ["sea"], ["town"], ["town"]] * 5)
    >>> trees.predict_labels([[1.0, 0.2]])
    [('sea',)]
    """

    def __init__(
        self,
        n_trees: int = 3,
        *,
        cv: CrossValidation = 5,
        top: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.cv = cv
        self.top = top
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Declare that two fits differ."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        self._learn_out_of_fold(X, labels)

    def _learn_out_of_fold(self, X: Any, labels: LabelMatrix) -> Any:
        """Train with every fold left out once, and on all documents."""
        check_whole_number("n_trees", self.n_trees)
        if self.top is not None:
            check_top(self.top)
        if labels.unknown is not None:
            raise ValueError(
                f"Omikuji learns all labels at once and cannot leave out unknown cells, got "
                f"{labels.unknown.nnz} of them. Use NaiveBayes, NearestNeighbours or PlattSVM."
            )
        self.prior_log_odds_ = count_log_odds(*labels.counts())
        self.constant_ = labels.constant()
        unseen = self._left_out(X, labels)
        self.forest_ = self._train(X, labels)
        self._fit_sigmoid(Cells.of(unseen), unseen.data, labels)
        return self._in_full(self._log_odds_at(unseen))

    def _left_out(self, X: Any, labels: LabelMatrix) -> sparse.csr_array:
        """Return the scores of every document by trees that have not seen it."""
        splits = read_splits(self.cv, X, labels, random_state=self.random_state)
        parts = [
            self._scores(self._train(rows_of(X, train), labels.rows(train)), rows_of(X, test))
            for train, test in splits
        ]
        order = np.argsort(np.concatenate([test for _, test in splits]))
        return sparse.csr_array(sparse.vstack(parts, format="csr"))[order]

    def _train(self, X: Any, labels: LabelMatrix) -> OmikujiForest | None:
        if not labels.positive.nnz:
            return None
        positive = sparse.csr_array(labels.positive)
        return OmikujiForest.train(X, positive, int(self.n_trees), effective_n_jobs(self.n_jobs))

    def _scores(self, forest: OmikujiForest | None, X: Any) -> sparse.csr_array:
        shape = X.shape[0], len(self.prior_log_odds_)
        if forest is None:
            return sparse.csr_array(shape)
        top = shape[1] if self.top is None else min(self.top, shape[1])
        return forest.scores(X, int(top), effective_n_jobs(self.n_jobs))

    def _fit_sigmoid(self, cells: Cells, scores: NDArray[np.float64], labels: LabelMatrix) -> None:
        """Fit one sigmoid to the left-out scores of all labels that vary."""
        self.slope_, self.shift_ = 1.0, 0.0
        places = np.flatnonzero(~self.constant_[cells.label])
        some = places[:: 1 + len(places) // _ENOUGH_CELLS]
        truth = cells.at(labels.positive)[some]
        if not 0 < truth.sum() < len(truth):
            return
        pooled = fit_sigmoid(to_log_odds(scores[some], clip=_CLIP)[:, None], truth[:, None])
        if pooled.slope[0] > 0:
            self.slope_, self.shift_ = float(pooled.slope[0]), float(pooled.intercept[0])

    def _log_odds_at(self, scores: sparse.csr_array) -> sparse.csr_array:
        """Return the log-odds of scored cells."""
        cells = Cells.of(scores)
        values = self.slope_ * to_log_odds(scores.data, clip=_CLIP) + self.shift_
        is_constant = self.constant_[cells.label]
        values[is_constant] = self.prior_log_odds_[cells.label[is_constant]]
        return cells.matrix(values)

    def _log_odds(self, X: Any) -> Any:
        return self._in_full(self._log_odds_at(self._scores(self.forest_, X)))

    def _in_full(self, candidates: Any) -> Any:
        """Return the candidates, or all labels: labels without a score have the score 0."""
        if self.top is not None:
            return best_of(candidates, int(self.top))
        least = self.slope_ * to_log_odds(0.0, clip=_CLIP) + self.shift_
        absent = np.where(self.constant_, self.prior_log_odds_, least)
        return Cells.of(candidates).dense(candidates.data, absent)

    @staticmethod
    def check_state(state: dict[str, Any]) -> None:
        """Raise ``ValueError`` for a stored forest of other features or labels than the model's."""
        forest, prior = state.get("forest_"), state.get("prior_log_odds_", ())
        sizes = np.size(prior), state.get("n_features_in_")
        if forest is not None and (
            not isinstance(forest, OmikujiForest) or (forest.n_labels, forest.n_features) != sizes
        ):
            raise ValueError("an OmikujiContent whose forest is of other features or labels")
