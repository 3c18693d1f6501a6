"""Documents in blocks: predicted, rescored and evaluated block by block, here or on a cluster.

A block is rows of a matrix, a list of texts, a path of a file
(:func:`labelkin.scaling.blocks.read_block`) or a part of a Dask collection. Memory contains a few
blocks at a time; :func:`labelkin.scaling.blocks.row_blocks` makes blocks of a matrix or of a
memory-mapped file. With a folder each result is a file, written atomically by the worker.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from labelkin.evaluation.metrics import Evaluation, evaluate
from labelkin.files import write_atomic
from labelkin.label_matrix import LabelMatrix, read_labels, to_dense
from labelkin.models.rescorer import LabelRescorer
from labelkin.prediction.fitted_model import FittedModel, fitted_model
from labelkin.scaling.blocks import Engine, read_block, read_parts, row_blocks
from labelkin.scaling.distributed import partitions, using
from labelkin.scaling.progress import track
from labelkin.thresholds import LimitTable, limit_table

#: Documents × labels evaluated at a time: 2²² numbers are 32 MB.
_CELLS = 2**22
_Wanted = Literal["log_odds", "probabilities", "decisions"]


def predict_blocks(
    model: Any,
    blocks: Iterable[Any],
    wanted: _Wanted = "decisions",
    *,
    folder: str | Path | None = None,
    engine: Engine | None = None,
) -> Iterator[Any]:
    """Predict documents in blocks, in their order.

    Parameters
    ----------
    model : classifier or pipeline
        One of labelkin's classifiers, or a pipeline that ends in one, fitted on label sets; its
        thresholds must decide each document separately.
    blocks : iterable, or Dask array, bag or dataframe
        Documents, as the model takes them.
    wanted : "decisions", "probabilities" or "log_odds", default "decisions"
        The kind of result.
    folder : path, optional
        Folder for a file per block: ``000000.npy``, for candidates ``.npz``.
    engine : Engine, optional
        Where blocks are computed; default here, or on the engine in use
        (:func:`labelkin.scaling.distributed.using`).

    Returns
    -------
    iterator
        Of an array per block, a CSR array for candidates, ``(n_documents, n_labels)``; with a
        folder, of the paths of the files.

    Examples
    --------
    >>> from labelkin import NaiveBayes
    >>> from labelkin.scaling.blocks import row_blocks
    >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> X = np.array([[5, 0], [1, 0], [0, 3]])
    >>> [block.astype(int).tolist() for block in predict_blocks(model, row_blocks(X, size=2))]
    [[[1, 0], [1, 0]], [[0, 1]]]
    """
    if wanted not in ("log_odds", "probabilities", "decisions"):
        raise ValueError(
            f"wanted must be 'log_odds', 'probabilities' or 'decisions', got {wanted!r}."
        )
    fitted = fitted_model(model)
    if wanted == "decisions" and fitted.needs_batch:
        raise ValueError(
            f"Blocks must be decided document by document, and "
            f"{type(fitted.classifier.thresholds_).__name__} needs all documents together. Ask "
            "for log-odds, and decide them together: model.decide(log_odds)."
        )
    return _map_blocks(_predict, blocks, folder, engine, model=fitted, wanted=wanted)


def rescore_blocks(
    rescorer: LabelRescorer,
    blocks: Iterable[Any],
    *,
    folder: str | Path | None = None,
    engine: Engine | None = None,
) -> Iterator[Any]:
    """Rescore scores in blocks, in their order.

    Parameters
    ----------
    rescorer : LabelRescorer
        A fitted rescorer.
    blocks : iterable, or Dask array
        Scores, as :meth:`labelkin.LabelRescorer.rescore` takes them.
    folder, engine
        As in :func:`predict_blocks`.

    Returns
    -------
    iterator
        Of the posterior of each block, on the scale of the scores; with a folder, of paths.

    Examples
    --------
    >>> Y = [["wheat", "grain"], ["wheat", "grain"], ["grain"], ["gold"], ["gold"], []]
    >>> rescorer = LabelRescorer(evidence_weight=1).fit(Y)
    >>> better = rescore_blocks(rescorer, [[[0.1, 0.5, 0.9]], [[0.1, 0.5, 0.1]]])
    >>> [block.round(2).tolist() for block in better]
    [[[0.08, 0.65, 0.93]], [[0.11, 0.5, 0.14]]]
    """
    return _map_blocks(_rescore, blocks, folder, engine, rescorer=rescorer)


def evaluate_model_blocks(
    model: Any, blocks: Iterable[Any], *, engine: Engine | None = None
) -> Evaluation:
    """Evaluate a model on documents in blocks.

    Parameters
    ----------
    model : classifier or pipeline
        As in :func:`predict_blocks`.
    blocks : iterable of tuples
        Documents, as the model takes them, and their labels; for Dask collections
        :func:`labelkin.scaling.distributed.partitions`.
    engine : Engine, optional
        As in :func:`predict_blocks`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from labelkin import NaiveBayes
    >>> X, Y = np.array([[3, 0], [2, 1], [0, 4]]), np.array([[1, 0], [1, 1], [0, 1]])
    >>> evaluate_model_blocks(NaiveBayes().fit(X, Y), [(X[:2], Y[:2]), (X[2:], Y[2:])])["one_error"]
    0.0
    """
    with using(engine) as worker:
        return worker.fold(_evaluate, add, blocks, model=fitted_model(model))


def evaluate_documents(
    model: FittedModel, documents: Any, labels: LabelMatrix, engine: Engine | None = None
) -> Evaluation:
    """Evaluate a model block by block; labels outside the model are left out."""
    truth = labels_in_order(labels, model.labels.tolist(), "The model and the corpus")
    # A label of a file is text: "0" is the label 0 of the model.
    truth = replace(truth, names=model.labels, classes=model.labels)
    n_documents, n_labels = truth.shape
    size = n_documents if model.needs_batch else max(1, _CELLS // n_labels)
    blocks = track(
        row_blocks(documents, truth, size=size), "documents evaluated", -(-n_documents // size)
    )
    with using(engine) as worker:
        return worker.fold(_evaluate, add, blocks, model=model)


def evaluate_limits(model: FittedModel, documents: Any, labels: LabelMatrix) -> LimitTable:
    """Evaluate limits and thresholds block by block; labels outside the model are left out."""
    truth = labels_in_order(labels, model.labels.tolist(), "The model and the corpus")
    size = max(1, _CELLS // truth.shape[1])
    tables = (
        limit_table(part, model.probabilities(to_dense(model.scores(rows))))
        for rows, part in row_blocks(documents, truth, size=size)
    )
    return reduce(add, tables)


def labels_in_order(labels: LabelMatrix, names: Sequence[Any], what: str) -> LabelMatrix:
    """Return labels in the order of some names, matched as texts; other labels are left out.

    Parameters
    ----------
    labels : LabelMatrix
        Labels with any names.
    names : sequence
        Names of the columns of the result; a name outside ``labels`` becomes an empty column.
    what : str
        The two sides, for messages.
    """
    wanted = [str(name) for name in names]
    needed = set(wanted)
    columns = np.flatnonzero([str(name) in needed for name in labels.names.tolist()])
    if not len(columns):
        ours = [str(name) for name in labels.names[:3]]
        raise ValueError(
            f"{what} must have labels in common, and have none in common: got {wanted[:3]} … and "
            f"{ours} …."
        )
    kept = labels.columns(columns)
    texts = np.array([str(name) for name in kept.names.tolist()], dtype=object)
    return read_labels(replace(kept, names=texts, classes=texts), names=wanted)


def _map_blocks(
    function: Callable[..., Any],
    blocks: Any,
    folder: str | Path | None,
    engine: Engine | None,
    **shared: Any,
) -> Iterator[Any]:
    with using(engine) as worker:
        if folder is None:
            return worker.map(function, blocks, **shared)
        place = Path(folder).absolute()
        place.mkdir(parents=True, exist_ok=True)
        parts = partitions(blocks) if hasattr(blocks, "to_delayed") else blocks
        return worker.map(_write, enumerate(parts), folder=place, function=function, shared=shared)


def _predict(block: Any, model: FittedModel, wanted: _Wanted) -> Any:
    log_odds = model.scores(read_block(block))
    if wanted == "log_odds":
        return log_odds
    return model.decide(log_odds) if wanted == "decisions" else model.probabilities(log_odds)


def _rescore(block: Any, rescorer: LabelRescorer) -> Any:
    return rescorer.rescore(read_block(block))


def _evaluate(block: Any, model: FittedModel) -> Evaluation:
    documents, labels = read_parts(block, "documents and their labels")
    log_odds = model.scores(documents)
    return evaluate(read_labels(labels, names=model.labels), log_odds, model.decide(log_odds))


def _write(
    numbered: tuple[int, Any], folder: Path, function: Callable[..., Any], shared: dict[str, Any]
) -> Path:
    """Write the result for a block to a file named by its number; repeating it is harmless."""
    number, block = numbered
    result, file = function(block, **shared), io.BytesIO()
    if sparse.issparse(result):
        sparse.save_npz(file, sparse.csr_array(result))
    else:
        np.save(file, np.asarray(result))
    path = folder / f"{number:06d}{'.npz' if sparse.issparse(result) else '.npy'}"
    write_atomic(path, file.getvalue())
    return path
