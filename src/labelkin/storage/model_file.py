"""Save a fitted model, load it, or look at what a file holds."""

from __future__ import annotations

import json
import os
import platform
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from labelkin.storage.arrays import array_bytes, stored_size
from labelkin.storage.container import Contents, read_file, write_file
from labelkin.storage.decode import decode_model
from labelkin.storage.encode import encode_model


class VersionWarning(InconsistentVersionWarning):
    """A model with scikit-learn parts was saved under another version of scikit-learn."""

    def __str__(self) -> str:
        return (
            f"{self.estimator_name} was saved with scikit-learn {self.original_sklearn_version}, "
            f"and this is {self.current_sklearn_version}: the model may fail or answer "
            "differently. Train it again, or install that version."
        )


@dataclass(frozen=True)
class ModelFile:
    """What a model file says of itself.

    Attributes
    ----------
    path
        The file.
    format_version
        Version of the file format.
    versions
        Of labelkin, Python and the libraries that the model was saved with, by name.
    created
        When it was saved, UTC.
    model
        The model's class.
    class_names
        All classes that occur in it, with their modules, sorted.
    labels
        The names of the labels in column order, as text where they are neither text nor numbers;
        empty for a model without labels, such as a vectoriser.
    summary
        What :func:`save` was told about the training; ``None``: nothing.
    file_bytes, array_bytes
        Size of the file, and of the arrays in it.
    """

    path: Path
    format_version: int
    versions: dict[str, str]
    created: datetime
    model: str
    class_names: tuple[str, ...]
    labels: tuple[Any, ...]
    summary: dict[str, Any] | None
    file_bytes: int
    array_bytes: int

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.labels)


def save(
    model: Any, path: str | os.PathLike[str], *, summary: dict[str, Any] | None = None
) -> Path:
    """Write a fitted model to one file, which holds no code.

    The file is complete or not there: until it is on the disk, an older one stays in its place.

    Parameters
    ----------
    model
        A fitted estimator: one of labelkin's, or a pipeline of them and the scikit-learn classes
        that ``labelkin.storage.allowed`` lists. Others are refused with the place where they are.
    path
        Where to; ``.labelkin`` is the usual ending.
    summary
        About the training, for :func:`read_header`: anything JSON can hold.

    Returns
    -------
    Path
        ``path``.

    Examples
    --------
    >>> import tempfile
    >>> from labelkin import NaiveBayes
    >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(model, f"{folder}/towns.labelkin", summary={"documents": 3})
    ...     header, again = read_header(path), load(path)
    >>> header.labels, header.summary
    (('sea', 'town'), {'documents': 3})
    >>> (again.predict_proba([[5, 0]]) == model.predict_proba([[5, 0]])).all()
    np.True_
    """
    path = Path(path)
    _check_model(model)
    _check_target(path)
    encoded = encode_model(model)
    about = {
        "versions": _versions(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": type(model).__name__,
        "classes": encoded.class_names,
        "labels": _labels(model),
        "summary": _checked_summary(summary),
    }
    write_file(
        path,
        _versions()["labelkin"],
        _json(about),
        _json(encoded.json),
        chain.from_iterable(map(array_bytes, encoded.arrays)),
        sum(map(stored_size, encoded.arrays)),
    )
    return path


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model of a file; its answers are those of the saved one to the last bit.

    No code comes from the file, and nothing in it is looked at before its checksum is right. A file
    that is damaged, not ours or made to mislead is refused with a ``ValueError`` that says why.

    Parameters
    ----------
    path
        What :func:`save` has written.
    """
    path = Path(path)
    contents = read_file(path)
    header = _header(path, contents)
    try:
        model = decode_model(_parsed(contents.model), contents.data)
    except ValueError as error:
        raise ValueError(f"{path} is no sound model file: {error}.") from None
    _warn_of_versions(header)
    return model


def read_header(path: str | os.PathLike[str]) -> ModelFile:
    """Return what a file says of itself; its checksum is verified, its model is not built."""
    path = Path(path)
    return _header(path, read_file(path, whole=False))


def _check_model(model: Any) -> None:
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise TypeError(
            f"model must be a fitted estimator, got {model!r:.80}. "
            "Save data by the means of its library."
        )
    check_is_fitted(model)


def _check_target(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"A model is one file, got the folder {path}. Name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} must exist to save {path.name} in it.")


@cache
def _versions() -> dict[str, str]:
    return {
        "labelkin": version("labelkin"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "scikit-learn": sklearn.__version__,
        "scipy": scipy.__version__,
    }


def _labels(model: Any) -> list[Any]:
    while isinstance(model, Pipeline):
        model = model[-1]
    names = getattr(model, "label_names_", getattr(model, "classes_", ()))
    if not isinstance(names, np.ndarray):
        return []
    return [name if _is_json(name) else str(name) for name in names.tolist()]


def _is_json(name: Any) -> bool:
    return isinstance(name, str | bool | int) or (isinstance(name, float) and np.isfinite(name))


def _checked_summary(summary: dict[str, Any] | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    if not isinstance(summary, dict):
        raise TypeError(f"summary must be a dict, got a {type(summary).__name__}.")
    try:
        _json(summary)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(
            f"summary must be what JSON can hold (text, finite numbers, lists, dicts), got "
            f"something else: {error}. Convert NumPy numbers by .item(), arrays by .tolist()."
        ) from None
    return summary


def _json(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")  # half a character is legal in a Python text


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _header(path: Path, contents: Contents) -> ModelFile:
    try:
        about = _parsed(contents.about)
        return ModelFile(
            path=path,
            format_version=contents.format,
            versions={str(name): str(value) for name, value in about["versions"].items()},
            created=datetime.fromisoformat(about["created"]),
            model=str(about["model"]),
            class_names=tuple(map(str, about["classes"])),
            labels=tuple(about["labels"]),
            summary=None if about["summary"] is None else dict(about["summary"]),
            file_bytes=contents.sizes[0],
            array_bytes=contents.sizes[1],
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(
            f"{path} is no sound model file: its description fails ({error!r})."
        ) from None


def _warn_of_versions(header: ModelFile) -> None:
    now, then = sklearn.__version__, header.versions.get("scikit-learn", "?")
    if now != then and any(name.startswith("sklearn.") for name in header.class_names):
        warnings.warn(
            VersionWarning(
                estimator_name=header.path.name,
                current_sklearn_version=now,
                original_sklearn_version=then,
            ),
            stacklevel=3,
        )
