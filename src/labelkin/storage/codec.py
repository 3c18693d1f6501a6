"""Models ↔ JSON and arrays.

Values of JSON, also lists, are stored as they are. All others are a mapping with one key, their
type: ``{"tuple": [...]}``, ``{"array": 3}``; ``FORMS`` contains all types. Objects, sparse
matrices and arrays of objects are numbered *parts*: each refers only to parts before it, is written
once however often it occurs, and is one object again when it is read.

Every tag, number, shape and name is checked before it is used; one that does not fit raises a
``ValueError`` that shows it. Objects are created without calling their code: memory of their class,
then their attributes.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from labelkin.storage import trusted
from labelkin.storage.file import (
    MOST_UNUSED,
    Bytes,
    ModelFile,
    describe,
    is_storable,
    read_arrays,
    read_dtype,
    read_shape,
    shown,
)
from labelkin.validation import check_compressed

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
_SPARSE = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)
}


class Form(NamedTuple):
    """How values of some types are written, and read again.

    Attributes
    ----------
    types
        The types, exactly; values of other types are NumPy scalars or objects.
    write
        Value → JSON.
    read
        JSON → value; ``ValueError`` for any other JSON.
    """

    types: tuple[type, ...]
    write: Callable[[Encoder, Any], Any]
    read: Callable[[Decoder, Any], Any]


def _form(types: Iterable[type], write: Callable[[Any], Any], read: Callable[[Any], Any]) -> Form:
    """Return the form of values that are other values in disguise.

    ``write`` returns ``None`` for one that cannot be written.
    """

    def write_disguised(encoder: Encoder, value: Any) -> Any:
        plain = write(value)
        if plain is None:
            raise encoder.unknown(value)
        return encoder.encode(plain)

    def read_disguised(decoder: Decoder, written: Any) -> Any:
        # A list in a tag is one level, as it was when it was written.
        return read(decoder.items(written) if type(written) is list else decoder.decode(written))

    return Form(tuple(types), write_disguised, read_disguised)


def is_key(value: Any) -> bool:
    """Return whether a value may be a key: its size bounds the time of hashing it.

    Objects are not, even where they have a hash: they may share parts, each of which would be
    hashed as often as there are ways to it.
    """
    if type(value) in (tuple, frozenset):
        return all(map(is_key, value))
    plain = (str, int, bool, float, bytes)
    return value is None or type(value) in plain or isinstance(value, np.generic)


def _write_dict(encoder: Encoder, value: dict[Any, Any]) -> Any:
    keys = encoder.items(value, enumerate(value), ".keys() number {}")
    encoder.check_keys(value)
    return [keys, encoder.items(value, value.items(), "[{!r}]")]


def _read_dict(decoder: Decoder, written: Any) -> dict[Any, Any]:
    keys, values = read_list(written, 2)
    keys, values = decoder.keys(keys), decoder.items(values)
    if len(keys) != len(values):
        raise ValueError(f"a mapping has {len(keys)} keys and {len(values)} values")
    return dict(zip(keys, values, strict=True))


def _write_set(encoder: Encoder, value: Iterable[Any]) -> Any:
    """Write a set in sorted order: the order of a set differs from run to run."""
    written = encoder.items(value, enumerate(value), " element {}")
    encoder.check_keys(value)
    return sorted(written, key=json.dumps)


def _read_float(written: Any) -> float:
    number = float(_text(written))
    if math.isfinite(number):
        raise ValueError(f"{written!r} is no infinity and no NaN")
    return number


def _write_array(encoder: Encoder, array: NDArray[Any]) -> int:
    encoder.check_dtype(array.dtype)
    encoder.arrays.append(array)
    return len(encoder.arrays) - 1


def _read_scalar(array: Any) -> Any:
    if not isinstance(array, np.ndarray) or array.shape:
        raise ValueError("a scalar must be an array without dimensions")
    return array[()]


def _write_objects(encoder: Encoder, array: NDArray[np.object_]) -> Any:
    items = enumerate(array.ravel().tolist())
    return [list(array.shape), encoder.items(array, items, ".ravel()[{}]")]


def _read_objects(decoder: Decoder, written: Any) -> NDArray[np.object_]:
    shape, items = read_list(written, 2)
    shape, items = read_shape(shape), decoder.items(items)
    if math.prod(shape) != len(items):
        raise ValueError(f"an array of shape {shape} has {len(items)} objects")
    flat = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):  # one by one: NumPy would unpack sequences
        flat[i] = item
    return flat.reshape(shape)


def _write_sparse(matrix: Any) -> list[Any] | None:
    if matrix.ndim != 2:
        return None
    n_stored = int(matrix.indptr[-1])  # there may be room for more
    parts = matrix.data[:n_stored], matrix.indices[:n_stored], matrix.indptr
    return [type(matrix).__name__, [int(n) for n in matrix.shape], *parts]


def _read_sparse(written: Any) -> Any:
    name, shape, data, indices, indptr = read_list(written, 5)
    if not isinstance(name, str) or name not in _SPARSE:
        raise ValueError(f"a sparse matrix is a {shown(name)}")
    if not all(isinstance(part, np.ndarray) for part in (data, indices, indptr)):
        raise ValueError("the parts of a sparse matrix must be arrays")
    shape = read_shape(shape)
    check_compressed(shape if name.startswith("csr") else shape[::-1], data, indices, indptr)
    if max(shape) > max(MOST_UNUSED, len(indptr)):
        raise ValueError(f"a sparse matrix of {len(data)} values has the shape {shape}")
    matrix = _SPARSE[name]((data, indices, indptr), shape=shape)
    matrix.indices, matrix.indptr = indices, indptr  # SciPy would choose narrower integers
    return matrix


def _write_object(encoder: Encoder, value: Any) -> Any:
    name = trusted.name_of(type(value))
    if name is None:
        raise encoder.unknown(value)
    attributes = _attributes(value, trusted.NOT_STORED.get(name, {}))
    try:
        trusted.check_state(name, attributes)
    except ValueError as error:
        rule, hint = "A model file must be safe to load", "Change that and train again."
        raise encoder.error(ValueError, rule, str(error), hint) from None
    encoder.class_names.add(name)
    written = encoder.items(value, attributes.items(), ".{}")
    return [name, dict(zip(attributes, written, strict=True))]


def _attributes(value: Any, not_stored: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an object, without metadata requests and those computed again."""
    kind = type(value)
    return {name: getattr(value, name) for name in fields_of(kind)} | {
        name: attribute
        for name, attribute in getattr(value, "__dict__", {}).items()
        if name not in (*not_stored, "_metadata_request")
        and not isinstance(getattr(kind, name, None), cached_property)
    }


