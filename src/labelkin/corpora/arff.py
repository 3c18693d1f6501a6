"""Multilabel ARFF: MULAN's, whose labels stand in an XML file, and MEKA's, with ``-C``."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus, kind_of_features
from labelkin.corpora.lines import bad_line, decoded_lines
from labelkin.label_matrix import read_labels

#: Attributes of published sets that are the documents' names, no features.
DOCUMENT_NAMES = {"genbase": "protein"}


def read_mulan(
    folder: str | PathLike[str], *, ids: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read a folder of MULAN: ``x.xml`` names the labels, ``x-train.arff`` and ``x-test.arff``.

    Without these two, ``x.arff`` is read and all of its documents are training documents.

    Features are what is no label: numbers as they are, yes and no (or true and false) as 1 and 0,
    attributes of other words as one 0/1 feature ``name=word`` per word. The documents are CSR if
    the file's rows are sparse, else dense; a value ``?`` is NaN. A label that is ``?`` is unknown.

    Parameters
    ----------
    folder
        Where the files are; its name is the corpus' name.
    ids
        The attribute that is the documents' name, if there is one; it is no feature. Known for
        genbase.
    encoding
        What the files are written in.
    """
    folder = Path(folder)
    xml = _only(folder, "*.xml")
    labels_of = partial(labels_by_xml, xml, read_xml_labels(xml))
    tables = [_read_table(path, labels_of, encoding) for path in _parts(folder)]
    return _corpus(
        tables,
        name=folder.name,
        n_train=tables[0].n_documents,
        ids=ids or DOCUMENT_NAMES.get(folder.name),
        source=f"{folder.name}, https://mulan.sourceforge.net/datasets-mlc.html",
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
    path
        The file, maybe compressed; its name is the corpus' name.
    n_train
        How many documents, from the first, are for training; the others are for testing. ``None``:
        all. What MEKA's ``-split`` options say is not looked at.
    ids, encoding
        As for :func:`read_mulan`.
    """
    path = Path(path)
    table = _read_table(path, labels_by_option, encoding)
    n_train = table.n_documents if n_train is None else n_train
    if not 0 < n_train <= table.n_documents:
        raise ValueError(
            f"n_train must be 1 to {table.n_documents}, the number of documents in {path.name}, "
            f"got {n_train!r}."
        )
    source = f"{path.name}, in the format of MEKA, https://waikato.github.io/meka/"
    return _corpus([table], name=path.name.split(".")[0], n_train=n_train, ids=ids, source=source)


@dataclass(frozen=True)
class _Table:
    """A file: what its columns are, which of them are labels, and all its values."""

    header: Header
    columns: Sequence[Column]
    labels: Sequence[int]
    values: sparse.csr_array
    is_sparse: bool

    @property
    def n_documents(self) -> int:
        return int(self.values.shape[0])


def _read_table(path: Path, labels_of: Callable[[Header], list[int]], encoding: str) -> _Table:
    lines = enumerate(decoded_lines(path, encoding), start=1)
    header = read_header(path, lines)
    labels = labels_of(header)
    columns = [feature_column(attribute) for attribute in header.attributes]
    for j in labels:
        columns[j] = label_column(path, header.attributes[j])
    values, is_sparse = read_rows(path, lines, columns)
    return _Table(header, columns, labels, values, is_sparse)


def _corpus(
    tables: Sequence[_Table], *, name: str, n_train: int, ids: str | None, source: str
) -> Corpus:
    _check_same_attributes(tables)
    columns, labels = tables[0].columns, tables[0].labels
    values = sparse.csr_array(sparse.vstack([table.values for table in tables]))
    name_column = _find(tables[0].header, ids)
    kept = sorted(set(range(len(columns))) - {*labels, name_column})
    X, terms = _features(values, columns, kept)
    Y = read_labels(values[:, labels], names=[columns[j].name for j in labels])
    return Corpus(
        name=name,
        documents=X if any(table.is_sparse for table in tables) else X.toarray(),
        features=kind_of_features(X),
        Y=replace(Y, container="dense"),
        train=np.arange(n_train),
        test=np.arange(n_train, values.shape[0]),
        ids=None if name_column is None else _words(values, columns, name_column),
        terms=np.array(terms),
        source=source,
        licence="not stated with the data: see the source",
    )


def _check_same_attributes(tables: Sequence[_Table]) -> None:
    first = tables[0].header
    expected = [(attribute.name, attribute.values) for attribute in first.attributes]
    for table in tables[1:]:
        got = [(attribute.name, attribute.values) for attribute in table.header.attributes]
        if got != expected:
            wrong = next(
                (a for a, b in zip(got, expected, strict=False) if a != b),
                (f"{len(got)} instead of {len(expected)}", None),
            )
            raise ValueError(
                f"{table.header.path.name}: the attributes must be those of {first.path.name}, "
                f"with the same values in the same order, got {wrong[0]!r}."
            )


def _find(header: Header, ids: str | None) -> int | None:
    names = [attribute.name for attribute in header.attributes]
    if ids is None:
        return None
    if ids not in names:
        raise ValueError(
            f"ids must be one of the {len(names)} attributes of {header.path.name}, got {ids!r}."
        )
    return names.index(ids)


def _features(
    values: sparse.csr_array, columns: Sequence[Column], kept: Sequence[int]
) -> tuple[sparse.csr_array, list[str]]:
    """Return the columns kept, with their names; words become a 0/1 column each."""
    terms = [term for j in kept for term in _terms(columns[j])]
    if len(terms) == len(kept):
        X = values[:, kept]
    else:
        by_column = sparse.csc_array(values)
        X = sparse.hstack([_expand(by_column[:, [j]], columns[j]) for j in kept])
    X = sparse.csr_array(X)
    X.eliminate_zeros()
    return X, terms


def _terms(column: Column) -> list[str]:
    return [f"{column.name}={word}" for word in column.levels] or [column.name]


def _expand(numbers: sparse.csc_array, column: Column) -> sparse.csc_array:
    """Return a 0/1 column per level, or the column as it is; an unknown word is at no level."""
    if not column.levels:
        return numbers
    level = numbers.toarray().ravel()
    return sparse.csc_array(level[:, np.newaxis] == np.arange(len(column.levels)), dtype=float)


def _words(values: sparse.csr_array, columns: Sequence[Column], j: int) -> NDArray[np.str_]:
    numbers = values[:, [j]].toarray().ravel()
    levels = columns[j].levels
    return np.array([levels[int(k)] if levels else f"{k:g}" for k in numbers])


def _parts(folder: Path) -> list[Path]:
    """Return the training and the test file, or the only one there is."""
    if not list(folder.glob("*-train.arff*")) and not list(folder.glob("*-test.arff*")):
        return [_only(folder, "*.arff*")]
    return [_only(folder, "*-train.arff*"), _only(folder, "*-test.arff*")]


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise FileNotFoundError(f"{folder} must have one file {pattern}, got {names}.")
    return found[0]


@dataclass(frozen=True)
class Attribute:
    """What one column holds.

    Attributes
    ----------
    name
        Without quotes and escapes.
    values
        The values it may take, as declared; ``None``: numbers.
    line
        Where it is declared, from 1.
    """

    name: str
    values: tuple[str, ...] | None
    line: int


@dataclass(frozen=True)
class Header:
    """All that stands before the rows."""

    path: Path
    relation: str
    attributes: tuple[Attribute, ...]


def read_header(path: Path, lines: Iterator[tuple[int, str]]) -> Header:
    """Read the numbered lines up to ``@data``; what is left of them are the rows."""
    relation = ""
    attributes: dict[str, Attribute] = {}
    number = 0
    for number, line in meaningful_lines(lines):
        keyword, *rest = line.split(maxsplit=1)
        match keyword.lower():
            case "@relation":
                relation = unquote("".join(rest))
            case "@attribute":
                attribute = _read_attribute(path, number, line)
                _refuse_repeated(path, attribute, attributes)
                attributes[attribute.name] = attribute
            case "@data":
                return Header(path, relation, tuple(attributes.values()))
            case _:
                raise bad_line(
                    path,
                    number,
                    "the header must have @relation, @attribute and @data, got "
                    f"{line[:60]!r}. Is it an ARFF file?",
                )
    raise bad_line(path, number, "the header must end with @data, got the end of the file.")


def meaningful_lines(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the stripped lines that are neither blank nor a ``%`` comment."""
    for number, line in lines:
        stripped = line.strip()
        if stripped and not stripped.startswith("%"):
            yield number, stripped


def split_values(text: str) -> list[str]:
    r"""Split at the commas that are not in quotes, and take the quotes off.

    Examples
    --------
    >>> split_values("1, 'red, or green', it\\'s, ?")
    ['1', 'red, or green', "it\\'s", '?']
    """
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    return [unquote(value) for value in _VALUE.findall(text)]


def unquote(text: str) -> str:
    r"""Take quotes and their escapes off; text without quotes stays as it is.

    Examples
    --------
    >>> unquote(r"'it\'s'"), unquote(r"m\'usica")
    ("it's", "m\\'usica")
    """
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return text
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])


