"""What cannot be stored, where in the model it is, and the way out."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelkin.storage.allowed import FUNCTIONS
from labelkin.storage.arrays import is_storable

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
        way_out = f"Use a class that labelkin.storage.allowed lists, {_RESCORER}."
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
