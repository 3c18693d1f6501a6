"""Texts as vectors: the paper's preprocessing as scikit-learn transformers.

Words without mark-up and stop words, as stems, counted (:class:`WordCounts`); weighted
(:class:`TermWeights`); and the terms with the most information about the labels
(:class:`TermSelection`).
:class:`TextView` does this for one view of documents: their titles, beginnings, bodies, characters.

>>> from sklearn.pipeline import make_pipeline
>>> texts = ["Ships carry corn.", "Corn, good corn!", "A ship sank.", "Good ships sink."]
>>> labels = [["sea", "farm"], ["farm"], ["sea"], ["sea"]]
>>> vectors = make_pipeline(WordCounts(min_documents=2), TermSelection(k=2), TermWeights("tfidf"))
>>> vectors.fit_transform(texts, labels).shape
(4, 2)
>>> vectors.get_feature_names_out().tolist()
['corn', 'ship']
"""

from labelkin.text.terms import (
    TermSelection,
    TermWeights,
    TextView,
    TitledText,
    term_scores,
    titled_texts,
)
from labelkin.text.words import (
    WORD,
    SurfaceForm,
    WordCounts,
    remove_markup,
    smart_stop_words,
    surface_forms,
)

__all__ = [
    "WORD",
    "SurfaceForm",
    "TermSelection",
    "TermWeights",
    "TextView",
    "TitledText",
    "WordCounts",
    "remove_markup",
    "smart_stop_words",
    "surface_forms",
    "term_scores",
    "titled_texts",
]
