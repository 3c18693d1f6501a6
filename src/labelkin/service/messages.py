"""Schemas of requests and answers of ``/api``, limits of requests, and problems."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.exceptions import HTTPException

from labelkin.service.serving import Limits
from labelkin.validation import abbreviate

#: Maximum length of a list, and maximum number of edges of a graph.
MOST_LISTED, MOST_EDGES = 1_000, 100
#: SQLite and JavaScript have exact integers up to this number.
MOST_NUMBER = 2**53 - 1
#: Parts that add up to the log-odds of a label, by name, in order: ``"prior"``, ``"content"``,
#: ``"predicted labels"``, ``"known labels"``, ``"rules"``; those a model has.
Parts = dict[str, float]


def _no_boolean(value: Any) -> Any:
    """Reject true and false, which are numbers in Python."""
    if isinstance(value, bool):
        raise ValueError("must be a whole number, got a boolean")
    return value


#: A text that UTF-8 can represent: a string with a constraint is checked for that.
Text = Annotated[str, Field(max_length=10**9)]
#: Labels may be numbers; over HTTP all of them are texts.
Name = Annotated[str, BeforeValidator(str)]
#: Language of the names of labels; a label without a name in it has another one.
Language = Annotated[str | None, Field(max_length=100)]
#: Concepts, by label, URI, notation or name; each includes the narrower ones.
Concepts = list[Text]
#: Label → name, of the labels in an answer; empty if the model has no vocabulary.
Names = dict[str, str]


class LabelledDocument(BaseModel):
    """A text and its known labels; other fields are an error."""

    model_config = ConfigDict(extra="forbid")

    text: Text
    accepted: list[Text] = []
    rejected: list[Text] = []

    def check(self, limits: Limits) -> None:
        """Raise a problem for a text or for labels beyond the limits."""
        check_text(self.text, limits)
        check_labels(self.accepted, self.rejected, limits)


class DocumentToSave(LabelledDocument):
    """A labelled document; one that was saved before is replaced.

    Saving the same text again replaces the earlier document. ``record`` is that of an earlier
    answer: the text replaces the document that was saved under it.
    """

    record: Annotated[str, Field(pattern="^[0-9a-f]{32}$")] | None = None


class SuggestRequest(LabelledDocument):
    """Request for the most probable open labels.

    If ``include`` names concepts, only these and narrower ones are suggested. The concepts in
    ``exclude``, and narrower ones, are not suggested.
    """

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED), BeforeValidator(_no_boolean)] = 20
    language: Language = None
    include: Concepts = []
    exclude: Concepts = []

    def check(self, limits: Limits) -> None:
        """Raise a problem for a text, for labels or for concepts beyond the limits."""
        super().check(limits)
        check_sizes(limits, included=self.include, excluded=self.exclude)


class ExplainRequest(LabelledDocument):
    """Request for the reasons of a label's probability."""

    label: Annotated[Text, Field(min_length=1)]
    language: Language = None


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
    vocabulary: str | None = None
    languages: list[str] = []
    language: str | None = None
    text_language: str | None = None


class Bounds(BaseModel):
    """Limits of a request, as in :class:`labelkin.service.Limits`."""

    model_config = ConfigDict(from_attributes=True)

    text_characters: int
    known_labels: int
    label_characters: int


class ModelList(BaseModel):
    """All models that are served, and the limits of a request."""

    models: list[ModelInfo]
    limits: Bounds


class SuggestedLabel(BaseModel):
    """A label that is open; its parts add up to its log-odds."""

    label: str
    probability: float
    log_odds: float
    parts: Parts


class KnownLabel(BaseModel):
    """A label that is known: accepted, rejected, or implied by a rule."""

    label: str
    state: Literal["accepted", "rejected"]
    because: Literal["rule"] | None


class Suggestions(BaseModel):
    """The most probable of the ``n_open`` open labels, most probable first."""

    model: str
    suggestions: list[SuggestedLabel]
    known: list[KnownLabel]
    n_words: int | None
    learned: int
    n_open: int
    names: Names = {}


class LabelReason(BaseModel):
    """Contribution of one other label to the log-odds."""

    model_config = ConfigDict(from_attributes=True)

    label: Name
    log_odds: float
    value: float
    known: bool


