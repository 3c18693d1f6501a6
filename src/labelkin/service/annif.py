"""Annif's REST API, version 1, so that its clients work unchanged.

https://api.annif.org/v1/ui/ describes it. A model is a project, a label a subject. If the model has
a vocabulary, a subject has the URI, the name in a language and the notation of its concept;
otherwise its URI and its name are the label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, ValidationError

from labelkin.curation.saved_work import Entry
from labelkin.service.answers import most_probable_labels
from labelkin.service.messages import (
    Concepts,
    ProblemError,
    Text,
    check_batch,
    check_labels,
    check_sizes,
    check_text,
)
from labelkin.service.models import ServedModel
from labelkin.service.running_service import OfModel, RunningService, Service
from labelkin.validation import abbreviate
from labelkin.vocabulary.record import LANGUAGE_CODES

annif_router = APIRouter(prefix="/v1", tags=["Annif"])

_FORM = "application/x-www-form-urlencoded"
#: Fields of a form that are lists: a field for each item, as Annif sends them.
_LISTS = ("include", "exclude", "metadata_accepted", "metadata_rejected")
#: Fields that a form may have in all.
_MOST_FIELDS = 3000

Limit = Annotated[int, Field(ge=0, le=2**31 - 1)]
Threshold = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class VocabularyInfo(BaseModel):
    """A vocabulary, as Annif describes it."""

    vocab_id: str
    languages: list[str]
    size: int
    loaded: bool = True


class Project(BaseModel):
    """A model, as Annif describes it."""

    project_id: str
    name: str
    language: str
    backend: dict[str, str] = {"backend_id": "labelkin"}
    vocab: VocabularyInfo | None
    vocab_language: str | None
    is_trained: bool = True
    modification_time: datetime


class SuggestForm(BaseModel):
    """A text, the number of labels, and the concepts to include and exclude, as in Annif.

    ``metadata_accepted`` and ``metadata_rejected`` contain known labels, as Annif sends the
    metadata ``accepted`` and ``rejected`` of a document: URIs separated by spaces, or labels,
    notations or names separated by semicolons or line ends. A list has one field per item.
    """

    text: Text
    limit: Limit = 10
    threshold: Threshold = 0.0
    language: str = ""
    include: Concepts = []
    exclude: Concepts = []
    metadata_accepted: Text | list[Text] = []
    metadata_rejected: Text | list[Text] = []


class Subject(BaseModel):
    """A suggested label."""

    uri: str
    label: str
    notation: str | None
    score: float


class Subjects(BaseModel):
    """The labels suggested for a text."""

    results: list[Subject]


class BatchDocument(BaseModel):
    """A text and its id; ``accepted`` and ``rejected`` in its metadata are known labels."""

    text: Text
    document_id: Text | None = None
    metadata: dict[str, Any] | None = None


class Batch(BaseModel):
    """Several texts."""

    documents: list[BatchDocument]


class DocumentSubjects(Subjects):
    """The labels suggested for one text of a batch."""

    document_id: str | None


class GivenSubject(BaseModel):
    """A label that a document has; by its URI, or by its name where the URI is unknown."""

    uri: Text
    label: Text | None = None


class IndexedDocument(BaseModel):
    """A document and its labels."""

    text: Text
    subjects: list[GivenSubject]


async def _read_form(request: Request) -> SuggestForm:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise ProblemError(415, "no-form", f"The text must be sent as {_FORM}, got {kind!r:.100}.")
    body = await request.body()
    try:
        form = parse_qs(body.decode("ascii"), True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        rule = "The form must be encoded UTF-8"
        raise ProblemError(400, "does-not-fit", f"{rule}: {error}.") from None
    try:
        return SuggestForm.model_validate(
            {name: values if name in _LISTS else values[0] for name, values in form.items()}
        )
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None


# Routes are tried in order: the most frequent one is the first.


@annif_router.post(
    "/projects/{model_id}/suggest",
    response_model=Subjects,
    openapi_extra={
        "requestBody": {
            "content": {_FORM: {"schema": SuggestForm.model_json_schema()}},
            "required": True,
        }
    },
)
async def suggest(asked: OfModel, form: Annotated[SuggestForm, Depends(_read_form)]) -> Response:
    """Suggest labels for a text."""
    service, model = asked
    check_text(form.text, service.limits)
    check_sizes(service.limits, included=form.include, excluded=form.exclude)
    _check_language(model, form.language)
    given = {"accepted": form.metadata_accepted, "rejected": form.metadata_rejected}
    metadata = {state: some[0] if len(some) == 1 else some for state, some in given.items()}
    known = _known(model, metadata, service)
    settings = form.model_dump(include={"limit", "threshold", "include", "exclude"})

    def find(texts: list[str]) -> list[list[tuple[str, float]]]:
        return most_probable_labels(model, texts, [known] * len(texts), **settings)

    found = await service.compute_together(model, form.text, str((settings, known)), find)
    return JSONResponse({"results": _subjects(model, found, form.language)})


@annif_router.get("/")
async def show_info() -> dict[str, str]:
    """Return the name and the version of the API."""
    return {"title": "labelkin, with Annif's REST API", "version": version("labelkin")}


@annif_router.get("/vocabs")
async def list_vocabs(service: Service) -> dict[str, list[VocabularyInfo]]:
    """List the vocabularies that models carry; models that were trained with one share it."""
    found = [vocab for model in service.models.values() if (vocab := _vocab(model)) is not None]
    distinct = {vocab.model_dump_json(): vocab for vocab in found}
    return {"vocabs": list(distinct.values())}


@annif_router.get("/projects")
async def list_projects(service: Service) -> dict[str, list[Project]]:
    """List the models."""
    return {"projects": [_project(model) for model in service.models.values()]}


@annif_router.get("/projects/{model_id}")
async def show_project(asked: OfModel) -> Project:
    """Describe one model."""
    return _project(asked.model)


@annif_router.post(
    "/projects/{model_id}/suggest-batch",
    response_model=list[DocumentSubjects],
)
def suggest_batch(
    batch: Batch,
    asked: OfModel,
    limit: Annotated[Limit, Query()] = 10,
    threshold: Annotated[Threshold, Query()] = 0.0,
    language: str = "",
    include: Annotated[Concepts, Query()] = [],  # noqa: B006 - FastAPI copies it
    exclude: Annotated[Concepts, Query()] = [],  # noqa: B006
) -> Response:
    """Suggest labels for several texts."""
    service, model = asked
    _check_language(model, language)
    check_sizes(service.limits, included=include, excluded=exclude)
    check_batch(len(batch.documents), service.limits)
    for document in batch.documents:
        check_text(document.text, service.limits)
    found = most_probable_labels(
        model,
        [document.text for document in batch.documents],
        [_known(model, document.metadata or {}, service) for document in batch.documents],
        limit=limit,
        threshold=threshold,
        include=include,
        exclude=exclude,
    )
    return JSONResponse(
        [
            {"results": _subjects(model, labels, language), "document_id": document.document_id}
            for document, labels in zip(batch.documents, found, strict=True)
        ]
    )


@annif_router.post("/projects/{model_id}/learn", status_code=204)
def learn(documents: list[IndexedDocument], asked: OfModel) -> None:
    """Learn from labelled documents; they are saved before the answer."""
    service, model = asked
    check_batch(len(documents), service.limits)
    service.save(model, [_entry(model, document, service) for document in documents])


def _vocab(model: ServedModel) -> VocabularyInfo | None:
    vocabulary = model.shown.vocabulary
    if vocabulary is None:
        return None
    languages = list(vocabulary.languages)
    return VocabularyInfo(vocab_id=vocabulary.name, languages=languages, size=len(vocabulary))


def _project(model: ServedModel) -> Project:
    vocabulary = model.shown.vocabulary
    return Project(
        project_id=model.id,
        name=model.title,
        language=_language(model),
        vocab=_vocab(model),
        vocab_language=None if vocabulary is None else vocabulary.language or None,
        modification_time=model.header.created,
    )


def _language(model: ServedModel) -> str:
    return LANGUAGE_CODES.get(model.language, model.language)


def _check_language(model: ServedModel, language: str) -> None:
    """Raise a problem for a language without names of labels."""
    vocabulary, languages = model.shown.vocabulary, [_language(model)]
    is_there = language in languages
    if vocabulary is not None and vocabulary.languages:
        languages = list(vocabulary.languages)
        is_there = vocabulary.language_like(language) is not None
    if language and not is_there:
        raise ProblemError(
            422,
            "other-language",
            f"The labels of {model.id} have names in {abbreviate(languages, 12)}, got "
            f"{language!r:.50}. Ask for one of these, or omit the language.",
        )


def _known(
    model: ServedModel, metadata: Mapping[str, Any], service: RunningService
) -> dict[str, list[str]]:
    """Return the labels that metadata call accepted and rejected; unknown ones are ignored."""
    found = {}
    for state in ("accepted", "rejected"):
        given = metadata.get(state)
        some = given if isinstance(given, list) else re.split(r"[;\n]", str(given or ""))
        names = [name for one in some for name in _names(str(one))]
        labels = (model.shown.label(re.sub(r"^<(.*)>$", r"\1", name)) for name in names if name)
        found[state] = list(dict.fromkeys(label for label in labels if label is not None))
    check_labels(found["accepted"], found["rejected"], service.limits)
    return found


def _names(text: str) -> list[str]:
    """Return URIs separated by spaces, or one label or name, which may contain spaces."""
    parts = text.split()
    return parts if all(":" in one or one.startswith("<") for one in parts) else [text.strip()]


def _subjects(
    model: ServedModel, found: list[tuple[str, float]], language: str
) -> list[dict[str, Any]]:
    """Return the fields of :class:`Subject` for each label."""
    shown = model.shown
    return [
        {
            "uri": shown.uri(label),
            "label": shown.of(label, language or None),
            "notation": shown.notation(label),
            "score": score,
        }
        for label, score in found
    ]


def _entry(model: ServedModel, document: IndexedDocument, service: RunningService) -> Entry:
    check_text(document.text, service.limits)
    labels = tuple(dict.fromkeys(_label(model, subject) for subject in document.subjects))
    check_labels(labels, (), service.limits)
    return Entry(model.id, document.text, labels)


def _label(model: ServedModel, subject: GivenSubject) -> str:
    """Return the label that a subject means, by its URI, which may have been replaced, or name."""
    found = model.shown.label(subject.uri)
    if found is None and subject.label is not None:
        found = model.shown.label(subject.label)
    return subject.uri if found is None else found
