"""Docstrings of public objects have typed parameters and examples."""

import ast
import inspect
import re

import pytest

import labelkin
from labelkin.research import related

CLASSES = [value for name in labelkin.__all__ if inspect.isclass(value := getattr(labelkin, name))]
CLASSES += [getattr(related, name) for name in related.__all__]
FUNCTIONS = [
    value for name in labelkin.__all__ if inspect.isfunction(value := getattr(labelkin, name))
]
METHODS = [
    pytest.param(kind, name, id=f"{kind.__name__}.{name}")
    for kind in CLASSES
    for name, method in inspect.getmembers(kind, inspect.isfunction)
    if not name.startswith("_") and (method.__module__ or "").startswith("labelkin")
]


def section(text, title):
    """Return a section of a numpydoc docstring; empty if it does not exist."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", text, re.M | re.S)
    return found[1] if found else ""


def documented(text):
    """Return name → type of the parameters, ``a, b : int`` is both."""
    lines = re.findall(r"^([*\w][*\w, ]*?)(?: : (.+))?$", section(text, "Parameters"), re.M)
    return {name.strip(" *"): kind for names, kind in lines for name in names.split(",")}


def takes(function):
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p for p in parameters if p.name not in ("self", "cls")}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_classes_have_examples_and_parameters(kind):
    text = inspect.getdoc(kind)
    assert ">>>" in section(text, "Examples")
    is_record = hasattr(kind, "__dataclass_fields__") or hasattr(kind, "_fields")
    if is_record or inspect.isabstract(kind) or kind.__init__ is object.__init__:
        return  # made by the library, or without parameters
    described = documented(text) or documented(inspect.getdoc(kind.__mro__[1]))
    for name, parameter in takes(kind.__init__).items():
        assert described.get(name), f"{kind.__name__}({name}=…) has no type"
        default = parameter.default
        if default is inspect.Parameter.empty:
            continue
        expected = "optional" if default is None else "default"
        assert expected in described[name], f"{kind.__name__}({name}): {described[name]}"
        if isinstance(default, int | float | str):
            shown = re.search(r"default (.+)", described[name])[1]
            assert ast.literal_eval(shown) == default


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_have_examples_and_parameters(function):
    text = inspect.getdoc(function)
    assert ">>>" in section(text, "Examples")
    described = documented(text)
    assert set(takes(function)) <= set(described)
    assert all(described.values()), described


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_methods_have_types(kind, name):
    text = inspect.getdoc(getattr(kind, name))
    assert text, "describe it"
    described = documented(text)
    untyped = [
        k for k, v in described.items() if not v and k not in ("fit_params", "known", "metadata")
    ]
    assert not untyped
