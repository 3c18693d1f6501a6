"""The rows of an ARFF file, dense or sparse, as numbers."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from labelkin.corpora.arff_header import Attribute, meaningful_lines, split_values, unquote
from labelkin.corpora.text_files import bad_line


@dataclass(frozen=True)
class Column:
    """How the values of an attribute become numbers.

    Attributes
    ----------
    name
        The attribute.
    number_of
        Value, as written, → number; ``?`` → NaN. Raises KeyError or ValueError.
    expected
        What values must be, for errors.
    omitted
        What a sparse row means that does not mention the attribute: 0, or the first value
        declared.
    levels
        The words that the numbers 0, 1, 2 … stand for; empty where they are just numbers.
    """

    name: str
    number_of: Callable[[str], float]
    expected: str
    omitted: float = 0.0
    levels: tuple[str, ...] = ()


def feature_column(attribute: Attribute) -> Column:
    """Return how to read a feature: numbers, yes and no as 1 and 0, other words as levels."""
    if attribute.values is None:
        return Column(attribute.name, _number, "a number")
    values = attribute.values
    numbers = _numbers_of(values)
    levels = () if numbers else values
    numbers = numbers or {value: float(k) for k, value in enumerate(values)}
    return _coded(attribute.name, values, numbers, levels)


def label_column(path: Path, attribute: Attribute) -> Column:
    """Return how to read a label: 0, 1, yes, no, or ``?`` where nobody knows."""
    values = attribute.values or ("0", "1", "0.0", "1.0")
    numbers = _numbers_of(values)
    if not numbers or not set(numbers.values()) <= {0.0, 1.0}:
        raise bad_line(
            path,
            attribute.line,
            f"a label must be declared {{0,1}}, got {attribute.name!r} with "
            f"{{{','.join(values)[:60]}}}. Is it a label?",
        )
    return _coded(attribute.name, values, numbers, ())


def read_rows(
    path: Path, lines: Iterator[tuple[int, str]], columns: Sequence[Column]
) -> tuple[sparse.csr_array, bool]:
    """Read all rows; return the values, CSR ``(n_rows, n_columns)``, and whether any is sparse.

    What is not stored is 0; NaN is unknown.
    """
    values, indices, indptr = array("d"), array("i"), array("i", [0])
    reader = _RowReader(columns)
    any_sparse = False
    for number, line in meaningful_lines(lines):
        any_sparse |= line.startswith("{")
        try:
            row = reader.read(line)
        except _RowError as bad:
            raise bad_line(path, number, str(bad)) from None
        indices.extend(row)
        values.extend(row.values())
        indptr.append(len(indices))
    if len(indptr) == 1:
        raise ValueError(f"{path.name}: there must be rows after @data, got none.")
    shape = (len(indptr) - 1, len(columns))
    matrix = sparse.csr_array(tuple(map(np.array, (values, indices, indptr))), shape=shape)
    matrix.sort_indices()
    return matrix, any_sparse


_YES = {"yes", "true", "y", "t"}
_NO = {"no", "false", "n", "f"}


def _number(text: str) -> float:
    if text == "?":
        return math.nan
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _numbers_of(values: Sequence[str]) -> dict[str, float]:
    """Return the numbers that declared values are; none where they are other words."""
    words = {value.lower() for value in values}
    if len(values) == 2 and words & _YES and words & _NO:
        return {value: float(value.lower() in _YES) for value in values}
    try:
        return {value: _number(value) for value in values if value != "?"}
    except ValueError:
        return {}


def _coded(
    name: str, values: tuple[str, ...], numbers: dict[str, float], levels: tuple[str, ...]
) -> Column:
    shown = ",".join(values)
    expected = f"one of {{{shown if len(shown) < 60 else shown[:60] + '…'}}}"
    omitted = numbers.get(values[0], 0.0)
    return Column(name, {**numbers, "?": math.nan}.__getitem__, expected, omitted, levels)


class _RowError(Exception):
    """A row that does not fit the header."""


class _RowReader:
    """Rows, as written, → position of the column and number, of all that are given."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._readers = [column.number_of for column in columns]
        self._omitted = {j: c.omitted for j, c in enumerate(columns) if c.omitted}

    def read(self, line: str) -> dict[int, float]:
        """Return the row without the zeros it does not mention."""
        return self._read_sparse(line) if line.startswith("{") else self._read_dense(line)

    def _read_dense(self, line: str) -> dict[int, float]:
        values = split_values(line)
        if len(values) != len(self._columns):
            raise _RowError(
                f"a row must have {len(self._columns)} values, one per attribute, got "
                f"{len(values)}. Is the file cut off?"
            )
        try:
            numbers = [read(value) for read, value in zip(self._readers, values, strict=True)]
        except (KeyError, ValueError):
            raise self._wrong_value(enumerate(values)) from None
        return dict(enumerate(numbers))

    def _read_sparse(self, line: str) -> dict[int, float]:
        if not line.endswith("}"):
            raise _RowError(
                f"a sparse row must end with }}, got {line[-20:]!r}. Is the file cut off?"
            )
        places, values = _split_pairs(line[1:-1])
        try:
            row = {j: self._readers[j](value) for j, value in zip(places, values, strict=True)}
        except IndexError:
            raise self._wrong_place(places) from None
        except (KeyError, ValueError):
            raise self._wrong_value(zip(places, values, strict=True)) from None
        if len(row) < len(places):
            raise _RowError(
                f"a sparse row must name an attribute once, got {_repeated(places)} twice."
            )
        if self._omitted:
            row = self._omitted | row
        return row

    def _wrong_place(self, places: Sequence[int]) -> _RowError:
        wrong = next(j for j in places if j >= len(self._columns))
        return _RowError(
            f"attributes are numbered 0 to {len(self._columns) - 1}, got {wrong} in a sparse row."
        )

    def _wrong_value(self, pairs: Iterator[tuple[int, str]]) -> _RowError:
        j, value = next((j, value) for j, value in pairs if not _fits(self._columns[j], value))
        column = self._columns[j]
        return _RowError(
            f"attribute {column.name!r} must be {column.expected}, or ? where unknown, got "
            f"{value!r}."
        )


def _fits(column: Column, value: str) -> bool:
    try:
        column.number_of(value)
    except (KeyError, ValueError):
        return False
    return True


_PAIRS = re.compile(r"\s*([0-9]+)\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,'\"\s]+)\s*(,|$)")


def _split_pairs(text: str) -> tuple[list[int], list[str]]:
    """Split ``0 1, 7 'a word'`` into positions and values."""
    if "'" not in text and '"' not in text:
        words = text.replace(",", " ").split()
        if len(words) == 2 * (text.count(",") + 1) and all(map(str.isdigit, words[::2])):
            return list(map(int, words[::2])), words[1::2]
    return _split_pairs_slowly(text)


def _split_pairs_slowly(text: str) -> tuple[list[int], list[str]]:
    places, values = [], []
    position = 0
    while position < len(text.rstrip()):
        pair = _PAIRS.match(text, position)
        if not pair:
            raise _RowError(
                f"a sparse row must be pairs of position and value, got {text[position:][:40]!r}."
            )
        places.append(int(pair[1]))
        values.append(unquote(pair[2]))
        position = pair.end()
    return places, values


def _repeated(places: Sequence[int]) -> int:
    return next(j for i, j in enumerate(places) if j in places[:i])
