"""Labels for many documents: read one batch, answer it, write it, forget it.

================  ==================================================================================
``fitted_model``  a loaded model: what it takes, its log-odds, answers batch by batch
``output``        answers → lines of JSON, CSV or TSV, in a file that survives being killed
================  ==================================================================================

Documents come from :class:`labelkin.corpora.Documents`.
"""

from labelkin.prediction.fitted_model import (
    Answer,
    Choice,
    FittedModel,
    answer_batches,
    fitted_model,
)
from labelkin.prediction.output import (
    Layout,
    Output,
    ResumeNote,
    document_lines,
    file_name,
    make_layout,
    skip_answered,
)

__all__ = [
    "Answer",
    "Choice",
    "FittedModel",
    "Layout",
    "Output",
    "ResumeNote",
    "answer_batches",
    "document_lines",
    "file_name",
    "fitted_model",
    "make_layout",
    "skip_answered",
]