class TermContribution(BaseModel):
    """Contribution of one term, and its words in the text."""

    term: str
    words: list[str]
    log_odds: float


class Neighbour(BaseModel):
    """A training document that is similar to the text."""

    model_config = ConfigDict(from_attributes=True)

    document: int
    similarity: float
    has_label: bool | None


class Explained(BaseModel):
    """The reasons for the probability of a label.

    The contributions of labels, ``labels_rest`` and ``constant`` add up to the parts ``"predicted
    labels"`` and ``"known labels"``; the contributions of terms, ``terms_rest`` and
    ``content_constant`` to the part ``"content"``. If the content is an ensemble, the contributions
    of its members also add up to this part.
    """

    label: Name
    probability: float
    log_odds: float
    parts: Parts
    labels: list[LabelReason]
    labels_rest: float
    constant: float
    terms: list[TermContribution] | None
    terms_rest: float
    content_constant: float
    neighbours: list[Neighbour]
    members: Parts = {}
    names: Names = {}


class LabelFound(BaseModel):
    """A label that was found, and the name that matched if it is not the one shown."""

    label: str
    documents: float
    matched: str | None = None


class LabelList(BaseModel):
    """Some of the labels that were found, and their number.

    If no name contains the text, ``similar`` is true and the labels have similar names.
    """

    labels: list[LabelFound]
    total: int
    similar: bool = False
    names: Names = {}


class Edge(BaseModel):
    """Evidence of two labels for each other, as in :class:`labelkin.explain.graph.LabelEdge`."""

    model_config = ConfigDict(from_attributes=True)

    first: Name
    second: Name
    to_second: float
    to_first: float
    strength: float
    n_first: float
    n_second: float
    n_both: float
    n_expected: float
    bound: float


class RelatedLabels(BaseModel):
    """The labels that are the strongest evidence for or against one label, strongest first.

    In each edge ``first`` is the other label and ``second`` this one.
    """

    label: str
    documents: float
    related: list[Edge]
    names: Names = {}


class Node(BaseModel):
    """A label on the map; x and y are in [0, 1], y downwards."""

    label: str
    documents: float
    x: float
    y: float


class LabelMap(BaseModel):
    """The strongest edges between labels, and where to draw the labels."""

    nodes: list[Node]
    edges: list[Edge]
    names: Names = {}


class Saved(BaseModel):
    """A document was saved; labels that the model does not have need a new training."""

    id: int
    record: str
    learned: int
    unknown: list[str]


class ReviewState(BaseModel):
    """Progress of a review.

    ``next`` is the first issue without an answer, ``last`` the issue that was answered last.
    """

    name: str = ""
    total: int = 0
    change: int = 0
    keep: int = 0
    cannot_say: int = 0
    next: int | None = None
    last: int | None = None


class ReviewAnswer(BaseModel):
    """Answer of a reviewer to an issue; ``null`` withdraws it."""

    model_config = ConfigDict(extra="forbid")

    number: Annotated[int, Field(ge=1, le=MOST_NUMBER)]
    answer: Literal["change", "keep", "cannot say"] | None


class ReviewedOtherLabel(BaseModel):
    """Contribution of another label to the log-odds that the corpus is wrong."""

    label: Name
    given: bool
    log_odds: float


class SimilarDocument(BaseModel):
    """A similar document, and whether it has the label; ``null``: unknown."""

    document: Name
    similarity: float
    given: bool | None
    labels: list[Name] = []
    text: str = ""


class IssueRecord(BaseModel):
    """A cell of a corpus that is probably wrong, as in a file of issues.

    The parts add up to the log-odds of an error; positive contributions of other labels and words
    are evidence for the change. In a review it has its number and its answer.
    """

    document: Name
    label: Name
    kind: str
    given: bool
    repair: Literal["add", "remove"]
    probability: Annotated[float, Field(ge=0, le=1)]
    reason: str = ""
    parts: Parts = {}
    because_of: list[ReviewedOtherLabel] = []
    words: list[TermContribution] = []
    similar: list[SimilarDocument] = []
    labels: list[Name] = []
    text: str = ""
    fingerprint: str = ""
    names: Names = {}
    number: int = 0
    answer: Literal["change", "keep", "cannot say"] | None = None


