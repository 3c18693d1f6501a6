"""Active learning: which documents are worth labelling next.

================  =====================================================================
``information``   how much a document's label set would tell, with labels that depend
``choosing``      :func:`next_documents`: the value of every document of a pool; a batch
================  =====================================================================
"""

from labelkin.curation.next_documents.choosing import (
    NextDocument,
    OpenLabel,
    document_values,
    next_documents,
)

__all__ = ["NextDocument", "OpenLabel", "document_values", "next_documents"]
