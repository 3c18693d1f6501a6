"""What Annif's routes take and answer."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from labelkin.service.messages import Text

Limit = Annotated[int, Field(ge=0, le=2**31 - 1)]
Threshold = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class ApiInfo(BaseModel):
    """What answers."""

    title: str
    version: str


class Backend(BaseModel):
    """What a project works with."""

    backend_id: str


class Project(BaseModel):
    """A model, as Annif describes it."""

    project_id: str
    name: str
    language: str
    backend: Backend
    is_trained: bool
    modification_time: datetime


class ProjectList(BaseModel):
    """All models."""

    projects: list[Project]


class SuggestForm(BaseModel):
    """A text, and how many labels are wanted."""

    text: Text
    limit: Limit = 10
    threshold: Threshold = 0.0
    language: str = ""


class Subject(BaseModel):
    """A suggested label."""

    uri: str
    label: str
    notation: str | None
    score: float


class Subjects(BaseModel):
    """The labels suggested for a text."""

    results: list[Subject]


class Document(BaseModel):
    """A text, and what the client calls it."""

    text: Text
    document_id: Text | None = None


class Batch(BaseModel):
    """Several texts."""

    documents: list[Document]


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
