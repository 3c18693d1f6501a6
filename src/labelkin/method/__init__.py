"""The paper: Romero & de Campos, *A probabilistic methodology for multilabel classification*.

The steps of the algorithm and the functions that implement them:

===============================================================  ==================================
step 1: estimate p(label | x) of a document x for every label    a classifier of
                                                                 ``labelkin.content``
training: fit p(label | other labels) to the training labels     ``label_evidence``, from the
                                                                 counted sets of ``label_sets``
step 2a: fill in the other labels with decisions (eq. 3, M1)     ``combination.decided_labels``,
or probabilities (eq. 4, M2)                                     ``combination.probable_labels``
step 2b: estimate p(label | filled-in other labels)              ``LogisticLabels.log_odds``,
                                                                 ``SVMLabels.log_odds``
step 2c: combine content, labels and prior (eq. 2)               ``combination.combine``
step 3: return the scores, and decisions if requested            ``labelkin.estimator``
===============================================================  ==================================

:class:`~labelkin.method.paper.PaperClassifier` in ``paper`` runs these steps from documents to
decisions. :mod:`labelkin.learned` extends the paper by a learned weight of the label evidence;
:mod:`labelkin.models` contains the models that use it.
"""
