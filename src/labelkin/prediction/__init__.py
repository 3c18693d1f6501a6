"""Prediction for many documents, batch by batch.

================  ==================================================================================
``fitted_model``  a loaded model: what it takes, its log-odds, answers batch by batch
``in_blocks``     blocks of documents predicted, rescored and judged, here or on a cluster
``output``        answers → lines of JSON, CSV or TSV, in a file that survives being killed
================  ==================================================================================

Documents come from :class:`labelkin.corpora.Documents`.
"""

from labelkin.prediction.fitted_model import (
    Answer,
    Choice,
    DocumentContent,
    FittedModel,
    answer_batches,
    fitted_model,
    load_model,
)
from labelkin.prediction.in_blocks import judge_blocks, predict_blocks, rescore_blocks
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
    "DocumentContent",
    "FittedModel",
    "Layout",
    "Output",
    "ResumeNote",
    "answer_batches",
    "document_lines",
    "file_name",
    "fitted_model",
    "judge_blocks",
    "load_model",
    "make_layout",
    "predict_blocks",
    "rescore_blocks",
    "skip_answered",
]
