"""Content evidence, p(label | document): classifiers of documents.

==========================  ==================================================================
``PlattSVM``                Linear SVMs with Platt's probabilities; the default for texts
``NaiveBayes``              Multinomial naive Bayes
``NearestNeighbours``       k nearest neighbours by cosine similarity
``RandomForest``            A random forest, for numbers
``ContentEnsemble``         Several classifiers, or several views of a document
``PerLabel``                Any classifier with ``predict_proba``, one clone per label
``MultilabelContent``       Any multilabel classifier with ``predict_proba``
``cross_val_log_odds``      Out-of-fold log-odds of any of them
==========================  ==================================================================
"""

from labelkin.registry import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "any_classifier": "MultilabelContent PerLabel cross_val_log_odds",
        "ensemble": "ContentEnsemble",
        "forest": "RandomForest",
        "naive_bayes": "NaiveBayes",
        "nearest_neighbours": "NearestNeighbours",
        "platt_svm": "PlattSVM",
    },
)
