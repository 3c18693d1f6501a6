"""Multilabel ARFF: of MULAN, with an XML file of the labels, and of MEKA, with ``-C``.

liac-arff 2.5 reads the published files also, 7 to 15 times as slowly if they are sparse. A row of
a megabyte of blanks, or 30,000 attributes, takes it more than a minute.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus, kind_of_features, label_fields
from labelkin.corpora.lines import decoded_lines, line_of
from labelkin.files import MOST_UNSEEN, check_declared
from labelkin.label_matrix import read_labels


def read_arff(
    path: str | PathLike[str], *, n_train: int | None = None, ids: str | None = None
) -> Corpus:
    """Read a file of MEKA or MULAN, or a folder of MULAN with ``x-train.arff`` and ``x-test.arff``.

    The file ``x.xml`` beside it, or in the folder, names the labels. Without it MEKA's ``-C 6`` in
    the relation says that the first 6 attributes are the labels, ``-C -6`` the last 6.

    Features are the other attributes: numbers as they are, yes and no (or true and false) as 1 and
    0, attributes of other words as one 0/1 feature ``name=word`` per word. The documents are CSR if
    the rows of the file are sparse or its words become very many features, else dense; a value
    ``?`` is NaN. A label that is ``?`` is unknown.

    Parameters
    ----------
    path : path
        A file, maybe packed, or a folder; its name is the name of the corpus.
    n_train : int, optional
        Number of training documents, from the first; the others are for testing. Default: those of
        ``x-train.arff``, else all. MEKA's ``-split`` options are ignored.
    ids : str, optional
        The attribute that names the documents; it is not a feature.
    """
    path = Path(path)
    stem = path.name.split(".arff")[0]
    if path.is_dir():
        has_parts = any(any(path.glob(f"*-{part}.arff*")) for part in ("train", "test"))
        patterns = ("*-train.arff*", "*-test.arff*") if has_parts else ("*.arff*",)
        paths, xml = [_only(path, pattern) for pattern in patterns], [_only(path, "*.xml")]
    else:
        stems = (stem, stem.removesuffix("-train").removesuffix("-test"))
        paths = [path]
        xml = [file for x in stems if (file := path.with_name(f"{x}.xml")).is_file()]
    tables = [_read_table(one, xml[0] if xml else None) for one in paths]
    n_documents = sum(table.values.shape[0] for table in tables)
    n_train = tables[0].values.shape[0] if n_train is None else n_train
    if not 0 < n_train <= n_documents:
        raise ValueError(
            f"n_train must be 1 to {n_documents}, the number of documents in {path.name}, "
            f"got {n_train!r}."
        )
    return _corpus(tables, name=stem, n_train=n_train, ids=ids)


def _only(folder: Path, pattern: str, hint: str = "") -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise FileNotFoundError(f"{folder} must have one file {pattern}, got {names}.{hint}")
    return found[0]


# From tables to a corpus.

_SOURCE = (
    "in the format of MULAN (https://mulan.sourceforge.net/datasets-mlc.html) or MEKA "
    "(https://waikato.github.io/meka/)"
)
#: The number of labels in a relation of MEKA.
_OPTION = re.compile(r"(?:^|[\s:])-[Cc]\s+(-?[0-9]+)\b")


class _Column(NamedTuple):
    """How the values of an attribute become numbers.

    Attributes
    ----------
    number_of
        Value, as written, → number; ``?`` → NaN. Raises KeyError or ValueError.
    expected
        The rule, for errors.
    omitted
        The number in a sparse row that does not mention the attribute: 0, or that of the first
        value declared.
    levels
        The words of the numbers 0, 1, 2 …; empty for numbers.
    """

    name: str
    number_of: Callable[[str], float]
    expected: str
    omitted: float = 0.0
    levels: tuple[str, ...] = ()


#: Attributes as they are declared: name → its values, ``None`` for numbers.
_Attributes = Mapping[str, tuple[str, ...] | None]


class _Table(NamedTuple):
    """A file: its attributes, the positions of the labels, and all values."""

    path: Path
    attributes: _Attributes
    columns: Sequence[_Column]
    labels: Sequence[int]
    values: sparse.csr_array
    is_sparse: bool


def _corpus(tables: Sequence[_Table], *, name: str, n_train: int, ids: str | None) -> Corpus:
    first = tables[0]
    for table in tables[1:]:
        if list(table.attributes.items()) != list(first.attributes.items()):
            raise ValueError(
                f"{table.path.name}: the attributes must be those of {first.path.name}, with the "
                "same values in the same order."
            )
    columns, labels = first.columns, first.labels
    values = sparse.csr_array(sparse.vstack([table.values for table in tables]))
    names = list(first.attributes)
    if ids is not None and ids not in names:
        raise ValueError(
            f"ids must be one of the {len(names)} attributes of {first.path.name}, got {ids!r}."
        )
    name_column = None if ids is None else names.index(ids)
    X, terms = _features(values, columns, sorted({*range(len(columns))} - {*labels, name_column}))
    is_large = math.prod(X.shape) > MOST_UNSEEN + 2 * values.nnz
    is_sparse = is_large or any(table.is_sparse for table in tables)
    return Corpus(
        name=name,
        documents=X if is_sparse else X.toarray(),
        features=kind_of_features(X),
        **label_fields(read_labels(values[:, labels], names=[names[j] for j in labels])),
        train=np.arange(n_train),
        test=np.arange(n_train, values.shape[0]),
        ids=None if name_column is None else _words(values[:, [name_column]], columns[name_column]),
        terms=np.array(terms),
        source=f"{name}, {_SOURCE}",
        licence="not stated with the data: see the source",
    )


def _features(
    values: sparse.csr_array, columns: Sequence[_Column], kept: Sequence[int]
) -> tuple[sparse.csr_array, list[str]]:
    """Return the columns kept, with their names; words become a 0/1 column each."""
    terms = []
    for column in (columns[j] for j in kept):
        terms += [f"{column.name}={word}" for word in column.levels] or [column.name]
    if len(terms) == len(kept):
        X = values[:, kept]
    else:
        by_column = sparse.csc_array(values)
        X = sparse.hstack([_expand(by_column[:, [j]], columns[j]) for j in kept])
    X = sparse.csr_array(X)
    X.eliminate_zeros()
    return X, terms


def _expand(numbers: sparse.csc_array, column: _Column) -> sparse.csc_array:
    """Return a 0/1 column per level, or the column as it is; an unknown word is at no level."""
    if not column.levels:
        return numbers
    level = numbers.toarray().ravel()
    row = np.flatnonzero(~np.isnan(level))
    shape = (len(level), len(column.levels))
    return sparse.csc_array((np.ones(len(row)), (row, level[row].astype(np.int64))), shape=shape)


def _words(numbers: sparse.csr_array, column: _Column) -> NDArray[np.str_]:
    levels = column.levels
    return np.array([levels[int(k)] if levels else f"{k:g}" for k in numbers.toarray().ravel()])


# Which attributes are labels: by MULAN's XML file, or by MEKA's ``-C``.


class _DocumentTypeError(Exception):
    """A document type may declare defaults and entities of any size."""


class _WithoutDocumentType(ElementTree.TreeBuilder):
    def doctype(self, *_: object) -> None:
        """Raise."""
        raise _DocumentTypeError("a document type, <!DOCTYPE …>")


def _read_xml_labels(path: Path) -> list[str]:
    """Return the names in ``<label name="…"/>``; labels may be nested."""
    parser = ElementTree.XMLParser(target=_WithoutDocumentType())
    try:
        root = ElementTree.fromstring(path.read_bytes(), parser)
    except (ElementTree.ParseError, _DocumentTypeError) as error:
        raise ValueError(
            f"{path.name}: the file must be XML, got {error}. Is the file cut off?"
        ) from None
    labels = [one.get("name") for one in root.iter() if one.tag.rpartition("}")[2] == "label"]
    if not labels:
        raise ValueError(f'{path.name}: the file must have labels, <label name="…"/>, got none.')
    for name, times in Counter(labels).items():
        if name is None or times > 1:
            got = "none" if name is None else f"{name!r} again"
            raise ValueError(f"{path.name}: a label must have its own name, got {got}.")
    return [name for name in labels if name is not None]


def _labels_of(path: Path, xml: Path | None, relation: str, names: Sequence[str]) -> list[int]:
    """Return the positions of the labels: of the XML file, else those of ``-C`` in the relation."""
    option = _OPTION.search(relation)
    if xml is None and option:
        n_labels = int(option[1])
        if not 0 < abs(n_labels) < len(names):
            raise ValueError(
                f"{path.name}: -C must leave both labels and features of the {len(names)} "
                f"attributes, got -C {n_labels}."
            )
        everything = list(range(len(names)))
        return everything[:n_labels] if n_labels > 0 else everything[n_labels:]
    called = f"{path.name.split('.arff')[0]}.xml"
    hint = f" Name the file of the labels {called}, or count them: @relation 'name: -C 6'."
    xml = xml or _only(path.parent, "*.xml", hint)
    place = {name: j for j, name in enumerate(names)}
    labels = _read_xml_labels(xml)
    for name in labels:
        if name not in place:
            raise ValueError(
                f"{xml.name}: a label must be an attribute of {path.name}, and {name!r} is none of "
                f"its {len(place)}. Do the two files belong together?"
            )
    return [place[name] for name in labels]


# The header of a file, and how the values of its attributes become numbers.

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_DECLARED = re.compile(rf"\S+\s+({_QUOTED}|[^\s'\"]\S*)\s*(.*)", re.DOTALL)
_VALUE = re.compile(rf"(?:^|,)\s*((?:{_QUOTED})(?=\s*(?:,|$))|[^,]*)")
_PAIR = re.compile(rf"\s*([0-9]+)\s+({_QUOTED}|[^,'\"\s]+)\s*(,|$)")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_YES = {"yes", "true", "y", "t"}
_NO = {"no", "false", "n", "f"}


def _read_table(path: Path, xml: Path | None) -> _Table:
    stripped = enumerate(map(str.strip, decoded_lines(path, None)), start=1)
    lines = ((number, line) for number, line in stripped if line and line[0] != "%")
    relation, attributes = _read_header(path, lines)
    labels = _labels_of(path, xml, relation, list(attributes))
    columns = [_column(*attribute) for attribute in attributes.items()]
    for j in labels:
        name, values = columns[j].name, attributes[columns[j].name] or ("0", "1", "0.0", "1.0")
        if not (numbers := _numbers_of(values)) or not {*numbers.values()} <= {0.0, 1.0}:
            raise ValueError(
                f"{path.name}: a label must be declared {{0,1}}, got {name!r} with "
                f"{{{','.join(values)[:60]}}}. Is it a label?"
            )
        columns[j] = _column(name, values)
    return _Table(path, attributes, columns, labels, *_read_rows(path, lines, columns))


def _read_header(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[str, _Attributes]:
    """Read the numbered lines up to ``@data``; the rest of them are the rows."""
    relation, number = "", 0
    attributes: dict[str, tuple[str, ...] | None] = {}
    for number, line in lines:
        keyword, *rest = line.split(maxsplit=1)
        match keyword.lower():
            case "@relation":
                relation = _unquote("".join(rest))
            case "@attribute":
                name, values = _read_attribute(path, number, line)
                if name in attributes:
                    raise ValueError(
                        f"{line_of(path, number)}: attributes must be distinct, got {name!r} again."
                    )
                attributes[name] = values
            case "@data":
                return relation, attributes
            case _:
                raise ValueError(
                    f"{line_of(path, number)}: the header must have @relation, @attribute and "
                    f"@data, got {line[:60]!r}. Is it an ARFF file?"
                )
    raise ValueError(
        f"{line_of(path, number)}: the header must end with @data, got the end of the file."
    )


def _read_attribute(path: Path, number: int, line: str) -> tuple[str, tuple[str, ...] | None]:
    declared = _DECLARED.fullmatch(line)
    kind = declared[2] if declared else ""
    if declared and kind.lower() in ("numeric", "real", "integer"):
        return _unquote(declared[1]), None
    if declared and kind.startswith("{") and kind.endswith("}"):
        return _unquote(declared[1]), tuple(_split_values(kind[1:-1].strip()))
    raise ValueError(
        f"{line_of(path, number)}: an attribute must be @attribute NAME numeric, or its values in "
        f"braces, got {line[:60]!r}. Texts and dates have to become numbers first."
    )


def _column(name: str, values: tuple[str, ...] | None) -> _Column:
    """Return how to read an attribute: numbers, yes and no as 1 and 0, other words as levels."""
    if values is None:
        return _Column(name, _number, "a number")
    numbers = _numbers_of(values)
    levels = () if numbers else values
    numbers = numbers or {word: float(k) for k, word in enumerate(values)}
    shown = ",".join(values)
    expected = f"one of {{{shown if len(shown) < 60 else shown[:60] + '…'}}}"
    number_of = {**numbers, "?": math.nan}.__getitem__
    return _Column(name, number_of, expected, numbers.get(values[0], 0.0), levels)


def _numbers_of(values: Sequence[str]) -> dict[str, float]:
    """Return the numbers of declared values; an empty mapping for other words."""
    words = {value.lower() for value in values}
    if len(values) == 2 and words & _YES and words & _NO:
        return {value: float(value.lower() in _YES) for value in values}
    try:
        return {value: _number(value) for value in values if value != "?"}
    except ValueError:
        return {}


def _number(text: str) -> float:
    if text == "?":
        return math.nan
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _split_values(text: str) -> list[str]:
    r"""Split at the commas that are not in quotes, and remove the quotes.

    Examples
    --------
    >>> _split_values("1, 'red, or green', it\\'s, ?")
    ['1', 'red, or green', "it\\'s", '?']
    """
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    return [_unquote(value.strip()) for value in _VALUE.findall(text)]


def _unquote(text: str) -> str:
    r"""Remove quotes and their escapes; text without quotes stays as it is.

    Examples
    --------
    >>> _unquote(r"'it\'s'"), _unquote(r"m\'usica")
    ("it's", "m\\'usica")
    """
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return text
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])


# The rows, dense or sparse.


def _read_rows(
    path: Path, lines: Iterable[tuple[int, str]], columns: Sequence[_Column]
) -> tuple[sparse.csr_array, bool]:
    """Read all rows; return the values, CSR ``(n_rows, n_columns)``, and whether any is sparse.

    Not stored: 0; NaN: unknown.
    """
    values, indices, indptr = array("d"), array("i"), array("i", [0])
    readers = [column.number_of for column in columns]
    omitted = {j: column.omitted for j, column in enumerate(columns) if column.omitted}
    any_sparse = False
    for number, line in lines:
        try:
            row = _read_row(line, columns, readers)
        except _RowError as bad:
            raise ValueError(f"{line_of(path, number)}: {bad}") from None
        if line[0] == "{":
            any_sparse, row = True, omitted | row
            if omitted:  # values that the row does not mention, and that are not 0
                check_declared(path, len(indices), "values")
        indices.extend(row)
        values.extend(row.values())
        indptr.append(len(indices))
    if len(indptr) == 1:
        raise ValueError(f"{path.name}: there must be rows after @data, got none.")
    shape = (len(indptr) - 1, len(columns))
    matrix = sparse.csr_array(tuple(map(np.array, (values, indices, indptr))), shape=shape)
    matrix.sort_indices()
    return matrix, any_sparse


class _RowError(Exception):
    """A row that does not fit the header."""


def _read_row(
    line: str, columns: Sequence[_Column], readers: Sequence[Callable[[str], float]]
) -> dict[int, float]:
    """Return the numbers that a row mentions, by column; a dense one mentions them all."""
    places: Sequence[int]
    if line[0] == "{":
        places, values = _split_pairs(line)
    else:
        places, values = range(len(columns)), _split_values(line)
        if len(values) != len(columns):
            raise _RowError(
                f"a row must have {len(columns)} values, one per attribute, got {len(values)}. "
                "Is the file cut off?"
            )
    try:
        row = {j: readers[j](value) for j, value in zip(places, values, strict=True)}
    except (IndexError, KeyError, ValueError):
        raise _wrong_value(columns, zip(places, values, strict=True)) from None
    if len(row) < len(places):
        repeated = Counter(places).most_common(1)[0][0]
        raise _RowError(f"a sparse row must name an attribute once, got {repeated} twice.")
    return row


def _wrong_value(columns: Sequence[_Column], pairs: Iterable[tuple[int, str]]) -> _RowError:
    """Return the error for the first value that does not fit its column."""
    for j, value in pairs:
        if j >= len(columns):
            return _RowError(f"attributes are numbered 0 to {len(columns) - 1}, got {j}.")
        try:
            columns[j].number_of(value)
        except (KeyError, ValueError):
            break
    return _RowError(
        f"attribute {columns[j].name!r} must be {columns[j].expected}, or ? if unknown, got "
        f"{value!r}."
    )


def _split_pairs(line: str) -> tuple[list[int], list[str]]:
    """Split ``{0 1, 7 'a word'}`` into positions and values."""
    if not line.endswith("}"):
        raise _RowError(f"a sparse row must end with }}, got {line[-20:]!r}. Is the file cut off?")
    text = line[1:-1]
    if "'" not in text and '"' not in text:
        words = text.replace(",", " ").split()
        if len(words) == 2 * (text.count(",") + 1) and all(map(str.isdecimal, words[::2])):
            return list(map(int, words[::2])), words[1::2]
    places, values, position = [], [], 0
    text = text.rstrip()
    while position < len(text):
        pair = _PAIR.match(text, position)
        if not pair:
            raise _RowError(
                f"a sparse row must be pairs of position and value, got {text[position:][:40]!r}."
            )
        places.append(int(pair[1]))
        values.append(_unquote(pair[2]))
        position = pair.end()
    return places, values
