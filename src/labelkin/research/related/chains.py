"""Classifier chains: each label is predicted from the document and the labels before it.

Read, Pfahringer, Holmes & Frank (2011). In training the earlier labels are the true ones, so all
classifiers are fitted independently; prediction follows the chain.

Probabilistic chains (Dembczyński, Cheng & Hüllermeier 2010) have the joint probability of whole
label sets,

    p(label set | x) = Π_j p(y_j | x, y_1 … y_{j−1}).

The best label set and each label's probability are exact for few labels (all 2^p sets); above, the
best set is found by a beam search (Kumar et al. 2013), and probabilities come from drawn label sets
(Read, Martino & Luengo 2014).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix
from labelkin.odds import to_log_odds, to_probability
from labelkin.research.related.conditionals import (
    Conditional,
    LabelColumns,
    Matrix,
    base_classifier,
    document_parts,
    fit_conditionals,
    true_labels,
)
from labelkin.research.related.whole_label_sets import LabelSetClassifier
from labelkin.validation import check_choice, check_whole_number

Order = Literal["random"] | ArrayLike | None

#: Maximum of ``exact_labels``: 2^16 label sets.
_MOST_EXACT = 16
#: Documents × label sets × labels in memory at a time: 2²¹ numbers are 16 MB.
_CELLS = 2**21


class ClassifierChain(LogOddsClassifier):
    """One chain over all labels.

    With ``variant="hard"`` and the same classifier it is scikit-learn's chain, also for sparse
    ``Y``, constant labels and unknown cells (an earlier label that is unknown counts its prior).

    Parameters
    ----------
    estimator : classifier or str, optional
        Classifier of each label, default :class:`labelkin.PlattSVM`: any classifier with
        probabilities, or the name of a content classifier such as ``"naive_bayes"``.
    order : "random", sequence of int, optional
        The label columns in the order of the chain; default: the order of the columns.
    variant : "hard" or "soft", default "hard"
        Whether earlier labels are decisions or probabilities when predicting.
    n_jobs : int, optional
        Number of labels fitted in parallel.
    random_state : int or RandomState, optional
        Seed of the order, and of an estimator without a seed.

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
            given[:, j] = to_probability(log_odds[:, j]) if soft else log_odds[:, j] > 0
        return log_odds


def read_order(order: Order, n_labels: int, random_state: Any) -> LabelColumns:
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
    base: Any, X: Any, labels: LabelMatrix, order: LabelColumns, n_jobs: int | None
) -> list[Conditional]:
    """Fit every label's classifier on the document and the true labels before it."""
    shown: list[LabelColumns] = [order[:0]] * len(order)
    for place, j in enumerate(order):
        shown[j] = order[:place]
    return fit_conditionals(base, X, labels, shown, true_labels(labels), n_jobs)


