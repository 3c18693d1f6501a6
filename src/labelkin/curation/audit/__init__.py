"""Which labels of a labelled corpus are wrong, and which are missing.

The paper's one approximation is that the other labels of a new document are predicted. In a corpus
that is labelled already they are known, and equation 2 can be used as it stands: content evidence
out of fold, evidence of the document's own other labels by layers that have not seen it.

==============  ===================================================================
label_audit     :class:`LabelAudit`: fit, then read the issues and the cleaned labels
evidence        what is known of every cell, as if its document were new
noise           how often labels are missing or wrong, and how probable it is of a cell
contradictions  cells that break a rule; same text, different labels
findings        from probabilities to the list of issues with their reasons
issues          the records, and where the list should end
==============  ===================================================================
"""

from labelkin.curation.audit.issues import Issue, LabelErrors, SimilarDocument
from labelkin.curation.audit.label_audit import LabelAudit

__all__ = ["Issue", "LabelAudit", "LabelErrors", "SimilarDocument"]
