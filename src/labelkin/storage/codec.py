"""Arrays ↔ bytes: little-endian, one after the other, each at a multiple of 64 bytes.

What is written about an array is its dtype, its shape and whether it lies column by column ("F"),
which decides how products with it round. Where it begins follows from those before it: a file can
neither name bytes outside its own nor give two arrays the same ones.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import MetadataRequest

from labelkin.storage.trusted import (
    FUNCTIONS,
    TYPES,
    check_compressed,
    check_state,
    check_twister,
    class_named,
    function_named,
    is_named_tuple,
    name_of_class,
    name_of_function,
    name_of_type,
)

Bytes = NDArray[np.uint8]

_ALIGNED = 64  # what vector instructions and cache lines like
_MOST_DIMENSIONS = 32
#: Booleans, integers, floats (no long doubles: they differ between machines), text, byte strings.
_DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U\d{1,8}|\|S\d{1,8}")
_LAST_CHARACTER = 0x10FFFF


def is_storable(dtype: np.dtype[Any]) -> bool:
    """Tell whether arrays of a dtype are bytes that mean the same everywhere."""
    return dtype.fields is None and bool(_DTYPE.fullmatch(_little_endian(dtype).str))


def describe(array: NDArray[Any]) -> list[Any]:
    """Return dtype, shape and order of an array as JSON."""
    return [_little_endian(array.dtype).str, list(array.shape), "F" if _by_column(array) else "C"]


def stored_size(array: NDArray[Any]) -> int:
    """Return how many bytes an array takes, those up to the next array included."""
    return _round_up(array.nbytes)


def array_bytes(array: NDArray[Any]) -> Iterator[Any]:
    """Yield the bytes of an array and those up to the next one."""
    plain = np.asarray(array, dtype=_little_endian(array.dtype))
    if plain.nbytes:
        rows = np.ascontiguousarray(plain.T if _by_column(array) else plain)
        yield rows.reshape(-1).view(np.uint8).data
    yield bytes(stored_size(array) - array.nbytes)


def scalar_text(number: np.generic) -> list[str]:
    """Return dtype and bytes of a NumPy scalar as JSON."""
    plain = np.asarray(number, dtype=_little_endian(number.dtype))
    return [plain.dtype.str, plain.tobytes().hex()]


def room_for(n_bytes: int) -> Bytes:
    """Return memory that begins at a multiple of 64 bytes."""
    raw = np.empty(n_bytes + _ALIGNED, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNED
    return raw[start : start + n_bytes]


def read_arrays(descriptions: Any, data: Bytes) -> list[NDArray[Any]]:
    """Return the arrays that lie in ``data``, as views; they must fill it exactly."""
    if not isinstance(descriptions, list):
        raise ValueError(f"its list of arrays is a {type(descriptions).__name__}")
    arrays, end = [], 0
    for description in descriptions:
        array = _view(description, data, end)
        end += stored_size(array)
        arrays.append(array)
    if end != len(data):
        raise ValueError(f"its {len(arrays)} arrays take {end} bytes, and {len(data)} are there")
    return arrays


def read_scalar(dtype: Any, text: Any) -> Any:
    """Return the NumPy scalar that :func:`scalar_text` wrote."""
    if not isinstance(text, str):
        raise ValueError(f"a number is written as {text!r}")
    data = np.frombuffer(bytes.fromhex(text), dtype=np.uint8)
    if len(data) != read_dtype(dtype).itemsize:
        raise ValueError(f"a number of dtype {dtype!r} has {len(data)} bytes")
    return _view([dtype, [], "C"], data, 0)[()]


def read_dtype(name: Any) -> np.dtype[Any]:
    """Return the dtype of a name, if it is one of those that are stored."""
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ValueError(f"an array has the dtype {name!r}, which is never stored")
    return np.dtype(name)


def read_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape from JSON."""
    if (
        not isinstance(shape, list)
        or len(shape) > _MOST_DIMENSIONS
        or not all(type(n) is int and 0 <= n < 2**63 for n in shape)
    ):
        raise ValueError(f"{str(shape)[:80]} is no shape")
    return tuple(shape)


