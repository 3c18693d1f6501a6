"""Wrong and missing labels of a labelled corpus.

The paper's one approximation is that the other labels of a new document are predicted. In a
labelled corpus they are known, and equation 2 applies without approximation.

================  ==========================================================================
``label_audit``   :class:`LabelAudit`: fit, then read the issues and the cleaned labels
``noise``         evidence for every cell, rates of errors, probability of an error
``issues``        broken rules, near-duplicates, and issues with their reasons
``corpus_audit``  audit of a corpus: issues as JSON lines, as a table and as an HTML page
================  ==========================================================================
"""

from labelkin.curation.audit.issues import Issue, LabelErrors, SimilarDocument
from labelkin.curation.audit.label_audit import LabelAudit

__all__ = ["Issue", "LabelAudit", "LabelErrors", "SimilarDocument"]
