"""Diagrams of estimators link to their pages, if the package says where these are."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

import labelkin
from labelkin import scikit_learn
from labelkin.research import related

PUBLIC = {
    f"{home}.{name}": getattr(module, name)
    for home, module in [
        ("labelkin", labelkin),
        ("labelkin.research.related", related),
        ("labelkin.text", labelkin.text),
    ]
    for name in module.__all__
}
ESTIMATORS = {
    name: kind
    for name, kind in PUBLIC.items()
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator) and not inspect.isabstract(kind)
}


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setattr(scikit_learn, "documentation", lambda: "https://example.org/labelkin")
    return "https://example.org/labelkin"


def made(kind):
    needed = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
    return kind(*(labelkin.NaiveBayes() for _ in needed))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_knows_its_page(name, address):
    assert made(ESTIMATORS[name])._get_doc_link() == f"{address}/reference/api/{name}.html"


def test_a_diagram_links_to_the_page(address):
    assert f"{address}/reference/api/labelkin.LabelRescorer.html" in estimator_html_repr(
        labelkin.LabelRescorer()
    )


def test_without_an_address_there_is_no_link(monkeypatch):
    monkeypatch.setattr(scikit_learn, "documentation", lambda: None)
    assert labelkin.LabelRescorer()._get_doc_link() == ""
    assert "reference/api" not in estimator_html_repr(labelkin.LabelRescorer())


def test_the_address_is_that_of_the_metadata(monkeypatch):
    from email.message import Message

    about = Message()
    about["Project-URL"] = "Source, https://example.org/source"
    about["Project-URL"] = "Documentation, https://example.org/docs/"
    monkeypatch.setattr(scikit_learn, "metadata", lambda name: about)
    assert scikit_learn.documentation.__wrapped__() == "https://example.org/docs"
    del about["Project-URL"]
    assert scikit_learn.documentation.__wrapped__() is None
