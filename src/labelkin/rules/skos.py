"""SKOS vocabularies: broader concepts as implications, disjoint ones as exclusive.

Needs rdflib (``pip install "labelkin[rules]"``), which is imported when a file is read. Nothing is
fetched from the network: a JSON-LD file must carry its context itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

from labelkin.label_matrix.record import some_of
from labelkin.rules.files import bytes_of, saying_where
from labelkin.rules.hierarchy import groups_of
from labelkin.rules.record import Rules

FORMATS = {
    ".ttl": "turtle",
    ".rdf": "xml",
    ".xml": "xml",
    ".nt": "nt",
    ".jsonld": "json-ld",
    ".json": "json-ld",
}
Pair = tuple[Any, Any]


class Vocabulary(NamedTuple):
    """What a vocabulary says of its concepts.

    Attributes
    ----------
    rules : Rules
        Its relations, by the names of the concepts.
    names : tuple of str
        The names of all its concepts, sorted.
    uris : tuple of str
        Their URIs, in the order of the names.
    """

    rules: Rules
    names: tuple[str, ...]
    uris: tuple[str, ...]


def read_skos(
    path: str | os.PathLike[str],
    *,
    names: Literal["label", "uri"] = "label",
    language: str | None = None,
) -> Vocabulary:
    """Read the concepts of a SKOS vocabulary and the rules between them.

    ``skos:broader`` and ``skos:narrower``, also their transitive forms, become implications;
    ``owl:disjointWith`` between concepts becomes an exclusion. Mappings to other vocabularies
    (``skos:broadMatch`` …) are not read.

    Parameters
    ----------
    path : str or path
        Turtle (``.ttl``), RDF/XML (``.rdf``, ``.xml``), N-Triples (``.nt``) or JSON-LD
        (``.jsonld``, ``.json``).
    names : "label" or "uri", default "label"
        Whether a concept is named by its ``skos:prefLabel`` or by its URI.
    language : str or None, default None
        Language of the labels, such as ``"en"``: every concept needs one in it. ``None`` takes the
        first by language, and one without language before all.

    Returns
    -------
    Vocabulary

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> file = Path(folder.name, "pets.ttl")
    >>> _ = file.write_text(
    ...     "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . "
    ...     "<urn:poodle> skos:prefLabel 'poodle' ; skos:broader <urn:dog> . "
    ...     "<urn:dog> skos:prefLabel 'dog' ."
    ... )
    >>> read_skos(file).rules
    Rules(implies=[('poodle', 'dog')])
    >>> folder.cleanup()
    """
    if names not in ("label", "uri"):
        raise ValueError(f"names must be 'label' or 'uri', got {names!r}.")
    path = Path(path)
    rdflib, graph = _read_graph(path)
    concepts, implied, disjoint = _relations(rdflib, graph)
    if not concepts:
        raise ValueError(
            f"{path.name}: a vocabulary must have concepts (skos:Concept), got {len(graph)} "
            "triples without. Is it a SKOS file?"
        )
    with saying_where(path):
        nameless = [concept for concept in concepts if not isinstance(concept, rdflib.URIRef)]
        if nameless:
            raise ValueError(
                f"Concepts must have a URI, got {len(nameless)} without (blank nodes or texts). "
                "Give them one."
            )
        by_uri = {str(concept): str(concept) for concept in concepts}
        named = by_uri if names == "uri" else _preferred(rdflib, graph, concepts, language)
        disjoint, implied = (
            [(named[str(first)], named[str(second)]) for first, second in pairs]
            for pairs in (disjoint, implied)
        )
        rules = Rules(exclusive=groups_of(disjoint), implies=implied)
    in_order = sorted((name, uri) for uri, name in named.items())
    return Vocabulary(rules, tuple(n for n, _ in in_order), tuple(u for _, u in in_order))


def _read_graph(path: Path) -> tuple[Any, Any]:
    """Return rdflib, imported here, and the graph of the file."""
    try:
        rdflib = import_module("rdflib")
    except ImportError:
        raise ImportError(
            'read_skos needs rdflib: pip install "labelkin[rules]". Tables (read_relations) need '
            "nothing."
        ) from None
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"{path.name}: a vocabulary must be called {', '.join(FORMATS)}, got {suffix!r}. "
            "Rename it by its format."
        )
    data = bytes_of(path)
    graph = rdflib.Graph()
    if FORMATS[suffix] == "json-ld":
        with _saying_unreadable(path, "json-ld"):
            document = json.loads(data)
        data = _own_context(document, path)
    with _saying_unreadable(path, FORMATS[suffix]):
        # As bytes, never as a path: rdflib might take that for an address.
        graph.parse(data=data, format=FORMATS[suffix])
    return rdflib, graph


@contextmanager
def _saying_unreadable(path: Path, language: str) -> Iterator[None]:
    """Turn whatever a parser raises, each its own kind, into one error that names the file."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{path.name}: the file must be RDF in {language}, and cannot be read: {reason}. Does "
            "the ending fit the format?"
        ) from error


