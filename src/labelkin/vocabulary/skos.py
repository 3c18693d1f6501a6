"""SKOS: the concepts of an RDF file.

Needs rdflib (``pip install "labelkin[skos]"``), which is imported when a file is read. Nothing is
fetched from the network and no other file is read: a JSON-LD file must carry its context itself.
Prefixes, bases and entities abbreviate; the size of the unabbreviated graph is bounded by the
size of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

from labelkin.vocabulary.record import Concept, Vocabulary

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
    broader, disjoint = _relations(rdflib, graph)
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
    notes = literals.first(skos.definition) | literals.first(skos.scopeNote)
    found = [
        Concept(
            uri,
            named.get(uri, {}),
            min(notations.get(uri, {"": ""}).values()),
            {tag: tuple(dict.fromkeys(texts)) for tag, texts in others.get(uri, {}).items()},
            tuple(above.get(uri, ())),
            notes.get(uri, {}),
        )
        for uri in sorted(map(str, concepts))
    ]
    apart = [(str(a), str(b)) for a, b in sorted(disjoint)]
    replaced = _replaced(rdflib, graph)
    try:
        return Vocabulary.of(found, name=name, language=language, disjoint=apart, replaced=replaced)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


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


def _relations(rdflib: Any, graph: Any) -> tuple[set[_Pair], set[_Pair]]:
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