_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_DECLARED = re.compile(rf"\S+\s+({_QUOTED}|[^\s'\"]\S*)\s*(.*)", re.DOTALL)
_VALUE = re.compile(rf"(?:^|,)\s*({_QUOTED}|[^,]*?)\s*(?=,|$)")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_NUMBERS = {"numeric", "real", "integer"}


def _read_attribute(path: Path, number: int, line: str) -> Attribute:
    declared = _DECLARED.fullmatch(line)
    if not declared:
        raise bad_line(
            path, number, f"an attribute must be @attribute NAME TYPE, got {line[:60]!r}."
        )
    kind = declared[2]
    if kind.lower() in _NUMBERS:
        return Attribute(unquote(declared[1]), None, number)
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(unquote(declared[1]), tuple(split_values(kind[1:-1].strip())), number)
    raise bad_line(
        path,
        number,
        f"an attribute must be numeric or have its values in braces, got {declared[1]} with "
        f"{kind[:40]!r}. Texts and dates have to become numbers first.",
    )


def _refuse_repeated(path: Path, attribute: Attribute, earlier: dict[str, Attribute]) -> None:
    if attribute.name in earlier:
        raise bad_line(
            path,
            attribute.line,
            f"attributes must be distinct, got {attribute.name!r} again; the first is in line "
            f"{earlier[attribute.name].line}.",
        )