def _view(description: Any, data: Bytes, start: int) -> NDArray[Any]:
    if not isinstance(description, list) or len(description) != 3:
        raise ValueError(f"an array is described as {str(description)[:80]}")
    dtype, shape, order = read_dtype(description[0]), read_shape(description[1]), description[2]
    if order not in ("C", "F"):
        raise ValueError(f"an array lies in the order {order!r}")
    n_bytes = math.prod(shape) * dtype.itemsize
    if start + n_bytes > len(data):
        raise ValueError(
            f"an array of shape {shape} and dtype {dtype.str} needs {n_bytes} bytes, and "
            f"{len(data) - start} are there"
        )
    array: NDArray[Any] = np.ndarray(shape, dtype, data, start if n_bytes else 0, order=order)
    _check_values(array, data[start : start + n_bytes])
    return array


def _check_values(array: NDArray[Any], data: Bytes) -> None:
    """Refuse bytes that are no value of the dtype: NumPy itself does not look."""
    if array.dtype.kind == "b" and data.max(initial=0) > 1:
        raise ValueError(f"an array of booleans holds {data.max()}")
    if array.dtype.kind == "U" and data.view("<u4").max(initial=0) > _LAST_CHARACTER:
        raise ValueError("an array of text holds what is no character")


def _little_endian(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<")


def _by_column(array: NDArray[Any]) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def _round_up(n_bytes: int) -> int:
    return -(-n_bytes // _ALIGNED) * _ALIGNED


class Form(NamedTuple):
    """How objects of some types are written.

    Attributes
    ----------
    types
        The types, exactly.
    write
        Object → plain values; ``None``: this one cannot be written.
    read
        Plain values → object; ``ValueError`` for any others.
    """

    types: tuple[type, ...]
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _read_int(text: Any) -> int:
    return int(_text(text), 16)


def _read_float(text: Any) -> float:
    number = float(_text(text))
    if math.isfinite(number):
        raise ValueError(f"{text!r} is no infinity and no NaN")
    return number


def _read_bytes(text: Any) -> bytes:
    return bytes.fromhex(_text(text))


def _write_slice(value: slice) -> list[Any]:
    return [value.start, value.stop, value.step]


def _read_slice(ends: Any) -> slice:
    if not isinstance(ends, list) or len(ends) != 3:
        raise ValueError("a slice has three ends")
    return slice(*ends)


def _write_dtype(dtype: np.dtype[Any]) -> str | None:
    return dtype.str if is_storable(dtype) and dtype.isnative else None


def _read_function(name: Any) -> Callable[..., Any]:
    function = function_named(_text(name))
    if function is None:
        raise ValueError(f"it names the function {name!r}, which model files may not name")
    return function


def _read_type(name: Any) -> type:
    if _text(name) not in TYPES:
        raise ValueError(f"it names the type {name!r}, which model files may not name")
    return TYPES[name]


def _write_random_state(random: np.random.RandomState) -> dict[str, Any] | None:
    state: Any = random.get_state(legacy=False)
    return state if state["bit_generator"] == "MT19937" else None


def _read_random_state(state: Any) -> np.random.RandomState:
    check_twister(state)
    random = np.random.RandomState()
    random.set_state(state)
    return random


def _write_requests(requests: MetadataRequest) -> list[Any]:
    """Return whose requests they are, by name, and what each method asks for.

    Their owner is the estimator that they are a part of, and is only ever shown.
    """
    owner = requests.owner if isinstance(requests.owner, str) else type(requests.owner).__name__
    methods = {name: part for name, part in vars(requests).items() if hasattr(part, "requests")}
    return [owner, {name: dict(part.requests) for name, part in methods.items() if part.requests}]


def _read_requests(written: Any) -> MetadataRequest:
    if not isinstance(written, list) or len(written) != 2 or not isinstance(written[1], dict):
        raise ValueError("metadata requests are an owner and a mapping")
    requests = MetadataRequest(owner=_text(written[0]))
    for method, params in written[1].items():
        part = vars(requests).get(_text(method))
        if not hasattr(part, "add_request") or not isinstance(params, dict):
            raise ValueError(f"there are no metadata requests for {method!r}")
        for param, alias in params.items():
            if not (alias is None or isinstance(alias, bool | str)):
                raise ValueError(f"metadata are requested as {alias!r}")
            part.add_request(param=_text(param), alias=alias)
    return requests


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text is expected, got {str(value)[:80]!r}")
    return value


_FUNCTION_TYPES = (type(_text), type(len), np.ufunc)
_DTYPES = tuple({type(np.dtype(code)) for code in f"?efdUS{np.typecodes['AllInteger']}"})

FORMS: dict[str, Form] = {
    "int": Form((), hex, _read_int),
    "float": Form((), repr, _read_float),
    "bytes": Form((bytes,), bytes.hex, _read_bytes),
    "slice": Form((slice,), _write_slice, _read_slice),
    "dtype": Form(_DTYPES, _write_dtype, read_dtype),
    "type": Form((type,), name_of_type, _read_type),
    "function": Form(_FUNCTION_TYPES, name_of_function, _read_function),
    "random state": Form((np.random.RandomState,), _write_random_state, _read_random_state),
    "metadata requests": Form((MetadataRequest,), _write_requests, _read_requests),
}
FORM_OF: dict[type, tuple[str, Form]] = {
    kind: (tag, form) for tag, form in FORMS.items() for kind in form.types
}


_RESCORER = (
    "or keep that model as it is, and save a LabelRescorer fitted to the labels, which improves "
    "its scores"
)


class Refusal(Exception):  # noqa: N818
    """Something cannot be stored; the steps that led to it are added on the way up."""

    def __init__(self, error: type[Exception], rule: str, what: str, way_out: str) -> None:
        super().__init__(what)
        self.error, self.rule, self.what, self.way_out = error, rule, what, way_out
        self.steps: list[str] = []

    def as_error(self) -> Exception:
        """Return what the user sees."""
        place = "model" + "".join(reversed(self.steps))
        return self.error(f"{self.rule}, got {self.what} at {place}. {self.way_out}")


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Refuse arrays and scalars whose bytes mean nothing elsewhere."""
    if not is_storable(dtype):
        raise Refusal(
            TypeError,
            "Arrays in a model file hold numbers, booleans or text",
            f"one of dtype {dtype}",
            "Convert it, for instance dates to text.",
        )


def refused(value: Any) -> Refusal:
    """Say why a thing cannot be stored, and what to do."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, np.random.RandomState | np.random.Generator | np.random.BitGenerator):
        what, way_out = f"a {name}", "Give a whole number as random_state."
    elif hasattr(value, "fit") and not isinstance(value, type):
        what = f"an estimator of the class {name}"
        way_out = f"Use a class that labelkin.storage.trusted lists, {_RESCORER}."
    elif callable(value):
        what, way_out = f"a {kind.__name__} ({_code_name(value)})", _way_out_of_code()
    else:
        what = f"a {name}"
        way_out = f"Train without it, {_RESCORER}."
    rule = "A model file holds arrays, plain values and objects of known classes, no code"
    return Refusal(TypeError, rule, what, way_out)


def _code_name(value: Any) -> str:
    return f"{getattr(value, '__module__', '?')}.{getattr(value, '__qualname__', '?')}"


def _way_out_of_code() -> str:
    listed = ", ".join(f"{module}.{name}" for module, names in FUNCTIONS.items() for name in names)
    return (
        f"Use options that are named by texts, such as analyzer='word' and a token_pattern, one of "
        f"{listed}, {_RESCORER}."
    )


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
