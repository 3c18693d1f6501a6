"""Prediction for many documents: the one way from documents to a posterior.

================  ==================================================================================
``fitted_model``  ``FittedModel``: documents → content evidence, posterior, decisions, answers
``in_blocks``     blocks of documents predicted, rescored and evaluated, here or on a cluster
``output``        answers → lines of JSON, CSV or TSV, in a file that survives a kill
``scores``        score matrices in files, and metrics before and after rescoring
================  ==================================================================================

Documents come from :class:`labelkin.corpora.Documents`.
"""

from labelkin.prediction.fitted_model import FittedModel, fitted_model
from labelkin.prediction.in_blocks import evaluate_model_blocks, predict_blocks, rescore_blocks

__all__ = [
    "FittedModel",
    "evaluate_model_blocks",
    "fitted_model",
    "predict_blocks",
    "rescore_blocks",
]
