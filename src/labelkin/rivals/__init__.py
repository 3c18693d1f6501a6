"""The relatives of the method, to be compared with it under the same data, features and tests.

Each is a scikit-learn multilabel classifier with ``predict_proba``, usable on its own. What each
assumes, and when to use it, stands in three lines in docs/explanation/rivals.md.

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

from labelkin.rivals.chains import ChainEnsemble, ClassifierChain
from labelkin.rivals.dependency_network import DependencyNetwork
from labelkin.rivals.mixtures import MixtureModel, ParametricMixture
from labelkin.rivals.neighbours import IBLR, BRkNN, MLkNN
from labelkin.rivals.powerset import LabelPowerset, RAkEL
from labelkin.rivals.probabilistic_chain import ProbabilisticChain
from labelkin.rivals.stacking import DependentRelevance, StackedRelevance
from labelkin.rivals.trees import MultilabelForest, MultilabelTree

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
