"""Models ↔ JSON and arrays.

Values of JSON, also lists, are stored as they are. All others are a mapping with one key, their
type: ``{"tuple": [...]}``, ``{"array": 3}``; ``encoders`` contains all types. Objects, sparse
matrices and arrays of objects are numbered *parts*: each refers only to parts before it, is written
once however often it occurs, and is one object again when it is read.

Every tag, number, shape and name is checked before it is used; one that does not fit raises a
``ValueError`` that shows it. Objects are created without calling their code: memory of their class,
then their attributes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from labelkin.storage.encoders import (
    FORMS,
    PART_TAGS,
    is_json,
    is_key,
    read_list,
    read_numbered,
    tag_of,
)
from labelkin.storage.file import (
    Bytes,
    ModelFile,
    describe,
    is_storable,
    read_arrays,
    shown,
)

_DEEPEST = 100
#: References that are followed when a model is walked through: at least, and per part of the file.
_WAYS, _WAYS_PER_PART = 10_000, 20
#: Keys of one mapping with the same hash: a dictionary compares each of them with all others.
_MOST_ALIKE = 100
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
        JSON: the parts, what the arrays are, and which part is the model. The arrays in the order
        in which they are stored. The classes that occur, by their names in model files, sorted.
    """
    encoder = Encoder()
    root = encoder.encode(model)
    described = [describe(array) for array in encoder.arrays]
    written = {"model": root, "parts": encoder.parts, "arrays": described}
    return written, encoder.arrays, sorted(encoder.class_names)


