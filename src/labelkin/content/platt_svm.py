"""Content evidence by linear SVMs, with a sigmoid from decision values to log-odds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

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
from labelkin.label_matrix import LabelMatrix, best_cells
from labelkin.label_matrix.cells import best_of, check_top
from labelkin.odds import constant_labels, count_log_odds
from labelkin.scaling.blocks import Local
from labelkin.scaling.distributed import engine_in_use
from labelkin.scaling.progress import track
from labelkin.scikit_learn import check_metadata, read_sample_weight
from labelkin.solvers.grouped_logistic import fit_sigmoid
from labelkin.solvers.linear_svm import solve_svms
from labelkin.validation import check_memory

#: Number of re-centring rounds, after which a free bias is within LibSVM's tolerance.
_RECENTRE = 2
#: Number of labels solved at a time in this process, and in a task of a cluster.
_LABELS_AT_A_TIME, _LABELS_OF_A_TASK = 256, 32
#: Maximum number of passes over the documents; fewer for dense long rows, for which C is far too
#: large, so that more passes rarely converge.
_SWEEPS, _SWEEPS_OF_LONG_ROWS = 1000, 300
#: Mean squared length above which rows are long.
_LONG = 4.0


class PlattSVM(LogOddsClassifier):
    """Linear SVMs with Platt's probabilities, as in LibSVM, for all labels.

    A sigmoid is fitted to out-of-fold decision values (``cv`` folds, not stratified) and converts
    those of an SVM fitted on all documents to log-odds. With numba (extra ``fast``) the SVMs of the
    folds and the final one are solved together; without it by scikit-learn.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of a margin violation (hinge loss).
    cv : int, splitter or iterable of splits, default 5
        Number of random folds, or splits as in scikit-learn. ``groups`` of ``fit`` is passed to a
        splitter for groups.
    free_bias : bool, default False
        Whether the bias is not penalised, as in LibSVM, which takes half as much time again.
        Otherwise the bias is one more weight, as in LIBLINEAR.
    tol : float, default 0.1
        Largest violation of the optimality conditions when the solver stops.
    top : int, optional
        Number of candidates per document: log-odds, probabilities and decisions are sparse, with
        the ``top`` best labels of each document, and memory does not grow with documents × labels.
        Default: all labels.
    prune : float, default 0.0
        Fitted weights of a smaller size are set to 0 and the others stored in a sparse matrix: with
        0.1 a sixth of the weights of texts remain. 0 keeps all, in a dense matrix.
    n_jobs : int, optional
        Number of threads over labels (with numba).
    random_state : int or RandomState, optional
        Seed of the folds and of the order of documents.

    Attributes
    ----------
    coef_ : array or CSR array of shape (n_labels, n_features)
        Weights of the log-odds: those of the SVM × the slope of the sigmoid; float32 if pruned.
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

    # A weight is not a repetition (copies of a document may be in one fold), as a named argument of
    # ``fit`` would promise to scikit-learn's checks; metadata routing must know it.
    __metadata_request__fit = {  # noqa: RUF012 (read by scikit-learn)
        "sample_weight": None,
        "groups": None,
    }

    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Fit the SVMs and their sigmoids.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Such as tf-idf with rows of length 1.
        y : any kind of labels
            Labels of the training documents.
        **metadata
            ``sample_weight``, ``(n_documents,)``: factors of ``C`` and of the document's weight in
            the sigmoid. ``groups``, ``(n_documents,)``: for a splitter as ``cv``.

        Returns
        -------
        self
        """
        X, labels, more = self._read_metadata(X, y, metadata)
        self._learn(X, labels, **more)
        return self

    def fit_out_of_fold(self, X: Any, y: Any, **metadata: Any) -> Any:
        """Fit, and return the out-of-fold log-odds on which the sigmoid was fitted.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Training documents, as in :meth:`fit`.
        y : any kind of labels
            Labels of the training documents.
        **metadata
            As in :meth:`fit`.

        Returns
        -------
        array or CSR array of shape (n_documents, n_labels)
        """
        X, labels, more = self._read_metadata(X, y, metadata)
        if self.top is not None:
            return self._best_out_of_fold(X, labels, self.top, more)
        out_of_fold = np.empty(labels.shape)

        def keep(log_odds: NDArray[np.float64], columns: NDArray[Any]) -> None:
            out_of_fold[:, columns] = log_odds

        self._learn(X, labels, out_of_fold=keep, **more)
        return out_of_fold

    def _best_out_of_fold(self, X: Any, labels: LabelMatrix, top: int, more: Any) -> Any:
        """Fit, and return the best out-of-fold log-odds; memory holds them and some labels."""
        best, seen = sparse.csr_array((labels.shape[0], 0)), []

        def keep(log_odds: NDArray[np.float64], columns: NDArray[Any]) -> None:
            nonlocal best
            block = best_cells(log_odds.__getitem__, len(log_odds), len(columns), top)
            best = best_of(sparse.csr_array(sparse.hstack([best, block], format="csr")), top)
            seen.append(columns)

        self._learn(X, labels, out_of_fold=keep, **more)
        result = best[:, np.argsort(np.concatenate(seen))]
        result.sort_indices()
        return result

    def _read_metadata(
        self, X: Any, y: Any, metadata: dict[str, Any]
    ) -> tuple[Any, LabelMatrix, dict[str, Any]]:
        self._check_parameters(metadata)
        X, labels = self._read(X, y)
        weight = read_sample_weight(X, metadata.get("sample_weight"))
        return X, labels, {"weight": weight, "groups": metadata.get("groups")}

    def term_contributions(self, X: Any, columns: ArrayLike) -> ContributionsOfDocuments:
        """Return the contributions of terms to the log-odds of some labels, for a few documents.

        ``[i][k]`` is document i and label ``columns[k]``. The contribution of a term is its value ×
        ``coef_``, the constant is ``intercept_``.

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
        asked = check_columns(columns, len(self.intercept_))

        def weigh(terms: NDArray[np.int64]) -> NDArray[np.float64]:
            coef: Any = self.coef_[asked][:, terms]
            return np.asarray(coef.toarray() if sparse.issparse(coef) else coef, dtype=np.float64).T

        return linear_contributions(documents, weigh, self.intercept_[asked])

    def _learn(
        self,
        X: Any,
        labels: LabelMatrix,
        weight: NDArray[np.float64] | None = None,
        out_of_fold: Callable[[NDArray[np.float64], NDArray[Any]], None] | None = None,
        groups: Any = None,
    ) -> None:
        """Fit blocks of labels; call ``out_of_fold`` with out-of-fold log-odds and columns."""
        X = sparse.csr_array(X)
        is_dense = 2 * np.count_nonzero(X.data) > X.shape[0] * X.shape[1]
        with np.errstate(over="ignore"):  # the square of huge numbers is infinite
            length = float(np.sum(X.data * X.data)) / max(X.shape[0], 1)
        sweeps = _SWEEPS_OF_LONG_ROWS if is_dense and length > _LONG else _SWEEPS
        if not self.prune:
            check_memory(
                8.0 * labels.shape[1] * X.shape[1],
                f"Weights of {labels.shape[1]:,} labels × {X.shape[1]:,} features",
                "Use PlattSVM(prune=0.1), which keeps large weights, NearestNeighbours(top=100), "
                "or labelkin_omikuji.OmikujiContent(top=100).",
            )
        positive, known = labels.counts(weight)
        self.intercept_ = count_log_odds(positive, known)
        # In the order of features: otherwise the product with sparse documents copies it.
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
        n_unsettled = 0
        done = engine.map(_solve_labels, blocks, **shared)
        for block, solved in zip(track(blocks, "labels by the content"), done, strict=True):
            weights, self.intercept_[block], left_out, converged = solved
            if dense is None:
                pruned.append(weights)
            else:
                dense[block] = weights
            if out_of_fold is not None:
                out_of_fold(left_out, block)
            n_unsettled += int((~converged).sum())
        # Constant labels use the first row, which is empty.
        row = np.zeros(labels.shape[1], dtype=np.intp)
        row[varying] = 1 + np.arange(len(varying))
        self.coef_ = sparse.vstack(pruned, format="csr")[row] if dense is None else dense
        if n_unsettled:
            warnings.warn(
                f"The SVMs of {n_unsettled} of {len(varying)} labels did not reach tol="
                f"{self.tol!r} with rows of mean length {np.sqrt(length):.1f} and C={self.C:g}. "
                "Lower C, raise tol, or scale rows to length 1 (sklearn.preprocessing.Normalizer).",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _draw_folds(
        self, X: Any, labels: LabelMatrix, groups: Any
    ) -> tuple[NDArray[np.int64], int]:
        """Return the fold of each document, random or from ``cv``, and a seed."""
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
        check_metadata(self, metadata, "sample_weight", "groups")


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
) -> tuple[Any, NDArray[np.float64], Any, NDArray[np.bool_]]:
    """Solve the SVMs of some labels, and fit their sigmoids, with the parameters of ``svm``.

    Returns weights, dense or pruned, and intercepts of the log-odds; out-of-fold log-odds if
    ``left_out``; and which labels have converged.
    """
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
    return (
        weights,
        sigmoid.log_odds(svms.bias),
        sigmoid.log_odds(svms.out_of_fold) if left_out else None,
        svms.converged,
    )
