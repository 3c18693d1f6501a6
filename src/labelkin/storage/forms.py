"""Small objects that are plain data in disguise: each has a tag, a way there and a way back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from labelkin.storage.allowed import TYPES, function_named, name_of_function, name_of_type
from labelkin.storage.arrays import is_storable, read_dtype
from labelkin.storage.checks import check_twister


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
