"""Constructors and parameter names of the public API."""

import inspect

import pytest
from sklearn.base import BaseEstimator

import labelkin
from labelkin import text, thresholds
from labelkin.research import related
from labelkin.thresholds import ThresholdRule


def public():
    for package in (labelkin, related, text, thresholds):
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) and issubclass(thing, (BaseEstimator, ThresholdRule)):
                yield pytest.param(thing, id=f"{package.__name__}.{name}")


@pytest.mark.parametrize("estimator", public())
def test_parameters_after_the_first_are_keyword_only(estimator):
    _, *others = inspect.signature(estimator.__init__).parameters.values()
    first = 3 if estimator is labelkin.PaperClassifier else 1  # content, labels, variant
    assert [one.name for one in others[first:] if one.kind == one.POSITIONAL_OR_KEYWORD] == []


@pytest.mark.parametrize(
    "function",
    [
        labelkin.LabelDependenceClassifier.explain,
        labelkin.LabelRescorer.explain,
        labelkin.explain.Posterior.explain,
        labelkin.explain.explain_terms,
        labelkin.vocabulary.rules.rules_of,
    ],
)
def test_names_of_labels_are_not_called_as_the_label_classifier(function):
    parameters = inspect.signature(function).parameters
    assert "label_names" in parameters
    assert "labels" not in parameters
