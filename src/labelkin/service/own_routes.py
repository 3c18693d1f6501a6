"""The service's own routes: suggestions that react to what a person says, and why."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from labelkin.service import messages
from labelkin.service.explaining import explain
from labelkin.service.journal_file import Entry
from labelkin.service.label_lists import label_map, related_labels, search_labels
from labelkin.service.models import ServedModel
from labelkin.service.problems import declared
from labelkin.service.running_service import RunningService, Service
from labelkin.service.statements import check_labels, check_text
from labelkin.service.suggesting import suggest

router = APIRouter(prefix="/api/models", tags=["labelkin"], responses=declared(401, 404, 422, 504))

#: Unknown labels of the journal that are listed, most common first.
_MOST_UNKNOWN = 1_000


async def _model(model_id: str, service: Service) -> ServedModel:
    return service.model(model_id)


Model = Annotated[ServedModel, Depends(_model)]
Listed = Annotated[int, Query(ge=1, le=messages.MOST_LISTED)]
Bonds = Annotated[int, Query(ge=0, le=messages.MOST_BONDS)]


@router.get("")
async def list_models(service: Service) -> messages.ModelList:
    """List the models that are served."""
    return messages.ModelList(models=[_info(model) for model in service.models.values()])


@router.post("/{model_id}/suggest")
async def suggest_labels(
    request: messages.SuggestRequest, model: Model, service: Service
) -> messages.Suggestions:
    """Rank the open labels of a text, given those that a person has accepted and refused."""
    _check(request, service)
    return await service.workshop.do(suggest, model, request)


@router.post("/{model_id}/explain", responses=declared(409))
async def explain_label(
    request: messages.ExplainRequest, model: Model, service: Service
) -> messages.Explained:
    """Tell which words and which other labels speak for a label of a text, and which against it."""
    _check(request, service)
    return await service.workshop.do(explain, model, request)


@router.get("/{model_id}/labels")
async def list_labels(
    model: Model,
    service: Service,
    q: str = "",
    limit: Listed = 20,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> messages.LabelList:
    """Search the labels by a part of their names, in any case; first those that begin with it."""
    return await service.workshop.do(search_labels, model, q, limit, offset)


@router.get("/{model_id}/related", responses=declared(409))
async def list_related(
    model: Model, service: Service, label: str, limit: Listed = 10
) -> messages.RelatedLabels:
    """List the labels that speak most for a label or against it."""
    return await service.workshop.do(related_labels, model, label, limit)


@router.get("/{model_id}/graph", responses=declared(409))
async def draw_graph(
    model: Model, service: Service, attractions: Bonds = 20, repulsions: Bonds = 10
) -> messages.LabelMap:
    """Draw the labels that attract and repel each other most."""
    return await service.workshop.do(label_map, model, attractions, repulsions)


@router.post("/{model_id}/documents", status_code=201)
async def save_document(
    request: messages.Statements, model: Model, service: Service
) -> messages.Saved:
    """Save a labelled document; it is in the journal before the answer, and soon learnt from."""
    _check(request, service)
    entry = Entry(model.id, request.text, tuple(request.accepted), tuple(request.refused))
    (number,) = await service.write([entry])
    unknown = sorted({name for name in request.accepted if name not in model.column})
    return messages.Saved(id=number, learned=model.snapshot.learned, unknown=unknown)


@router.get("/{model_id}/journal")
async def show_journal(model: Model, service: Service) -> messages.JournalState:
    """Tell what the journal holds, and which labels in it the model does not have."""
    unknown = [
        messages.LabelCount(label=name, documents=count)
        for name, count in model.unknown.most_common(_MOST_UNKNOWN)
    ]
    return messages.JournalState(
        documents=service.journals[model.id].n_documents[model.id],
        learned=model.snapshot.learned,
        unknown=unknown,
    )


def _check(request: messages.Statements, service: RunningService) -> None:
    check_text(request.text, service.limits)
    check_labels(request.accepted, request.refused, service.limits)


def _info(model: ServedModel) -> messages.ModelInfo:
    rescorer = model.classifier.rescorer_
    summary = model.header.summary
    return messages.ModelInfo(
        id=model.id,
        name=str((summary or {}).get("name", model.id)),
        n_labels=len(model.names),
        n_documents=rescorer.n_documents_,
        created=model.header.created,
        content=type(model.classifier.content_).__name__,
        evidence_weight=rescorer.evidence_weight_,
        summary=summary,
    )
