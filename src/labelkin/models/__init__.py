"""Complete models: classifiers of documents, of scores that exist already, and presets.

==============  =================================================================
``classifier``  ``LabelDependenceClassifier``: documents to posterior and labels
``rescorer``    ``LabelRescorer``: scores of another system to posterior
``rescored``    ``RescoredClassifier``: a classifier of another library, rescored
``in_sample``   A warning for scores of documents that were used for training
``presets``     ``preset``: pipelines for text
==============  =================================================================
"""
