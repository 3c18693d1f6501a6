"""The relatives of the method, to be compared with it under the same data, features and tests.

Each is a scikit-learn multilabel classifier with ``predict_proba``, usable on its own. What each
assumes, and when to use it, stands in three lines in docs/explanation/related-methods.md.

======================  ==========================================================================
chains                  ``ClassifierChain``, ``ChainEnsemble``
probabilistic_chain     ``ProbabilisticChain``
stacking                ``StackedRelevance``, ``DependentRelevance``
dependency_network      ``DependencyNetwork``
neighbours              ``MLkNN``, ``BRkNN``, ``IBLR``
trees                   ``MultilabelTree``, ``MultilabelForest``
mixtures                ``MixtureModel``, ``ParametricMixture``
powerset                ``LabelPowerset``, ``RAkEL``
======================  ==========================================================================
"""

from labelkin.research.related.chains import ChainEnsemble, ClassifierChain
from labelkin.research.related.dependency_network import DependencyNetwork
from labelkin.research.related.mixtures import MixtureModel, ParametricMixture
from labelkin.research.related.neighbours import IBLR, BRkNN, MLkNN
from labelkin.research.related.powerset import LabelPowerset, RAkEL
from labelkin.research.related.probabilistic_chain import ProbabilisticChain
from labelkin.research.related.stacking import DependentRelevance, StackedRelevance
from labelkin.research.related.trees import MultilabelForest, MultilabelTree

__all__ = [
    "IBLR",
    "BRkNN",
    "ChainEnsemble",
    "ClassifierChain",
    "DependencyNetwork",
    "DependentRelevance",
    "LabelPowerset",
    "MLkNN",
    "MixtureModel",
    "MultilabelForest",
    "MultilabelTree",
    "ParametricMixture",
    "ProbabilisticChain",
    "RAkEL",
    "StackedRelevance",
]
