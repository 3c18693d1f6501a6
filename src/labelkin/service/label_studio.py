"""Label Studio's protocol for models: suggestions for tasks, and annotations in the journal.

https://labelstud.io/guide/ml_create describes it. A project connects the model at
``…/label-studio/MODEL`` and asks ``health``, ``setup`` and ``predict`` below it; its annotations
come to ``webhook``. Which choice is which label, says the labelling interface of the project, which
comes along with every request (:mod:`labelkin.service.label_interface`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from zlib import crc32

import numpy as np
from fastapi import APIRouter, Response
from numpy.typing import NDArray
from pydantic import BaseModel

from labelkin.label_matrix import best_labels, read_known
from labelkin.service.answers import posterior_log_odds
from labelkin.service.journal_rows import Entry, Withdrawal
from labelkin.service.label_interface import (
    Chosen,
    Control,
    chosen_so_far,
    read_chosen,
    read_controls,
    text_of,
    whole,
)
from labelkin.service.messages import (
    ProblemError,
    Text,
    check_batch,
    check_labels,
    check_text,
    declared,
    json_answer,
)
from labelkin.service.models import ServedModel, Snapshot
from labelkin.service.running_service import Service
from labelkin.service.serving import Limits

PREFIX = "/label-studio"
router = APIRouter(
    prefix=f"{PREFIX}/{{model_id}}", tags=["Label Studio"], responses=declared(401, 404)
)

#: Labels whose probabilities are named beside those that are given.
_MOST_SCORES = 20
#: Events of annotations that were just made.
_CREATED = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED")


class Up(BaseModel):
    """The model can be asked."""

    status: Literal["UP"] = "UP"
    model_class: str


class ModelVersion(BaseModel):
    """What the model is called by now: another name as soon as it has learned."""

    model_version: str


class Versions(BaseModel):
    """All that can be asked for: the model as it is."""

    versions: list[str]


class PredictRequest(BaseModel):
    """Tasks of a project, and its labelling interface.

    The result in the context in ``params``, or in the draft of a task, is what a person has chosen
    so far.
    """

    tasks: list[dict[str, Any]]
    label_config: Text
    params: dict[str, Any] | None = None


class Region(BaseModel):
    """What is suggested for one control of the interface, as Label Studio spells it."""

    id: str
    from_name: str
    to_name: str
    type: Literal["choices", "taxonomy"]
    value: dict[str, Any]
    score: float
    meta: dict[str, list[str]]


class Prediction(BaseModel):
    """Suggestions for a task.

    ``score`` is 1 where nothing is open, and the lower the more there is to be learned from the
    task: Label Studio's uncertainty sampling takes the lowest first. ``scores`` has the
    probabilities of the most probable choices, also of those that are not given.
    """

    result: list[Region]
    score: float
    scores: dict[str, float]
    model_version: str


class Predictions(BaseModel):
    """Suggestions for tasks, in their order."""

    results: list[Prediction]


class Event(BaseModel):
    """What has happened in a project: ``annotation`` and ``task`` are one, or several of each."""

    action: Text
    project: dict[str, Any] | None = None
    task: dict[str, Any] | list[dict[str, Any]] | None = None
    annotation: dict[str, Any] | list[dict[str, Any]] | None = None
    annotations: list[dict[str, Any]] | None = None


class Heard(BaseModel):
    """How many annotations are in the journal now, new or as they were; and how many are gone."""

    saved: int = 0
    withdrawn: int = 0
    job: str | None = None


@router.get("/health")
async def health(model_id: str, service: Service) -> Up:
    """Answer that the model can be asked."""
    return Up(model_class=type(service.model(model_id).classifier.content_).__name__)


@router.post("/setup", responses=declared(422))
async def setup(model_id: str, request: dict[str, Any], service: Service) -> ModelVersion:
    """Connect a project; a labelling interface without a label of the model is a problem."""
    model = service.model(model_id)
    if schema := request.get("schema"):
        await service.workers.do(read_controls, model, _text(schema, "schema"))
    return ModelVersion(model_version=_version(model, model.snapshot))


@router.get("/versions")
async def versions(model_id: str, service: Service) -> Versions:
    """List what can be asked for: the model as it is."""
    model = service.model(model_id)
    return Versions(versions=[_version(model, model.snapshot)])


@router.post("/predict", response_model=Predictions, responses=declared(422, 504))
async def predict(model_id: str, request: PredictRequest, service: Service) -> Response:
    """Suggest choices for tasks; what was chosen in a draft counts as known, and stays chosen."""
    check_batch(len(request.tasks), service.limits)
    model = service.model(model_id)
    found = await service.workers.do(_suggested, model, request, service.limits)
    return json_answer({"results": found})


@router.post("/webhook", responses=declared(422, 504))
async def hear(model_id: str, event: Event, service: Service) -> Heard:
    """Take note of an annotation: it is in the journal before the answer, and learned from soon.

    The same annotation again changes nothing; one that was updated stands in the place of what it
    was, and one that was deleted or cancelled is gone. Other events are passed over.
    """
    model = service.model(model_id)
    if not event.action.startswith("ANNOTATION"):
        return Heard()
    if event.project is None:
        raise ProblemError(
            422,
            "no-payload",
            f"{event.action} must come with its project and annotations, got neither. Have the "
            "webhook send its payload.",
        )
    if event.action == "ANNOTATIONS_DELETED":
        gone = [
            Withdrawal(model.id, _origin(event.project, one)) for one in event.annotations or ()
        ]
        check_batch(len(gone), service.limits)
        await service.write(gone)
        return Heard(withdrawn=len(gone))
    check_batch(len(_several(event.annotation)), service.limits)
    entries = await service.workers.do(_annotated, model, event, event.project, service.limits)
    await service.write(entries)
    n_saved = sum(isinstance(entry, Entry) for entry in entries)
    return Heard(saved=n_saved, withdrawn=len(entries) - n_saved)


def _suggested(model: ServedModel, request: PredictRequest, limits: Limits) -> list[dict[str, Any]]:
    """Read tasks and return suggestions for them; away from where requests are received."""
    controls = read_controls(model, request.label_config)
    texts = [text_of(task, controls) for task in request.tasks]
    chosen = [chosen_so_far(task, request.params, controls) for task in request.tasks]
    for text, one in zip(texts, chosen, strict=True):
        check_text(text, limits)
        check_labels(one.labels, (), limits)
    return _predict(model, controls, texts, chosen) if texts else []


def _predict(
    model: ServedModel,
    controls: Sequence[Control],
    texts: Sequence[str],
    chosen: Sequence[Chosen],
) -> list[dict[str, Any]]:
    """Return what :class:`Prediction` describes."""
    snapshot = model.snapshot
    accepted = [[label for label in one.labels if label in model.column] for one in chosen]
    known = None
    if any(accepted):
        given = [{"accepted": labels} for labels in accepted]
        known = read_known(given, len(texts), model.name_array)
    log_odds = posterior_log_odds(model, snapshot, texts, known)
    probabilities = model.classifier.probabilities(log_odds)
    decided = _decided(model, log_odds)
    version = _version(model, snapshot)
    return [
        _prediction(model, controls, version, *row)
        for row in zip(chosen, log_odds, probabilities, decided, strict=True)
    ]


def _prediction(
    model: ServedModel,
    controls: Sequence[Control],
    version: str,
    chosen: Chosen,
    log_odds: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    decided: NDArray[np.bool_],
) -> dict[str, Any]:
    regions, scores = [], {}
    for control in controls:
        columns = np.array(sorted(control.places), dtype=np.intp)
        if not len(columns):
            continue
        [order] = best_labels(log_odds[columns][None])
        best = columns[order].tolist()
        for j in best[:_MOST_SCORES]:
            scores[" / ".join(control.places[j])] = _rounded(probabilities[j])
        given = [j for j in best if decided[j]][: None if control.is_multiple else 1]
        places = [
            chosen.places.get((control.name, model.names[j]), control.places[j]) for j in given
        ]
        if given:
            region = {
                "id": f"{control.name}-suggested",
                "from_name": control.name,
                "to_name": control.object_name,
                "type": control.kind,
                "value": control.value(places),
                "score": _rounded(float(np.mean(probabilities[given]))),
                "meta": {
                    "text": [
                        f"{place[-1]} {probabilities[j]:.2f}"
                        for j, place in zip(given, places, strict=True)
                    ]
                },
            }
            regions.append(region)
    return {
        "result": regions,
        "score": _rounded(_sureness(probabilities)),
        "scores": scores,
        "model_version": version,
    }


def _sureness(probabilities: NDArray[np.float64]) -> float:
    """Return 1 where all labels are sure, and the less the more bits are left open.

    Whatever is to be the order of tasks is put in here: the lowest comes first.
    """
    p = np.clip(probabilities, 1e-12, 1 - 1e-12)
    bits = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    return float(1 / (1 + bits.sum()))


def _decided(model: ServedModel, log_odds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which labels are given; thresholds that look at many documents are left out."""
    if getattr(model.classifier.thresholds_, "needs_batch", False):
        return log_odds > 0
    return np.asarray(model.classifier.decide(log_odds), dtype=np.bool_)


