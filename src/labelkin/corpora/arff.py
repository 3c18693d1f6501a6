"""Multilabel ARFF: of MULAN, with an XML file of the labels, and of MEKA, with ``-C``.

The reader accepts numbers, and nominal attributes whose values are numbers or yes and no. liac-arff
2.5 also reads texts and dates, but needs more than a minute for a row with a megabyte of blanks.
"""

from __future__ import annotations

import csv
import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from labelkin.corpora.corpus import Corpus, kind_of_features, label_fields
from labelkin.corpora.lines import decoded_lines, line_of
from labelkin.files import check_declared
from labelkin.label_matrix import read_labels

_SOURCE = (
    "in the format of MULAN (https://mulan.sourceforge.net/datasets-mlc.html) or MEKA "
    "(https://waikato.github.io/meka/)"
)

#: The numbers of an attribute's values, in the order of the declaration; ``None``: any number.
_Numbers = Mapping[str, float] | None


def read_arff(path: str | PathLike[str], *, ids: str | None = None) -> Corpus:
    """Read a file of MEKA or MULAN, or a folder of MULAN with ``x-train.arff`` and ``x-test.arff``.

    The file ``x.xml`` beside it, or in the folder, names the labels. Without it MEKA's ``-C 6`` in
    the relation says that the first 6 attributes are the labels, ``-C -6`` the last 6.

    Features are the other attributes, yes and no (or true and false) as 1 and 0. The documents are
    CSR if the rows of the file are sparse, else dense; a value ``?`` is NaN. A label that is ``?``
    is unknown. Without ``x-test.arff`` all documents are for training: MEKA's ``-split`` options
    are ignored.

    Parameters
    ----------
    path : path
        A file, which may be packed, or a folder; its name is the name of the corpus.
    ids : str, optional
        The attribute with the names of the documents, of any words; it is not a feature.
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
    tables = [_read_table(one, xml[0] if xml else None, ids) for one in paths]
    attributes, in_labels, first, _ = tables[0]
    names = list(attributes)
    if list(tables[-1][0].items()) != list(attributes.items()):
        raise ValueError(
            f"{paths[-1].name}: the attributes must be those of {paths[0].name}, with the same "
            "values in the same order."
        )
    values = sparse.csr_array(sparse.vstack([table[2] for table in tables]))
    kept = [j for j, name in enumerate(names) if j not in in_labels and name != ids]
    X = sparse.csr_array(values[:, kept])
    X.eliminate_zeros()
    labels = read_labels(values[:, in_labels], names=[names[j] for j in in_labels])
    called = None
    if ids is not None:
        column = values[:, [names.index(ids)]].toarray().ravel()
        words = list(attributes[ids] or ())
        called = np.array([words[int(k)] if words else f"{k:g}" for k in column])
    return Corpus(
        name=stem,
        documents=X if any(table[3] for table in tables) else X.toarray(),
        features=kind_of_features(X),
        **label_fields(labels),
        train=np.arange(first.shape[0]),
        test=np.arange(first.shape[0], values.shape[0]),
        ids=called,
        terms=np.array([names[j] for j in kept]),
        source=f"{stem}, {_SOURCE}",
        licence="not stated with the data: see the source",
    )


def _only(folder: Path, pattern: str, hint: str = "") -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise FileNotFoundError(f"{folder} must have one file {pattern}, got {names}.{hint}")
    return found[0]


def _read_table(
    path: Path, xml: Path | None, ids: str | None
) -> tuple[dict[str, _Numbers], list[int], sparse.csr_array, bool]:
    """Return attributes, positions of labels, all values, and whether rows are sparse."""
    stripped = enumerate(map(str.strip, decoded_lines(path, None)), start=1)
    lines = ((line_of(path, number), line) for number, line in stripped if line and line[0] != "%")
    relation, attributes = _read_header(path, lines, ids)
    names = list(attributes)
    if ids is not None and ids not in names:
        raise ValueError(
            f"ids must be one of the {len(names)} attributes of {path.name}, got {ids!r}."
        )
    labels = _labels_of(path, xml, relation, names)
    for name in (names[j] for j in labels):
        if not {*(attributes[name] or {"": math.nan}).values()} <= {0.0, 1.0}:
            raise ValueError(
                f"{path.name}: a label must be declared {{0,1}}, got {name!r} with "
                f"{_expected(attributes[name])}. Is it a label?"
            )
    return attributes, labels, *_read_rows(path, lines, attributes)


# Which attributes are labels: by MULAN's XML file, or by MEKA's ``-C``.

#: The number of labels in a relation of MEKA.
_OPTION = re.compile(r"(?:^|[\s:'\"])-[Cc]\s+(-?[0-9]+)\b")


def _read_xml_labels(path: Path) -> list[str]:
    """Return the names in ``<label name="…"/>``; labels may be nested."""
    data = path.read_bytes()
    try:
        # A document type may declare defaults and entities of any size; UTF-16 has zero bytes.
        if b"<!DOCTYPE" in data.replace(b"\0", b""):
            raise ElementTree.ParseError("a document type, <!DOCTYPE …>")
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise ValueError(
            f"{path.name}: the file must be XML, got {error}. Is the file cut off?"
        ) from None
    labels = [one.get("name", "") for one in root.iter() if one.tag.rpartition("}")[2] == "label"]
    if not labels or "" in labels or len(set(labels)) < len(labels):
        raise ValueError(
            f'{path.name}: the file must have labels with distinct names, <label name="…"/>, got '
            f"{labels[:20]!r:.200}."
        )
    return labels


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
    labels = _read_xml_labels(xml)
    if unknown := {*labels} - {*names}:
        raise ValueError(
            f"{xml.name}: a label must be an attribute of {path.name}, and {min(unknown)!r} is not "
            f"among its {len(names)}. Do the two files belong together?"
        )
    place = {name: j for j, name in enumerate(names)}
    return [place[name] for name in labels]


# The header of a file.

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_DECLARED = re.compile(rf"\S+\s+({_QUOTED}|[^\s'\"]\S*)\s*(.*)", re.DOTALL)
_YES = {"yes", "true", "y", "t"}
_NO = {"no", "false", "n", "f"}


def _read_header(
    path: Path, lines: Iterator[tuple[str, str]], ids: str | None
) -> tuple[str, dict[str, _Numbers]]:
    """Return the relation and the attributes; the rest of the lines are the rows."""
    relation, place = "", path.name
    attributes: dict[str, _Numbers] = {}
    for place, line in lines:
        keyword = line.split(maxsplit=1)[0].lower()
        if keyword == "@data":
            return relation, attributes
        if keyword == "@relation":
            relation = line
        elif keyword == "@attribute":
            name, numbers = _read_attribute(place, line, ids)
            if name in attributes:
                raise ValueError(f"{place}: attributes must be distinct, got {name!r} again.")
            attributes[name] = numbers
        else:
            raise ValueError(
                f"{place}: the header must have @relation, @attribute and @data, got "
                f"{line[:60]!r}. Is it an ARFF file?"
            )
    raise ValueError(f"{place}: the header must end with @data, got the end of the file.")


def _read_attribute(place: str, line: str, ids: str | None) -> tuple[str, _Numbers]:
    declared = _DECLARED.fullmatch(line)
    name, kind = (_unquote(declared[1]), declared[2]) if declared else ("", "")
    if kind.lower() in ("numeric", "real", "integer"):
        return name, None
    if kind.startswith("{") and kind.endswith("}"):
        values = _split_values(place, kind[1:-1])
        words = {value: float(k) for k, value in enumerate(values)}
        if numbers := words if name == ids else _numbers_of(values):
            return name, numbers
    raise ValueError(
        f"{place}: an attribute must be @attribute NAME numeric, or {{0,1}}, {{yes,no}} or other "
        f"numbers in braces, got {line[:60]!r}. Texts, words and dates have to become numbers "
        "first; ids=NAME reads the names of the documents."
    )


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
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _expected(numbers: _Numbers) -> str:
    """Return the rule for the values of an attribute."""
    shown = ",".join(numbers or ())
    shown = shown if len(shown) < 60 else f"{shown[:60]}…"
    return "a number" if numbers is None else f"one of {{{shown}}}"


def _split_values(place: str, text: str) -> list[str]:
    r"""Split at the commas that are not in quotes, and remove the quotes.

    Examples
    --------
    >>> _split_values("a.arff, line 1", "1, 'red, or green' , ?")
    ['1', 'red, or green', '?']
    """
    quote = "'" if "'" in text else '"'
    reader = csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True)
    try:
        return [value.strip() for value in next(reader, [])]
    except csv.Error as error:
        raise ValueError(f"{place}: values must be separated by commas, got: {error}.") from None


def _unquote(text: str) -> str:
    r"""Remove quotes and their escapes; text without quotes stays as it is.

    Examples
    --------
    >>> _unquote(r"'it\'s'"), _unquote(r"m\'usica")
    ("it's", "m\\'usica")
    """
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return text
    return re.sub(r"\\(.)", r"\1", text[1:-1])


# The rows, dense or sparse.


def _read_rows(
    path: Path, lines: Iterable[tuple[str, str]], attributes: Mapping[str, _Numbers]
) -> tuple[sparse.csr_array, bool]:
    """Return the values, CSR ``(n_rows, n_columns)``, and whether any row is sparse.

    Not stored: 0; NaN: unknown.
    """
    values, indices, indptr = array("d"), array("i"), array("i", [0])
    columns = list(attributes.items())
    first = (next(iter(numbers.values())) if numbers else 0.0 for numbers in attributes.values())
    omitted = {j: value for j, value in enumerate(first) if value}  # in a sparse row
    any_sparse = False
    for place, line in lines:
        row = _read_row(place, line, columns)
        if line[0] == "{":
            any_sparse, row = True, omitted | row
            if omitted:
                check_declared(path, len(indices), "values")
        indices.extend(row)
        values.extend(row.values())
        indptr.append(len(indices))
    if len(indptr) == 1:
        raise ValueError(f"{path.name}: there must be rows after @data, got none.")
    shape = (len(indptr) - 1, len(attributes))
    matrix = sparse.csr_array(tuple(map(np.array, (values, indices, indptr))), shape=shape)
    matrix.sort_indices()
    return matrix, any_sparse


def _read_row(place: str, line: str, columns: Sequence[tuple[str, _Numbers]]) -> dict[int, float]:
    """Return the numbers in a row by column; a dense row has all columns."""
    is_sparse = line[0] == "{"
    pairs = _pairs(place, line) if is_sparse else [*enumerate(_split_values(place, line))]
    if not is_sparse and len(pairs) != len(columns):
        raise ValueError(
            f"{place}: a row must have {len(columns)} values, one per attribute, got {len(pairs)}. "
            "Is the file cut off?"
        )
    row: dict[int, float] = {}
    for j, value in pairs:
        if j >= len(columns) or j in row:
            rule = f"a sparse row must name attributes 0 to {len(columns) - 1} once"
            raise ValueError(f"{place}: {rule}, got {j}{' twice' * (j in row)}.")
        name, numbers = columns[j]
        try:
            row[j] = math.nan if value == "?" else numbers[value] if numbers else _number(value)
        except (KeyError, ValueError):
            raise ValueError(
                f"{place}: attribute {name!r} must be {_expected(numbers)}, or ? if unknown, got "
                f"{value[:60]!r}."
            ) from None
    return row


def _pairs(place: str, line: str) -> list[tuple[int, str]]:
    """Return the positions and values of a sparse row, ``{0 1, 7 'a word'}``."""
    if not line.endswith("}"):
        raise ValueError(
            f"{place}: a sparse row must end with }}, got {line[-20:]!r}. Is the file cut off?"
        )
    pairs = [pair.split(maxsplit=1) for pair in line[1:-1].split(",")]
    if pairs == [[]]:
        return []
    for pair in pairs:
        if len(pair) < 2 or not pair[0].isdecimal() or len(pair[0]) > 9:
            raise ValueError(
                f"{place}: a sparse row must be pairs of position and value, got "
                f"{' '.join(pair)[:40]!r}."
            )
    return [(int(position), _unquote(value.strip())) for position, value in pairs]
