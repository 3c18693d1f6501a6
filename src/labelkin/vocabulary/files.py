"""Vocabularies and relations from files: SKOS, and tables.

SKOS needs rdflib (``pip install "labelkin[skos]"``), which is imported when a file is read. Nothing
is fetched from the network and no other file is read: a JSON-LD file must contain its context.
Prefixes, bases and entities abbreviate; the size of the unabbreviated graph is bounded by the size
of the file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any

from labelkin.corpora.lines import decoded_lines, stem_of, table_rows
from labelkin.corpora.tables import find_delimiter
from labelkin.vocabulary.bound_rules import groups_of
from labelkin.vocabulary.record import Concept, Vocabulary
from labelkin.vocabulary.rules import Rules

#: Vocabularies that come with the package, by name.
PACKAGED = {"newsroom": "newsroom.ttl"}
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_TABLES = (".csv", ".tsv", ".tab", ".txt")
_LABEL = re.compile(r"(?:pref_?)?label(?:[_@]([a-z]{1,8}(?:-[a-z0-9]{1,8})*))?", re.IGNORECASE)
_URI_COLUMNS = ("uri", "concept", "code", "id")
_NAME_COLUMNS = ("label", "name", "title")

SKOS_FORMATS = {
    ".ttl": "turtle",
    ".rdf": "xml",
    ".xml": "xml",
    ".nt": "nt",
    ".jsonld": "json-ld",
    ".json": "json-ld",
}
#: Characters of an entity.
_LONGEST = 1_000
#: Characters of all triples and prefixes: at least, and per byte of the file.
_CHARACTERS, _PER_BYTE = 10**6, 50
#: Of entities: fewer, because rdflib's time for a text grows with the square of its length.
_PER_BYTE_OF_XML = 10
_rdflib_lock = Lock()
_ENTITY = re.compile(rb"""<!ENTITY\s+(?:%\s+)?[^\s"'>]+\s+("[^"]*"|'[^']*')""")
_Pair = tuple[Any, Any]


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
        A ``.csv`` or ``.tsv`` file. A header may name the columns in another order.
        Blank lines are skipped.

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
    columns = ["narrower", "broader", "relation"]
    rows = table_rows(decoded_lines(path, "utf-8-sig"), path.name, _DELIMITERS[ending])
    for number, (place, cells) in enumerate(rows):
        row = [cell.strip() for cell in cells]
        if not any(row):
            continue
        names = [cell.lower() for cell in row]
        if number == 0 and {"narrower", "broader"} <= {*names} <= {*columns}:
            columns = list(dict.fromkeys([*names, "relation"]))
            continue
        if len(row) not in (2, 3):
            raise ValueError(
                f"{place}: a row must have 2 or 3 columns (narrower, broader, relation), got "
                f"{len(row)}. Is the delimiter right? Labels that contain it need quotes."
            )
        named = dict(zip(columns, [*row, ""], strict=False))
        narrower, broader = named["narrower"], named["broader"]
        relation = named["relation"].lower() or "broader"
        if relation not in ("broader", "excludes"):
            raise ValueError(
                f"{place}: relation must be 'broader' or 'excludes', got {named['relation']!r}. "
                "Leave other relations out."
            )
        if not narrower or not broader or narrower == broader:
            raise ValueError(
                f"{place}: a row must name two different labels, got {narrower!r} and {broader!r}. "
                "Complete it or leave it out."
            )
        yield relation, narrower, broader


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} must be a file, but {path.absolute().parent} does not contain it. Check "
            f"the path. ({', '.join(PACKAGED)} comes with the package.)"
        )


def _read_table(path: Path, ending: str, language: str | None) -> Vocabulary:
    lines = list(decoded_lines(path, "utf-8-sig"))
    first = next((line for line in lines if line.strip()), "")
    delimiter = find_delimiter(first, "," if ending == ".csv" else "\t", (), ())
    rows = table_rows(lines, path.name, delimiter, quoted=ending == ".csv")
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


def _concepts(name: str, rows: Sequence[tuple[str, list[str]]]) -> Iterator[Concept]:
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    columns = _columns(name, header)
    widths, hint = [len(header)], "Is the delimiter right, and the file whole?"
    if columns is None:
        header, columns = ["", "", "notation"], (0, {"": 1})
        widths, hint = [2, 3], "Name columns by a header: uri, label_en, notation."
    else:
        rows = rows[1:]
    notation = header.index("notation") if "notation" in header else len(header)
    for place, row in rows:
        cells = [cell.strip() for cell in row]
        if len(cells) not in widths:
            rule = f"a row must have {' or '.join(map(str, widths))} cells"
            raise ValueError(f"{place}: {rule}, got {len(cells)}. {hint}")
        uri = cells[columns[0]]
        uri = uri[1:-1] if uri.startswith("<") and uri.endswith(">") else uri
        if not uri:
            raise ValueError(f"{place}: a concept must have a URI, got an empty cell.")
        names = {tag: cells[j] for tag, j in columns[1].items() if cells[j]}
        yield Concept(uri, names, "".join(cells[notation : notation + 1]))


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


