"""Wrong and missing labels of a labelled corpus.

The paper's one approximation is that the other labels of a new document are predicted. In a
labelled corpus they are known, and equation 2 applies without approximation.

=================  ================================================================
``label_audit``    :class:`LabelAudit`: fit, then read the issues and the cleaned labels
``noise``          evidence for every cell, rates of errors, probability of an error
``contradictions`` cells that break a rule; near-duplicate texts with different labels
``issues``         issues with their reasons, from the probabilities
``corpus_audit``   audit of a corpus for the command line, resumable
``report``         issues as JSON lines, as a table and as an HTML page
=================  ================================================================
"""

from labelkin.curation.audit.issues import Issue, LabelErrors, SimilarDocument
from labelkin.curation.audit.label_audit import LabelAudit

__all__ = ["Issue", "LabelAudit", "LabelErrors", "SimilarDocument"]
