"""Vocabularies and rules matched to the labels of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from labelkin.corpora.corpus import Corpus
from labelkin.label_matrix import LabelMatrix
from labelkin.validation import abbreviate
from labelkin.vocabulary.files import read_relations, read_vocabulary
from labelkin.vocabulary.label_names import LabelNames
from labelkin.vocabulary.record import LANGUAGE_CODES, Concept, Vocabulary
from labelkin.vocabulary.rules import Rules, rules_of


def corpus_vocabulary(
    corpus: Corpus,
    vocab: str | None = None,
    label_language: str | None = None,
    text_language: str = "english",
) -> Vocabulary | None:
    """Return a named vocabulary, or else the label names that a corpus contains.

    Parameters
    ----------
    corpus
        May contain names of its labels.
    vocab
        A file, or the name of a vocabulary in the package; default none.
    label_language
        Language of the names; default that of the texts if the vocabulary contains it.
    text_language
        Language of the texts, as stemmers call it.
    """
    if vocab is not None:
        found = read_vocabulary(vocab, language=label_language)
        like_texts = found.language_like(LANGUAGE_CODES.get(text_language, text_language))
        return found if label_language or like_texts is None else found.shown_in(like_texts)
    if corpus.display_names:
        language = (label_language or "").lower()
        named = (Concept(label, {language: name}) for label, name in corpus.display_names.items())
        return Vocabulary.of(named, name=corpus.name, language=language)
    if label_language is not None:
        raise ValueError(
            f"--label-language is of the names in a vocabulary, and {corpus.name} has none beside "
            "its labels. Name a vocabulary by --vocab."
        )
    return None


def distinct_names(
    labels: Sequence[Any], vocabulary: Vocabulary | None, source: str
) -> dict[str, str]:
    """Return label → name, each distinct; empty without a vocabulary."""
    if vocabulary is None:
        return {}
    names = LabelNames(labels, vocabulary)
    names.check_some(source)
    return names.distinct()


def current_labels(labels: LabelMatrix, vocabulary: Vocabulary | None) -> LabelMatrix:
    """Return labels with replaced concepts merged into their successors."""
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
    if unknown is not None:  # a label is known if one of the merged labels is
        maybe = (unknown @ merge > 0).astype(np.float64)
        unknown = sparse.csr_array(maybe - maybe.multiply(positive))
        unknown.eliminate_zeros()
    array = np.array(names, dtype=labels.names.dtype if labels.names.dtype == object else None)
    merged = sparse.csr_array(positive)
    merged.sort_indices()
    return replace(labels, positive=merged, unknown=unknown, names=array, classes=array)


class MatchedRules(NamedTuple):
    """Rules between labels of a corpus, the number in the file, and labels outside the corpus."""

    rules: Rules
    n_found: int
    unknown: Sequence[Any]


def rules_between(
    labels: Sequence[Any], path: Path, vocabulary: Vocabulary | None = None
) -> MatchedRules:
    """Return the rules of a table or a SKOS vocabulary between some labels; no rule is an error.

    The labels of a table are those of the corpus, or their names in ``vocabulary``. Concepts of a
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
        mentioned = [_name_and_uri(concepts, place) for place in related]
        unknown = [_name_and_uri(concepts, place) for place in related if place not in places]
        n_found = len(concepts.broader) + len(concepts.disjoint)
    if not rules:
        raise ValueError(
            f"Rules must be about labels of the corpus, and none of the {n_found:,} in {path} is. "
            f"The corpus has {abbreviate(labels, 3)}; the rules are about "
            f"{abbreviate(mentioned, 3) or 'none'}. Both must "
            "be of one vocabulary."
        )
    return MatchedRules(rules, n_found, unknown)


def _as_labels(rules: Rules, names: LabelNames) -> Rules:
    """Return rules about labels for rules about their names."""
    if names.vocabulary is None:
        return rules
    called = {label: names.label(str(label)) or label for label in rules.labels}
    return Rules(
        exclusive=[[called[label] for label in group] for group in rules.exclusive],
        implies=[(called[first], called[second]) for first, second in rules.implies],
    )


def _name_and_uri(vocabulary: Vocabulary, place: int) -> str:
    name, uri = vocabulary.name_at(place), vocabulary.uris[place]
    return uri if name == uri else f"{name} <{uri}>"
