"""Active learning: which documents of a pool to label next.

The value of a document is its uncertainty: the sum of the entropies of its labels. The documents
with the highest values are often outliers, and often similar to each other. A model learns from a
document about similar documents, so that a batch S should represent the uncertainty of the pool:

    Σ_i value_i · max over s in S of the cosine of documents i and s.

Documents are added one after the other, each by its gain in this sum, which comes within 1 − 1/e
of the best batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr
from sklearn.preprocessing import normalize

from labelkin.label_matrix import Cells
from labelkin.prediction import FittedModel, fitted_model
from labelkin.records import short_repr
from labelkin.scaling.blocks import Engine, row_blocks
from labelkin.scaling.distributed import using
from labelkin.scikit_learn import rows_of
from labelkin.validation import check_whole_number

_Floats = NDArray[np.float64]

#: Documents × labels computed together: 2²² numbers are 32 MB.
_CELLS = 2**22
#: Number of labels in a result, and the least entropy, in bits, of such a label.
_SHOWN, _LEAST = 5, 0.005
#: In a larger pool this many documents of highest value are represented, by this many candidates
#: (or this many times the batch) that represent most.
_REPRESENTED, _CANDIDATES, _TIMES_BATCH = 4096, 2048, 4
#: Gains that differ by less than this share of the highest one are equal.
_ROUNDING = 1e-9


@short_repr
class OpenLabel(NamedTuple):
    """An unknown label of a document, and how uncertain it is.

    Attributes
    ----------
    label
        Its name.
    probability
        Its posterior.
    bits
        The entropy of the label.

    Examples
    --------
    >>> import numpy as np
    >>> from labelkin import NaiveBayes
    >>> from labelkin.curation import next_documents
    >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> [one] = next_documents(model, np.array([[9, 0], [1, 1], [0, 9]]), n=1)
    >>> label = one.labels[0]
    >>> label.label, round(label.probability, 2), round(label.bits, 2)
    ('sea', 0.73, 0.84)
    """

    label: Any
    probability: float
    bits: float


@short_repr
class NextDocument(NamedTuple):
    """A document to label next.

    Attributes
    ----------
    document
        Its position in the pool, from 0.
    value
        The sum of the entropies of its labels, in bits.
    gain
        The value of the documents that it represents better than those chosen before it.
    similarity
        The cosine to the most similar document chosen before it.
    labels
        Its most uncertain labels, most uncertain first.

    Examples
    --------
    >>> import numpy as np
    >>> from labelkin import NaiveBayes
    >>> from labelkin.curation import next_documents
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
    """Return the documents to label next, in the order of their choice.

    Parameters
    ----------
    model : classifier or pipeline
        One of labelkin's classifiers, or a pipeline that ends in one, fitted on label sets.
    pool : documents
        Unlabelled documents, as the model takes them: a matrix, or a list of texts.
    n : int, default 10
        Number of documents; at most the size of the pool.
    known : known labels, optional
        Labels that are known already, per document of the pool
        (:func:`labelkin.label_matrix.read_known`); they have no uncertainty.
    vectors : array or sparse matrix of shape (n_documents, n_features), optional
        Vectors for the similarity of documents; ``None``: the input of the model's classifier.
    engine : Engine, optional
        Where blocks of documents are computed; ``None``: here, or on the engine in use
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
    check_whole_number("n", n)
    fitted, known = fitted_model(model), [known] if isinstance(known, Mapping) else known
    pool = sparse.csr_array(pool) if sparse.issparse(pool) else pool
    n_documents = pool.shape[0] if hasattr(pool, "shape") else len(pool)
    if vectors is not None and vectors.shape[0] != n_documents:
        raise ValueError(
            f"vectors must have a row for each of the {n_documents:,} documents of the pool, "
            f"got {vectors.shape[0]:,}."
        )
    values = document_values(fitted, pool, known=known, engine=engine)
    rows, gains, similarities = choose_representative(
        values, n, lambda some: _vectors(fitted, pool, vectors, some)
    )
    if not len(rows):
        return []
    some_known = None if known is None else rows_of(known, rows)
    labels = _open_labels(fitted, _probabilities(fitted, rows_of(pool, rows), some_known))
    return [
        NextDocument(int(i), float(values[i]), float(gain), float(similarity), uncertain)
        for i, gain, similarity, uncertain in zip(rows, gains, similarities, labels, strict=True)
    ]


def document_values(
    model: Any,
    pool: Any,
    *,
    known: Any = None,
    engine: Engine | None = None,
) -> _Floats:
    """Return the sum of the entropies of each document's labels, in bits.

    Parameters
    ----------
    model, pool, known, engine
        As in :func:`next_documents`.

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
    fitted, known = fitted_model(model), [known] if isinstance(known, Mapping) else known
    size = max(1, _CELLS // max(len(fitted.labels), 1))
    given = (pool,) if known is None else (pool, known)
    with using(engine) as worker:
        parts = worker.map(_values_of_block, row_blocks(*given, size=size), model=fitted)
        return np.concatenate([np.zeros(0), *parts])


def binary_entropy(p: Any) -> _Floats:
    """Return the entropy of labels with these probabilities, in bits.

    Examples
    --------
    >>> binary_entropy([0.5, 1.0]).tolist()
    [1.0, 0.0]
    """
    p = np.asarray(p, dtype=np.float64)
    return np.asarray((entr(p) + entr(1.0 - p)) / np.log(2.0))


def choose_representative(
    values: _Floats, n: int, vectors_of: Callable[[NDArray[np.intp]], Any]
) -> tuple[NDArray[np.intp], _Floats, _Floats]:
    """Choose documents, one after the other, that represent the value of all documents.

    Parameters
    ----------
    values
        The value of each document, ``(n_documents,)``.
    n
        Number of documents to choose.
    vectors_of
        Rows → their vectors, dense or CSR.

    Returns
    -------
    rows, gains, similarities
        The documents, their gains, and their cosines to the most similar document before.
    """
    n_candidates = max(_CANDIDATES, _TIMES_BATCH * n)
    order = np.argsort(-values, kind="stable")[: max(_REPRESENTED, n_candidates)]
    value, unit = values[order], normalize(vectors_of(order)) if len(order) else np.zeros((0, 0))
    alone = np.asarray(unit @ (unit.T @ value)).ravel()
    places = np.sort(np.argsort(-alone, kind="stable")[:n_candidates])
    product: Any = unit[places] @ unit.T  # candidates × represented documents
    cosines = np.clip(product.toarray() if sparse.issparse(product) else product, 0.0, 1.0)
    covered = np.zeros(len(order))
    gains, is_left = cosines @ value, np.ones(len(places), dtype=np.bool_)
    chosen, added, similarities = [], [], []
    for _ in range(min(n, len(places))):
        best = gains[is_left].max()
        ties = np.flatnonzero(is_left & (gains >= best - _ROUNDING * max(gains.max(), 1e-300)))
        new = int(ties[covered[places[ties]].argmin()])
        chosen.append(new)
        added.append(max(float(gains[new]), 0.0))
        similarities.append(covered[places[new]])
        is_left[new] = False
        better = np.flatnonzero(cosines[new] > covered)
        after, before = cosines[new, better], covered[better]
        there = cosines[:, better]
        lost = np.maximum(there - before, 0.0) - np.maximum(there - after, 0.0)
        gains = gains - lost @ value[better]
        covered[better] = after
    return order[places[chosen]], np.array(added), np.array(similarities)


def _probabilities(model: FittedModel, documents: Any, known: Any = None) -> Any:
    """Return the posterior of documents: dense, or a CSR array of candidates."""
    if known is not None and not model.has_label_evidence:
        raise ValueError(
            "Known labels need a model with label evidence, and a "
            f"{type(model.classifier).__name__} has none. Use LabelDependenceClassifier."
        )
    return model.probabilities(model.scores(documents, known))


def _values_of_block(block: Any, model: FittedModel) -> _Floats:
    probabilities = _probabilities(model, *(block if isinstance(block, tuple) else (block,)))
    if sparse.issparse(probabilities):
        cells = Cells.of(probabilities)
        return cells.sums_by_document(binary_entropy(probabilities.data))
    return np.asarray(binary_entropy(probabilities).sum(axis=1))


def _open_labels(model: FittedModel, probabilities: Any) -> list[tuple[OpenLabel, ...]]:
    """Return the most uncertain labels of each document."""
    names, found = model.labels.tolist(), []
    for i in range(probabilities.shape[0]):
        columns, p = np.arange(len(names)), probabilities[i]
        if sparse.issparse(probabilities):
            cells = slice(probabilities.indptr[i], probabilities.indptr[i + 1])
            columns, p = probabilities.indices[cells], probabilities.data[cells]
        bits = binary_entropy(p)
        best = np.argsort(-bits, kind="stable")[:_SHOWN]
        found.append(
            tuple(
                OpenLabel(names[columns[k]], float(p[k]), float(bits[k]))
                for k in best[bits[best] >= _LEAST].tolist()
            )
        )
    return found


def _vectors(model: FittedModel, pool: Any, vectors: Any, rows: NDArray[np.intp]) -> Any:
    """Return the vectors of some documents for similarity."""
    some = model.vectors(rows_of(pool, rows)) if vectors is None else rows_of(vectors, rows)
    if sparse.issparse(some):
        return sparse.csr_array(some, dtype=np.float64)
    try:
        return np.asarray(some, dtype=np.float64).reshape(len(rows), -1)
    except (TypeError, ValueError):
        raise ValueError(
            "Documents must be vectors to be similar, and the model takes "
            f"{type(some[0]).__name__}. Give vectors=, a row for each document."
        ) from None