def _read_object(decoder: Decoder, written: Any) -> Any:
    name, attributes = read_list(written, 2)
    kind = trusted.named("class", name)
    if not isinstance(attributes, dict):
        raise ValueError(f"the attributes of {name} are no mapping")
    state = {key: decoder.decode(value) for key, value in attributes.items()}
    _check_attributes(name, kind, state)
    trusted.check_state(name, state)
    decoder.class_names.add(name)
    if state.get("n_jobs") is not None:  # of another machine
        state["n_jobs"] = min(state["n_jobs"], os.cpu_count() or 1)
    if issubclass(kind, tuple):
        return kind(**state)
    made: Any = object.__new__(kind)
    state |= trusted.NOT_STORED.get(name, {})
    if hasattr(made, "__dict__"):
        vars(made).update(state)  # past properties, which are code
    else:
        for key, value in state.items():
            object.__setattr__(made, key, value)
    return made


def _check_attributes(name: str, kind: Any, state: dict[str, Any]) -> None:
    """Raise for impossible attributes, and for objects of labelkin that lack some."""
    strange = [
        key
        for key in state
        if not key.isidentifier()
        or key.startswith("__")
        or (key not in fields_of(kind) and callable(getattr(kind, key, None)))  # a method's place
    ]
    if strange:
        raise ValueError(f"{name} has the attribute {strange[0][:80]!r}")
    needed = set(fields_of(kind))
    if not needed and not name.startswith("sklearn."):
        needed = set(kind._get_param_names())
    lacking = sorted(needed - set(state))
    if lacking:
        raise ValueError(
            f"{name} lacks {', '.join(lacking)}, which this version has; read the file with the "
            "version that wrote it, or train again"
        )
    if "__slots__" in vars(kind) and set(state) != needed:
        raise ValueError(f"{name} has other fields than {', '.join(sorted(needed))}")


