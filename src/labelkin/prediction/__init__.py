"""Labels for many documents: read one batch, answer it, write it, forget it.

===============  ===================================================================================
``documents``    files, folders and streams → documents, one after the other
``fitted_model`` a loaded model: what it takes, its log-odds, its decisions
``answers``      documents → answers, batch by batch
``layouts``      answers → lines of JSON, CSV or TSV, and whose line it is
``output``       lines → a file that survives being killed and is gone on with
``resume_note``  beside such a file: the model and the options it was begun with
===============  ===================================================================================
"""

from labelkin.prediction.answers import Answer, answer_batches
from labelkin.prediction.documents import FORMATS, Document, read_documents, read_folder
from labelkin.prediction.fitted_model import FittedModel, fitted_model
from labelkin.prediction.layouts import LAYOUTS, Layout, make_layout
from labelkin.prediction.output import Output, skip_answered
from labelkin.prediction.resume_note import ResumeNote

__all__ = [
    "FORMATS",
    "LAYOUTS",
    "Answer",
    "Document",
    "FittedModel",
    "Layout",
    "Output",
    "ResumeNote",
    "answer_batches",
    "fitted_model",
    "make_layout",
    "read_documents",
    "read_folder",
    "skip_answered",
]
