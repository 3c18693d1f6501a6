"""Vocabularies for the commands: read, held against the labels of a corpus, made rules of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from labelkin.cli.printing import listed, print_message
from labelkin.label_matrix import LabelMatrix
from labelkin.vocabulary import LabelNames, Vocabulary, read_vocabulary
from labelkin.vocabulary.languages import LANGUAGE_CODES
from labelkin.vocabulary.rules import Rules, read_relations, rules_of

if TYPE_CHECKING:
    from labelkin.corpora import Corpus


def corpus_vocabulary(
    corpus: Corpus, vocab: str | None, label_language: str | None, text_language: str
) -> Vocabulary | None:
    """Return the vocabulary that is named, or else the names that a corpus carries.

    Parameters
    ----------
    corpus
        May have names beside its labels.
    vocab
        A file, or the name of one that comes with the package; ``None``: not named.
    label_language
        Of the names that are shown; ``None``: that of the texts where there are such names.
    text_language
        Of the texts, as stemmers call it.
    """
    if vocab is not None:
        found = read_vocabulary(vocab, language=label_language)
        like_texts = found.language_like(LANGUAGE_CODES.get(text_language, text_language))
        return found if label_language or like_texts is None else found.shown_in(like_texts)
    if corpus.display_names:
        return Vocabulary.of_names(corpus.display_names, name=corpus.name, language=label_language)
    if label_language is not None:
        raise ValueError(
            f"--label-language is of the names in a vocabulary, and {corpus.name} has none beside "
            "its labels. Name a vocabulary by --vocab."
        )
    return None


def names_of(labels: Sequence[Any], vocabulary: Vocabulary | None, path: str) -> dict[str, str]:
    """Return label → name, each another; none at all where there is no vocabulary."""
    if vocabulary is None:
        return {}
    names = LabelNames(labels, vocabulary)
    names.check_some(path)
    return names.distinct()


def describe(names: LabelNames) -> str:
    """Return what a vocabulary is, and how many labels it names."""
    vocabulary = names.vocabulary
    assert vocabulary is not None
    languages = f" in {listed(vocabulary.languages)}" if vocabulary.languages else ""
    return (
        f"{vocabulary.name}: {len(vocabulary):,} concepts{languages}; {names.n_named:,} of "
        f"{len(names.labels):,} labels have a name"
    )


def print_matches(names: LabelNames, path: str, n_merged: int, quiet: bool) -> None:
    """Print what a vocabulary, if there is one, calls labels; that it has none is an error."""
    if names.vocabulary is None:
        return
    names.check_some(path)
    print_message(f"{describe(names)}.", quiet)
    if n_merged > 0:
        print_message(f"{n_merged} labels were merged into their successors.", quiet)


def current_labels(labels: LabelMatrix, vocabulary: Vocabulary | None) -> LabelMatrix:
    """Return labels with those that were replaced under the names of their successors."""
    old = labels.names.tolist()
    new = [name if vocabulary is None else vocabulary.current(str(name)) for name in old]
    if all(a == b for a, b in zip(map(str, old), map(str, new), strict=True)):
        return labels
    names = sorted(set(new))
    place = {name: j for j, name in enumerate(names)}
    columns = [place[name] for name in new]
    merge = sparse.csr_array(
        (np.ones(len(old)), (np.arange(len(old)), columns)), shape=(len(old), len(names))
    )
    positive = (labels.positive @ merge > 0).astype(np.float64)
    unknown = labels.unknown
    if unknown is not None:  # what one of the merged labels says is known
        maybe = (unknown @ merge > 0).astype(np.float64)
        unknown = sparse.csr_array(maybe - maybe.multiply(positive))
        unknown.eliminate_zeros()
    array = np.array(names, dtype=labels.names.dtype if labels.names.dtype == object else None)
    merged = sparse.csr_array(positive)
    merged.sort_indices()
    return replace(labels, positive=merged, unknown=unknown, names=array, classes=array)


def rules_between(
    labels: Sequence[Any], path: Path, quiet: bool, vocabulary: Vocabulary | None = None
) -> Rules:
    """Return what a table or a SKOS vocabulary says about labels; that it says nothing is an error.

    The labels of a table are those of the corpus, or what ``vocabulary`` calls them. Concepts of a
    SKOS file are matched by URI, or else by name in the language that fits most labels.
    """
    if path.suffix.lower() in (".csv", ".tsv"):
        found = _as_labels(read_relations(path), LabelNames(labels, vocabulary))
        rules, mentioned, here = found.only(labels), list(found.labels), set(labels)
        n_found, unknown = len(found), [one for one in mentioned if one not in here]
    else:
        concepts = read_vocabulary(path)
        rules = rules_of(concepts, labels)
        places = set(concepts.match([str(one) for one in labels]))
        related = sorted({*concepts.broader.ravel().tolist(), *concepts.disjoint.ravel().tolist()})
        mentioned = [_called(concepts, place) for place in related]
        unknown = [_called(concepts, place) for place in related if place not in places]
        n_found = len(concepts.broader) + len(concepts.disjoint)
    if not rules:
        raise ValueError(
            f"Rules must be about labels of the corpus, and none of the {n_found:,} in {path} is. "
            f"The corpus has {_three(labels)}; the rules are about {_three(mentioned)}. Both must "
            "be of one vocabulary."
        )
    print_message(f"{len(rules)} rules about labels of the corpus, of {n_found} in {path}.", quiet)
    if unknown:
        print_message(
            f"{len(unknown)} labels of the rules are not in the corpus: {listed(unknown)}.", quiet
        )
    return rules


def _as_labels(rules: Rules, names: LabelNames) -> Rules:
    """Return rules about labels where they are about names of these."""
    if names.vocabulary is None:
        return rules
    called = {label: names.label(str(label)) or label for label in rules.labels}
    return Rules(
        exclusive=[[called[label] for label in group] for group in rules.exclusive],
        implies=[(called[first], called[second]) for first, second in rules.implies],
    )


def _called(vocabulary: Vocabulary, place: int) -> str:
    name, uri = vocabulary.name_at(place), vocabulary.uris[place]
    return uri if name == uri else f"{name} <{uri}>"


def _three(items: Sequence[Any]) -> str:
    return listed(items, 3) or "none"
