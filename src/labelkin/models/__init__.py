"""Complete models: classifiers of documents and of scores, and presets.

==============  =================================================================
``classifier``  ``LabelDependenceClassifier`` and, for a classifier of another library,
                ``RescoredClassifier``: documents to posterior and labels
``rescorer``    ``LabelRescorer``: scores of another system to posterior
``in_sample``   Detection of in-sample scores
``builder``     Models from names, and ``preset``: pipelines for texts
==============  =================================================================
"""
