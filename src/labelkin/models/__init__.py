"""Complete models: classifiers of documents and of scores, and presets.

==============  =================================================================
``classifier``  ``LabelDependenceClassifier``: documents to posterior and labels
``rescorer``    ``LabelRescorer``: scores of another system to posterior
``rescored``    ``RescoredClassifier``: a classifier of another library with label evidence
``in_sample``   Detection of in-sample scores
``presets``     ``preset``: pipelines for text
==============  =================================================================
"""
