"""Models ↔ JSON and arrays.

Values of JSON, also lists, are stored as they are. All others are a mapping with one key, their
type: ``{"tuple": [...]}``, ``{"array": 3}``; ``encoders`` contains all types. A model is a tree:
only arrays are numbered, so that an array that occurs twice is stored once. An object that occurs
twice is written twice, and its copies share their arrays when they are read.

Every tag, number, shape and name is checked before it is used; one that does not fit raises a
``ValueError`` that shows it. Objects are created without calling their code: memory of their class,
then their attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from labelkin.storage.encoders import FORMS, is_json, is_key, read_list, tag_of
from labelkin.storage.file import Bytes, ModelFile, describe, read_arrays, shown

#: Levels of containers and objects: of a model that is saved, and with their tags in a file.
_MOST_LEVELS, _MOST_LEVELS_READ = 90, 100
_RESCORER = (
    "or keep that model as it is, and save a LabelRescorer fitted to the labels, which improves "
    "its scores"
)
_CLASSES = f"Use a class that labelkin.storage.trusted lists, {_RESCORER}."


def encode_model(model: Any) -> tuple[dict[str, Any], list[NDArray[Any]], list[str]]:
    """Turn a model into plain values; other values are an error that names their place.

    Returns
    -------
    written, arrays, class_names
        JSON: the model, and what the arrays are. The arrays in the order in which they are stored.
        The classes that occur, by their names in model files, sorted.
    """
    encoder = Encoder()
    root = encoder.encode(model)
    written = {"model": root, "arrays": [describe(array) for array in encoder.arrays]}
    return written, encoder.arrays, sorted(encoder.class_names)


def decode_model(written: Any, data: Bytes, header: ModelFile) -> Any:
    """Build the model from JSON and the bytes of its arrays; it must be what the header says."""
    if not isinstance(written, dict) or set(written) != {"model", "arrays"}:
        raise ValueError("its JSON must have the keys 'model' and 'arrays'")
    decoder = Decoder(read_arrays(written["arrays"], data))
    model = decoder.decode(written["model"])
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"it holds a {type(model).__name__}, not an estimator")
    try:
        labels = label_names(model)
    except Exception as error:
        raise ValueError(f"its labels cannot be listed ({type(error).__name__})") from None
    if list(header.class_names) != sorted(decoder.class_names):
        raise ValueError("its description lists other classes than it holds")
    if list(header.labels) != labels:
        raise ValueError("its description lists other labels than its model has")
    return model


def label_names(model: Any) -> list[Any]:
    """Return the labels of a model in column order, as text where JSON does not hold them."""
    while isinstance(model, Pipeline):
        model = model[-1]
    names = getattr(model, "label_names_", getattr(model, "classes_", ()))
    listed = names.tolist() if isinstance(names, np.ndarray) and names.ndim == 1 else []
    return [name if is_json(name) else str(name) for name in listed]


class Encoder:
    """A model on its way to JSON and arrays.

    Attributes
    ----------
    arrays, class_names
        The arrays and the classes that occurred so far.
    """

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.class_names: set[str] = set()
        self._numbers: dict[int, int] = {}  # id of an array, which `arrays` keeps alive → number
        self._inside: list[tuple[str, Any]] = []  # steps from the model to the current value

    def encode(self, value: Any) -> Any:
        """Return a value as JSON; its arrays are collected."""
        if is_json(value):
            return value
        if type(value) is list:
            return self.items(value, enumerate(value))
        tag = tag_of(value)
        return {tag: FORMS[tag].write(self, value)}

    def number(self, array: NDArray[Any]) -> int:
        """Return the number of an array; each array is stored once."""
        if id(array) not in self._numbers:
            self._numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return self._numbers[id(array)]

    def items(
        self, container: Any, pairs: Iterable[tuple[Any, Any]], step: str = "[{}]"
    ) -> list[Any]:
        """Return what is in a container as JSON; ``step`` is the way from it to each item."""
        if len(self._inside) == _MOST_LEVELS:
            rule = f"A model file nests at most {_MOST_LEVELS} levels"
            what = f"a {type(container).__name__} that lies deeper"
            raise self.error(ValueError, rule, what, "Remove references to outer objects.")
        written = []
        self._inside.append(("", ""))
        for key, item in pairs:
            self._inside[-1] = (step, key)
            written.append(self.encode(item))
        self._inside.pop()
        return written

    def error(self, kind: type[Exception], rule: str, what: str, hint: str) -> Exception:
        """Return the error for a value, with its place in the model and a hint."""
        place = "model" + "".join(step.format(key) for step, key in self._inside)
        return kind(f"{rule}, got {what} at {place[:200]}. {hint}")

    def unknown(self, value: Any) -> Exception:
        """Return the error for a value that no model file contains."""
        kind = type(value)
        what, hint = f"a {kind.__module__}.{kind.__qualname__}", _CLASSES
        if isinstance(value, np.random.RandomState | np.random.Generator):
            hint = "Give a whole number as random_state."
        elif hasattr(kind, "why_not_saved"):
            hint = kind.why_not_saved
        elif callable(value) and not hasattr(value, "fit"):
            what = f"the {kind.__name__} {getattr(value, '__qualname__', '?')}"
            hint = f"Use options named by texts, such as analyzer='word', {_RESCORER}."
        rule = "A model file holds arrays, plain values and objects of known classes, no code"
        return self.error(TypeError, rule, what, hint)


class Decoder:
    """JSON and arrays on their way to a model.

    Parameters
    ----------
    arrays : list of arrays
        Those of the file.

    Attributes
    ----------
    class_names
        The classes that occurred so far.
    """

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self.class_names: set[str] = set()
        self._level = 0

    def decode(self, written: Any) -> Any:
        """Return the value that JSON stands for."""
        if not isinstance(written, list | dict):
            return written
        if self._level == _MOST_LEVELS_READ:
            raise ValueError(f"it nests deeper than {_MOST_LEVELS_READ} levels")
        self._level += 1
        value = self.items(written) if isinstance(written, list) else self._tagged(written)
        self._level -= 1
        return value

    def _tagged(self, written: dict[str, Any]) -> Any:
        if len(written) != 1 or not FORMS.keys() >= written.keys():
            raise ValueError(f"a value is one of {', '.join(FORMS)}, got {str(list(written))[:80]}")
        ((tag, content),) = written.items()
        return FORMS[tag].read(self, content)

    def items(self, written: Any) -> list[Any]:
        """Return the values in a list."""
        return [self.decode(item) for item in read_list(written)]

    def keys(self, written: Any) -> list[Any]:
        """Return items that are to be the keys of a mapping or the elements of a set."""
        items = self.items(written)
        for item in items:
            if not is_key(item):
                raise ValueError(f"a key of a mapping or set must be plain, got {shown(item)}")
        return items
