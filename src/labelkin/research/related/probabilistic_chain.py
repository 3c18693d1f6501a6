"""Probabilistic classifier chains: the joint probability of whole label sets.

Dembczyński, Cheng & Hüllermeier (2010). By the chain rule

    p(label set | x) = Π_j p(y_j | x, y_1 … y_{j−1}),

each factor by one classifier of a chain. The best label set, and each label's probability, are
exact where there are few labels (all 2^p sets); above, the best set is sought by a beam (Kumar et
al. 2013) and probabilities come from drawn label sets (Read, Martino & Luengo 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix, in_container, read_labels
from labelkin.odds import log_odds_of, probability_of
from labelkin.research.related.chains import Order, fit_chain, read_order
from labelkin.research.related.conditionals import Columns, Matrix, base_classifier, document_parts

Inference = Literal["auto", "exact", "beam", "sample"]

#: With more labels than this nobody gets all 2^p label sets, whatever they ask for.
_MOST_EXACT = 20
#: Documents × label sets in memory at a time: 2²¹ numbers are 16 MB.
_CELLS = 2**21


class LabelSetsFound(NamedTuple):
    """What inference finds for some documents.

    Attributes
    ----------
    best
        The most probable label set, ``(n_documents, n_labels)``, bool.
    probability
        Of every label, same shape.
    """

    best: NDArray[np.bool_]
    probability: Matrix


class ProbabilisticChain(LogOddsClassifier):
    """A chain that weighs all label sets, not only the one a greedy walk finds.

    Parameters
    ----------
    estimator : classifier or str, optional
        What learns each label; :class:`labelkin.PlattSVM` if none is given. Any classifier with
        probabilities, or a name of a content classifier such as ``"naive_bayes"``.
    order : "random", sequence of int, optional
        The label columns in the order of the chain; as they stand if none is given.
    inference : "auto", "exact", "beam" or "sample", default "auto"
        How label sets are weighed. ``"auto"``: exactly for up to ``exact_labels`` labels that are
        not constant; above, the best set by a beam and probabilities by sampling.
    decide : "label_set" or "labels", default "label_set"
        Whether ``predict`` returns the most probable label set (right as a whole), or each label
        whose probability exceeds one half (right label by label).
    exact_labels : int, default 12
        Up to how many labels ``"auto"`` is exact.
    beam_width : int, default 10
        Label sets that a beam keeps.
    n_samples : int, default 100
        Label sets that are drawn for each document.
    n_jobs : int, optional
        Labels fitted at a time.
    random_state : int or RandomState, optional
        Of the order and the drawn sets, and of an estimator that has none.

    Attributes
    ----------
    order_ : array of shape (n_labels,)
    conditionals_ : list
        The classifier of each label, by column.
    seed_ : int
        Of the drawn label sets: the same for every call.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> model = ProbabilisticChain(LogisticRegression()).fit(X, Y)
    >>> model.predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    >>> bool(model.label_set_log_proba([[3.0]], [["b", "c"]])[0] > np.log(0.5))
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Order = None,
        inference: Inference = "auto",
        decide: Literal["label_set", "labels"] = "label_set",
        exact_labels: int = 12,
        beam_width: int = 10,
        n_samples: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.inference = inference
        self.decide = decide
        self.exact_labels = exact_labels
        self.beam_width = beam_width
        self.n_samples = n_samples
        self.n_jobs = n_jobs
        self.random_state = random_state

    def label_set_log_proba(self, X: Any, Y: Any) -> Matrix:
        """Return the log of the probability of one whole label set per document.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
        Y : any kind of labels, without unknown cells
            The label sets in question.

        Returns
        -------
        array of shape (n_documents,)
        """
        check_is_fitted(self)
        X = self._read_documents(X, reset=False)
        asked = read_labels(Y, names=self.classes_).dense()
        if asked.shape != (X.shape[0], len(self.conditionals_)) or np.isnan(asked).any():
            raise ValueError(
                "Y must hold one whole label set per document, "
                f"({X.shape[0]}, {len(self.conditionals_)}), without unknown cells, got shape "
                f"{asked.shape} with {int(np.isnan(asked).sum())} unknown."
            )
        parts = document_parts(self.conditionals_, X)
        total = np.zeros(X.shape[0])
        for j, one in enumerate(self.conditionals_):
            log_odds = one.log_odds(X, asked, parts[:, j])
            total += log_expit(np.where(asked[:, j] == 1, log_odds, -log_odds))
        return total

    def predict(self, X: Any) -> Any:
        """Return the most probable label set of each document, or as ``decide`` says.

        In the form of :meth:`labelkin.estimator.LogOddsClassifier.predict`.
        """
        if getattr(self, "target_kind_", "") != "multilabel" or self.decide == "labels":
            return super().predict(X)
        check_is_fitted(self)
        X = self._read_documents(X, reset=False)
        best = self._infer(X, "beam").best
        return in_container(best, self.target_container_)

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        self._check_parameters()
        n_varying = int((~labels.constant()).sum())
        if self.inference == "exact" and n_varying > _MOST_EXACT:
            raise ValueError(
                f"inference='exact' weighs all label sets, at most 2^{_MOST_EXACT}, got {n_varying}"
                " labels that are not constant. Use 'auto', 'beam' or 'sample'."
            )
        random = check_random_state(self.random_state)
        self.order_ = read_order(self.order, labels.shape[1], random)
        base = base_classifier(self.estimator, self.random_state)
        self.conditionals_ = fit_chain(base, X, labels, self.order_, self.n_jobs)
        self.constant_ = labels.constant()
        self.seed_ = int(random.randint(2**31 - 1))

    def _log_odds(self, X: Any) -> Matrix:
        return log_odds_of(np.clip(self._infer(X, "sample").probability, 0, 1), clip=1e-12)

    def _infer(self, X: Any, above: Literal["beam", "sample"]) -> LabelSetsFound:
        """Weigh label sets, a block of documents at a time; ``above``: of too many labels."""
        n_varying = int((~self.constant_).sum())
        way = self.inference
        if way == "auto":
            way = "exact" if n_varying <= min(self.exact_labels, _MOST_EXACT) else above
        infer: dict[str, tuple[Callable[..., LabelSetsFound], int]] = {
            "exact": (self._weigh_all, 2 ** min(n_varying, _MOST_EXACT)),
            "beam": (self._search, 2 * self.beam_width * len(self.order_)),
            "sample": (self._draw, self.n_samples * len(self.order_)),
        }
        weigh, n_sets = infer[way]
        found = [weigh(X[rows]) for rows in self._blocks(X.shape[0], n_sets)]
        return LabelSetsFound(*(np.concatenate(part) for part in zip(*found, strict=True)))

    def _blocks(self, n_documents: int, n_sets: int) -> Iterator[slice]:
        # Linear classifiers need one number for a label set, others the whole document.
        cells = n_sets * (1 if all(one.is_linear for one in self.conditionals_) else 64)
        step = max(1, _CELLS // cells)
        starts = range(0, max(n_documents, 1), step)
        return (slice(start, start + step) for start in starts)

    def _weigh_all(self, X: Any) -> LabelSetsFound:
        """Weigh every label set: each step doubles the sets. Constant labels are decided."""
        n_documents, n_labels = X.shape[0], len(self.conditionals_)
        parts = document_parts(self.conditionals_, X)
        sets = np.zeros((1, n_labels))
        weight = np.zeros((n_documents, 1))  # log p of each set so far
        for j in self.order_:
            if self.constant_[j]:
                sets[:, j] = self.conditionals_[j].prior > 0
                continue
            log_odds = self._given_sets(X, parts, sets, j)
            without, having = sets.copy(), sets
            having[:, j] = 1
            sets = np.vstack([without, having])
            weight = np.hstack([weight + log_expit(-log_odds), weight + log_expit(log_odds)])
        share = np.exp(weight)
        probability = share @ sets / share.sum(axis=1, keepdims=True)
        probability[:, self.constant_] = probability_of(parts[:, self.constant_])
        return LabelSetsFound(sets[weight.argmax(axis=1)] == 1, probability)

    def _given_sets(self, X: Any, parts: Matrix, sets: Matrix, j: int) -> Matrix:
        """Log-odds of label j for every document and every set, ``(n_documents, n_sets)``."""
        one = self.conditionals_[j]
        if one.label_weights is not None:
            return parts[:, [j]] + sets[:, one.shown] @ one.label_weights
        rows = np.repeat(np.arange(X.shape[0]), len(sets))
        others = np.tile(sets, (X.shape[0], 1))
        found = one.log_odds(X[rows], others, parts[rows, j])
        return found.reshape(X.shape[0], len(sets))

    def _search(self, X: Any) -> LabelSetsFound:
        """Keep the best beginnings of label sets; the sets at the end share all probability."""
        n_documents, n_labels, width = X.shape[0], len(self.conditionals_), self.beam_width
        parts = document_parts(self.conditionals_, X)
        sets = np.zeros((n_documents, 1, n_labels))
        weight = np.zeros((n_documents, 1))
        for j in self.order_:
            if self.constant_[j]:
                sets[:, :, j] = self.conditionals_[j].prior > 0
                continue
            log_odds = self._given_each(X, parts, sets, j)
            grown = np.concatenate(
                [weight + log_expit(-log_odds), weight + log_expit(log_odds)], axis=1
            )
            n_sets = sets.shape[1]
            kept = np.argsort(-grown, axis=1, kind="stable")[:, :width]
            sets = np.take_along_axis(sets, (kept % n_sets)[:, :, None], axis=1)
            sets[:, :, j] = kept >= n_sets
            weight = np.take_along_axis(grown, kept, axis=1)
        share = np.exp(weight - weight.max(axis=1, keepdims=True))
        probability = np.einsum("ns,nsl->nl", share / share.sum(axis=1, keepdims=True), sets)
        probability[:, self.constant_] = probability_of(parts[:, self.constant_])
        return LabelSetsFound(sets[:, 0] == 1, probability)  # the best comes first

    def _draw(self, X: Any) -> LabelSetsFound:
        """Draw label sets; a label's probability is the mean of what it was drawn with."""
        random = np.random.RandomState(self.seed_)
        n_documents, n_labels = X.shape[0], len(self.conditionals_)
        parts = document_parts(self.conditionals_, X)
        sets = np.zeros((n_documents, self.n_samples, n_labels))
        weight = np.zeros((n_documents, self.n_samples))
        probability = np.zeros((n_documents, n_labels))
        # the same numbers for every document, so that its answer depends on no other
        numbers = random.random_sample((n_labels, self.n_samples))
        for j in self.order_:
            if self.constant_[j]:
                sets[:, :, j] = self.conditionals_[j].prior > 0
                probability[:, j] = probability_of(parts[:, j])
                continue
            log_odds = self._given_each(X, parts, sets, j)
            chance = probability_of(log_odds)
            probability[:, j] = chance.mean(axis=1)
            sets[:, :, j] = numbers[j] < chance
            weight += log_expit(np.where(sets[:, :, j] == 1, log_odds, -log_odds))
        best = np.take_along_axis(sets, weight.argmax(axis=1)[:, None, None], axis=1)[:, 0]
        return LabelSetsFound(best == 1, probability)

    def _given_each(self, X: Any, parts: Matrix, sets: Matrix, j: int) -> Matrix:
        """Log-odds of label j given each document's own sets, ``(n_documents, n_sets)``."""
        one = self.conditionals_[j]
        if one.label_weights is not None:
            return parts[:, [j]] + sets[:, :, one.shown] @ one.label_weights
        n_documents, n_sets, n_labels = sets.shape
        rows: Columns = np.repeat(np.arange(n_documents), n_sets)
        found = one.log_odds(X[rows], sets.reshape(-1, n_labels), parts[rows, j])
        return found.reshape(n_documents, n_sets)

    def _check_parameters(self) -> None:
        if self.inference not in ("auto", "exact", "beam", "sample"):
            raise ValueError(
                f"inference must be 'auto', 'exact', 'beam' or 'sample', got {self.inference!r}."
            )
        if self.decide not in ("label_set", "labels"):
            raise ValueError(f"decide must be 'label_set' or 'labels', got {self.decide!r}.")
        for name in ("exact_labels", "beam_width", "n_samples"):
            value = getattr(self, name)
            if not (isinstance(value, int | np.integer) and value >= 1):
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