def _own_context(document: Any, path: Path) -> bytes:
    """Return a JSON-LD document that refers to no other; what was looked at is what is parsed."""
    for part in _objects(document):
        contexts = part.get("@context", [])
        contexts = contexts if isinstance(contexts, list) else [contexts]
        remote = [c for c in (*contexts, part.get("@import")) if isinstance(c, str)]
        if remote:
            raise ValueError(
                f"{path.name}: a JSON-LD file must carry its context, got a reference to "
                f"{remote[0]!r}; nothing is fetched. Put the context into the file, or convert it "
                "to Turtle."
            )
    return json.dumps(document).encode()


def _objects(document: Any) -> Iterable[dict[str, Any]]:
    """Yield every object of a JSON document, however deep."""
    queue = [document]
    for part in queue:
        if isinstance(part, dict):
            yield part
            queue.extend(part.values())
        elif isinstance(part, list):
            queue.extend(part)


def _relations(rdflib: Any, graph: Any) -> tuple[list[Any], list[Pair], list[Pair]]:
    """Return the concepts, pairs (narrower, broader) and disjoint pairs, all sorted."""
    skos = rdflib.SKOS
    implied = {
        *graph.subject_objects(skos.broader),
        *graph.subject_objects(skos.broaderTransitive),
        *((narrow, broad) for broad, narrow in graph.subject_objects(skos.narrower)),
        *((narrow, broad) for broad, narrow in graph.subject_objects(skos.narrowerTransitive)),
    }
    # By SKOS, whatever has a broader concept, or is one, is a concept.
    concepts = {
        *graph.subjects(rdflib.RDF.type, skos.Concept),
        *(c for pair in implied for c in pair),
    }
    disjoint = {
        tuple(sorted(pair))
        for pair in graph.subject_objects(rdflib.OWL.disjointWith)
        if concepts.issuperset(pair)
    }
    return sorted(concepts), sorted(implied), sorted(disjoint)


def _preferred(
    rdflib: Any, graph: Any, concepts: Sequence[Any], language: str | None
) -> dict[str, str]:
    """Return the preferred label of each concept by its URI."""
    named: dict[str, str] = {}
    wanted = None if language is None else language.lower()
    for concept in concepts:
        labels = sorted(
            ((label.language or "").lower(), str(label))
            for label in graph.objects(concept, rdflib.SKOS.prefLabel)
        )
        fitting = [text for tag, text in labels if wanted in (None, tag)]
        if fitting:
            named[str(concept)] = fitting[0]
    lacking = [str(concept) for concept in concepts if str(concept) not in named]
    if lacking:
        kind = "a skos:prefLabel" if language is None else f"a skos:prefLabel in {language!r}"
        raise ValueError(
            f"Every concept must have {kind}, got none for {some_of(lacking, 5)}. Use names='uri'"
            f"{'' if language is None else ', or language=None for any language'}."
        )
    first: dict[str, str] = {}
    for uri, name in named.items():
        if first.setdefault(name, uri) != uri:
            raise ValueError(
                f"Names of concepts must be distinct, got {name!r} for {first[name]!r} and "
                f"{uri!r}. Use names='uri'."
            )
    return named
