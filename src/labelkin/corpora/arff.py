"""Multilabel ARFF: MULAN's, whose labels stand in an XML file, and MEKA's, with ``-C``."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus, kind_of_features, label_fields
from labelkin.corpora.lines import decoded_lines, line_of
from labelkin.files import MOST_UNSEEN, check_declared
from labelkin.label_matrix import read_labels

#: Attributes of published sets that are the documents' names, no features.
DOCUMENT_NAMES = {"genbase": "protein"}


def read_arff(path: Path, **options: Any) -> Corpus:
    """Read a file of MEKA, with ``-C`` in its relation, or of MULAN, with an XML file beside it."""
    lines = islice(decoded_lines(path, "latin-1"), 100)
    relation = next((line for line in lines if line.strip().lower().startswith("@relation")), "")
    is_meka = "-C" in relation or not any(path.parent.glob("*.xml"))
    return (read_meka if is_meka else read_mulan)(path, **options)


def read_mulan(
    folder: str | PathLike[str], *, ids: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read a folder of MULAN: ``x.xml`` names the labels, ``x-train.arff`` and ``x-test.arff``.

    Without these two, ``x.arff`` is read and all of its documents are training documents.

    Features are what is no label: numbers as they are, yes and no (or true and false) as 1 and 0,
    attributes of other words as one 0/1 feature ``name=word`` per word. The documents are CSR if
    the file's rows are sparse or its words become very many features, else dense; a value ``?`` is
    NaN. A label that is ``?`` is unknown.

    Parameters
    ----------
    folder : path
        Where the files are; its name is the corpus' name. Of an ``.arff`` file only that file is
        read, and ``x.xml`` of the same name is preferred to other files beside it.
    ids : str, optional
        The attribute that is the documents' name, if there is one; it is no feature. Known for
        genbase.
    encoding : str, default "utf-8"
        What the files are written in.
    """
    folder = Path(folder)
    if folder.is_file():
        name = folder.name.split(".arff")[0]
        stems = (name, name.removesuffix("-train").removesuffix("-test"))
        beside = [file for stem in stems if (file := folder.with_name(f"{stem}.xml")).is_file()]
        xml, paths = beside[0] if beside else None, [folder]
        xml = xml or _only(folder.parent, "*.xml", f" Name the one of this file {name}.xml.")
    else:
        name, xml = folder.name, _only(folder, "*.xml")
        has_parts = any(any(folder.glob(f"*-{part}.arff*")) for part in ("train", "test"))
        patterns = ("*-train.arff*", "*-test.arff*") if has_parts else ("*.arff*",)
        paths = [_only(folder, pattern) for pattern in patterns]
    labels_of = partial(_labels_by_xml, xml, _read_xml_labels(xml))
    tables = [_read_table(path, labels_of, encoding) for path in paths]
    return _corpus(
        tables,
        name=name,
        n_train=tables[0].values.shape[0],
        ids=ids or DOCUMENT_NAMES.get(xml.stem),
        source=f"{name}, https://mulan.sourceforge.net/datasets-mlc.html",
    )