def _annotated(
    model: ServedModel, event: Event, project: Mapping[str, Any], limits: Limits
) -> list[Entry | Withdrawal]:
    """Return what the journal is to hold of annotations."""
    controls = read_controls(model, _text(project.get("label_config"), "project.label_config"))
    tasks = {str(task.get("id")): task for task in _several(event.task)}
    is_first = event.action in _CREATED
    found: list[Entry | Withdrawal] = []
    for annotation in _several(event.annotation):
        origin = _origin(project, annotation)
        if annotation.get("was_cancelled"):
            found.append(Withdrawal(model.id, origin))
            continue
        only = next(iter(tasks.values())) if len(tasks) == 1 else {}
        task = tasks.get(str(annotation.get("task")), only)
        text, accepted = text_of(task, controls), read_chosen(annotation.get("result"), controls)
        before = annotation.get("prediction")
        offered = read_chosen(before.get("result") if isinstance(before, dict) else None, controls)
        rejected = [label for label in offered.labels if label not in accepted.labels]
        check_text(text, limits)
        check_labels(accepted.labels, rejected, limits)
        found.append(
            Entry(model.id, text, tuple(accepted.labels), tuple(rejected), origin, is_first)
        )
    return found


def _origin(project: Mapping[str, Any], annotation: Mapping[str, Any]) -> str:
    """Return what sets an annotation apart from those of all projects, of any Label Studio."""
    number = annotation.get("id")
    if number is None:
        raise ProblemError(422, "no-id", "An annotation must have an id, got none.")
    parts = (project.get("id"), project.get("created_at"), number)
    return whole(" ".join(f"{part!s:.100}" for part in ("label-studio", *parts)))


def _version(model: ServedModel, snapshot: Snapshot) -> str:
    """Return what the model is called by now: the same wherever the same was learned."""
    learned = snapshot.rescorer.label_sets_.positives().tobytes()
    learned += np.asarray(getattr(snapshot.rescorer.labels_, "bias_", ())).tobytes()
    made = model.header.created.strftime("%Y-%m-%d %H:%M:%S")
    return f"{model.id} {made} +{snapshot.learned} {crc32(learned):08x}"


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ProblemError(422, "no-interface", f"{what} must be a text, got {value!r:.50}.")
    return whole(value)


def _rounded(number: float) -> float:
    return float(f"{number:.6g}")


def _several(given: dict[str, Any] | list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return [] if given is None else [given] if isinstance(given, dict) else given