# SKOS.


def read_skos(data: bytes, file: str, name: str, language: str | None = None) -> Vocabulary:
    """Read the bytes of a SKOS file in the format of its suffix.

    ``skos:broader`` and ``skos:narrower``, also their transitive forms, are relations between
    concepts, ``owl:disjointWith`` too; ``dct:isReplacedBy`` names a successor. Names are
    ``skos:prefLabel``, those of SKOS-XL, or else ``rdfs:label``. Mappings to other vocabularies
    (``skos:broadMatch`` …) are not read.

    Parameters
    ----------
    data : bytes
        The content of the file.
    file : str
        Its name, for its suffix and for messages.
    name : str
        Name of the vocabulary.
    language : str, optional
        Language of shown names.
    """
    rdflib, graph = _read_graph(data, file)
    broader, disjoint = _related_concepts(rdflib, graph)
    concepts = {
        *graph.subjects(rdflib.RDF.type, rdflib.SKOS.Concept),
        # In SKOS, both sides of a broader relation are concepts.
        *(concept for pair in broader for concept in pair),
    }
    if not concepts:
        raise ValueError(
            f"{file}: a vocabulary must have concepts (skos:Concept), got {len(graph)} triples "
            "without. Is it a SKOS file?"
        )
    nameless = [concept for concept in concepts if not isinstance(concept, rdflib.URIRef)]
    if nameless:
        raise ValueError(
            f"{file}: Concepts must have a URI, got {len(nameless)} without (blank nodes or "
            "texts). Give them one."
        )
    found = _concepts_in(rdflib, graph, map(str, concepts), broader)
    apart = [(str(a), str(b)) for a, b in sorted(disjoint)]
    replaced = _replaced(rdflib, graph)
    try:
        return Vocabulary.of(found, name=name, language=language, disjoint=apart, replaced=replaced)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _concepts_in(
    rdflib: Any, graph: Any, uris: Iterable[str], broader: set[_Pair]
) -> list[Concept]:
    """Return concepts with their names, notations and broader concepts, by URI."""
    above: dict[str, list[str]] = {}
    for narrow, broad in sorted(broader):
        above.setdefault(str(narrow), []).append(str(broad))
    skos, literals = rdflib.SKOS, _Literals(rdflib, graph)
    named = literals.first(rdflib.RDFS.label) | literals.first(skos.prefLabel, "prefLabel")
    notations = literals.first(skos.notation)
    others = literals.all(skos.altLabel, "altLabel")
    for uri, hidden in literals.all(skos.hiddenLabel, "hiddenLabel").items():
        for tag, texts in hidden.items():
            others.setdefault(uri, {}).setdefault(tag, []).extend(texts)
    return [
        Concept(
            uri,
            named.get(uri, {}),
            min(notations.get(uri, {"": ""}).values()),
            {tag: tuple(dict.fromkeys(texts)) for tag, texts in others.get(uri, {}).items()},
            tuple(above.get(uri, ())),
        )
        for uri in sorted(uris)
    ]


class _Literals:
    """The texts of a graph, by subject and language."""

    def __init__(self, rdflib: Any, graph: Any) -> None:
        self._rdflib, self._graph = rdflib, graph
        self._xl = rdflib.Namespace("http://www.w3.org/2008/05/skos-xl#")

    def all(self, predicate: Any, of_xl: str = "") -> dict[str, dict[str, list[str]]]:
        """Return URI → language → texts, sorted; ``of_xl``: also those that SKOS-XL has so."""
        pairs = list(self._graph.subject_objects(predicate))
        if of_xl:
            forms: dict[Any, list[Any]] = {}
            for label, text in self._graph.subject_objects(self._xl.literalForm):
                forms.setdefault(label, []).append(text)
            for concept, label in self._graph.subject_objects(self._xl[of_xl]):
                pairs.extend((concept, text) for text in forms.get(label, ()))
        found: dict[str, dict[str, list[str]]] = {}
        for subject, text in pairs:
            if isinstance(text, self._rdflib.Literal) and (plain := " ".join(str(text).split())):
                tag = (text.language or "").lower()
                found.setdefault(str(subject), {}).setdefault(tag, []).append(plain)
        return {
            uri: {tag: sorted(texts) for tag, texts in sorted(by_tag.items())}
            for uri, by_tag in found.items()
        }

    def first(self, predicate: Any, of_xl: str = "") -> dict[str, dict[str, str]]:
        """Return URI → language → the first text."""
        return {
            uri: {tag: texts[0] for tag, texts in by_tag.items()}
            for uri, by_tag in self.all(predicate, of_xl).items()
        }


