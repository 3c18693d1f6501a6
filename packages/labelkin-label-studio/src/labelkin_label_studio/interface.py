"""The labelling interface of a Label Studio project, and the labels of its choices.

``<Choices>`` and ``<Taxonomy>`` about a text are read; a choice is a label of the model, or its
name, notation or URI. The XML is untrusted: no document types, no entities, bounded size and depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from xml.etree import ElementTree

from labelkin.service.messages import ProblemError
from labelkin.service.models import ServedModel
from labelkin.validation import abbreviate

#: Maximum depth of a choice.
_DEEPEST = 50
#: Number of cached labelling interfaces.
_MOST_READY = 16
_KINDS: dict[str, Literal["choices", "taxonomy"]] = {"Choices": "choices", "Taxonomy": "taxonomy"}
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


#: The choices of an annotation or a draft, in their order: name of the control and label → the
#: choice. A taxonomy may contain a label several times, and the chosen place is kept.
Chosen = dict[tuple[str, str], tuple[str, ...]]


def read_controls(model: ServedModel, config: str) -> Sequence[Control]:
    """Read a labelling interface; one without a label of the model is a problem."""
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
    keys = {
        one.get("name"): _KEYS.findall(one.get("value", ""))
        for one in top.iter()
        if one.tag in _TEXTS and one.get("valueType") != "url"
    }
    controls = []
    for element in top.iter():
        kind = _KINDS.get(element.tag)
        about = [name.strip() for name in element.get("toName", "").split(",")]
        fields = tuple(key for one in about for key in keys.get(one, ()))
        if kind is None or not fields or not (name := element.get("name", "")):
            continue
        # A choice that the model does not have is its own label.
        labels = {way: model.shown.label(way[-1]) or way[-1] for way in _ways(element, kind)}
        places: dict[int, tuple[str, ...]] = {}
        for way, label in labels.items():
            if label in model.column:
                places.setdefault(model.column[label], way)
        is_taxonomy, usages = kind == "taxonomy", element.get("maxUsages")
        is_multiple = usages != "1" if is_taxonomy else element.get("choice") == "multiple"
        controls.append(Control(name, about[0], kind, is_multiple, fields, places, labels))
    return tuple(controls)


def _no_interface(came: str) -> ProblemError:
    rule = "A labelling interface must be the XML of Label Studio"
    return ProblemError(422, "no-interface", f"{rule}, got {came}.")


def _ways(element: ElementTree.Element, kind: str) -> Iterator[tuple[str, ...]]:
    """Yield the choices below an element; of a taxonomy with those above them."""
    waiting: list[tuple[ElementTree.Element, tuple[str, ...]]] = [(element, ())]
    while waiting:  # without recursion
        one, above = waiting.pop()
        called = (one.get("alias") or one.get("value")) if one.tag == "Choice" else None
        if called:
            above = (*above, called) if kind == "taxonomy" else (called,)
            yield above
        if len(above) > _DEEPEST:
            raise _no_interface(f"choices that are nested more than {_DEEPEST} deep")
        waiting.extend((below, above) for below in reversed(one))


def text_of(task: Mapping[str, Any], controls: Sequence[Control]) -> str:
    """Return the text of a task: the fields of the controls, each once."""
    data = task.get("data")
    fields = list(dict.fromkeys(field for control in controls for field in control.fields))
    found = [_at(data, field) for field in fields]
    is_there = isinstance(data, dict) and any(_STEPS.findall(field)[0] in data for field in fields)
    if not is_there or not all(one is None or isinstance(one, str) for one in found):
        raise ProblemError(
            422,
            "no-text",
            f"A task must have texts in data, under {abbreviate(fields)}, got {data!r:.60} in "
            f"task {task.get('id')!r:.20}.",
        )
    return whole("\n".join(filter(None, found)))


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
    found: Chosen = {}
    for region in as_list(result):
        control = by_name.get(str(region.get("from_name"))) if isinstance(region, dict) else None
        if control is not None:
            for place, label in control.chosen(region):
                found.setdefault((control.name, whole(label)), place)
    return found


def whole(text: str) -> str:
    """Replace single surrogates, which UTF-8 cannot represent."""
    return text.encode("utf-8", "replace").decode()


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and an empty one for other values."""
    return value if isinstance(value, list) else []
