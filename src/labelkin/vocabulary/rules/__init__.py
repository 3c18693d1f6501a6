"""What people know about labels: who has one has another, or no two of a group go together.

:class:`Rules` says it by label names: from hand, from a vocabulary (:func:`rules_of`,
:func:`read_skos`), from a table (:func:`read_relations`), or proposed by the data itself
(:func:`rules_from`). Bound to the labels of a model, :class:`BoundRules` applies it: to known
labels, to log-odds, and to decisions.
"""

from labelkin.vocabulary.rules.bound import BoundRules
from labelkin.vocabulary.rules.files import read_relations
from labelkin.vocabulary.rules.proposals import ProposedRule, rules_from
from labelkin.vocabulary.rules.record import Rules, bind_rules
from labelkin.vocabulary.rules.vocabularies import VocabularyRules, read_skos, rules_of

__all__ = [
    "BoundRules",
    "ProposedRule",
    "Rules",
    "VocabularyRules",
    "bind_rules",
    "read_relations",
    "read_skos",
    "rules_from",
    "rules_of",
]
