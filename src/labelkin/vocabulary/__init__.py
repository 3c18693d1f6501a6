"""Vocabularies: labels as concepts with a URI, names in several languages and broader concepts.

===============  ===================================================================================
``record``       ``Vocabulary``: the concepts, small enough for a model file
``files``        ``read_vocabulary``: SKOS and tables; ``read_relations``: rules from a table
``label_names``  ``LabelNames``: the labels of a model for display, search and selection
``rules``        ``Rules``: implications between labels, and groups that exclude each other
``bound_rules``  rules applied to known labels, log-odds and decisions
``matching``     vocabularies and rules for the labels of a corpus
===============  ===================================================================================

Documents have labels, usually URIs; users see names.
"""

from labelkin.vocabulary.files import read_relations, read_vocabulary
from labelkin.vocabulary.label_names import FoundLabel, LabelNames
from labelkin.vocabulary.record import Concept, Vocabulary, vocabulary_of
from labelkin.vocabulary.rules import (
    BoundRules,
    ProposedRule,
    Rules,
    rules_from,
    rules_of,
)

__all__ = [
    "BoundRules",
    "Concept",
    "FoundLabel",
    "LabelNames",
    "ProposedRule",
    "Rules",
    "Vocabulary",
    "read_relations",
    "read_vocabulary",
    "rules_from",
    "rules_of",
    "vocabulary_of",
]
