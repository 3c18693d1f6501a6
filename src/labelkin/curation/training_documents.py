"""Training documents of a corpus together with the saved work of indexers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from scipy import sparse

from labelkin.corpora import Corpus
from labelkin.corpora.corpus import labels_of, object_array
from labelkin.curation.corrections import Corrections, Decision, chosen_changes
from labelkin.label_matrix import LabelMatrix, read_labels


class TrainingDocuments(NamedTuple):
    """Texts or vectors, their label sets, and the corrections that were made."""

    documents: Any
    labels: LabelMatrix
    corrections: str = ""


def training_documents(
    corpus: Corpus,
    all_documents: bool = False,
    *,
    decisions: Iterable[Decision] = (),
    texts: Sequence[str] = (),
    label_sets: Sequence[Iterable[str]] = (),
) -> TrainingDocuments:
    """Return the training part of a corpus, with corrected labels and further documents.

    Parameters
    ----------
    corpus
        Contains a split.
    all_documents
        Whether test documents are included.
    decisions
        Reviewed issues of an audit; chosen changes are made in the labels.
    texts, label_sets
        Further documents, as indexers saved them.
    """
    part: Any = slice(None) if all_documents else corpus.train
    documents, labels, made = corpus.documents[part], labels_of(corpus).rows(part), ""
    if changes := chosen_changes(decisions):
        corrections = Corrections(changes.values())
        labels = corrected_labels(corpus, corrections).rows(part)
        made = corrections.summary()
    if not texts:
        return TrainingDocuments(documents, labels, made)
    if corpus.features != "text":
        raise ValueError(
            f"Saved work adds texts, and {corpus.name} has {corpus.features}. Leave it out."
        )
    sets = [set(one) for one in (*labels.label_sets(), *label_sets)]
    names = sorted({*labels.names.tolist(), *(name for one in label_sets for name in one)})
    together = object_array([*documents, *texts])
    return TrainingDocuments(together, read_labels(sets, names=names), made)


def corrected_labels(corpus: Corpus, corrections: Corrections) -> LabelMatrix:
    """Return the labels of a corpus with changes made; changes may add new labels."""
    sets: list[set[Any]] = []
    given = labels_of(corpus)
    for i, (name, labels) in enumerate(zip(corpus.names(), given.label_sets(), strict=True)):
        text = str(corpus.documents[i]) if corpus.features == "text" else None
        changed = corrections.apply(name, text, labels)
        sets.append(set(labels if changed is None else changed))
    names = given.names.tolist()
    new = sorted(set().union(*sets) - set(names))
    corrected = read_labels(sets, names=[*names, *new])
    if given.unknown is None:
        return corrected
    nowhere = sparse.csr_array((len(sets), len(new)))
    return replace(corrected, unknown=sparse.csr_array(sparse.hstack([given.unknown, nowhere])))
