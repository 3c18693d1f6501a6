"""The labelling interface of a Label Studio project, and the labels of its choices.

``<Choices>`` and ``<Taxonomy>`` about a text are read; a choice is a label of the model, or its
name, notation or URI. The XML is untrusted: no document types, no entities, bounded size and depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree

from labelkin.service.messages import ProblemError, check_bound
from labelkin.service.models import ServedModel
from labelkin.validation import abbreviate

#: Maximum length of a labelling interface, and maximum depth of nesting.
_MOST_CONFIG, _DEEPEST = 2**20, 50
#: Number of cached labelling interfaces.
_MOST_READY = 16
#: Objects whose value is a text, not an address.
_TEXTS = frozenset({"Text", "HyperText", "Header", "Markdown"})
#: Keys of a task's data in the value of an object, as Label Studio finds them.
_KEYS = re.compile(r"\$([\w.\[\]]+)")
#: The steps of a key: ``a.b[0]`` are three.
_STEPS = re.compile(r"[^.\[\]]+")


@dataclass(frozen=True, eq=False)
class Control:
    """A control of a labelling interface whose choices are labels.

    Attributes
    ----------
    name, object_name : str
        Its name, and the name of the object with the text.
    kind : {"choices", "taxonomy"}
    is_multiple : bool
        Whether several may be chosen.
    fields : tuple of str
        Keys of a task's data that hold the text.
    places : mapping of int to tuple of str
        Column of the model → choice; in a taxonomy the path from the top.
    labels : mapping of tuple of str to str
        Choice → label; a choice that the model does not have is its own label.
    """

    name: str
    object_name: str
    kind: Literal["choices", "taxonomy"]
    is_multiple: bool
    fields: tuple[str, ...]
    places: Mapping[int, tuple[str, ...]]
    labels: Mapping[tuple[str, ...], str]

    def value(self, chosen: Iterable[tuple[str, ...]]) -> dict[str, Any]:
        """Return choices as a value of Label Studio."""
        if self.kind == "taxonomy":
            return {"taxonomy": [list(place) for place in chosen]}
        return {"choices": [place[-1] for place in chosen]}

    def chosen(self, region: Mapping[str, Any]) -> list[tuple[tuple[str, ...], str]]:
        """Return the choices of a region of this control, and their labels."""
        value = region.get("value")
        given = value.get(self.kind) if isinstance(value, dict) else None
        found = []
        for one in given if isinstance(given, list) else ():
            way = one if isinstance(one, list) else [one]
            if way and all(isinstance(step, str) and step.strip() for step in way):
                place = tuple(way)
                label = self.labels.get(place) or self.labels.get(place[-1:]) or place[-1]
                found.append((place, label))
        return found


class Chosen(NamedTuple):
    """The choices of an annotation or a draft.

    Attributes
    ----------
    labels : list of str
        In their order, each once.
    places : mapping of (str, str) to tuple of str
        Name of the control and label → the choice. A taxonomy may contain a label several times,
        and the chosen place is kept.
    """

    labels: list[str]
    places: Mapping[tuple[str, str], tuple[str, ...]]


def read_controls(model: ServedModel, config: str) -> Sequence[Control]:
    """Read a labelling interface; one without a label of the model is a problem."""
    check_bound(413, "text-too-long", len(config), _MOST_CONFIG)
    controls = _read_controls(model, config)
    if not any(control.places for control in controls):
        there = [choice[-1] for control in controls for choice in control.labels]
        came = f"choices {abbreviate(there)}" if there else "no choices"
        raise ProblemError(
            422,
            "no-choices",
            "The labelling interface must have <Choices> or <Taxonomy> about a text, with labels "
            f"of the model {model.id}, such as {abbreviate(model.names, 3)}; got {came}.",
        )
    return controls


@lru_cache(_MOST_READY)
def _read_controls(model: ServedModel, config: str) -> tuple[Control, ...]:
    if re.search(r"<!(?!--|\[CDATA\[)", config):
        raise _no_interface("a document type")
    try:
        top = ElementTree.fromstring(config)
    except (ElementTree.ParseError, ValueError) as error:
        raise _no_interface(f"no XML: {error}") from None
    elements = list(_elements(top))
    keys = {
        one.get("name"): _KEYS.findall(one.get("value", ""))
        for one in elements
        if one.tag in _TEXTS and one.get("valueType") != "url"
    }
    controls = []
    for element in elements:
        kind: Literal["choices", "taxonomy"]
        if element.tag == "Choices":
            kind, is_multiple = "choices", element.get("choice") == "multiple"
        elif element.tag == "Taxonomy":
            kind, is_multiple = "taxonomy", element.get("maxUsages") != "1"
        else:
            continue
        about = [name.strip() for name in element.get("toName", "").split(",")]
        fields = tuple(key for one in about for key in keys.get(one, ()))
        # A choice that the model does not have is its own label.
        labels = {way: model.shown.label(way[-1]) or way[-1] for way in _ways(element, kind)}
        places: dict[int, tuple[str, ...]] = {}
        for way, label in labels.items():
            if label in model.column:
                places.setdefault(model.column[label], way)
        if fields and element.get("name"):
            controls.append(
                Control(
                    element.get("name", ""), about[0], kind, is_multiple, fields, places, labels
                )
            )
    return tuple(controls)


def _no_interface(came: str) -> ProblemError:
    rule = "A labelling interface must be the XML of Label Studio"
    return ProblemError(422, "no-interface", f"{rule}, got {came}.")


def _elements(top: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield all elements, without recursion and with a limit of depth."""
    waiting = [(top, 0)]
    while waiting:
        element, depth = waiting.pop()
        if depth > _DEEPEST:
            raise _no_interface(f"one that is nested more than {_DEEPEST} deep")
        yield element
        waiting.extend((one, depth + 1) for one in reversed(element))


