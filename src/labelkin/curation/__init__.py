"""Curation: errors in labels, their corrections, and the documents to label next.

====================  ==============================================================
``audit``             ``LabelAudit``: wrong and missing labels of a labelled corpus
``active_learning``   ``next_documents``: the documents to label next
``corrections``       Decisions of reviewers, applied to the labels of a corpus
``corrected_corpus``  A corrected corpus, as a file and as training documents
====================  ==============================================================
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkin.curation.active_learning import (
        NextDocument,
        OpenLabel,
        document_values,
        next_documents,
    )
    from labelkin.curation.audit import Issue, LabelAudit, LabelErrors, SimilarDocument

__all__ = [
    "Issue",
    "LabelAudit",
    "LabelErrors",
    "NextDocument",
    "OpenLabel",
    "SimilarDocument",
    "document_values",
    "next_documents",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'labelkin.curation' has no attribute {name!r}")
    audit = ("Issue", "LabelAudit", "LabelErrors", "SimilarDocument")
    home = "audit" if name in audit else "active_learning"
    return getattr(import_module(f"labelkin.curation.{home}"), name)
