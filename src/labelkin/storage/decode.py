"""JSON and arrays → objects; the other direction is in ``encode``.

Nothing is trusted: every tag, number, shape and name is looked at before it is used, and whatever
does not fit is a ``ValueError`` that says what it is. Objects are made without calling their code:
memory of their class, then their attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from labelkin.storage.allowed import class_named, is_named_tuple
from labelkin.storage.arrays import Bytes, read_arrays, read_scalar, read_shape
from labelkin.storage.checks import check_compressed, check_state
from labelkin.storage.encode import DEEPEST, NOT_STORED, SPARSE
from labelkin.storage.forms import FORMS


def decode_model(written: Any, data: Bytes) -> Any:
    """Build the model from JSON and the bytes of its arrays."""
    if not isinstance(written, dict) or set(written) != {"model", "parts", "arrays"}:
        raise ValueError("its model is not made of parts and arrays")
    decoder = _Decoder(read_arrays(written["arrays"], data))
    for part in _list(written["parts"]):
        decoder.add(part)
    model = decoder.decode(written["model"], 0)
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"it holds a {type(model).__name__}, which is no estimator")
    return model


class _Decoder:
    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self.parts: list[Any] = []

    def add(self, part: Any) -> None:
        """Build the next part; it can only refer to those before it."""
        tag, content = _tagged(part)
        if tag not in _PARTS:
            raise ValueError(f"a part is a {tag[:80]!r}")
        self.parts.append(_PARTS[tag](self, content))

    def decode(self, written: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError(f"it nests deeper than {DEEPEST} levels")
        if isinstance(written, list):
            return [self.decode(item, depth + 1) for item in written]
        if not isinstance(written, dict):
            return written
        tag, content = _tagged(written)
        if tag in FORMS:
            return FORMS[tag].read(self.decode(content, depth + 1))
        if tag not in _VALUES:
            raise ValueError(f"a value is a {tag[:80]!r}")
        return _VALUES[tag](self, content, depth + 1)

    def _items(self, written: Any, depth: int) -> list[Any]:
        return [self.decode(item, depth) for item in _list(written)]

    def _dict(self, written: Any, depth: int) -> dict[Any, Any]:
        keys, values = (self._items(half, depth) for half in _list(written, 2))
        if len(keys) != len(values):
            raise ValueError(f"a mapping has {len(keys)} keys and {len(values)} values")
        return dict(zip(_hashable(keys), values, strict=True))

    def _scalar(self, written: Any, depth: int) -> Any:
        return read_scalar(*_list(written, 2))

    def _array(self, written: Any, depth: int) -> Any:
        return _numbered(self.arrays, written, "array")

    def _part(self, written: Any, depth: int) -> Any:
        return _numbered(self.parts, written, "part")

    def _objects(self, written: Any) -> NDArray[np.object_]:
        shape, written_items = _list(written, 2)
        items = self._items(written_items, 1)
        shape = read_shape(shape)
        if prod(shape) != len(items):
            raise ValueError(f"an array of shape {shape} has {len(items)} objects")
        flat = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):  # one by one: NumPy would unpack sequences
            flat[i] = item
        return flat.reshape(shape)

    def _sparse(self, written: Any) -> Any:
        name, shape, *parts = _list(written, 5)
        if not isinstance(name, str) or name not in SPARSE:
            raise ValueError(f"a sparse matrix is a {str(name)[:80]!r}")
        data, indices, indptr = (self.decode(part, 1) for part in parts)
        if not all(isinstance(part, np.ndarray) for part in (data, indices, indptr)):
            raise ValueError("the parts of a sparse matrix must be arrays")
        shape = read_shape(shape)
        check_compressed(shape if name.startswith("csr") else shape[::-1], data, indices, indptr)
        matrix = SPARSE[name]((data, indices, indptr), shape=shape)
        matrix.indices, matrix.indptr = indices, indptr  # SciPy would choose narrower integers
        matrix.check_format(full_check=True)
        return matrix

    def _object(self, written: Any) -> Any:
        name, attributes = _list(written, 2)
        kind = class_named(name) if isinstance(name, str) else None
        if kind is None:
            raise ValueError(
                f"it names the class {str(name)[:80]!r}, which model files may not name"
            )
        if not isinstance(attributes, dict):
            raise ValueError(f"the attributes of {name} are no mapping")
        state = {key: self.decode(value, 1) for key, value in attributes.items()}
        _check_names(name, kind, state)
        check_state(name, state)
        return _make(kind, {**state, **NOT_STORED.get(name, {})})


_VALUES: dict[str, Callable[[_Decoder, Any, int], Any]] = {
    "array": _Decoder._array,
    "dict": _Decoder._dict,
    "frozenset": lambda decoder, written, depth: frozenset(
        _hashable(decoder._items(written, depth))
    ),
    "part": _Decoder._part,
    "scalar": _Decoder._scalar,
    "set": lambda decoder, written, depth: set(_hashable(decoder._items(written, depth))),
    "tuple": lambda decoder, written, depth: tuple(decoder._items(written, depth)),
}
_PARTS: dict[str, Callable[[_Decoder, Any], Any]] = {
    "object": _Decoder._object,
    "objects": _Decoder._objects,
    "sparse": _Decoder._sparse,
}


def _make(kind: type, state: dict[str, Any]) -> Any:
    if is_named_tuple(kind):
        return kind(**state)
    made: Any = object.__new__(kind)
    if hasattr(made, "__dict__"):
        vars(made).update(state)
    else:
        for name, value in state.items():
            object.__setattr__(made, name, value)
    return made


def _check_names(name: str, kind: type, state: dict[str, Any]) -> None:
    """Refuse attributes that are none, and objects that lack some."""
    strange = [key for key in state if not key.isidentifier() or key.startswith("__")]
    if strange:
        raise ValueError(f"{name} has the attribute {strange[0][:80]!r}")
    needed = _needed(kind)
    lacking = sorted(needed - set(state))
    if lacking:
        raise ValueError(
            f"{name} lacks {', '.join(lacking)}, which this version has; read the file with the "
            "version that wrote it, or train again"
        )
    if is_named_tuple(kind) and set(state) != needed:
        raise ValueError(f"{name} has other fields than {', '.join(sorted(needed))}")


def _needed(kind: type) -> set[str]:
    """Return the attributes without which an object of ours is not whole."""
    if is_named_tuple(kind):
        return set(kind._fields)  # type: ignore[attr-defined]
    if is_dataclass(kind):
        return {field.name for field in fields(kind)}
    if kind.__module__.startswith("labelkin."):
        return set(kind._get_param_names())  # type: ignore[attr-defined]
    return set()


def _tagged(written: Any) -> tuple[str, Any]:
    if not isinstance(written, dict) or len(written) != 1:
        raise ValueError(f"{str(written)[:80]} is neither a value nor a part")
    return next(iter(written.items()))


def _list(written: Any, length: int | None = None) -> list[Any]:
    if not isinstance(written, list) or (length is not None and len(written) != length):
        raise ValueError(f"a list of {length or 'things'} is expected, got {str(written)[:80]}")
    return written


def _numbered(things: list[Any], number: Any, what: str) -> Any:
    if type(number) is not int or not 0 <= number < len(things):
        raise ValueError(
            f"it refers to {what} {str(number)[:80]} where there are {len(things)} so far"
        )
    return things[number]


def _hashable(values: list[Any]) -> list[Any]:
    try:
        hash(tuple(values))
    except TypeError as error:
        raise ValueError(f"a key of a mapping or set cannot be one ({error})") from None
    return values