def _ways(
    element: ElementTree.Element, kind: str, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """Yield the choices below an element; of a taxonomy with those above them."""
    for one in element:
        if one.tag == "Choice":
            called = one.get("alias") or one.get("value") or ""
            way = (*above, called) if kind == "taxonomy" else (called,)
            if called:
                yield way
            yield from _ways(one, kind, way)
        else:  # a <View> or <Style> around choices
            yield from _ways(one, kind, above)


def text_of(task: Mapping[str, Any], controls: Sequence[Control]) -> str:
    """Return the text of a task: the fields of the controls, each once."""
    data = task.get("data")
    fields = list(dict.fromkeys(field for control in controls for field in control.fields))
    found = [_at(data, field) for field in fields]
    wrong = [one for one in found if one is not None and not isinstance(one, str)]
    keys = {key for field in fields for key in _STEPS.findall(field)[:1]}
    if wrong or not isinstance(data, dict) or keys.isdisjoint(data):
        came = f"{data!r:.50}" if not isinstance(data, dict) else f"keys {abbreviate(list(data))}"
        raise ProblemError(
            422,
            "no-text",
            f"A task must have texts in data, under {abbreviate(fields)}, got "
            f"{f'{wrong[0]!r:.50}' if wrong else came} in task {task.get('id')!r:.20}.",
        )
    return whole("\n".join(one for one in found if one))


def _at(data: Any, field: str) -> Any:
    """Return the value of a key of a task's data, which may lead into objects and lists."""
    for step in _STEPS.findall(field):
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and step.isdecimal() and int(step) < len(data):
            data = data[int(step)]
        else:
            return None
    return data


def chosen_so_far(
    task: Mapping[str, Any], params: Mapping[str, Any] | None, controls: Sequence[Control]
) -> Chosen:
    """Return the choices in the context, or in the last draft."""
    context = (params or {}).get("context")
    given = context.get("result") if isinstance(context, dict) else None
    if given is None:
        drafts = [one for one in as_list(task.get("drafts")) if isinstance(one, dict)]
        last = max(drafts, key=lambda one: str(one.get("updated_at", "")), default={})
        given = last.get("result")
    return read_chosen(given, controls)


def read_chosen(result: Any, controls: Sequence[Control]) -> Chosen:
    """Return the choices of a result."""
    by_name = {control.name: control for control in controls}
    labels: dict[str, None] = {}
    places: dict[tuple[str, str], tuple[str, ...]] = {}
    for region in as_list(result):
        control = by_name.get(str(region.get("from_name"))) if isinstance(region, dict) else None
        if control is None:
            continue
        for place, label in control.chosen(region):
            labels[whole(label)] = None
            if place in control.labels:
                places.setdefault((control.name, label), place)
    return Chosen(list(labels), places)


def whole(text: str) -> str:
    """Replace single surrogates, which UTF-8 cannot represent."""
    return text.encode("utf-8", "replace").decode()


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and an empty one for other values."""
    return value if isinstance(value, list) else []
