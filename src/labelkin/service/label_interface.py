"""The labelling interface of a Label Studio project: which of its choices is which label.

``<Choices>`` and ``<Taxonomy>`` about a text are read, by labels of the model, or by their names,
notations or URIs. The XML comes with requests, so that nothing in it is trusted: no document types,
no entities, a bounded size and depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from xml.etree import ElementTree

from labelkin.label_matrix.record import some_of
from labelkin.service.messages import ProblemError, check_bound
from labelkin.service.models import ServedModel

#: Characters of a labelling interface, and how deep it may be nested.
_MOST_CONFIG, _DEEPEST = 2**20, 50
#: Labelling interfaces that are kept ready, of all projects and models.
_MOST_READY = 64


@dataclass(frozen=True, eq=False)
class Control:
    """A control of a labelling interface whose choices are labels.

    Attributes
    ----------
    name, object_name : str
        What it is called, and what it is about.
    kind : {"choices", "taxonomy"}
    is_multiple : bool
        Whether several may be chosen.
    fields : tuple of str
        Keys of a task's data that hold the text.
    places : mapping of int to tuple of str
        Column of the model → choice; of a taxonomy the way to it from the top.
    labels : mapping of tuple of str to str
        Choice → label, of all choices: those that the model does not have are their own labels.
    """

    name: str
    object_name: str
    kind: Literal["choices", "taxonomy"]
    is_multiple: bool
    fields: tuple[str, ...]
    places: Mapping[int, tuple[str, ...]]
    labels: Mapping[tuple[str, ...], str]

    def value(self, columns: Iterable[int]) -> dict[str, Any]:
        """Return what Label Studio calls a value."""
        chosen = [self.places[j] for j in columns]
        if self.kind == "taxonomy":
            return {"taxonomy": [list(place) for place in chosen]}
        return {"choices": [place[-1] for place in chosen]}

    def chosen(self, region: Mapping[str, Any]) -> list[str]:
        """Return the labels that are chosen in a region of this control."""
        value = region.get("value")
        given = value.get(self.kind) if isinstance(value, dict) else None
        found = []
        for one in given if isinstance(given, list) else ():
            way = one if isinstance(one, list) else [one]
            if way and all(isinstance(step, str) for step in way):
                place = tuple(way)
                found.append(self.labels.get(place) or self.labels.get(place[-1:]) or place[-1])
        return found


def read_controls(model: ServedModel, config: str) -> Sequence[Control]:
    """Read a labelling interface; one without a label of the model is a problem."""
    check_bound(413, "text-too-long", len(config), _MOST_CONFIG)
    controls = _read_controls(model, config)
    if not any(control.places for control in controls):
        there = [choice[-1] for control in controls for choice in control.labels]
        came = f"choices {some_of(there)}" if there else "no choices"
        raise ProblemError(
            422,
            "no-choices",
            "The labelling interface must have <Choices> or <Taxonomy> about a text, with labels "
            f"of the model {model.id}, such as {some_of(model.names, 3)}; got {came}.",
        )
    return controls


@lru_cache(_MOST_READY)
def _read_controls(model: ServedModel, config: str) -> tuple[Control, ...]:
    if "<!" in config.replace("<!--", ""):
        raise _no_interface("a document type")
    try:
        top = ElementTree.fromstring(config)
    except (ElementTree.ParseError, ValueError) as error:
        raise _no_interface(f"no XML: {error}") from None
    elements = list(_elements(top))
    values = {
        one.get("name"): one.get("value", "") for one in elements if one.get("toName") is None
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
        fields = tuple(values[one][1:] for one in about if values.get(one, "").startswith("$"))
        labels = {way: _label(model, way[-1]) for way in _ways(element, kind)}
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
    """Yield all elements; without recursion, and no deeper than a person would nest them."""
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


def _label(model: ServedModel, choice: str) -> str:
    """Return the label that a choice means; one the model does not have is its own."""
    return model.shown.label(choice) or choice


def text_of(task: Mapping[str, Any], controls: Sequence[Control]) -> str:
    """Return the text of a task: what the controls are about, each field once."""
    data = task.get("data")
    fields = dict.fromkeys(field for control in controls for field in control.fields)
    found = [data.get(field) if isinstance(data, dict) else None for field in fields]
    wrong = [one for one in found if one is not None and not isinstance(one, str)]
    if wrong or not isinstance(data, dict):
        raise ProblemError(
            422,
            "no-text",
            f"A task must have texts in data, under {some_of(list(fields))}, got "
            f"{wrong[0] if wrong else data!r:.50} in task {task.get('id')!r:.20}.",
        )
    return whole("\n".join(one for one in found if one))


def chosen_so_far(
    task: Mapping[str, Any], params: Mapping[str, Any] | None, controls: Sequence[Control]
) -> list[str]:
    """Return the labels that a person has chosen so far: in the context, or in the last draft."""
    context = (params or {}).get("context")
    given = context.get("result") if isinstance(context, dict) else None
    if given is None:
        drafts = [one for one in as_list(task.get("drafts")) if isinstance(one, dict)]
        last = max(drafts, key=lambda one: str(one.get("updated_at", "")), default={})
        given = last.get("result")
    return chosen_labels(given, controls)


def chosen_labels(result: Any, controls: Sequence[Control]) -> list[str]:
    """Return the labels in a result, in their order, each once."""
    by_name = {control.name: control for control in controls}
    regions = [one for one in as_list(result) if isinstance(one, dict)]
    found = [
        label
        for region in regions
        for control in [by_name.get(str(region.get("from_name")))]
        if control is not None
        for label in control.chosen(region)
    ]
    return list(dict.fromkeys(map(whole, found)))


def whole(text: str) -> str:
    """Replace half a surrogate pair, which JSON can spell and no file can hold."""
    return text.encode("utf-8", "replace").decode()


def as_list(value: Any) -> list[Any]:
    """Return a list as it is; anything else is none."""
    return value if isinstance(value, list) else []
