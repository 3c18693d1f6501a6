"""Prediction for many documents: the one way from documents to a posterior.

================  ==================================================================================
``fitted_model``  ``FittedModel``: documents → content evidence, posterior, decisions, answers
``in_blocks``     blocks of documents predicted, rescored and evaluated, here or on a cluster
``output``        answers → lines of JSON, CSV or TSV, in a file that survives a kill
``scores``        score matrices in files, and metrics before and after rescoring
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
from labelkin.prediction.in_blocks import (
    evaluate_documents,
    evaluate_limits,
    evaluate_model_blocks,
    predict_blocks,
    rescore_blocks,
)
from labelkin.prediction.output import (
    Layout,
    Output,
    ResumeNote,
    document_lines,
    file_name,
    folder_writer,
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
    "evaluate_documents",
    "evaluate_limits",
    "evaluate_model_blocks",
    "file_name",
    "fitted_model",
    "folder_writer",
    "load_model",
    "make_layout",
    "predict_blocks",
    "rescore_blocks",
    "skip_answered",
]
