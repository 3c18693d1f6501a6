"""Curation: errors in labels, their corrections, and the documents to label next.

====================  ==============================================================
``audit``             ``LabelAudit``: wrong and missing labels of a labelled corpus
``active_learning``   ``next_documents``: the documents to label next
``corrections``       Decisions of reviewers, applied to the labels of a corpus
``corrected_corpus``  A corrected corpus, as a file and as training documents
====================  ==============================================================
"""

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
