"""Models ↔ JSON and arrays.

Values of JSON, also lists, are stored as they are. All others are a mapping with one key, their
type: ``{"tuple": [...]}``, ``{"array": 3}``; ``FORMS`` contains all types. A model is a tree:
only arrays are numbered, so that an array that occurs twice is stored once. An object that occurs
twice is written twice, and its copies share their arrays when they are read.

Every tag, number, shape and name is checked before it is used; one that does not fit raises a
``ValueError`` that shows it. Objects are created without calling their code: memory of their class,
then their attributes.
"""

from __future__ import annotations

import math
import os
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

#: Levels of containers and objects: of a model that is saved, and with their tags in a file.
_MOST_LEVELS, _MOST_LEVELS_READ = 90, 100
_RESCORER = (
    "or keep that model as it is, and save a LabelRescorer fitted to the labels, which improves "
    "its scores"
)
_CLASSES = f"Use a class that labelkin.storage.trusted lists, {_RESCORER}."
_SPARSE = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)
}


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
    """Return whether a value may be a key: plain ones, whose hash takes little time and is spread.

    Many tuples, frozensets or large integers of the same hash can be made at will, and a dictionary
    compares each of them with all others.
    """
    return is_json(value) or isinstance(value, np.generic)


def _write_dict(encoder: Encoder, value: dict[Any, Any]) -> Any:
    for key in value:
        if not is_key(key):
            rule, hint = "Keys in a model file are plain values", "Use text or numbers as keys."
            raise encoder.error(TypeError, rule, f"a {type(key).__name__} as a key", hint)
    keys = encoder.items(value, enumerate(value), ".keys() number {}")
    return [keys, encoder.items(value, value.items(), "[{!r}]")]


def _read_dict(decoder: Decoder, written: Any) -> dict[Any, Any]:
    keys, values = read_list(written, 2)
    keys, values = decoder.keys(keys), decoder.items(values)
    if len(keys) != len(values):
        raise ValueError(f"a mapping has {len(keys)} keys and {len(values)} values")
    return dict(zip(keys, values, strict=True))


def _write_set(encoder: Encoder, value: Iterable[Any]) -> Any:
    """Write a set as a list in sorted order: the order of a set differs from run to run."""
    if not all(map(is_key, value)):
        raise encoder.unknown(value)
    return encoder.items(value, enumerate(sorted(value, key=repr)), " element {}")


def _read_float(written: Any) -> float:
    if written not in ("inf", "-inf", "nan"):
        raise ValueError(f"a number outside JSON is inf, -inf or nan, got {shown(written)}")
    return float(written)


def _write_array(encoder: Encoder, array: NDArray[Any]) -> int:
    if not is_storable(array.dtype):
        rule = "Arrays in a model file hold numbers, booleans or text"
        hint = "Convert it, for instance dates to text."
        raise encoder.error(TypeError, rule, f"one of dtype {array.dtype}", hint)
    return encoder.number(array)


def _read_array(decoder: Decoder, number: Any) -> NDArray[Any]:
    if type(number) is not int or not 0 <= number < len(decoder.arrays):
        n_arrays = len(decoder.arrays)
        raise ValueError(f"it refers to array {str(number)[:80]} of {n_arrays} arrays")
    return decoder.arrays[number]


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
    n_stored = int(matrix.indptr[-1])
    data, indices = matrix.data, matrix.indices
    if len(data) > n_stored:  # there may be room for more
        data, indices = data[:n_stored], indices[:n_stored]
    return [type(matrix).__name__, [int(n) for n in matrix.shape], data, indices, matrix.indptr]


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
    """Raise for other fields than those of a record, for methods, and for missing parameters."""
    if listed := fields_of(kind):
        if set(state) != set(listed):
            raise ValueError(f"{name} must have the fields {', '.join(listed)}")
        return
    for key in state:
        if not key.isidentifier() or key.startswith("__") or callable(getattr(kind, key, None)):
            raise ValueError(f"{name} has the attribute {key[:80]!r}")
    needed = () if name.startswith("sklearn.") else kind._get_param_names()
    if lacking := sorted(set(needed) - set(state)):
        raise ValueError(
            f"{name} lacks {', '.join(lacking)}, which this version has; read the file with the "
            "version that wrote it, or train again"
        )


def _write_type(kind: type) -> str | None:
    return next((name for name, known in trusted.TYPES.items() if known is kind), None)


def _write_dtype(dtype: np.dtype[Any]) -> str | None:
    return dtype.str if is_storable(dtype) and dtype.isnative else None


_FUNCTIONS = (type(_form), type(len), np.ufunc)
_DTYPES = {type(np.dtype(code)) for code in f"?efdUS{np.typecodes['AllInteger']}"}
FORMS: dict[str, Form] = {
    "float": _form([float], repr, _read_float),
    "tuple": _form([tuple], list, lambda written: tuple(read_list(written))),
    "dict": Form((dict,), _write_dict, _read_dict),
    "set": Form((set,), _write_set, lambda decoder, written: set(decoder.keys(written))),
    "frozenset": Form(
        (frozenset,), _write_set, lambda decoder, written: frozenset(decoder.keys(written))
    ),
    "slice": _form(
        [slice],
        lambda value: [value.start, value.stop, value.step],
        lambda ends: slice(*read_list(ends, 3)),
    ),
    "type": _form([type], _write_type, partial(trusted.named, "type")),
    "function": _form(_FUNCTIONS, trusted.name_of, partial(trusted.named, "function")),
    "dtype": _form(_DTYPES, _write_dtype, read_dtype),
    "scalar": _form([], np.asarray, _read_scalar),
    "array": Form((np.ndarray, np.memmap), _write_array, _read_array),
    "objects": Form((), _write_objects, _read_objects),
    "sparse": _form(_SPARSE.values(), _write_sparse, _read_sparse),
    "object": Form((), _write_object, _read_object),
}
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
        raise ValueError(f"a list of {length or 'things'} is expected, got {shown(written)}")
    return written
