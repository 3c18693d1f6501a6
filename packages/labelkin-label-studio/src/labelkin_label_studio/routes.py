"""The routes of Label Studio's protocol: suggestions for tasks, and annotations to save.

https://labelstud.io/guide/ml_create describes it. A project connects the model at
``…/label-studio/MODEL`` and asks ``health``, ``setup`` and ``predict`` below it; its annotations
are sent to ``webhook``. The labelling interface of the project, which every request contains, maps
choices to labels (:mod:`labelkin_label_studio.interface`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from zlib import crc32

import numpy as np
from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, Field

from labelkin.curation.active_learning import binary_entropy
from labelkin.curation.saved_work import Entry, Withdrawal
from labelkin.label_matrix import best_labels
from labelkin.service.answers import posterior_log_odds
from labelkin.service.messages import (
    ProblemError,
    Text,
    check_batch,
    check_labels,
    check_text,
)
from labelkin.service.models import ServedModel, Snapshot
from labelkin.service.running_service import OfModel
from labelkin.service.serving import Limits
from labelkin_label_studio.interface import (
    Chosen,
    Control,
    chosen_so_far,
    read_chosen,
    read_controls,
    text_of,
    whole,
)

router = APIRouter(prefix="/label-studio/{model_id}", tags=["Label Studio"])

#: Labels whose probabilities are returned beside the suggested ones.
_MOST_SCORES = 20
#: Events of annotations that were just created.
_CREATED = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED")


#: One object or several, as a list.
Several = Annotated[
    list[dict[str, Any]], BeforeValidator(lambda one: one if isinstance(one, list) else [one])
]


class PredictRequest(BaseModel):
    """Tasks of a project, and its labelling interface.

    The result in the context in ``params``, or in the draft of a task, has the choices so far.
    """

    tasks: list[dict[str, Any]]
    label_config: Text
    params: dict[str, Any] | None = None


class SetupRequest(BaseModel):
    """Labelling interface of a project; empty if it has none yet."""

    label_config: Annotated[Text, Field(alias="schema")] = ""


class Project(BaseModel):
    """The project of an annotation."""

    id: Any = None
    created_at: Any = None
    label_config: Text


class Event(BaseModel):
    """Event in a project: one annotation and task, or several."""

    action: Text
    project: Project | None = None
    task: Several = []
    annotation: Several = []
    annotations: Several = []


class Received(BaseModel):
    """Numbers of annotations that were saved, new or unchanged, and withdrawn."""

    saved: int = 0
    withdrawn: int = 0


@router.get("/health")
async def health(asked: OfModel) -> dict[str, str]:
    """Answer that the model is available."""
    return {"status": "UP", "model_class": type(asked.model.classifier.content_).__name__}


@router.post("/setup")
def setup(request: SetupRequest, asked: OfModel) -> dict[str, str]:
    """Connect a project; a labelling interface without a label of the model is a problem."""
    model = asked.model
    if request.label_config:
        read_controls(model, request.label_config)
    return {"model_version": _version(model, model.snapshot)}


@router.get("/versions")
async def versions(asked: OfModel) -> dict[str, list[str]]:
    """List the versions: only the current one, which changes when the model learns."""
    return {"versions": [_version(asked.model, asked.model.snapshot)]}


@router.post("/predict", response_model=dict[str, list[dict[str, Any]]])
def predict(request: PredictRequest, asked: OfModel) -> Response:
    """Suggest choices for tasks; the choices of a draft are known labels, and stay chosen.

    The ``score`` of a task is 1 if every label is certain, and lower the more can be learned from
    it: Label Studio's uncertainty sampling takes the lowest first. ``scores`` has the probabilities
    of the most probable choices, suggested or not.
    """
    service, model = asked
    check_batch(len(request.tasks), service.limits)
    controls = read_controls(model, request.label_config)
    texts = [text_of(task, controls) for task in request.tasks]
    chosen = [chosen_so_far(task, request.params, controls) for task in request.tasks]
    for text, one in zip(texts, chosen, strict=True):
        check_text(text, service.limits)
        check_labels(_labels(one), (), service.limits)
    snapshot = model.snapshot
    known = [{"accepted": [x for x in _labels(one) if x in model.column]} for one in chosen]
    log_odds = posterior_log_odds(model, snapshot, texts, known)
    # Thresholds that need many documents do not apply.
    is_probable = model.fitted.needs_batch or not texts
    decided = log_odds > 0 if is_probable else model.classifier.decide(log_odds)
    probabilities = model.classifier.probabilities(log_odds)
    results = [
        {**_prediction(model, controls, *row), "model_version": _version(model, snapshot)}
        for row in zip(chosen, log_odds, probabilities, decided, strict=True)
    ]
    return JSONResponse({"results": results})


@router.post("/webhook")
def receive(event: Event, asked: OfModel) -> Received:
    """Save an annotation before the answer; the model learns from it soon.

    The same annotation again changes nothing, an updated one replaces the earlier one, and one that
    was deleted or cancelled is withdrawn. Other events are ignored.
    """
    service, model = asked
    if not event.action.startswith("ANNOTATION"):
        return Received()
    if event.project is None:
        raise ProblemError(
            422,
            "no-payload",
            f"{event.action} must have its project and annotations, got neither. Have the webhook "
            "send its payload.",
        )
    check_batch(len(event.annotation) + len(event.annotations), service.limits)
    entries: list[Entry | Withdrawal]
    if event.action == "ANNOTATIONS_DELETED":
        entries = [Withdrawal(model.id, _origin(event.project, one)) for one in event.annotations]
    else:
        entries = _annotated(model, event, event.project, service.limits)
    service.save(model, entries)
    n_saved = sum(isinstance(entry, Entry) for entry in entries)
    return Received(saved=n_saved, withdrawn=len(entries) - n_saved)


def _prediction(
    model: ServedModel,
    controls: Sequence[Control],
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
            scores[" / ".join(control.places[j])] = float(probabilities[j])
        given = [j for j in best if decided[j]][: None if control.is_multiple else 1]
        places = [chosen.get((control.name, model.names[j]), control.places[j]) for j in given]
        if given:
            region = {
                "id": f"{control.name}-suggested",
                "from_name": control.name,
                "to_name": control.object_name,
                "type": control.kind,
                "value": control.value(places),
                "score": float(np.mean(probabilities[given])),
                "meta": {
                    "text": [
                        f"{place[-1]} {probabilities[j]:.2f}"
                        for j, place in zip(given, places, strict=True)
                    ]
                },
            }
            regions.append(region)
    bits = binary_entropy(probabilities).sum()
    return {"result": regions, "score": float(1 / (1 + bits)), "scores": scores}


def _labels(chosen: Chosen) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for _, label in chosen))


def _annotated(
    model: ServedModel, event: Event, project: Project, limits: Limits
) -> list[Entry | Withdrawal]:
    """Return the entries of annotations."""
    controls = read_controls(model, project.label_config)
    tasks = {str(task.get("id")): task for task in event.task}
    found: list[Entry | Withdrawal] = []
    for annotation in event.annotation:
        origin = _origin(project, annotation)
        if annotation.get("was_cancelled"):
            found.append(Withdrawal(model.id, origin))
            continue
        only = event.task[0] if len(event.task) == 1 else {}
        text = text_of(tasks.get(str(annotation.get("task")), only), controls)
        before = annotation.get("prediction")
        offered = read_chosen(before.get("result") if isinstance(before, dict) else None, controls)
        accepted = _labels(read_chosen(annotation.get("result"), controls))
        rejected = tuple(label for label in _labels(offered) if label not in accepted)
        check_text(text, limits)
        check_labels(accepted, rejected, limits)
        is_new = event.action in _CREATED
        found.append(Entry(model.id, text, accepted, rejected, origin, is_new))
    return found


def _origin(project: Project, annotation: Mapping[str, Any]) -> str:
    """Return the identifier of an annotation among all projects of all Label Studios."""
    number = annotation.get("id")
    if number is None:
        raise ProblemError(422, "no-id", "An annotation must have an id, got none.")
    parts = ("label-studio", project.id, project.created_at, number)
    return whole(" ".join(f"{part!s:.100}" for part in parts))


def _version(model: ServedModel, snapshot: Snapshot) -> str:
    """Return the version of the model: the same after a restart if nothing was learned since."""
    learned = snapshot.rescorer.label_sets_.positives().tobytes()
    learned += np.asarray(getattr(snapshot.rescorer.labels_, "bias_", ())).tobytes()
    made = model.header.created.strftime("%Y-%m-%d %H:%M:%S")
    return f"{model.id} {made} +{snapshot.learned} {crc32(learned):08x}"
