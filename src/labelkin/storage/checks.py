"""What must hold in a file before compiled code is let loose on it.

The checksum finds accidents. These checks find a file that was made to mislead: positions outside
an array, which SciPy's and NumPy's compiled loops follow without a look, and a vectoriser for which
texts are names of files to open.
"""

from __future__ import annotations

from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TWISTER_WORDS = 624


def check_compressed(
    shape: tuple[int, ...], data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]
) -> None:
    """Refuse parts that are no sparse matrix; ``shape`` counts what ``indptr`` cuts first."""
    if len(shape) != 2:
        raise ValueError(f"a sparse matrix has the shape {shape}")
    if any(part.ndim != 1 for part in (data, indices, indptr)):
        raise ValueError("the parts of a sparse matrix must be vectors")
    if any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)):
        raise ValueError("the positions in a sparse matrix must be integers of 32 or 64 bits")
    if data.dtype.kind not in "biuf":
        raise ValueError(f"a sparse matrix holds values of dtype {data.dtype}")
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of a sparse matrix do not follow each other")
    if not indptr[-1] == len(indices) == len(data):
        raise ValueError("a sparse matrix has not as many positions as values")
    if len(indices) and not 0 <= indices.min() <= indices.max() < shape[1]:
        raise ValueError(f"a sparse matrix has positions outside its shape {shape}")


def check_twister(state: Any) -> None:
    """Refuse what is no state of NumPy's ``RandomState``."""
    try:
        words, place = state["state"]["key"], state["state"]["pos"]
        fits = (
            state["bit_generator"] == "MT19937"
            and words.dtype == np.uint32
            and words.shape == (_TWISTER_WORDS,)
            and type(place) is int
            and 0 <= place <= _TWISTER_WORDS
            and state["has_gauss"] in (0, 1)
            and isinstance(state["gauss"], float)
        )
    except (KeyError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise ValueError("a random state is not one of the Mersenne twister")


def check_state(name: str, state: dict[str, Any]) -> None:
    """Refuse attributes that would lead an object of the class ``name`` outside its arrays."""
    check = _CHECKS.get(name.rpartition(".")[2])
    if check is not None:
        check(state)


def _check_vocabulary(state: dict[str, Any]) -> None:
    _check_input(state)
    if "vocabulary_" not in state:
        return
    terms = state["vocabulary_"]
    if not (
        isinstance(terms, dict)
        and all(type(term) is str for term in terms)
        and all(type(column) in (int, np.int32, np.int64) for column in terms.values())
        and set(terms.values()) == set(range(len(terms)))
    ):
        raise ValueError("a vocabulary that does not number its terms from 0, each once")


def _check_hashing(state: dict[str, Any]) -> None:
    _check_input(state)
    n_features = state.get("n_features")
    if not (isinstance(n_features, int | np.integer) and 1 <= n_features < 2**31):
        raise ValueError(f"a HashingVectorizer with n_features={str(n_features)[:80]}")


def _check_input(state: dict[str, Any]) -> None:
    how = state.get("input", "content")
    if how != "content":
        raise ValueError(
            f"a vectoriser with input={str(how)[:80]!r}, to which texts name files to open (read "
            "them before, and use input='content')"
        )


def _check_bound_rules(state: dict[str, Any]) -> None:
    """Refuse columns that are no labels, and implications that go round."""
    n_labels = len(state["names"])
    pairs, groups = state["implies"], state["groups"]
    columns = [column for columns in (*pairs, *groups) for column in columns]
    if not all(isinstance(c, int | np.integer) and 0 <= c < n_labels for c in columns):
        raise ValueError(f"rules about columns that are not among {n_labels} labels")
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for narrower, broader in pairs:
        sorter.add(int(narrower), int(broader))
    try:
        sorter.prepare()
    except CycleError:
        raise ValueError("rules that imply each other in a circle") from None


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "BoundRules": _check_bound_rules,
    "CountVectorizer": _check_vocabulary,
    "HashingVectorizer": _check_hashing,
    "TfidfVectorizer": _check_vocabulary,
    "WordCounts": _check_vocabulary,
}
