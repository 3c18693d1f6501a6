"""Related methods, to be compared with label evidence on the same data and features.

Each is a scikit-learn multilabel classifier with ``predict_proba``; docs/explanation/
related-methods.md lists their assumptions and uses.

====================  ============================================================================
``chains``            ``ClassifierChain``, ``ChainEnsemble``, ``ProbabilisticChain``
``stacking``          ``StackedRelevance``, ``DependentRelevance``, ``DependencyNetwork``
``neighbours``        ``MLkNN``, ``BRkNN``, ``IBLR``
``mixtures``          ``MixtureModel``, ``ParametricMixture``
``whole_label_sets``  ``LabelPowerset``, ``RAkEL``, ``MultilabelTree``, ``MultilabelForest``
====================  ============================================================================
"""

from labelkin.research.related.chains import ChainEnsemble, ClassifierChain, ProbabilisticChain
from labelkin.research.related.mixtures import MixtureModel, ParametricMixture
from labelkin.research.related.neighbours import IBLR, BRkNN, MLkNN
from labelkin.research.related.stacking import (
    DependencyNetwork,
    DependentRelevance,
    StackedRelevance,
)
from labelkin.research.related.whole_label_sets import (
    LabelPowerset,
    MultilabelForest,
    MultilabelTree,
    RAkEL,
)

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