def _write_type(kind: type) -> str | None:
    return next((name for name, known in trusted.TYPES.items() if known is kind), None)


def _write_dtype(dtype: np.dtype[Any]) -> str | None:
    return dtype.str if is_storable(dtype) and dtype.isnative else None


def _read_slice(ends: Any) -> slice:
    if not isinstance(ends, list) or len(ends) != 3:
        raise ValueError("a slice has three ends")
    return slice(*ends)


_FUNCTIONS = (type(_form), type(len), np.ufunc)
_DTYPES = {type(np.dtype(code)) for code in f"?efdUS{np.typecodes['AllInteger']}"}
FORMS: dict[str, Form] = {
    "int": _form([int], hex, lambda written: int(_text(written), 16)),
    "float": _form([float], repr, _read_float),
    "bytes": _form([bytes], bytes.hex, lambda written: bytes.fromhex(_text(written))),
    "tuple": _form([tuple], list, lambda written: tuple(read_list(written))),
    "dict": Form((dict,), _write_dict, _read_dict),
    "set": Form((set,), _write_set, lambda decoder, written: set(decoder.keys(written))),
    "frozenset": Form(
        (frozenset,), _write_set, lambda decoder, written: frozenset(decoder.keys(written))
    ),
    "slice": _form([slice], lambda value: [value.start, value.stop, value.step], _read_slice),
    "type": _form([type], _write_type, partial(trusted.named, "type")),
    "function": _form(_FUNCTIONS, trusted.name_of, partial(trusted.named, "function")),
    "dtype": _form(_DTYPES, _write_dtype, read_dtype),
    "scalar": _form([], np.asarray, _read_scalar),
    "array": Form(
        (np.ndarray, np.memmap),
        _write_array,
        lambda decoder, written: read_numbered(decoder.arrays, written, "array"),
    ),
    "objects": Form((), _write_objects, _read_objects),
    "sparse": _form(_SPARSE.values(), _write_sparse, _read_sparse),
    "object": Form((), _write_object, _read_object),
}
PART_TAGS = ("object", "objects", "sparse")
_TAGS: dict[type, str] = {kind: tag for tag, form in FORMS.items() for kind in form.types}


def tag_of(value: Any) -> str:
    """Return under which tag a value is written."""
    tag = _TAGS.get(type(value), "scalar" if isinstance(value, np.generic) else "object")
    return "objects" if tag == "array" and value.dtype == object else tag


def is_json(value: Any) -> bool:
    """Return whether a value is one of JSON, lists and mappings aside, and comes back as it is."""
    kind = type(value)
    if kind is int:
        return -(2**63) <= value < 2**63
    if kind is float:
        return math.isfinite(value)
    return kind is str or kind is bool or value is None


def fields_of(kind: Any) -> tuple[str, ...]:
    """Return the fields of a named tuple or dataclass; other classes have none."""
    listed = fields(kind) if is_dataclass(kind) else ()
    return getattr(kind, "_fields", tuple(field.name for field in listed))


def read_list(written: Any, length: int | None = None) -> list[Any]:
    """Return a value that must be a list, of ``length`` items if given."""
    if not isinstance(written, list) or (length is not None and len(written) != length):
        came = shown(written)
        if isinstance(written, list):
            came += f" of {len(written)}"
        raise ValueError(f"a list of {length or 'things'} is expected, got {came}")
    return written


def _text(written: Any) -> str:
    if not isinstance(written, str):
        raise ValueError(f"a text is expected, got {shown(written)}")
    return written


def read_numbered(things: list[Any], number: Any, what: str) -> Any:
    """Return the thing that a number stands for."""
    if type(number) is not int or not 0 <= number < len(things):
        raise ValueError(
            f"it refers to {what} {str(number)[:80]} where there are {len(things)} so far"
        )
    return things[number]


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
