"""The built site: every link leads somewhere, every public name has its page, all is near at hand.

`make docs` builds it; without it these tests are skipped.
"""

import inspect
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest
from built_pages import broken_links, page, within_clicks

pytest.importorskip("sphinx", reason="sphinx is in the extra docs")
pytest.importorskip("typer", reason="typer is in the extra cli")

from docs.extensions.api_pages import MODULES, names_by_kind

import labelkin

DOCS = Path(__file__).parents[2] / "docs"
SITE = DOCS / "_build" / "html"
LISTED = re.findall(r"^   (\w[\w.]*)$", (DOCS / "reference" / "api.rst").read_text("utf-8"), re.M)
NAMES = sorted(
    {f"labelkin.{name}" for name in [*labelkin.__all__, *LISTED]}
    | {name for module in MODULES for names in names_by_kind(module).values() for name in names}
)


@pytest.fixture
def site():
    """Return the folder of the built site."""
    if not (SITE / "index.html").exists():
        pytest.skip("there is no built site: make docs")
    return SITE


def test_every_link_picture_and_anchor_is_there_and_nothing_comes_from_elsewhere(site):
    assert list(broken_links(site)) == []


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("<a href='nowhere.html'>x</a>", "nowhere.html"),
        ("<a href='b.html#nothing'>x</a>", "no such place"),
        ("<script src='https://cdn.example.org/x.js'></script>", "loads https"),
        ("<img src='gone.png'>", "loads gone.png"),
    ],
)
def test_planted_faults_are_found(name, fault, tmp_path):
    (tmp_path / "index.html").write_text(f"<a href='b.html#here'>b</a>{name}")
    (tmp_path / "b.html").write_text("<p id='here'>b</p>")
    (found,) = broken_links(tmp_path)
    assert fault in found


def test_every_public_class_and_function_has_an_example():
    """One that is inherited does not count; data and aliases of types have no docstring."""
    things = {name: resolve_name(name) for name in NAMES}
    documented = {
        name: thing.__doc__ or ""
        for name, thing in things.items()
        if inspect.isclass(thing) or inspect.isroutine(thing) or hasattr(thing, "cache_info")
    }
    example = re.compile(r"^ *Examples\n *-+\n.*^ *>>> ", re.MULTILINE | re.DOTALL)
    assert len(documented) > 100
    assert [name for name, text in documented.items() if not example.search(text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_a_page(name, site):
    assert (site / "reference" / "api" / f"{name}.html").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_a_name_has_parameters_results_and_an_example(name, site):
    thing = resolve_name(name)
    text = page(site / "reference" / "api" / f"{name}.html").text
    is_record = hasattr(thing, "__dataclass_fields__") or hasattr(thing, "_fields")
    if inspect.isclass(thing):
        assert "Examples" in text and ">>>" in text
        assert not is_record or "Attributes" in text or "Parameters" in text
    elif inspect.isfunction(thing):
        signature = inspect.signature(thing)
        assert ("Parameters" in text) == bool(signature.parameters)
        returns_nothing = signature.return_annotation in (None, "None")
        assert "Returns" in text or "Yields" in text or returns_nothing
        assert ">>>" in text


def test_pages_of_names_link_to_their_examples(site):
    api = site / "reference" / "api"
    for name in ("LabelDependenceClassifier", "LabelRescorer", "LabelAudit", "NaiveBayes"):
        assert [link for link in page(api / f"labelkin.{name}.html").links if "/gallery/" in link]


@pytest.mark.parametrize(
    "name",
    [
        "install.html",
        "tutorials/first-model.html",
        "reference/api/labelkin.LabelRescorer.html",
        "how-to/annif.html",
        "findings/scale.html",
        "how-to/significance.html",
        "cite.html",
    ],
)
def test_important_pages_are_two_clicks_away(name, site):
    assert name in within_clicks(site, 2)


def test_the_command_line_has_every_command_and_option(site):
    from docs.extensions.command_line import _commands

    text = page(site / "reference" / "command-line.html").text
    for name, command in _commands():
        assert f" {name} " in text, name
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and not getattr(parameter, "hidden", False):
                    assert option in text or name == "labelkin", (name, option)


def test_rest_has_every_route_and_type(site):
    from docs.extensions.rest_api import specification

    text, openapi = page(site / "reference" / "rest.html").text, specification()
    for path, methods in openapi["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in text
    for name in openapi["components"]["schemas"]:
        assert f"rest-{name.lower()}" in page(site / "reference" / "rest.html").anchors