def decode_model(written: Any, data: Bytes, header: ModelFile) -> Any:
    """Build the model from JSON and the bytes of its arrays; it must be what the header says."""
    if not isinstance(written, dict) or set(written) != {"model", "parts", "arrays"}:
        raise ValueError("its model is not made of parts and arrays")
    decoder = Decoder(read_arrays(written["arrays"], data))
    decoder.most_ways = _WAYS + _WAYS_PER_PART * len(read_list(written["parts"]))
    for part in written["parts"]:
        decoder.add(part)
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
    parts, arrays, class_names
        What was written so far, and the classes in it.
    """

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.arrays: list[NDArray[Any]] = []
        self.class_names: set[str] = set()
        # By identity, with the thing itself: as long as it lives its id is not given to another.
        self._written: dict[int, tuple[Any, Any]] = {}
        # The containers being written, from the model down, each with the step to its item.
        self._inside: list[tuple[Any, str, Any]] = []

    def encode(self, value: Any) -> Any:
        """Return a value as JSON; its arrays and parts are collected."""
        if is_json(value):
            return value
        if type(value) is list:
            return self.items(value, enumerate(value))
        if id(value) in self._written:
            return self._written[id(value)][1]
        tag = tag_of(value)
        written: Any = {tag: FORMS[tag].write(self, value)}
        if tag in PART_TAGS:
            self.parts.append(written)
            written = {"part": len(self.parts) - 1}
        if tag in PART_TAGS or tag == "array":
            self._written[id(value)] = (value, written)
        return written

    def items(
        self, container: Any, pairs: Iterable[tuple[Any, Any]], step: str = "[{}]"
    ) -> list[Any]:
        """Return what is in a container as JSON; ``step`` is the way from it to each item."""
        kind = type(container).__name__
        if any(container is outer for outer, *_ in self._inside):
            what, hint = f"a {kind} that contains itself", "Remove the reference back."
            raise self.error(ValueError, "A model file holds no cycles", what, hint)
        if len(self._inside) > _DEEPEST:
            rule = f"A model file nests at most {_DEEPEST} levels"
            raise self.error(ValueError, rule, f"a {kind} that lies deeper", "Make it flatter.")
        written = []
        self._inside.append((container, "", ""))
        for key, item in pairs:
            self._inside[-1] = (container, step, key)
            written.append(self.encode(item))
        self._inside.pop()
        return written

    def error(self, kind: type[Exception], rule: str, what: str, hint: str) -> Exception:
        """Return the error for a value, with its place in the model and a hint."""
        place = "model" + "".join(step.format(key) for _, step, key in self._inside)
        return kind(f"{rule}, got {what} at {place}. {hint}")

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

    def check_keys(self, keys: Iterable[Any]) -> None:
        """Raise for keys of a mapping, or elements of a set, that cannot be read again."""
        for key in keys:
            if not is_key(key):
                rule = "Keys in a model file are plain values"
                what = f"a {type(key).__name__} as a key"
                raise self.error(TypeError, rule, what, _CLASSES)

    def check_dtype(self, dtype: np.dtype[Any]) -> None:
        """Raise for arrays and scalars whose bytes mean nothing elsewhere."""
        if not is_storable(dtype):
            rule = "Arrays in a model file hold numbers, booleans or text"
            hint = "Convert it, for instance dates to text."
            raise self.error(TypeError, rule, f"one of dtype {dtype}", hint)


class Decoder:
    """JSON and arrays on their way to a model; parts are built in their order.

    Parameters
    ----------
    arrays : list of arrays
        Those of the file.

    Attributes
    ----------
    parts, class_names
        What was read so far, and the classes in it.
    """

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays: list[NDArray[Any]] = arrays
        self.parts: list[Any] = []
        self.class_names: set[str] = set()
        self.most_ways = _WAYS
        self._depth = 0
        # Of every part its levels and the ways through it; then the same of what is being read.
        self._sizes: list[tuple[int, int]] = []
        self._deepest, self._ways = 0, 1

    def add(self, part: Any) -> None:
        """Build the next part; it can only refer to those before it."""
        tag, content = _tagged(part)
        if tag not in PART_TAGS:
            raise ValueError(f"a part is a {tag[:80]!r}")
        self._deepest, self._ways = 0, 1
        self.parts.append(FORMS[tag].read(self, content))
        self._sizes.append((self._deepest, self._ways))

    def decode(self, written: Any) -> Any:
        """Return the value that JSON stands for."""
        if not isinstance(written, list | dict):
            return written
        if self._depth == _DEEPEST:
            raise ValueError(f"it nests deeper than {_DEEPEST} levels")
        self._depth += 1
        value = self.items(written) if isinstance(written, list) else self._value(written)
        self._depth -= 1
        return value

    def _value(self, written: dict[str, Any]) -> Any:
        tag, content = _tagged(written)
        if tag == "part":
            part = read_numbered(self.parts, content, tag)
            levels, ways = self._sizes[content]
            self._deepest = max(self._deepest, self._depth + levels)
            self._ways += ways
            if self._deepest > _DEEPEST + 1 or self._ways > self.most_ways:
                raise ValueError(
                    f"its parts nest deeper than {_DEEPEST} levels, or share parts that share "
                    f"others in more than {self.most_ways} ways"
                )
            return part
        if tag not in FORMS or tag in PART_TAGS:
            raise ValueError(f"a value is a {tag[:80]!r}")
        return FORMS[tag].read(self, content)

    def items(self, written: Any) -> list[Any]:
        """Return the values in a list."""
        return [self.decode(item) for item in read_list(written)]

    def keys(self, written: Any) -> list[Any]:
        """Return items that are to be the keys of a mapping or the elements of a set."""
        items = self.items(written)
        for item in items:
            if not is_key(item):
                raise ValueError(f"a key of a mapping or set cannot be one ({shown(item)})")
        if len(items) > _MOST_ALIKE:
            alike = Counter(map(hash, items)).most_common(1)[0][1]
            if alike > _MOST_ALIKE:
                raise ValueError(f"{alike} keys with the same hash")
        return items


def _tagged(written: Any) -> tuple[str, Any]:
    if not isinstance(written, dict) or len(written) != 1:
        raise ValueError(f"{str(written)[:80]} is neither a value nor a part")
    return next(iter(written.items()))
