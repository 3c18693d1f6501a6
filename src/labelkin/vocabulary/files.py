"""Vocabularies and relations from files: SKOS, and tables."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from labelkin.corpora.lines import decoded_lines, stem_of, table_rows
from labelkin.vocabulary.bound_rules import groups_of
from labelkin.vocabulary.record import Concept, Vocabulary
from labelkin.vocabulary.rules import Rules
from labelkin.vocabulary.skos import SKOS_FORMATS, read_skos

#: Vocabularies that come with the package, by name.
PACKAGED = {"newsroom": "newsroom.ttl"}
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_TABLES = (".csv", ".tsv", ".tab", ".txt")
_LABEL = re.compile(r"(?:pref_?)?label(?:[_@]([a-z]{1,8}(?:-[a-z0-9]{1,8})*))?", re.IGNORECASE)
_URI_COLUMNS = ("uri", "concept", "code", "id")
_NAME_COLUMNS = ("label", "name", "title")


def read_vocabulary(path: str | os.PathLike[str], *, language: str | None = None) -> Vocabulary:
    r"""Read a vocabulary.

    Parameters
    ----------
    path : str or path
        - SKOS as Turtle (``.ttl``), RDF/XML (``.rdf``, ``.xml``), N-Triples (``.nt``) or JSON-LD
          (``.jsonld``, ``.json``); needs rdflib, ``pip install "labelkin[skos]"``.
        - ``.csv`` or ``.tsv`` with a header, as Annif has it: ``uri``, ``label_en``, ``label_fi``
          …, maybe ``notation``.
        - ``.tsv`` or ``.csv`` without a header: URI (angle brackets are cut off) or any other
          label, its name, maybe a notation.
        - ``"newsroom"``: the vocabulary of :func:`labelkin.corpora.newsroom`, which comes with the
          package.
    language : str, optional
        Language of the shown names, and of names without language in a table; ``None``: the
        language with names for most concepts.

    Returns
    -------
    Vocabulary

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> file = Path(folder.name, "codes.csv")
    >>> _ = file.write_text("acq,mergers and acquisitions\nbop,balance of payments\n")
    >>> read_vocabulary(file, language="en").name_of("bop")
    'balance of payments'
    >>> folder.cleanup()
    >>> read_vocabulary("newsroom").name_of("http://example.org/newsroom/wheat", "de")
    'Weizen'
    """
    given = str(path)
    if given in PACKAGED and not Path(given).exists():
        with files("labelkin.vocabulary").joinpath(PACKAGED[given]).open("rb") as file:
            return read_skos(file.read(), PACKAGED[given], given, language)
    path = Path(path)
    _check_file(path)
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending in _TABLES:
        return _read_table(path, ending, language)
    if path.suffix.lower() not in SKOS_FORMATS:
        known = ", ".join((*SKOS_FORMATS, *_TABLES[:2]))
        raise ValueError(
            f"{path.name}: a vocabulary must be called {known}, got {path.suffix.lower()!r}. "
            "Rename it by its format."
        )
    return read_skos(path.read_bytes(), path.name, path.stem, language)


def read_relations(path: str | os.PathLike[str]) -> Rules:
    r"""Read rules from a table of two or three columns: narrower, broader and maybe relation.

    Each line has two labels. The relation is ``broader``, the default (the first implies the
    second), or ``excludes`` (no document has both). Excluding pairs are gathered into groups.

    Parameters
    ----------
    path : str or path
        A ``.csv`` or ``.tsv`` file. A header and blank lines are skipped.

    Returns
    -------
    Rules

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> table = Path(folder.name, "pets.csv")
    >>> _ = table.write_text("narrower,broader,relation\npoodle,dog,broader\ncat,dog,excludes\n")
    >>> read_relations(table)
    Rules(exclusive=[('cat', 'dog')], implies=[('poodle', 'dog')])
    >>> folder.cleanup()
    """
    path = Path(path)
    relations = list(_relations(path))
    try:
        return Rules(
            exclusive=groups_of((a, b) for relation, a, b in relations if relation == "excludes"),
            implies=[(a, b) for relation, a, b in relations if relation == "broader"],
        )
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _relations(path: Path) -> Iterator[tuple[str, str, str]]:
    ending = path.suffix.lower()
    if ending not in _DELIMITERS:
        raise ValueError(
            f"{path.name}: a table must be called .csv (commas) or .tsv (tabs), got {ending!r}. "
            "Rename it."
        )
    _check_file(path)
    header = ["narrower", "broader", "relation"]
    rows = table_rows(decoded_lines(path, "utf-8-sig"), path.name, _DELIMITERS[ending])
    for number, (place, cells) in enumerate(rows):
        row = [cell.strip() for cell in cells]
        names = [cell.lower() for cell in row]
        if not any(row) or (number == 0 and names in (header, header[:2])):
            continue
        if number == 0 and sorted(names) in (sorted(header), sorted(header[:2])):
            raise ValueError(
                f"{place}: the columns must be narrower, broader, relation in this order, got "
                f"{', '.join(names)}. Move the columns."
            )
        if len(row) not in (2, 3):
            raise ValueError(
                f"{place}: a row must have 2 or 3 columns (narrower, broader, relation), got "
                f"{len(row)}. Is the delimiter right? Labels that contain it need quotes."
            )
        relation = row[2].lower() if len(row) == 3 and row[2] else "broader"
        if relation not in ("broader", "excludes"):
            raise ValueError(
                f"{place}: relation must be 'broader' or 'excludes', got {row[2]!r}. Leave other "
                "relations out."
            )
        if not row[0] or not row[1] or row[0] == row[1]:
            raise ValueError(
                f"{place}: a row must name two different labels, got {row[0]!r} and {row[1]!r}. "
                "Complete it or leave it out."
            )
        yield relation, row[0], row[1]


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} must be a file, but {path.absolute().parent} does not contain it. Check "
            f"the path. ({', '.join(PACKAGED)} comes with the package.)"
        )


def _read_table(path: Path, ending: str, language: str | None) -> Vocabulary:
    lines = list(decoded_lines(path, "utf-8-sig"))
    first = next((line for line in lines if line.strip()), "")
    rows = table_rows(lines, path.name, _delimiter(first, ending), quoted=ending == ".csv")
    untagged = (language or "").lower()
    concepts = list(_concepts(path.name, [(place, row) for place, row in rows if any(row)]))
    if not concepts:
        raise ValueError(f"{path.name}: a vocabulary must have concepts, got an empty table.")
    tagged = [
        concept._replace(labels={tag or untagged: name for tag, name in concept.labels.items()})
        for concept in concepts
    ]
    try:
        return Vocabulary.of(tagged, name=stem_of(path), language=language)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _delimiter(first: str, ending: str) -> str:
    """Return the most frequent delimiter of the first line."""
    usual = "," if ending == ".csv" else "\t"
    cells = {sign: len(next(csv.reader([first], delimiter=sign))) for sign in (usual, ";", "\t")}
    return max(cells, key=lambda sign: cells[sign])


def _concepts(name: str, rows: Sequence[tuple[str, list[str]]]) -> Iterator[Concept]:
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    columns = _columns(name, header)
    n_cells = len(header)
    for place, row in rows[1:] if columns else rows:
        cells = [cell.strip() for cell in row]
        if columns is None:
            if len(cells) not in (2, 3):
                raise ValueError(
                    f"{place}: a table without a header must have 2 or 3 columns (label, name, "
                    f"notation), got {len(cells)}. Name columns by a header: uri, label_en, "
                    "notation."
                )
            names = {"": cells[1]} if cells[1] else {}
            uri, notation = cells[0], cells[2] if len(cells) == 3 else ""
        else:
            if len(cells) != n_cells:
                raise ValueError(
                    f"{place}: a row must have the header's {n_cells} cells, got {len(cells)}. Is "
                    "the delimiter right, and the file whole?"
                )
            names = {tag: cells[j] for tag, j in columns[1].items() if cells[j]}
            uri = cells[columns[0]]
            notation = cells[header.index("notation")] if "notation" in header else ""
        uri = uri[1:-1] if uri.startswith("<") and uri.endswith(">") else uri
        if not uri:
            raise ValueError(f"{place}: a concept must have a URI, got an empty cell.")
        yield Concept(uri, names, notation)


def _columns(name: str, header: Sequence[str]) -> tuple[int, dict[str, int]] | None:
    """Return the columns of the URI and of names by language; ``None`` without a header."""
    uri = next((header.index(word) for word in _URI_COLUMNS if word in header), None)
    names: dict[str, int] = {}
    for j, cell in enumerate(header):
        match = _LABEL.fullmatch(cell)
        tag = (match[1] or "") if match else ""
        if (match or cell in _NAME_COLUMNS) and names.setdefault(tag.lower(), j) != j:
            raise ValueError(f"{name}: a column must be in the header once, got {cell!r} again.")
    if uri is None and not names:
        return None
    if uri is None or not names:
        wanted = "the columns uri and label_en (or another language)"
        raise ValueError(
            f"{name}: the header must name {wanted}, got {', '.join(map(repr, header))}."
        )
    return uri, names
