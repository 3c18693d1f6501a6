"""Classifier chains: each label is decided by the document and the labels before it.

Read, Pfahringer, Holmes & Frank (2011). Training shows each classifier the true earlier labels, so
all of them are fitted side by side; prediction walks along the chain.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix
from labelkin.label_matrix.record import check_choice
from labelkin.odds import log_odds_of, probability_of
from labelkin.research.related.conditionals import (
    Columns,
    Conditional,
    Matrix,
    base_classifier,
    document_parts,
    fit_conditionals,
    true_labels,
)

Order = Literal["random"] | ArrayLike | None


class ClassifierChain(LogOddsClassifier):
    """One chain over all labels.

    With ``variant="hard"`` and the same classifier it is scikit-learn's chain, also for sparse
    ``Y``, constant labels and unknown cells (an earlier label that is unknown counts its prior).

    Parameters
    ----------
    estimator : classifier or str, optional
        What learns each label; :class:`labelkin.PlattSVM` if none is given. Any classifier with
        probabilities, or a name of a content classifier such as ``"naive_bayes"``.
    order : "random", sequence of int, optional
        The label columns in the order of the chain; as they stand if none is given.
    variant : "hard" or "soft", default "hard"
        Whether earlier labels are shown as decisions or as probabilities when predicting.
    n_jobs : int, optional
        Labels fitted at a time.
    random_state : int or RandomState, optional
        Of the order, and of an estimator that has none.

    Attributes
    ----------
    order_ : array of shape (n_labels,)
    conditionals_ : list
        The classifier of each label, by column.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> ClassifierChain(LogisticRegression()).fit(X, Y).predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Order = None,
        variant: Literal["hard", "soft"] = "hard",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.variant = variant
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        check_choice("variant", self.variant, ("hard", "soft"))
        self.order_ = read_order(self.order, labels.shape[1], self.random_state)
        self.conditionals_ = fit_chain(
            base_classifier(self.estimator, self.random_state), X, labels, self.order_, self.n_jobs
        )

    def _log_odds(self, X: Any) -> Matrix:
        log_odds = document_parts(self.conditionals_, X)
        given = np.zeros_like(log_odds)
        for j in self.order_:
            log_odds[:, j] = self.conditionals_[j].log_odds(X, given, log_odds[:, j])
            soft = self.variant == "soft"
            given[:, j] = probability_of(log_odds[:, j]) if soft else log_odds[:, j] > 0
        return log_odds


def read_order(order: Order, n_labels: int, random_state: Any) -> Columns:
    """Return the label columns in the order of a chain."""
    if order is None:
        return np.arange(n_labels)
    if isinstance(order, str) and order == "random":
        return np.asarray(check_random_state(random_state).permutation(n_labels))
    asked = np.asarray(order)
    if asked.dtype.kind not in "iu" or sorted(asked.tolist()) != list(range(n_labels)):
        raise ValueError(
            f"order must be 'random' or name each label column from 0 to {n_labels - 1} once, got "
            f"{order!r:.80}."
        )
    return asked.astype(np.int64)


def fit_chain(
    base: Any, X: Any, labels: LabelMatrix, order: Columns, n_jobs: int | None
) -> list[Conditional]:
    """Fit every label's classifier on the document and the true labels before it."""
    shown: list[Columns] = [order[:0]] * len(order)
    for place, j in enumerate(order):
        shown[j] = order[:place]
    return fit_conditionals(base, X, labels, shown, true_labels(labels), n_jobs)


class ChainEnsemble(LogOddsClassifier):
    """Chains in random orders on random documents; their probabilities are averaged.

    Parameters
    ----------
    estimator : classifier or str, optional
        What learns each label: see :class:`ClassifierChain`.
    n_chains : int, default 10
        How many chains.
    bootstrap : bool, default True
        Whether each chain learns from as many documents drawn with replacement; otherwise from all.
    variant : "hard" or "soft", default "hard"
        How earlier labels are shown when predicting.
    clip : float, default 1e-6
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    n_jobs : int, optional
        Chains fitted at a time.
    random_state : int or RandomState, optional
        Of orders and documents, and of an estimator that has none.

    Attributes
    ----------
    chains_ : list of ClassifierChain

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> model = ChainEnsemble(LogisticRegression(), n_chains=3, random_state=0).fit(X, Y)
    >>> model.predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_chains: int = 10,
        bootstrap: bool = True,
        variant: Literal["hard", "soft"] = "hard",
        clip: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_chains = n_chains
        self.bootstrap = bootstrap
        self.variant = variant
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        if not (isinstance(self.n_chains, int | np.integer) and self.n_chains >= 1):
            raise ValueError(
                f"n_chains must be a whole number of at least 1, got {self.n_chains!r}."
            )
        random = check_random_state(self.random_state)
        n_documents, n_labels = labels.shape
        base = base_classifier(self.estimator, random)
        jobs = []
        for _ in range(self.n_chains):
            rows = random.randint(n_documents, size=n_documents) if self.bootstrap else slice(None)
            chain = ClassifierChain(
                clone(base), order=random.permutation(n_labels), variant=self.variant
            )
            jobs.append((chain, rows))
        self.chains_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_on)(chain, X, labels, rows) for chain, rows in jobs
        )

    def _log_odds(self, X: Any) -> Matrix:
        probability = np.mean([probability_of(one._log_odds(X)) for one in self.chains_], axis=0)
        return log_odds_of(probability, clip=self.clip)


def _fit_on(
    chain: ClassifierChain, X: Any, labels: LabelMatrix, rows: NDArray[np.int64] | slice
) -> ClassifierChain:
    return chain.fit(X[rows], labels.rows(rows))