class ChainEnsemble(LogOddsClassifier):
    """Chains in random orders on random documents; their probabilities are averaged.

    Parameters
    ----------
    estimator : classifier or str, optional
        Classifier of each label: see :class:`ClassifierChain`.
    n_chains : int, default 10
        Number of chains.
    bootstrap : bool, default True
        Whether each chain learns from as many documents drawn with replacement; otherwise from all.
    variant : "hard" or "soft", default "hard"
        Whether earlier labels are decisions or probabilities when predicting.
    clip : float, default 1e-6
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    n_jobs : int, optional
        Number of chains fitted in parallel.
    random_state : int or RandomState, optional
        Seed of orders and documents, and of an estimator without a seed.

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
        check_whole_number("n_chains", self.n_chains)
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
            delayed(chain.fit)(X[rows], labels.rows(rows)) for chain, rows in jobs
        )

    def _log_odds(self, X: Any) -> Matrix:
        probability = np.mean([to_probability(one._log_odds(X)) for one in self.chains_], axis=0)
        return to_log_odds(probability, clip=self.clip)


class ProbabilisticChain(LabelSetClassifier):
    """A chain that weighs all label sets, not only the one a greedy walk finds.

    Parameters
    ----------
    estimator : classifier or str, optional
        Classifier of each label, default :class:`labelkin.PlattSVM`: any classifier with
        probabilities, or the name of a content classifier such as ``"naive_bayes"``.
    order : "random", sequence of int, optional
        The label columns in the order of the chain; default: the order of the columns.
    decide : "label_set" or "labels", default "label_set"
        Whether ``predict`` returns the most probable label set (right as a whole), or each label
        whose probability exceeds one half (right label by label).
    exact_labels : int, default 12
        Maximum number of labels for which all label sets are weighed; at most 16, constant labels
        do not count.
    beam_width : int, default 10
        Number of label sets that the search for the best one keeps above ``exact_labels``.
    n_samples : int, default 100
        Number of label sets drawn per document for probabilities above ``exact_labels``.
    n_jobs : int, optional
        Number of labels fitted in parallel.
    random_state : int or RandomState, optional
        Seed of the order and the drawn sets, and of an estimator without a seed.

    Attributes
    ----------
    order_ : array of shape (n_labels,)
    conditionals_ : list
        The classifier of each label, by column.
    seed_ : int
        Seed of the drawn label sets: the same for every call.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> model = ProbabilisticChain(LogisticRegression()).fit(X, Y)
    >>> model.predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Order = None,
        decide: Literal["label_set", "labels"] = "label_set",
        exact_labels: int = 12,
        beam_width: int = 10,
        n_samples: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.decide = decide
        self.exact_labels = exact_labels
        self.beam_width = beam_width
        self.n_samples = n_samples
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        self._check_parameters()
        random = check_random_state(self.random_state)
        self.order_ = read_order(self.order, labels.shape[1], random)
        base = base_classifier(self.estimator, self.random_state)
        self.conditionals_ = fit_chain(base, X, labels, self.order_, self.n_jobs)
        self.constant_ = labels.constant()
        self.seed_ = int(random.randint(2**31 - 1))

    @property
    def _is_exact(self) -> bool:
        return int((~self.constant_).sum()) <= self.exact_labels

    @property
    def _n_kept(self) -> int:
        """The number of label sets that the search keeps: all, where it is exact."""
        n_varying = int((~self.constant_).sum())
        return 2**n_varying if self._is_exact else self.beam_width

    def _log_odds(self, X: Any) -> Matrix:
        if self._is_exact:
            parts = [self._search(part)[1] for part in self._blocks(X, self._n_kept)]
        else:
            parts = [self._draw(part) for part in self._blocks(X, self.n_samples)]
        return to_log_odds(np.clip(np.concatenate(parts), 0, 1), clip=1e-12)

    def _best_sets(self, X: Any) -> NDArray[np.bool_]:
        return np.concatenate([self._search(part)[0] for part in self._blocks(X, self._n_kept)])

    def _blocks(self, X: Any, n_sets: int) -> Iterator[Any]:
        # Linear classifiers need one number for a label set, others the whole document.
        is_linear = all(one.classifier is None for one in self.conditionals_)
        cells = 2 * n_sets * len(self.order_) * (1 if is_linear else 64)
        step = max(1, _CELLS // cells)
        for start in range(0, max(X.shape[0], 1), step):
            yield X[start : start + step]

    def _search(self, X: Any) -> tuple[NDArray[np.bool_], Matrix]:
        """Grow label sets along the chain, and keep the most probable ones.

        Returns the best label set of each document, and the probability of every label among the
        label sets that are kept, both ``(n_documents, n_labels)``.
        """
        n_documents, n_labels = X.shape[0], len(self.conditionals_)
        parts = document_parts(self.conditionals_, X)
        sets = np.zeros((n_documents, 1, n_labels))
        weight = np.zeros((n_documents, 1))  # log p of each set so far
        for j in self.order_:
            if self.constant_[j]:
                sets[:, :, j] = self.conditionals_[j].prior > 0
                continue
            log_odds = self._log_odds_given(X, parts, sets, j)
            grown = np.concatenate(
                [weight + log_expit(-log_odds), weight + log_expit(log_odds)], axis=1
            )
            n_sets = sets.shape[1]
            kept = np.argsort(-grown, axis=1, kind="stable")[:, : self._n_kept]
            sets = np.take_along_axis(sets, (kept % n_sets)[:, :, None], axis=1)
            sets[:, :, j] = kept >= n_sets
            weight = np.take_along_axis(grown, kept, axis=1)
        share = np.exp(weight - weight.max(axis=1, keepdims=True))
        probability = np.einsum("ns,nsl->nl", share / share.sum(axis=1, keepdims=True), sets)
        probability[:, self.constant_] = to_probability(parts[:, self.constant_])
        return sets[:, 0] == 1, probability

    def _draw(self, X: Any) -> Matrix:
        """Draw label sets; return the mean of the probabilities each label was drawn with."""
        random = np.random.RandomState(self.seed_)
        n_documents, n_labels = X.shape[0], len(self.conditionals_)
        parts = document_parts(self.conditionals_, X)
        sets = np.zeros((n_documents, self.n_samples, n_labels))
        probability = to_probability(parts)
        # The same numbers for every document: its probabilities do not depend on the others.
        numbers = random.random_sample((n_labels, self.n_samples))
        for j in self.order_:
            if self.constant_[j]:
                sets[:, :, j] = self.conditionals_[j].prior > 0
                continue
            chance = to_probability(self._log_odds_given(X, parts, sets, j))
            probability[:, j] = chance.mean(axis=1)
            sets[:, :, j] = numbers[j] < chance
        return probability

    def _log_odds_given(self, X: Any, parts: Matrix, sets: Matrix, j: int) -> Matrix:
        """Return the log-odds of label j given each document's sets, ``(n_documents, n_sets)``."""
        one = self.conditionals_[j]
        if one.label_weights is not None:
            return parts[:, [j]] + sets[:, :, one.shown] @ one.label_weights
        n_documents, n_sets, n_labels = sets.shape
        rows: LabelColumns = np.repeat(np.arange(n_documents), n_sets)
        found = one.log_odds(X[rows], sets.reshape(-1, n_labels), parts[rows, j])
        return found.reshape(n_documents, n_sets)

    def _check_parameters(self) -> None:
        check_choice("decide", self.decide, ("label_set", "labels"))
        for name, least in (("exact_labels", 0), ("beam_width", 1), ("n_samples", 1)):
            check_whole_number(name, getattr(self, name), least)
        if self.exact_labels > _MOST_EXACT:
            raise ValueError(
                f"exact_labels must be at most {_MOST_EXACT} (2^{_MOST_EXACT} label sets), got "
                f"{self.exact_labels}."
            )
