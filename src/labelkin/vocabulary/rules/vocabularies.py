"""Rules from vocabularies: broader concepts as implications, disjoint ones as exclusive."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from labelkin.label_matrix.record import some_of
from labelkin.vocabulary.record import Concept, Vocabulary
from labelkin.vocabulary.rules.files import bytes_of, saying_where
from labelkin.vocabulary.rules.hierarchy import groups_of
from labelkin.vocabulary.rules.record import Rules
from labelkin.vocabulary.skos import FORMATS, read_concepts


class VocabularyRules(NamedTuple):
    """What a SKOS file says of its concepts.

    Attributes
    ----------
    rules : Rules
        Its relations, by the names of the concepts.
    names : tuple of str
        The names of all its concepts, sorted.
    uris : tuple of str
        Their URIs, in the order of the names.

    Examples
    --------
    >>> from labelkin.vocabulary.rules import Rules, VocabularyRules
    >>> rules = Rules(implies=[("poodle", "dog")])
    >>> pets = VocabularyRules(rules, names=("dog", "poodle"), uris=("urn:dog", "urn:poodle"))
    >>> dict(zip(pets.names, pets.uris, strict=True))["poodle"]
    'urn:poodle'
    """

    rules: Rules
    names: tuple[str, ...]
    uris: tuple[str, ...]


def rules_of(vocabulary: Vocabulary, label_names: Sequence[Any] | None = None) -> Rules:
    """Return what a vocabulary says about labels.

    Labels are matched by URI, or else by notation, or by name in one language: whichever most
    labels are. What follows through concepts that are no labels is kept.

    Parameters
    ----------
    vocabulary : Vocabulary
        As :func:`labelkin.vocabulary.read_vocabulary` reads it.
    label_names : sequence, optional
        Labels of a model or a corpus; ``None``: all concepts, by URI.

    Returns
    -------
    Rules

    Examples
    --------
    >>> from labelkin.vocabulary import read_vocabulary
    >>> rules_of(read_vocabulary("newsroom"), ["Weizen", "Getreide", "Tennis"])
    Rules(implies=[('Weizen', 'Getreide')])
    """
    broader, disjoint = vocabulary.broader.tolist(), vocabulary.disjoint.tolist()
    named: dict[Any, Any] = dict(enumerate(vocabulary.uris))
    if label_names is not None:
        places = vocabulary.match([str(label) for label in label_names])
        found = {p: label for p, label in zip(places, label_names, strict=True) if p is not None}
        kept = Rules(exclusive=groups_of(disjoint), implies=list(map(tuple, broader))).only(found)
        named, broader, groups = found, kept.implies, kept.exclusive
    else:
        groups = groups_of(disjoint)
    return Rules(
        exclusive=[[named[place] for place in group] for group in groups],
        implies=[(named[below], named[above]) for below, above in broader],
    )


def read_skos(
    path: str | os.PathLike[str],
    *,
    names: Literal["label", "uri"] = "label",
    language: str | None = None,
) -> VocabularyRules:
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
    VocabularyRules

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
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"{path.name}: a vocabulary must be called {', '.join(FORMATS)}, got {suffix!r}. "
            "Rename it by its format."
        )
    found = read_concepts(bytes_of(path), path.name)
    with saying_where(path):
        if names == "uri":
            named = {concept.uri: concept.uri for concept in found.concepts}
        else:
            named = _preferred(found.concepts, language)
        rules = Rules(
            exclusive=groups_of((named[first], named[second]) for first, second in found.disjoint),
            implies=[
                (named[concept.uri], named[above])
                for concept in found.concepts
                for above in concept.broader
            ],
        )
    in_order = sorted((name, uri) for uri, name in named.items())
    return VocabularyRules(rules, tuple(n for n, _ in in_order), tuple(u for _, u in in_order))


def _preferred(concepts: Sequence[Concept], language: str | None) -> dict[str, str]:
    """Return the preferred label of each concept by its URI."""
    named: dict[str, str] = {}
    wanted = None if language is None else language.lower()
    for concept in concepts:
        fitting = [text for tag, text in concept.labels.items() if wanted in (None, tag)]
        if fitting:
            named[concept.uri] = fitting[0]
    lacking = [concept.uri for concept in concepts if concept.uri not in named]
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
