"""Which documents of a pool to label next: the value of each, and a batch of them.

A document is worth what its label set would tell
(:mod:`labelkin.curation.next_documents.information`). Who labels the documents that are worth most
has a batch of odd ones, and of similar ones. What is learned from a document is learned about those
like it: a batch S should represent what is uncertain in the pool,

    Σ_i value_i · max over s in S of the cosine of documents i and s,

which is the value of all documents, each as far as the batch has one like it. Chosen one after the
other, each by what it adds to this sum, documents come within 1 − 1/e of the best batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from labelkin.curation.next_documents.information import LabelBits, label_bits
from labelkin.label_matrix import Cells
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.odds import probability_of
from labelkin.prediction import FittedModel, fitted_model
from labelkin.records import short_repr
from labelkin.scaling.blocks import Engine, row_blocks
from labelkin.scaling.distributed import using
from labelkin.solvers.logistic import LinearTerm

Matrix = NDArray[np.float64]

#: Documents × labels looked at together: 2²² numbers are 32 MB.
_CELLS = 2**22
#: Labels that are shown of a document that is chosen, and the bits below which none is.
_SHOWN, _LEAST = 5, 0.005
#: Of a larger pool, so many documents of highest value are to be represented, by so many of those
#: that represent most, or by so many times the batch.
_REPRESENTED, _CANDIDATES, _TIMES_BATCH = 4096, 2048, 4
#: The share of the highest gain below which two gains are the same but for rounding.
_SAME = 1e-9


@short_repr
class OpenLabel(NamedTuple):
    """A label of a document that nobody knows yet, and what it would tell.

    Attributes
    ----------
    label
        Its name.
    probability
        Its posterior.
    bits
        What it would tell, beyond what ``after`` says of it.
    after
        The label of the document that says most about it; ``None``: it stands for itself.

    Examples
    --------
    >>> import numpy as np
    >>> from labelkin import NaiveBayes, next_documents
    >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> [one] = next_documents(model, np.array([[9, 0], [1, 1], [0, 9]]), n=1)
    >>> label = one.labels[0]
    >>> label.label, round(label.probability, 2), round(label.bits, 2), label.after
    ('sea', 0.73, 0.84, None)
    """

    label: Any
    probability: float
    bits: float
    after: Any = None


@short_repr
class NextDocument(NamedTuple):
    """A document that is worth labelling.

    Attributes
    ----------
    document
        Its place in the pool, from 0.
    value
        The entropy of its label set, in bits.
    gain
        The value of the documents that it represents better than those chosen before it.
    similarity
        The cosine to the most similar document chosen before it.
    labels
        Its labels that would tell most, most first.

    Examples
    --------
    >>> import numpy as np
    >>> from labelkin import NaiveBayes, next_documents
    >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> [one] = next_documents(model, np.array([[9, 0], [1, 1], [0, 9]]), n=1)
    >>> one.document, round(one.value, 2), one.similarity
    (1, 1.68, 0.0)
    >>> [label.label for label in one.labels]
    ['sea', 'town']
    """

    document: int
    value: float
    gain: float
    similarity: float
    labels: tuple[OpenLabel, ...]


def next_documents(
    model: Any,
    pool: Any,
    n: int = 10,
    *,
    known: Any = None,
    vectors: Any = None,
    engine: Engine | None = None,
) -> list[NextDocument]:
    """Return the documents that are worth labelling next, in the order they are chosen.

    Parameters
    ----------
    model : classifier or pipeline
        One of labelkin's classifiers, or a pipeline that ends in one, fitted on label sets.
    pool : documents
        Without labels yet, as the model takes them: a matrix, or a list of texts.
    n : int, default 10
        How many; all of the pool if it has fewer.
    known : known labels, optional
        Answers that are there already, per document of the pool
        (:func:`labelkin.label_matrix.read_known`); what is known tells nothing more.
    vectors : array or sparse matrix of shape (n_documents, n_features), optional
        By which documents are similar; ``None``: what the model's classifier sees of them.
    engine : Engine, optional
        Where blocks of documents are looked at; ``None``: here, or on the engine in use
        (:func:`labelkin.scaling.distributed.using`).

    Returns
    -------
    list of NextDocument

    Examples
    --------
    >>> from labelkin import NaiveBayes
    >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> [one.document for one in next_documents(model, np.array([[9, 0], [1, 1], [0, 9]]), n=1)]
    [1]
    """
    is_number = isinstance(n, int | np.integer) and not isinstance(n, bool)
    if not is_number or n < 1:
        raise ValueError(f"n must be a whole number of at least 1, got {n!r}.")
    fitted = model if isinstance(model, FittedModel) else fitted_model(model)
    pool = sparse.csr_array(pool) if sparse.issparse(pool) else pool
    n_documents = pool.shape[0] if hasattr(pool, "shape") else len(pool)
    values = document_values(fitted, pool, known=known, engine=engine)
    if vectors is not None and vectors.shape[0] != n_documents:
        raise ValueError(
            f"vectors must have a row for each of the {n_documents:,} documents of the pool, "
            f"got {vectors.shape[0]:,}."
        )
    chosen = choose_representative(values, n, _vectors_of(fitted, pool, vectors))
    if not len(chosen.documents):
        return []
    some_known = None if known is None else _rows(_per_document(known), chosen.documents)
    why = _Seen.of(fitted, _rows(pool, chosen.documents), some_known)
    return [
        NextDocument(int(i), float(values[i]), float(gain), float(alike), labels)
        for i, gain, alike, labels in zip(*chosen, why.reasons(fitted), strict=True)
    ]


def document_values(
    model: Any,
    pool: Any,
    *,
    known: Any = None,
    engine: Engine | None = None,
) -> Matrix:
    """Return the entropy of the label set of every document of a pool, in bits.

    Parameters
    ----------
    model, pool, known, engine
        As :func:`next_documents` takes them.

    Returns
    -------
    array of shape (n_documents,)

    Examples
    --------
    >>> from labelkin import NaiveBayes
    >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> document_values(model, np.array([[9, 0], [1, 1]])).round(2).tolist()
    [0.01, 1.68]
    """
    fitted = model if isinstance(model, FittedModel) else fitted_model(model)
    size = max(1, _CELLS // max(len(fitted.labels), 1))
    given = (pool,) if known is None else (pool, _per_document(known))
    with using(engine) as worker:
        parts = worker.map(_values_of, row_blocks(*given, size=size), model=fitted)
        return np.concatenate([np.zeros(0), *parts])


def _values_of(block: Any, model: FittedModel) -> Matrix:
    documents, known = block if isinstance(block, tuple) else (block, None)
    return _Seen.of(model, documents, known).bits().total


class _Seen(NamedTuple):
    """What a model sees in some documents: dense, or CSR arrays of candidates.

    ``term`` is what known labels add to others; ``None`` if labels are independent or their
    evidence is not linear.
    """

    probabilities: Any
    term: LinearTerm | None = None

    @classmethod
    def of(cls, model: FittedModel, documents: Any, known: Any = None) -> _Seen:
        classifier = model.classifier
        if not isinstance(classifier, LabelDependenceClassifier):
            if known is not None:
                raise ValueError(
                    "Known labels must be of a model with label evidence, and a "
                    f"{type(classifier).__name__} has none. Use LabelDependenceClassifier."
                )
            scores = model.scores(documents)
            if sparse.issparse(scores):
                return cls(Cells.of(scores).matrix(probability_of(scores.data)))
            return cls(probability_of(scores))
        content = classifier.content_.log_odds(model.vectors(documents))
        posterior = classifier.rescorer_.rescore(content, known)
        term = classifier.rescorer_.combination_.known.linear
        return cls(classifier.probabilities(posterior), term)

    def bits(self) -> LabelBits:
        return label_bits(self.probabilities, self.term)

    def reasons(self, model: FittedModel) -> list[tuple[OpenLabel, ...]]:
        """Return which labels make each document worthwhile."""
        bits, names = self.bits(), model.labels.tolist()
        return [
            tuple(
                OpenLabel(
                    names[j],
                    float(self.probabilities[i, j]),
                    float(bits.bits[i, place]),
                    None if (k := bits.reached[i, place]) < 0 else names[k],
                )
                for place, j in enumerate(bits.labels[i, :_SHOWN].tolist())
                if j >= 0 and bits.bits[i, place] >= _LEAST
            )
            for i in range(len(bits.total))
        ]


class Chosen(NamedTuple):
    """A batch: which documents, what each adds, and its cosine to the most similar one before."""

    documents: NDArray[np.intp]
    gains: Matrix
    similarity: Matrix


_VectorsOf = Callable[[NDArray[np.intp]], Any]


def choose_representative(values: Matrix, n: int, vectors_of: _VectorsOf) -> Chosen:
    """Choose the documents that represent the value of all of them, one after the other.

    A larger pool is represented by its documents of highest value, and candidates are those that
    represent most of it by themselves.
    """
    n_candidates = max(_CANDIDATES, _TIMES_BATCH * n)
    order = np.argsort(-values, kind="stable")[: max(_REPRESENTED, n_candidates)]
    value, unit = values[order], _UnitRows(vectors_of(order))
    alone = unit.weighted_sums(value)
    places = np.sort(np.argsort(-alone, kind="stable")[:n_candidates])
    cosines = unit.cosines(places)  # candidates × documents that are represented
    covered = np.zeros(len(order))
    gains, is_left = cosines @ value, np.ones(len(places), dtype=np.bool_)
    chosen, added, alike = [], [], []
    for _ in range(min(n, len(places))):
        best = gains[is_left].max()
        ties = np.flatnonzero(is_left & (gains >= best - _SAME * max(gains.max(), 1e-300)))
        new = int(ties[covered[places[ties]].argmin()])
        chosen.append(new)
        added.append(max(float(gains[new]), 0.0))
        alike.append(covered[places[new]])
        is_left[new] = False
        better = np.flatnonzero(cosines[new] > covered)
        after, before = cosines[new, better], covered[better]
        there = cosines[:, better]
        lost = np.maximum(there - before, 0.0) - np.maximum(there - after, 0.0)
        gains = gains - lost @ value[better]
        covered[better] = after
    return Chosen(order[places[chosen]], np.array(added), np.array(alike))


class _UnitRows:
    """Documents as rows of length 1, dense or sparse; empty ones differ in nothing."""

    def __init__(self, vectors: Any) -> None:
        self._rows = normalize(vectors) if vectors.shape[0] else vectors
        squares = self._rows.multiply(self._rows) if sparse.issparse(vectors) else self._rows**2
        self._is_empty = np.asarray(squares.sum(axis=1)).ravel() == 0

    def cosines(self, some: NDArray[np.intp]) -> Matrix:
        """Return the cosines of some documents to all, ``(n_some, n_documents)``, at least 0."""
        product = self._rows[some] @ self._rows.T
        found = product.toarray() if sparse.issparse(product) else np.asarray(product)
        found[np.ix_(self._is_empty[some], self._is_empty)] = 1.0
        return np.clip(found, 0.0, 1.0)

    def weighted_sums(self, weight: Matrix) -> Matrix:
        """Return the sum of each document's cosines to all, times a weight: no matrix of them."""
        sums = np.asarray(self._rows @ (self._rows.T @ weight)).ravel()
        return sums + np.where(self._is_empty, weight @ self._is_empty, 0.0)


def _vectors_of(model: FittedModel, pool: Any, vectors: Any) -> Callable[[NDArray[np.intp]], Any]:
    def found(rows: NDArray[np.intp]) -> Any:
        some = model.vectors(_rows(pool, rows)) if vectors is None else _rows(vectors, rows)
        if sparse.issparse(some):
            return sparse.csr_array(some, dtype=np.float64)
        try:
            return np.asarray(some, dtype=np.float64).reshape(len(rows), -1)
        except (TypeError, ValueError):
            raise ValueError(
                "Documents must be vectors to be similar, and the model takes "
                f"{type(some[0]).__name__}. Give vectors=, a row for each document."
            ) from None

    return found


def _per_document(known: Any) -> Any:
    return [known] if isinstance(known, Mapping) else known


def _rows(matrix: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a matrix, a data frame or a sequence, in their order."""
    if sparse.issparse(matrix):
        return sparse.csr_array(matrix)[rows]
    if hasattr(matrix, "iloc"):
        return matrix.iloc[rows]
    return matrix[rows] if hasattr(matrix, "shape") else [matrix[i] for i in rows]