def read_meka(
    path: str | PathLike[str],
    *,
    n_train: int | None = None,
    ids: str | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    """Read an ARFF file of MEKA: ``-C 6`` in its relation says that the first 6 are the labels.

    ``-C -6``: the last 6. Features are read as :func:`read_mulan` does.

    Parameters
    ----------
    path : path
        The file, maybe packed; its name is the corpus' name.
    n_train : int, optional
        How many documents, from the first, are for training; the others are for testing. ``None``:
        all. What MEKA's ``-split`` options say is not looked at.
    ids, encoding
        As for :func:`read_mulan`.
    """
    path = Path(path)
    table = _read_table(path, _labels_by_option, encoding)
    n_documents = int(table.values.shape[0])
    n_train = n_documents if n_train is None else n_train
    if not 0 < n_train <= n_documents:
        raise ValueError(
            f"n_train must be 1 to {n_documents}, the number of documents in {path.name}, "
            f"got {n_train!r}."
        )
    source = f"{path.name}, in the format of MEKA, https://waikato.github.io/meka/"
    return _corpus([table], name=path.name.split(".")[0], n_train=n_train, ids=ids, source=source)


def _only(folder: Path, pattern: str, hint: str = "") -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise FileNotFoundError(f"{folder} must have one file {pattern}, got {names}.{hint}")
    return found[0]


# From tables to a corpus.


@dataclass(frozen=True)
class _Table:
    """A file: what its columns are, which of them are labels, and all its values."""

    path: Path
    attributes: Sequence[_Attribute]
    columns: Sequence[_Column]
    labels: Sequence[int]
    values: sparse.csr_array
    is_sparse: bool


def _corpus(
    tables: Sequence[_Table], *, name: str, n_train: int, ids: str | None, source: str
) -> Corpus:
    _check_same_attributes(tables)
    columns, labels = tables[0].columns, tables[0].labels
    values = sparse.csr_array(sparse.vstack([table.values for table in tables]))
    names = [column.name for column in columns]
    if ids is not None and ids not in names:
        raise ValueError(
            f"ids must be one of the {len(names)} attributes of {tables[0].path.name}, got {ids!r}."
        )
    name_column = None if ids is None else names.index(ids)
    X, terms = _features(values, columns, sorted({*range(len(columns))} - {*labels, name_column}))
    is_large = math.prod(X.shape) > MOST_UNSEEN + 2 * values.nnz
    is_sparse = is_large or any(table.is_sparse for table in tables)
    return Corpus(
        name=name,
        documents=X if is_sparse else X.toarray(),
        features=kind_of_features(X),
        **label_fields(read_labels(values[:, labels], names=[columns[j].name for j in labels])),
        train=np.arange(n_train),
        test=np.arange(n_train, values.shape[0]),
        ids=None if name_column is None else _words(values[:, [name_column]], columns[name_column]),
        terms=np.array(terms),
        source=source,
        licence="not stated with the data: see the source",
    )


def _check_same_attributes(tables: Sequence[_Table]) -> None:
    first = tables[0]
    for table in tables[1:]:
        if table.attributes != first.attributes:
            pairs = zip(table.attributes, first.attributes, strict=False)
            counts = f"{len(table.attributes)} instead of {len(first.attributes)}"
            wrong = next((here.name for here, there in pairs if here != there), counts)
            raise ValueError(
                f"{table.path.name}: the attributes must be those of {first.path.name}, with "
                f"the same values in the same order, got {wrong!r}."
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


def _read_xml_labels(path: Path) -> dict[str, int]:
    """Return the names in ``<label name="…"/>`` and their lines; labels may be nested."""
    parser = expat.ParserCreate(namespace_separator=" ")
    labels: dict[str, int] = {}

    def on_element(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(" ")[2] != "label":
            return
        name, line = attributes.get("name"), parser.CurrentLineNumber
        if name is None or name in labels:
            got = "none" if name is None else f"{name!r} again"
            raise ValueError(
                f"{line_of(path, line)}: a label must have a name of its own, got {got}."
            )
        labels[name] = line

    def on_document_type(*_: object) -> None:
        raise ValueError(
            f"{line_of(path, parser.CurrentLineNumber)}: the file must have no document type, got "
            "<!DOCTYPE …>. Remove it."
        )

    parser.StartElementHandler = on_element
    parser.StartDoctypeDeclHandler = on_document_type
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        raise ValueError(
            f"{line_of(path, error.lineno)}: the file must be XML, got {error}. Is the file cut "
            "off?"
        ) from None
    if not labels:
        raise ValueError(f'{path.name}: the file must have labels, <label name="…"/>, got none.')
    return labels


def _labels_by_xml(
    xml: Path, labels: dict[str, int], path: Path, _relation: str, names: Sequence[str]
) -> list[int]:
    """Return the positions of the attributes that the XML file names, in its order."""
    place = {name: j for j, name in enumerate(names)}
    for name, line in labels.items():
        if name not in place:
            raise ValueError(
                f"{line_of(xml, line)}: a label must be an attribute of {path.name}, and {name!r} "
                f"is none of its {len(place)}. Do the two files belong together?"
            )
    return [place[name] for name in labels]


def _labels_by_option(path: Path, relation: str, names: Sequence[str]) -> list[int]:
    """Return the first n attributes for ``-C n`` in the relation, the last n for ``-C -n``."""
    option = re.search(r"(?:^|[\s:])-[Cc]\s+(-?[0-9]+)\b", relation)
    if not option:
        raise ValueError(
            f"{path.name}: the relation must say how many labels there are, as in "
            f"@relation 'name: -C 6', got {relation!r}. Where an XML file names the labels, put "
            f"it beside this file as {path.name.split('.')[0]}.xml."
        )
    n_labels = int(option[1])
    if not 0 < abs(n_labels) < len(names):
        raise ValueError(
            f"{path.name}: -C must leave both labels and features of the {len(names)} attributes, "
            f"got -C {n_labels}."
        )
    everything = list(range(len(names)))
    return everything[:n_labels] if n_labels > 0 else everything[n_labels:]


# The header of a file, and how the values of its attributes become numbers.


@dataclass(frozen=True)
class _Attribute:
    """A column as it is declared: the values it may take, ``None`` for numbers; in which line."""

    name: str
    values: tuple[str, ...] | None
    line: int = field(compare=False)


@dataclass(frozen=True)
class _Column:
    """How the values of an attribute become numbers.

    Attributes
    ----------
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


_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_DECLARED = re.compile(rf"\S+\s+({_QUOTED}|[^\s'\"]\S*)\s*(.*)", re.DOTALL)
_VALUE = re.compile(rf"(?:^|,)\s*((?:{_QUOTED})(?=\s*(?:,|$))|[^,]*)")
_PAIR = re.compile(rf"\s*([0-9]+)\s+({_QUOTED}|[^,'\"\s]+)\s*(,|$)")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_YES = {"yes", "true", "y", "t"}
_NO = {"no", "false", "n", "f"}


def _read_table(
    path: Path, labels_of: Callable[[Path, str, Sequence[str]], list[int]], encoding: str
) -> _Table:
    """Read a file; ``labels_of`` finds its labels by its relation and its attributes' names."""
    stripped = enumerate(map(str.strip, decoded_lines(path, encoding)), start=1)
    lines = ((number, line) for number, line in stripped if line and line[0] != "%")
    relation, attributes = _read_header(path, lines)
    labels = labels_of(path, relation, [attribute.name for attribute in attributes])
    columns = [_feature_column(attribute) for attribute in attributes]
    for j in labels:
        columns[j] = _label_column(path, attributes[j])
    return _Table(path, attributes, columns, labels, *_read_rows(path, lines, columns))


def _read_header(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[str, list[_Attribute]]:
    """Read the numbered lines up to ``@data``; what is left of them are the rows."""
    relation, number = "", 0
    attributes: dict[str, _Attribute] = {}
    for number, line in lines:
        keyword, *rest = line.split(maxsplit=1)
        match keyword.lower():
            case "@relation":
                relation = _unquote("".join(rest))
            case "@attribute":
                attribute = _read_attribute(path, number, line)
                before = attributes.setdefault(attribute.name, attribute)
                if before is not attribute:
                    raise ValueError(
                        f"{line_of(path, number)}: attributes must be distinct, got "
                        f"{attribute.name!r} again; the first is in line {before.line}."
                    )
            case "@data":
                return relation, list(attributes.values())
            case _:
                raise ValueError(
                    f"{line_of(path, number)}: the header must have @relation, @attribute and "
                    f"@data, got {line[:60]!r}. Is it an ARFF file?"
                )
    raise ValueError(
        f"{line_of(path, number)}: the header must end with @data, got the end of the file."
    )


def _read_attribute(path: Path, number: int, line: str) -> _Attribute:
    declared = _DECLARED.fullmatch(line)
    if not declared:
        raise ValueError(
            f"{line_of(path, number)}: an attribute must be @attribute NAME TYPE, got "
            f"{line[:60]!r}."
        )
    name, kind = _unquote(declared[1]), declared[2]
    if kind.lower() in ("numeric", "real", "integer"):
        return _Attribute(name, None, number)
    if kind.startswith("{") and kind.endswith("}"):
        return _Attribute(name, tuple(_split_values(kind[1:-1].strip())), number)
    raise ValueError(
        f"{line_of(path, number)}: an attribute must be numeric or have its values in braces, got "
        f"{declared[1]} with {kind[:40]!r}. Texts and dates have to become numbers first."
    )


def _feature_column(attribute: _Attribute) -> _Column:
    """Return how to read a feature: numbers, yes and no as 1 and 0, other words as levels."""
    values = attribute.values
    if values is None:
        return _Column(attribute.name, _number, "a number")
    numbers = _numbers_of(values)
    levels = {} if numbers else {word: float(k) for k, word in enumerate(values)}
    return _coded(attribute.name, values, numbers or levels, tuple(levels))


def _label_column(path: Path, attribute: _Attribute) -> _Column:
    """Return how to read a label: 0, 1, yes, no, or ``?`` where nobody knows."""
    values = attribute.values or ("0", "1", "0.0", "1.0")
    numbers = _numbers_of(values)
    if not numbers or not set(numbers.values()) <= {0.0, 1.0}:
        raise ValueError(
            f"{line_of(path, attribute.line)}: a label must be declared {{0,1}}, got "
            f"{attribute.name!r} with {{{','.join(values)[:60]}}}. Is it a label?"
        )
    return _coded(attribute.name, values, numbers, ())


def _coded(
    name: str, values: tuple[str, ...], numbers: dict[str, float], levels: tuple[str, ...]
) -> _Column:
    shown = ",".join(values)
    expected = f"one of {{{shown if len(shown) < 60 else shown[:60] + '…'}}}"
    omitted = numbers.get(values[0], 0.0)
    return _Column(name, {**numbers, "?": math.nan}.__getitem__, expected, omitted, levels)


def _numbers_of(values: Sequence[str]) -> dict[str, float]:
    """Return the numbers that declared values are; none where they are other words."""
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
    r"""Split at the commas that are not in quotes, and take the quotes off.

    Examples
    --------
    >>> _split_values("1, 'red, or green', it\\'s, ?")
    ['1', 'red, or green', "it\\'s", '?']
    """
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    return [_unquote(value.strip()) for value in _VALUE.findall(text)]


def _unquote(text: str) -> str:
    r"""Take quotes and their escapes off; text without quotes stays as it is.

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

    What is not stored is 0; NaN is unknown.
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
        if not line.endswith("}"):
            raise _RowError(
                f"a sparse row must end with }}, got {line[-20:]!r}. Is the file cut off?"
            )
        places, values = _split_pairs(line[1:-1])
    else:
        places, values = range(len(columns)), _split_values(line)
        if len(values) != len(columns):
            raise _RowError(
                f"a row must have {len(columns)} values, one per attribute, got {len(values)}. "
                "Is the file cut off?"
            )
    try:
        row = {j: readers[j](value) for j, value in zip(places, values, strict=True)}
    except IndexError:
        wrong = next(j for j in places if j >= len(columns))
        raise _RowError(
            f"attributes are numbered 0 to {len(columns) - 1}, got {wrong} in a sparse row."
        ) from None
    except (KeyError, ValueError):
        raise _wrong_value(columns, zip(places, values, strict=True)) from None
    if len(row) < len(places):
        repeated = Counter(places).most_common(1)[0][0]
        raise _RowError(f"a sparse row must name an attribute once, got {repeated} twice.")
    return row


def _wrong_value(columns: Sequence[_Column], pairs: Iterable[tuple[int, str]]) -> _RowError:
    """Return the error for the first value that does not fit its column."""
    for j, value in pairs:
        try:
            columns[j].number_of(value)
        except (KeyError, ValueError):
            break
    return _RowError(
        f"attribute {columns[j].name!r} must be {columns[j].expected}, or ? where unknown, got "
        f"{value!r}."
    )


def _split_pairs(text: str) -> tuple[list[int], list[str]]:
    """Split ``0 1, 7 'a word'`` into positions and values."""
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
