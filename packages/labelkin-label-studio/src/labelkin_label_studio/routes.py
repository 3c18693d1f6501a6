"""The routes of Label Studio's protocol: suggestions for tasks, and annotations to save.

https://labelstud.io/guide/ml_create describes it. A project connects the model at
``…/label-studio/MODEL`` and asks ``health``, ``setup`` and ``predict`` below it; its annotations
are sent to ``webhook``. The labelling interface of the project, which every request contains, maps
choices to labels (:mod:`labelkin_label_studio.interface`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from numpy.typing import NDArray
from pydantic import BaseModel

from labelkin.curation.saved_work import Entry, Withdrawal
from labelkin.label_matrix import best_labels, read_known
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


class PredictRequest(BaseModel):
    """Tasks of a project, and its labelling interface.

    The result in the context in ``params``, or in the draft of a task, has the choices so far.
    """

    tasks: list[dict[str, Any]]
    label_config: Text
    params: dict[str, Any] | None = None


class Event(BaseModel):
    """Event in a project: ``annotation`` and ``task`` are one, or several of each."""

    action: Text
    project: dict[str, Any] | None = None
    task: dict[str, Any] | list[dict[str, Any]] | None = None
    annotation: dict[str, Any] | list[dict[str, Any]] | None = None
    annotations: list[dict[str, Any]] | None = None


class Received(BaseModel):
    """Numbers of annotations that were saved, new or unchanged, and withdrawn."""

    saved: int = 0
    withdrawn: int = 0


@router.get("/health")
async def health(asked: OfModel) -> dict[str, str]:
    """Answer that the model is available."""
    return {"status": "UP", "model_class": type(asked.model.classifier.content_).__name__}


@router.post("/setup")
def setup(request: dict[str, Any], asked: OfModel) -> dict[str, str]:
    """Connect a project; a labelling interface without a label of the model is a problem."""
    model = asked.model
    if schema := request.get("schema"):
        read_controls(model, _text(schema, "schema"))
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
        check_labels(one.labels, (), service.limits)
    return JSONResponse({"results": _predict(model, controls, texts, chosen) if texts else []})


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
    entries: list[Entry | Withdrawal]
    if event.action == "ANNOTATIONS_DELETED":
        gone = event.annotations or ()
        entries = [Withdrawal(model.id, _origin(event.project, one)) for one in gone]
        check_batch(len(entries), service.limits)
    else:
        check_batch(len(_several(event.annotation)), service.limits)
        entries = _annotated(model, event, event.project, service.limits)
    service.save(model, entries)
    n_saved = sum(isinstance(entry, Entry) for entry in entries)
    return Received(saved=n_saved, withdrawn=len(entries) - n_saved)


def _predict(
    model: ServedModel,
    controls: Sequence[Control],
    texts: Sequence[str],
    chosen: Sequence[Chosen],
) -> list[dict[str, Any]]:
    """Return predictions in Label Studio's format, one per text."""
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
        "score": _rounded(_certainty(probabilities)),
        "scores": scores,
        "model_version": version,
    }


def _certainty(probabilities: NDArray[np.float64]) -> float:
    """Return 1 / (1 + entropy of the labels in bits)."""
    p = np.clip(probabilities, 1e-12, 1 - 1e-12)
    bits = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    return float(1 / (1 + bits.sum()))


def _decided(model: ServedModel, log_odds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the assigned labels; thresholds that need many documents do not apply."""
    if getattr(model.classifier.thresholds_, "needs_batch", False):
        return log_odds > 0
    return np.asarray(model.classifier.decide(log_odds), dtype=np.bool_)


def _annotated(
    model: ServedModel, event: Event, project: Mapping[str, Any], limits: Limits
) -> list[Entry | Withdrawal]:
    """Return the entries of annotations."""
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
    """Return the identifier of an annotation among all projects of all Label Studios."""
    number = annotation.get("id")
    if number is None:
        raise ProblemError(422, "no-id", "An annotation must have an id, got none.")
    parts = (project.get("id"), project.get("created_at"), number)
    return whole(" ".join(f"{part!s:.100}" for part in ("label-studio", *parts)))


def _version(model: ServedModel, snapshot: Snapshot) -> str:
    """Return the version of the model: the same after a restart if nothing was learned since."""
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