def _replaced(rdflib: Any, graph: Any) -> dict[str, str]:
    """Return URI → successor; concepts with several successors are left out."""
    successors: dict[str, set[str]] = {}
    terms = rdflib.DCTERMS
    replaces = ((old, new) for new, old in graph.subject_objects(terms.replaces))
    for old, new in (*graph.subject_objects(terms.isReplacedBy), *replaces):
        if isinstance(old, rdflib.URIRef) and isinstance(new, rdflib.URIRef):
            successors.setdefault(str(old), set()).add(str(new))
    return {old: min(new) for old, new in successors.items() if len(new) == 1}


def _related_concepts(rdflib: Any, graph: Any) -> tuple[set[_Pair], set[_Pair]]:
    """Return pairs (narrower, broader), and disjoint pairs in order."""
    skos = rdflib.SKOS
    broader = {
        *graph.subject_objects(skos.broader),
        *graph.subject_objects(skos.broaderTransitive),
        *((narrow, broad) for broad, narrow in graph.subject_objects(skos.narrower)),
        *((narrow, broad) for broad, narrow in graph.subject_objects(skos.narrowerTransitive)),
    }
    apart = graph.subject_objects(rdflib.OWL.disjointWith)
    return broader, {(min(a, b), max(a, b)) for a, b in apart}


def _read_graph(data: bytes, file: str) -> tuple[Any, Any]:
    """Return rdflib, imported here, and the graph of the file."""
    try:
        rdflib = import_module("rdflib")
    except ImportError:
        raise ImportError(
            'A SKOS vocabulary needs rdflib: pip install "labelkin[skos]". Tables (.csv, .tsv) '
            "need nothing."
        ) from None
    language = SKOS_FORMATS[Path(file).suffix.lower()]
    graph, room = rdflib.Graph(), _CHARACTERS + _PER_BYTE * len(data)
    if language == "xml":
        _check_entities(data, file)
    try:
        with _bounded(graph.store, room):
            if language == "json-ld":
                data = json.dumps(json.loads(data)).encode()  # in UTF-8
            # As bytes, never as a path: rdflib may interpret a path as an address.
            graph.parse(data=data, format=language)
    except MemoryError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{file}: the file must be RDF in {language}, and cannot be read: {reason}. Does the "
            "ending fit the format?"
        ) from error
    return rdflib, graph


@contextmanager
def _bounded(store: Any, room: int) -> Iterator[None]:
    """Make rdflib raise if it would fetch a context, or store more characters than ``room``.

    The characters are those of triples and prefixes in the store and of terms of JSON-LD contexts.
    """

    def reject(address: Any, *_: Any) -> Any:
        raise ValueError(
            f"a JSON-LD file must carry its context, got a reference to {address!r:.80}, and "
            "nothing is fetched. Put the context into the file"
        )

    def bounded(write: Any) -> Any:
        def write_if_small(first: Any, *others: Any, **options: Any) -> Any:
            nonlocal room
            parts = first if isinstance(first, tuple) else (first, *others[:1])
            tags = (getattr(x, kind, None) for x in parts for kind in ("language", "datatype"))
            room -= sum(len(text) for text in (*parts, *tags) if isinstance(text, str))
            if room < 0:
                raise ValueError("its prefixes, bases or entities stand for too long texts")
            return write(first, *others, **options)

        return write_if_small

    store.add, store.bind = bounded(store.add), bounded(store.bind)
    contexts: Any = import_module("rdflib.plugins.shared.jsonld.context")
    with _rdflib_lock:
        before = contexts.source_to_json, contexts.Term
        contexts.source_to_json, contexts.Term = reject, bounded(contexts.Term)
        try:
            yield
        finally:
            contexts.source_to_json, contexts.Term = before


def _check_entities(data: bytes, file: str) -> None:
    """Raise for entities that unfold into others, are long or are many."""
    # Other encodings would hide the declarations.
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4]:
        raise ValueError(f"{file}: RDF/XML must be UTF-8 or another encoding of bytes. Convert it.")
    n_declared = data.count(b"<!ENTITY")
    values = [match[1] for match in _ENTITY.finditer(data)]
    longest = max(map(len, values), default=0)
    unfolds = any(b"&" in value for value in values)
    if (
        b"<!ATTLIST" in data
        or unfolds
        or longest > _LONGEST
        or longest * data.count(b"&") > _CHARACTERS + _PER_BYTE_OF_XML * len(data)
        or n_declared > 1_000
    ):
        raise ValueError(
            f"{file}: entities of RDF/XML must be short texts, such as addresses, and this file "
            "has some that unfold, or default attributes (ATTLIST). Convert it to Turtle."
        )