def read_xml_labels(path: Path) -> dict[str, int]:
    """Return the names in ``<label name="…"/>`` and their lines; labels may be nested."""
    parser = expat.ParserCreate(namespace_separator=" ")
    labels: dict[str, int] = {}

    def on_element(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(" ")[2] != "label":
            return
        name, line = attributes.get("name"), parser.CurrentLineNumber
        if name is None or name in labels:
            got = "none" if name is None else f"{name!r} again"
            raise bad_line(path, line, f"a label must have a name of its own, got {got}.")
        labels[name] = line

    parser.StartElementHandler = on_element
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        raise bad_line(
            path, error.lineno, f"the file must be XML, got {error}. Is the file cut off?"
        ) from None
    if not labels:
        raise ValueError(f'{path.name}: the file must have labels, <label name="…"/>, got none.')
    return labels


def labels_by_xml(xml: Path, labels: dict[str, int], header: Header) -> list[int]:
    """Return the positions of the attributes that the XML file names, in its order."""
    place = {attribute.name: j for j, attribute in enumerate(header.attributes)}
    for name, line in labels.items():
        if name not in place:
            raise bad_line(
                xml,
                line,
                f"a label must be an attribute of {header.path.name}, and {name!r} is none of its "
                f"{len(place)}. Do the two files belong together?",
            )
    return [place[name] for name in labels]


def labels_by_option(header: Header) -> list[int]:
    """Return the first n attributes for ``-C n`` in the relation, the last n for ``-C -n``."""
    option = re.search(r"(?:^|[\s:])-[Cc]\s+(-?[0-9]+)\b", header.relation)
    n_attributes = len(header.attributes)
    if not option:
        raise ValueError(
            f"{header.path.name}: the relation must say how many labels there are, as in "
            f"@relation 'name: -C 6', got {header.relation!r}. Where an XML file names the labels, "
            "use read_mulan."
        )
    n_labels = int(option[1])
    if not 0 < abs(n_labels) < n_attributes:
        raise ValueError(
            f"{header.path.name}: -C must leave both labels and features of the {n_attributes} "
            f"attributes, got -C {n_labels}."
        )
    everything = list(range(n_attributes))
    return everything[:n_labels] if n_labels > 0 else everything[n_labels:]


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
