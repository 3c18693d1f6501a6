"""Objects → JSON and arrays.

JSON's own values stand for themselves, lists too. Everything else is a mapping with one key that
says what it is: ``{"tuple": [...]}``, ``{"array": 3}``. Objects, sparse matrices and arrays of
objects are numbered *parts*: each refers only to parts before it, is written once however often it
occurs, and is one object again when it is read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.storage.allowed import is_named_tuple, name_of_class
from labelkin.storage.arrays import describe, scalar_text
from labelkin.storage.checks import check_state
from labelkin.storage.forms import FORM_OF
from labelkin.storage.refusal import Refusal, check_dtype, refused

#: Attributes that the class makes anew when it needs them, and what stands for them until then. The
#: folder in which a pipeline keeps pickles while it is fitted is a matter of that machine.
NOT_STORED: dict[str, dict[str, Any]] = {
    "sklearn.linear_model.SGDClassifier": {"_loss_function_": None},
    "sklearn.pipeline.Pipeline": {"memory": None},
    "sklearn.preprocessing.MultiLabelBinarizer": {"_cached_dict": None},
}
DEEPEST = 100
Writer = Callable[["_Encoder", Any, int], Any]
SPARSE = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)
}


class Encoded(NamedTuple):
    """A model as plain values.

    Attributes
    ----------
    json
        The parts, what the arrays are, and which part is the model.
    arrays
        The arrays, in the order in which they are stored.
    class_names
        The classes that occur, sorted.
    """

    json: dict[str, Any]
    arrays: list[NDArray[Any]]
    class_names: list[str]


def encode_model(model: Any) -> Encoded:
    """Turn a model into plain values; what cannot be is refused, and the message says where."""
    encoder = _Encoder()
    try:
        root = encoder.encode(model, 0)
    except Refusal as refusal:
        raise refusal.as_error() from None
    return Encoded(
        {
            "model": root,
            "parts": encoder.parts,
            "arrays": [describe(array) for array in encoder.arrays],
        },
        encoder.arrays,
        sorted(encoder.class_names),
    )


class _Encoder:
    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.arrays: list[NDArray[Any]] = []
        self.class_names: set[str] = set()
        # By identity, with the thing itself: as long as it lives its id is not given to another.
        self._written: dict[int, tuple[Any, Any]] = {}
        self._open: set[int] = set()

    def encode(self, value: Any, depth: int) -> Any:
        write = _WRITERS.get(type(value))
        if write is not None:
            return write(self, value, depth)
        if isinstance(value, np.generic):
            check_dtype(value.dtype)
            return {"scalar": scalar_text(value)}
        return self._once(value, depth, _Encoder._object)

    def _once(self, value: Any, depth: int, write: Writer) -> Any:
        """Write something that is referred to by number, unless it has been."""
        if id(value) not in self._written:
            self._written[id(value)] = (value, self._enter(value, depth, write))
        return self._written[id(value)][1]

    def _enter(self, value: Any, depth: int, write: Writer) -> Any:
        """Write something that contains others, one level down."""
        kind = type(value).__name__
        if id(value) in self._open:
            what, way_out = f"a {kind} that contains itself", "Remove the reference back."
            raise Refusal(ValueError, "A model file holds no cycles", what, way_out)
        if depth > DEEPEST:
            rule = f"A model file nests at most {DEEPEST} levels"
            raise Refusal(ValueError, rule, f"a {kind} that lies deeper", "Make it flatter.")
        self._open.add(id(value))
        try:
            return write(self, value, depth + 1)
        finally:
            self._open.discard(id(value))

    def _items(self, values: Iterable[Any], depth: int, step: str = "[{}]") -> list[Any]:
        written = []
        for i, value in enumerate(values):
            try:
                written.append(self.encode(value, depth))
            except Refusal as refusal:
                refusal.steps.append(step.format(i))
                raise
        return written

    def _dict(self, value: dict[Any, Any], depth: int) -> Any:
        keys = self._items(value, depth, ".keys() number {}")
        return {"dict": [keys, list(self._named(value.items(), depth, "[{!r}]").values())]}

    def _named(self, pairs: Iterable[tuple[Any, Any]], depth: int, step: str) -> dict[Any, Any]:
        written = {}
        for name, value in pairs:
            try:
                written[name] = self.encode(value, depth)
            except Refusal as refusal:
                refusal.steps.append(step.format(name))
                raise
        return written

    def _form(self, value: Any, depth: int) -> Any:
        tag, form = FORM_OF[type(value)]
        data = form.write(value)
        if data is None:
            raise refused(value)
        return {tag: self.encode(data, depth)}

    def _array(self, value: NDArray[Any], depth: int) -> Any:
        if value.dtype == object:
            items = self._items(value.ravel().tolist(), depth, ".ravel()[{}]")
            return self._part({"objects": [list(value.shape), items]})
        check_dtype(value.dtype)
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1}

    def _sparse(self, value: Any, depth: int) -> Any:
        if value.ndim != 2:
            raise refused(value)
        n_stored = int(value.indptr[-1])  # there may be room for more
        parts = [value.data[:n_stored], value.indices[:n_stored], value.indptr]
        shape = [int(n) for n in value.shape]
        return self._part({"sparse": [type(value).__name__, shape, *self._items(parts, depth)]})

    def _object(self, value: Any, depth: int) -> Any:
        name = name_of_class(type(value))
        if name is None:
            raise refused(value)
        attributes = _attributes(value, NOT_STORED.get(name, {}))
        try:
            check_state(name, attributes)
        except ValueError as error:
            rule, way_out = "A model file must be safe to load", "Change that and train again."
            raise Refusal(ValueError, rule, str(error), way_out) from None
        state = self._named(attributes.items(), depth, ".{}")
        self.class_names.add(name)
        return self._part({"object": [name, state]})

    def _part(self, part: Any) -> Any:
        self.parts.append(part)
        return {"part": len(self.parts) - 1}


def _written_int(encoder: _Encoder, value: int, depth: int) -> Any:
    return value if -(2**63) <= value < 2**63 else {"int": hex(value)}


def _written_float(encoder: _Encoder, value: float, depth: int) -> Any:
    return value if math.isfinite(value) else {"float": repr(value)}


def _tuple(encoder: _Encoder, value: tuple[Any, ...], depth: int) -> Any:
    return {"tuple": encoder._items(value, depth)}


def _set(encoder: _Encoder, value: set[Any] | frozenset[Any], depth: int) -> Any:
    """Write a set in an order of ours: its own differs from run to run."""
    items = encoder._items(value, depth, " element {}")
    return {type(value).__name__: sorted(items, key=json.dumps)}


def _by_number(write: Writer) -> Writer:
    return lambda encoder, value, depth: encoder._once(value, depth, write)


def _one_level_down(write: Writer) -> Writer:
    return lambda encoder, value, depth: encoder._enter(value, depth, write)


_WRITERS: dict[type, Writer] = {
    **dict.fromkeys((type(None), bool, str), lambda encoder, value, depth: value),
    int: _written_int,
    float: _written_float,
    list: _one_level_down(_Encoder._items),
    dict: _one_level_down(_Encoder._dict),
    tuple: _one_level_down(_tuple),
    set: _one_level_down(_set),
    frozenset: _one_level_down(_set),
    **dict.fromkeys(FORM_OF, _Encoder._form),
    np.ndarray: _by_number(_Encoder._array),
    np.memmap: _by_number(_Encoder._array),
    **dict.fromkeys(SPARSE.values(), _by_number(_Encoder._sparse)),
}


def _attributes(value: Any, not_stored: dict[str, Any]) -> dict[str, Any]:
    """Return what an object consists of, without what it can make anew."""
    kind = type(value)
    if is_named_tuple(kind):
        return value._asdict()
    if not hasattr(value, "__dict__") and is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in fields(kind)}
    return {
        name: attribute
        for name, attribute in vars(value).items()
        if name not in not_stored and not isinstance(getattr(kind, name, None), cached_property)
    }
