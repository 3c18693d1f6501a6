"""Vocabularies: labels as concepts, with a URI, names in several languages and broader concepts.

===============  ===================================================================================
``record``       ``Vocabulary``: what is known of all concepts, small enough for a model file
``files``        ``read_vocabulary``: SKOS, Annif's TSV and CSV, tables of two columns
``skos``         RDF → concepts; nothing is fetched, and nothing unfolds
``label_names``  ``LabelNames``: the labels of a model as people read, search and choose them
``rules``        ``Rules``: a label implies another, or labels of a group exclude each other
===============  ===================================================================================

The label stays what the documents have, a URI as a rule; names are what is shown.
"""

from labelkin.vocabulary.files import read_vocabulary
from labelkin.vocabulary.label_names import FoundLabel, LabelNames
from labelkin.vocabulary.record import Concept, Vocabulary, vocabulary_of

__all__ = [
    "Concept",
    "FoundLabel",
    "LabelNames",
    "Vocabulary",
    "read_vocabulary",
    "vocabulary_of",
]
