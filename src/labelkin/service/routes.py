"""The service's own routes: suggestions that respond to known labels, and why."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Query, Request

from labelkin.service import answers, messages
from labelkin.service.journal import Entry
from labelkin.service.models import ServedModel
from labelkin.service.problems import declared
from labelkin.service.running_service import RunningService, Service

router = APIRouter(prefix="/api/models", tags=["labelkin"], responses=declared(401, 404, 422, 504))

#: Unknown labels of the journal that are listed, most common first.
_MOST_UNKNOWN = 1_000


class _Asked(NamedTuple):
    """The service, and which of its models a request is about."""

    service: RunningService
    model: ServedModel


async def _asked(model_id: str, request: Request) -> _Asked:
    service: RunningService = request.app.state.service
    return _Asked(service, service.model(model_id))


#: One dependency instead of two: FastAPI takes its time over each.
Asked = Annotated[_Asked, Depends(_asked)]
Listed = Annotated[int, Query(ge=1, le=messages.MOST_LISTED)]
Edges = Annotated[int, Query(ge=0, le=messages.MOST_EDGES)]


@router.get("")
async def list_models(service: Service) -> messages.ModelList:
    """List the models that are served."""
    return messages.ModelList(models=[_info(model) for model in service.models.values()])


@router.post("/{model_id}/suggest")
async def suggest_labels(request: messages.SuggestRequest, asked: Asked) -> messages.Suggestions:
    """Rank the open labels of a text, given those that are accepted and rejected."""
    request.check(asked.service.limits)
    return await asked.service.workers.do(answers.suggest, asked.model, request)


@router.post("/{model_id}/explain", responses=declared(409))
async def explain_label(request: messages.ExplainRequest, asked: Asked) -> messages.Explained:
    """Explain which words and which other labels speak for a label of a text, and against it."""
    request.check(asked.service.limits)
    return await asked.service.workers.do(answers.explain, asked.model, request)


@router.get("/{model_id}/labels")
async def list_labels(
    asked: Asked,
    q: str = "",
    limit: Listed = 20,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> messages.LabelList:
    """Search the labels by a part of their names, in any case; first those that begin with it."""
    return await asked.service.workers.do(answers.search_labels, asked.model, q, limit, offset)


@router.get("/{model_id}/related", responses=declared(409))
async def list_related(asked: Asked, label: str, limit: Listed = 10) -> messages.RelatedLabels:
    """List the labels that speak most for a label or against it."""
    return await asked.service.workers.do(answers.related_labels, asked.model, label, limit)


@router.get("/{model_id}/graph", responses=declared(409))
async def draw_graph(
    asked: Asked, attractions: Edges = 20, repulsions: Edges = 10
) -> messages.LabelMap:
    """Draw the labels that attract and repel each other most."""
    do = asked.service.workers.do
    return await do(answers.label_map, asked.model, attractions, repulsions)


@router.post("/{model_id}/documents", status_code=201)
async def save_document(request: messages.LabelledDocument, asked: Asked) -> messages.Saved:
    """Save a labelled document; it is in the journal before the answer, and learned from soon."""
    service, model = asked
    request.check(service.limits)
    entry = Entry(model.id, request.text, tuple(request.accepted), tuple(request.rejected))
    (number,) = await service.write([entry])
    unknown = sorted({name for name in request.accepted if name not in model.column})
    return messages.Saved(id=number, learned=model.snapshot.learned, unknown=unknown)


@router.get("/{model_id}/journal")
async def show_journal(asked: Asked) -> messages.JournalState:
    """Return what the journal holds, and which labels in it the model does not have."""
    service, model = asked
    return messages.JournalState(
        documents=service.journals[model.id].n_documents[model.id],
        learned=model.snapshot.learned,
        unknown=[
            messages.LabelCount(label=name, documents=count)
            for name, count in model.unknown.most_common(_MOST_UNKNOWN)
        ],
    )


def _info(model: ServedModel) -> messages.ModelInfo:
    rescorer = model.classifier.rescorer_
    return messages.ModelInfo(
        id=model.id,
        name=model.title,
        n_labels=len(model.names),
        n_documents=rescorer.n_documents_,
        created=model.header.created,
        content=type(model.classifier.content_).__name__,
        evidence_weight=rescorer.evidence_weight_,
        summary=model.header.summary,
    )