#: Kind of problem → rule, value received and hint.
_BOUNDS = {
    "text-too-long": "A text may have {:,} characters, got {:,}. Send its beginning, or a summary.",
    "batch-too-large": "A request may have {:,} documents, got {:,}. Send them in several ones.",
    "too-many-labels": "At most {:,} labels may be {word}, got {:,}.",
    "label-too-long": "A label may have {:,} characters, got one of {:,} among those {word}.",
}


def check_bound(status: int, kind: str, came: int, most: int, word: str = "") -> None:
    """Raise a problem for a number above its limit."""
    if came > most:
        raise ProblemError(status, kind, _BOUNDS[kind].format(most, came, word=word))


def check_text(text: str, limits: Limits) -> None:
    """Raise a problem for a text that is too long."""
    check_bound(413, "text-too-long", len(text), limits.text_characters)


def check_batch(n_documents: int, limits: Limits) -> None:
    """Raise a problem for too many documents at a time."""
    check_bound(413, "batch-too-large", n_documents, limits.batch_documents)


def check_labels(accepted: Sequence[str], rejected: Sequence[str], limits: Limits) -> None:
    """Raise a problem for too many labels, bad names, and labels that are both."""
    check_sizes(limits, accepted=accepted, rejected=rejected)
    if blank := [name for name in (*accepted, *rejected) if not name.strip()]:
        detail = f"A label must have a name, got {blank[0]!r}. Leave it out."
        raise ProblemError(422, "no-label", detail)
    if both := sorted(set(accepted) & set(rejected)):
        detail = (
            f"A label can be accepted or rejected, got {abbreviate(both)} as both. Take one back."
        )
        raise ProblemError(422, "contradiction", detail)


def check_sizes(limits: Limits, **labels: Sequence[str]) -> None:
    """Raise a problem for too many labels or concepts, and for too long names."""
    for word, names in labels.items():
        longest = max(map(len, names), default=0)
        check_bound(422, "too-many-labels", len(names), limits.known_labels, word)
        check_bound(422, "label-too-long", longest, limits.label_characters, word)


MEDIA_TYPE = "application/problem+json"
#: Faults of one request that are named.
_MOST_FAULTS = 5


class Problem(BaseModel):
    """Reason why a request was not answered."""

    type: str
    title: str
    status: int
    detail: str


#: Description of problems in OpenAPI, for every route.
_PROBLEM = {
    "description": "Problem",
    "content": {MEDIA_TYPE: {"schema": Problem.model_json_schema()}},
}
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}


class ProblemError(HTTPException):
    """A request that cannot be answered, with the reason for the client.

    Parameters
    ----------
    status : int
        HTTP status.
    kind : str
        Name of the problem: the end of its ``type``.
    detail : str
        Rule, value received, and hint.
    headers : mapping or None, default None
        Further headers of the answer.
    """

    def __init__(
        self, status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, headers)
        self.kind = kind


def problem_response(error: HTTPException) -> Response:
    """Return a problem as the answer to a request."""
    title = HTTPStatus(error.status_code).phrase
    problem = {
        "type": f"urn:labelkin:problem:{getattr(error, 'kind', title.lower().replace(' ', '-'))}",
        "title": title,
        "status": error.status_code,
        "detail": error.detail,
    }
    # ASCII: a text may contain half a character, which UTF-8 cannot represent.
    return Response(json.dumps(problem), error.status_code, error.headers, MEDIA_TYPE)


async def answer_problem(request: Request, error: Exception) -> Response:
    """Answer an exception of a route as a problem."""
    if isinstance(error, RequestValidationError):
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}"
            for fault in error.errors()
        ]
        shown = "; ".join(faults[:_MOST_FAULTS])
        more = f" ({len(faults)} faults in all)" if len(faults) > _MOST_FAULTS else ""
        detail = f"The request must fit /openapi.json; {shown}{more}."
        error = ProblemError(400, "does-not-fit", detail)
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and not isinstance(error, ProblemError):
        error.detail = f"There is nothing at {request.url.path}. /openapi.json lists the routes."
    return problem_response(error)
