"""Wrong and missing labels of a labelled corpus.

The paper's one approximation is that the other labels of a new document are predicted. In a
labelled corpus they are known, and equation 2 can be used as written: content evidence out of fold,
and evidence of the document's own other labels, by layers that have not seen it.

==============  ===================================================================
label_audit     :class:`LabelAudit`: fit, then read the issues and the cleaned labels
evidence        evidence for every cell that does not depend on the cell itself
noise           rates of missing and wrong labels, and the probability of an error
contradictions  cells that break a rule; near-duplicate texts with different labels
issue_table     from probabilities to the list of issues with their reasons
==============  ===================================================================
"""

from labelkin.curation.audit.issue_table import Issue, LabelErrors, SimilarDocument
from labelkin.curation.audit.label_audit import LabelAudit

__all__ = ["Issue", "LabelAudit", "LabelErrors", "SimilarDocument"]
