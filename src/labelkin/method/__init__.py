"""The paper: Romero & de Campos, *A probabilistic methodology for multilabel classification*.

The algorithm, line by line, and the function that is it:

===============================================================  ==================================
given a document x, obtain p(label | x) for every label          any classifier of
(step 1)                                                         ``labelkin.content``
learn p(label | other labels) from the training labels           ``label_evidence``, from the
                                                                 counted sets of ``label_sets``
fill in the other labels: decided (eq. 3, M1) or probable        ``combination.decided_labels``,
(eq. 4, M2) (step 2a)                                            ``combination.probable_labels``
p(label | filled-in other labels) (step 2b)                      ``LogisticLabels.log_odds``,
                                                                 ``SVMLabels.log_odds``
combine content, labels and prior (eq. 2, step 2c)               ``combination.combine``
scores, and decisions if wanted (step 3)                         ``labelkin.estimator``
===============================================================  ==================================

:class:`~labelkin.method.classifier.LabelDependenceClassifier` does all of it from documents;
:class:`~labelkin.method.rescorer.LabelRescorer` does steps 2 and 3 for scores that exist already.
What the paper does not have is in :mod:`labelkin.learned`.
"""
