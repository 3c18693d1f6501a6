"""What the service's own routes take and answer."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

#: Enough for any list a person reads, and the most that is asked of a graph that is laid out.
MOST_LISTED, MOST_BONDS = 1_000, 100


def _of_whole_characters(text: str) -> str:
    """Refuse half a surrogate pair, which JSON can spell and no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"must be whole characters, got half of one at {error.start}") from None
    return text


Text = Annotated[str, AfterValidator(_of_whole_characters)]


class ModelInfo(BaseModel):
    """A model that is served."""

    id: str
    name: str
    n_labels: int
    n_documents: float
    created: datetime
    content: str
    evidence_weight: float
    summary: dict[str, Any] | None


class ModelList(BaseModel):
    """All models that are served."""

    models: list[ModelInfo]


class Statements(BaseModel):
    """A text, and what a person has said of its labels; nothing else, so that no typo is lost."""

    model_config = ConfigDict(extra="forbid")

    text: Text
    accepted: list[Text] = []
    refused: list[Text] = []


class SuggestRequest(Statements):
    """Asks for the most probable of the labels that are open."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 20


class ExplainRequest(Statements):
    """Asks why a label has the probability it has."""

    label: Text


class Parts(BaseModel):
    """What speaks for a label and against it, in log-odds; the parts add up to the result."""

    prior: float
    content: float
    labels: float
    first_place: float
    rules: float


class Suggestion(BaseModel):
    """A label that is open."""

    label: str
    probability: float
    log_odds: float
    parts: Parts


class KnownLabel(BaseModel):
    """A label that is not open: a person has stated it, or it follows from that by a rule."""

    label: str
    state: Literal["accepted", "refused"]
    because: Literal["rule"] | None


class Suggestions(BaseModel):
    """The open labels, most probable first."""

    model: str
    suggestions: list[Suggestion]
    known: list[KnownLabel]
    n_words: int | None
    learned: int


class LabelPart(BaseModel):
    """What one other label adds."""

    label: str
    share: float
    value: float
    known: bool


class TermPart(BaseModel):
    """What one term of the text adds, and the words of the text that it stands for."""

    term: str
    words: list[str]
    share: float


class NeighbourPart(BaseModel):
    """A training document that is like the text."""

    document: int
    similarity: float
    has_label: bool | None


class Explained(BaseModel):
    """Why a label has the probability it has.

    The labels' shares, ``labels_rest`` and ``constant`` add up to ``parts.labels``; the terms'
    shares, ``terms_rest`` and ``content_constant`` to ``parts.content``.
    """

    label: str
    probability: float
    log_odds: float
    parts: Parts
    labels: list[LabelPart]
    labels_rest: float
    constant: float
    terms: list[TermPart] | None
    terms_rest: float
    content_constant: float
    neighbours: list[NeighbourPart]


class LabelCount(BaseModel):
    """A label and how many documents have it."""

    label: str
    documents: float


class LabelList(BaseModel):
    """Some of the labels that were searched for, and how many were found."""

    labels: list[LabelCount]
    total: int


class RelatedLabel(BaseModel):
    """What a label says of another once it is known, and what the other says in return."""

    label: str
    to: float
    from_: Annotated[float, Field(alias="from")]
    strength: float
    both: float
    expected: float
    documents: float


class RelatedLabels(BaseModel):
    """The labels that speak most for one label, or against it, strongest first."""

    label: str
    documents: float
    related: list[RelatedLabel]


class Node(BaseModel):
    """A label on the map; x and y are in [0, 1], y downwards."""

    label: str
    documents: float
    x: float
    y: float


class MapBond(BaseModel):
    """How two labels attract (above 0) or repel each other."""

    first: str
    second: str
    strength: float
    both: float
    expected: float


class LabelMap(BaseModel):
    """The strongest edges between labels, and where to draw the labels."""

    nodes: list[Node]
    edges: list[MapBond]


class Saved(BaseModel):
    """A document is in the journal; labels the model does not have wait for a new training."""

    id: int
    learned: int
    unknown: list[str]


class JournalState(BaseModel):
    """What the journal holds for a model, and labels in it that the model does not have."""

    documents: int
    learned: int
    unknown: list[LabelCount]


class Health(BaseModel):
    """The service is alive, or ready."""

    status: Literal["alive", "ready"]
