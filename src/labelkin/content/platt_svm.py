"""Content evidence by a linear SVM whose decision values a sigmoid turns into log-odds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelkin.content.term_contributions import (
    ContributionsOfDocuments,
    check_columns,
    linear_contributions,
)
from labelkin.estimator import LogOddsClassifier, read_splits
from labelkin.evaluation.splits import CrossValidation
from labelkin.label_matrix import BestCells, LabelMatrix, best_cells
from labelkin.label_matrix.cells import check_top
from labelkin.odds import constant_labels, count_log_odds
from labelkin.scaling.blocks import Local
from labelkin.scaling.distributed import engine_in_use
from labelkin.scaling.progress import track
from labelkin.scikit_learn import read_sample_weight
from labelkin.solvers.grouped_logistic import fit_sigmoid
from labelkin.solvers.linear_svm import solve_svms
from labelkin.validation import check_memory

#: Rounds of re-centring after which the bias is within LibSVM's own tolerance of unpenalised.
_RECENTRE = 2
#: The left-out decision values of so many labels are held at a time.
_LABELS_AT_A_TIME = 256
#: Passes over the documents at most; fewer over dense long rows, which hardly ever settle and gain
#: nothing by it, for C is far too large for them.
_SWEEPS, _SWEEPS_OF_LONG_ROWS = 1000, 300
#: Mean squared length from which rows are long.
_LONG = 4.0
#: A task of a cluster solves so many labels.
_LABELS_OF_A_TASK = 32


class PlattSVM(LogOddsClassifier):
    """Linear SVM with Platt's probabilities, as LibSVM makes them, for all labels.

    The decision values of documents left out of training (``cv`` folds, not stratified) are pooled,
    and a sigmoid fitted to the pool gives log-odds; the final SVM sees all documents. With numba
    (extra ``fast``) the folds' SVMs and the final one are solved in lockstep; without it by
    scikit-learn.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of a margin violation (hinge loss).
    cv : int, splitter or iterable of splits, default 5
        Number of random folds, or splits, as scikit-learn's ``cv``. A splitter for groups takes
        ``groups`` of ``fit``.
    free_bias : bool, default False
        Leave the bias unpenalised, as LibSVM does; costs about half as much again. Otherwise the
        bias is one more weight, as in LIBLINEAR.
    tol : float, default 0.1
        Largest violation of the optimality conditions when the solver stops.
    top : int, optional
        Candidates per document: log-odds, probabilities and decisions are those of the ``top`` best
        labels of a document, sparse, and memory does not grow with documents × labels. ``None``:
        all labels.
    prune : float, default 0.0
        Weights below it in size are left out once they are fitted, and what is left is kept
        sparse: 0.1 leaves a sixth of the weights of texts. 0 keeps all, dense.
    n_jobs : int, optional
        Threads over labels (with numba).
    random_state : int or RandomState, optional
        Of the folds and the order in which documents are visited.

    Attributes
    ----------
    coef_ : array or CSR array of shape (n_labels, n_features)
        Weights of the log-odds: the SVM's, times the sigmoid's slope; float32 where pruned.
    intercept_ : array of shape (n_labels,)

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> X = TfidfVectorizer().fit_transform(["wheat harvest", "gold mine", "wheat price"] * 5)
    >>> svm = PlattSVM(random_state=0).fit(X, [["grain"], ["gold"], ["grain"]] * 5)
    >>> svm.predict_labels(X[:2])
    [('grain',), ('gold',)]
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        cv: CrossValidation = 5,
        free_bias: bool = False,
        tol: float = 0.1,
        top: int | None = None,
        prune: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.cv = cv
        self.free_bias = free_bias
        self.tol = tol
        self.top = top
        self.prune = prune
        self.n_jobs = n_jobs
        self.random_state = random_state

    # Weights are not repetition here (copies of a document can meet in one fold), so they are no
    # named argument of ``fit``, which would promise that; metadata routing knows them all the same.
    __metadata_request__fit = {  # noqa: RUF012 (read by scikit-learn)
        "sample_weight": None,
        "groups": None,
    }

    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Fit the SVMs and their sigmoids.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Tf-idf with rows of length 1 works well.
        y : any kind of labels
        **metadata
            ``sample_weight``, ``(n_documents,)``: multiplies ``C`` and the document's part in the
            sigmoid. ``groups``, ``(n_documents,)``: for a splitter given as ``cv``.

        Returns
        -------
        self
        """
        X, labels, more = self._read_metadata(X, y, metadata)
        self._learn(X, labels, **more)
        return self

    def fit_out_of_fold(self, X: Any, y: Any, **metadata: Any) -> Any:
        """Fit, and return the log-odds of the left-out documents, which made the sigmoid."""
        X, labels, more = self._read_metadata(X, y, metadata)
        if self.top is not None:
            best = BestCells(*labels.shape, self.top)
            self._learn(X, labels, out_of_fold=best.add, **more)
            return best.matrix()
        out_of_fold = np.empty(labels.shape)

        def keep(log_odds: NDArray[np.float64], columns: NDArray[Any]) -> None:
            out_of_fold[:, columns] = log_odds

        self._learn(X, labels, out_of_fold=keep, **more)
        return out_of_fold

    def _read_metadata(
        self, X: Any, y: Any, metadata: dict[str, Any]
    ) -> tuple[Any, LabelMatrix, dict[str, Any]]:
        self._check_parameters(metadata)
        X, labels = self._read(X, y)
        weight = read_sample_weight(X, metadata.get("sample_weight"))
        return X, labels, {"weight": weight, "groups": metadata.get("groups")}

    def term_contributions(self, X: Any, columns: ArrayLike) -> ContributionsOfDocuments:
        """Return what each term adds to the log-odds of some label columns, for a few documents.

        ``[i][k]`` is document i and label ``columns[k]``; a term's contribution is its value ×
        ``coef_``, the constant is ``intercept_``.
        """
        check_is_fitted(self)
        documents = self._read_documents(X, reset=False)
        asked = check_columns(columns, len(self.intercept_))
        return linear_contributions(
            documents, lambda terms: self._weights(asked, terms).T, self.intercept_[asked]
        )

    def _weights(self, labels: NDArray[Any], terms: NDArray[Any]) -> NDArray[np.float64]:
        if not sparse.issparse(self.coef_):
            return self.coef_[np.ix_(labels, terms)]
        return np.asarray(self.coef_[labels][:, terms].toarray(), dtype=np.float64)

    def _learn(
        self,
        X: Any,
        labels: LabelMatrix,
        weight: NDArray[np.float64] | None = None,
        out_of_fold: Callable[[NDArray[np.float64], NDArray[Any]], None] | None = None,
        groups: Any = None,
    ) -> None:
        """Fit, a block of labels at a time; hand over left-out log-odds and their columns."""
        X = sparse.csr_array(X)
        is_dense = 2 * np.count_nonzero(X.data) > X.shape[0] * X.shape[1]
        with np.errstate(over="ignore"):  # of huge numbers it is infinite
            length = float(np.sum(X.data * X.data)) / max(X.shape[0], 1)
        sweeps = _SWEEPS_OF_LONG_ROWS if is_dense and length > _LONG else _SWEEPS
        if not self.prune:
            check_memory(
                8.0 * labels.shape[1] * X.shape[1],
                f"Weights of {labels.shape[1]:,} labels × {X.shape[1]:,} features",
                "Use PlattSVM(prune=0.1), which keeps the large ones, NearestNeighbours(top=100), "
                "or labelkin_omikuji.OmikujiContent(top=100).",
            )
        positive, known = labels.counts(weight)
        self.intercept_ = count_log_odds(positive, known)
        # Laid out feature by feature: the product with sparse documents would copy it otherwise.
        dense = None if self.prune else np.zeros((X.shape[1], labels.shape[1])).T
        pruned: list[Any] = [sparse.csr_array((1, X.shape[1]), dtype=np.float32)]
        varying = np.flatnonzero(~constant_labels(positive, known))
        constant = np.setdiff1d(np.arange(labels.shape[1]), varying)
        if out_of_fold is not None and len(constant):
            out_of_fold(np.tile(self.intercept_[constant], (X.shape[0], 1)), constant)
        folds, seed = self._draw_folds(X, labels, groups)
        engine = engine_in_use()
        step = _LABELS_AT_A_TIME if isinstance(engine, Local) else _LABELS_OF_A_TASK
        blocks = [varying[start : start + step] for start in range(0, len(varying), step)]
        shared = {"svm": clone(self), "X": X, "labels": labels, "weight": weight}
        shared |= {"folds": folds, "seed": seed, "left_out": out_of_fold is not None}
        shared |= {"sweeps": sweeps}
        settled = []
        done = engine.map(_solve_labels, blocks, **shared)
        for block, solved in zip(track(blocks, "labels by the content"), done, strict=True):
            if dense is None:
                pruned.append(solved.weights)
            else:
                dense[block] = solved.weights
            self.intercept_[block] = solved.intercept
            if out_of_fold is not None:
                out_of_fold(solved.out_of_fold, block)
            settled.append(solved.converged)
        # A label without weights has those of the first row, which is empty.
        row = np.zeros(labels.shape[1], dtype=np.intp)
        row[varying] = 1 + np.arange(len(varying))
        self.coef_ = sparse.vstack(pruned, format="csr")[row] if dense is None else dense
        if settled:
            self._warn_if_unsettled(np.concatenate(settled), length)

    def _draw_folds(
        self, X: Any, labels: LabelMatrix, groups: Any
    ) -> tuple[NDArray[np.int64], int]:
        """Return the fold of each document, random or as ``cv`` has it; also draw a seed."""
        random, n_documents = check_random_state(self.random_state), labels.shape[0]
        fold = np.empty(n_documents, dtype=np.int64)
        if isinstance(self.cv, int | np.integer) and groups is None:
            n_folds = min(self.cv, n_documents)
            fold[random.permutation(n_documents)] = np.arange(n_documents) * n_folds // n_documents
            return fold, int(random.randint(2**31 - 1))
        for k, (train, test) in enumerate(read_splits(self.cv, X, labels, groups)):
            fold[test] = k
            if len(train) + len(test) < n_documents:
                raise ValueError(
                    "PlattSVM trains on all documents outside the test part, got a training part "
                    f"of {len(train)} and a test part of {len(test)} of {n_documents} documents. "
                    "Use RescoredClassifier(PlattSVM(), cv=...) for such splits."
                )
        return fold, int(random.randint(2**31 - 1))

    def _warn_if_unsettled(self, settled: NDArray[np.bool_], length: float) -> None:
        """Warn where the solver has stopped early; ``length`` is the mean squared one of rows."""
        if settled.all():
            return
        hint = "Raise tol, or lower C."
        if length > _LONG:
            hint = (
                f"Rows are {np.sqrt(length):.1f} long on average, for which C={self.C:g} is large: "
                f"lower it to about {self.C / length:.2g}, or make rows as long as 1 "
                "(sklearn.preprocessing.Normalizer, after a StandardScaler where features have "
                "different scales)."
            )
        warnings.warn(
            f"The SVMs of {(~settled).sum()} of {len(settled)} labels did not reach "
            f"tol={self.tol!r}. {hint}",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _log_odds(self, X: Any) -> Any:
        if self.top is not None:
            shape = X.shape[0], len(self.intercept_)
            return best_cells(lambda rows: self._all_log_odds(X[rows]), *shape, self.top)
        return self._all_log_odds(X)

    def _all_log_odds(self, X: Any) -> NDArray[np.float64]:
        product = X @ self.coef_.T
        dense = product.toarray() if sparse.issparse(product) else product
        return np.asarray(dense) + self.intercept_

    def _check_parameters(self, metadata: dict[str, Any]) -> None:
        if not self.C > 0:
            raise ValueError(f"C must be positive, got {self.C!r}.")
        if not self.tol > 0:
            raise ValueError(f"tol must be positive, got {self.tol!r}. Use `tol=0.1`.")
        if isinstance(self.cv, int | np.integer) and self.cv < 2:
            raise ValueError(f"cv must be at least 2 folds, got {self.cv!r}. Use `cv=5`.")
        if self.top is not None:
            check_top(self.top)
        if not 0 <= self.prune < np.inf:
            raise ValueError(f"prune must be 0 (keep all weights) or above, got {self.prune!r}.")
        strange = sorted(set(metadata) - {"sample_weight", "groups"})
        if strange:
            raise TypeError(
                f"PlattSVM.fit takes sample_weight and groups as metadata, got {strange}."
            )


class _Solved(NamedTuple):
    """Weights, dense or pruned, and intercepts of the log-odds of a block of labels.

    ``out_of_fold`` are the log-odds of left-out documents, ``None`` if they are not needed.
    """

    weights: Any
    intercept: NDArray[np.float64]
    out_of_fold: Any
    converged: NDArray[np.bool_]


def _solve_labels(
    columns: NDArray[Any],
    svm: PlattSVM,
    X: sparse.csr_array,
    labels: LabelMatrix,
    weight: NDArray[np.float64] | None,
    folds: NDArray[np.int64],
    seed: int,
    left_out: bool,
    sweeps: int,
) -> _Solved:
    """Solve the SVMs of some labels, and fit their sigmoids, by the parameters of ``svm``."""
    some = labels.columns(columns)
    svms = solve_svms(
        X,
        some,
        folds,
        C=svm.C,
        tol=svm.tol,
        max_sweeps=sweeps,
        recentre=_RECENTRE if svm.free_bias else 0,
        seed=seed,
        cost=weight,
        n_jobs=svm.n_jobs,
    )
    sigmoid = fit_sigmoid(svms.out_of_fold, some, weight)
    weights: Any = sigmoid.slope[:, None] * svms.weights
    if svm.prune:
        large = np.abs(weights) >= svm.prune
        weights = sparse.csr_array(np.where(large, weights, 0.0).astype(np.float32))
    return _Solved(
        weights,
        sigmoid.log_odds(svms.bias),
        sigmoid.log_odds(svms.out_of_fold) if left_out else None,
        svms.converged,
    )
