"""Everything that goes wrong, told the same way: ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException

MEDIA_TYPE = "application/problem+json"
#: How many of the faults of one request are told.
_MOST_FAULTS = 5


class Problem(BaseModel):
    """Why a request got no answer."""

    type: str
    title: str
    status: int
    detail: str


class ProblemError(Exception):
    """A request cannot be answered, and the client is told why.

    Attributes
    ----------
    status
        Of HTTP.
    kind
        What the problem is called: the end of its ``type``.
    detail
        The rule, what came, and the way out.
    headers
        Further headers of the answer.
    """

    def __init__(
        self, status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """Return the answer that tells it."""
        problem = Problem(
            type=f"urn:labelkin:problem:{self.kind}",
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            detail=self.detail,
        )
        # ASCII: a text may hold half a character, which UTF-8 cannot.
        body = json.dumps(problem.model_dump(), ensure_ascii=True)
        return Response(body, self.status, self.headers, MEDIA_TYPE)


def declared(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return what OpenAPI says of these problems; those any route may have are included."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    everywhere = (400, 403, 408, 413, 421, 503)
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in sorted({*everywhere, *statuses})
    }


def tell_problems(app: FastAPI) -> None:
    """Make the application answer every exception it expects as a problem."""
    app.add_exception_handler(ProblemError, _tell_own)
    app.add_exception_handler(RequestValidationError, _tell_invalid)
    app.add_exception_handler(HTTPException, _tell_http)


async def _tell_own(request: Request, error: Any) -> Response:
    answer: Response = error.response()
    return answer


async def _tell_invalid(request: Request, error: Any) -> Response:
    """Name what does not fit the route's schema, without repeating what was sent."""
    faults = error.errors()
    shown = [
        f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}"
        for fault in faults[:_MOST_FAULTS]
    ]
    more = f" ({len(faults)} faults in all)" if len(faults) > _MOST_FAULTS else ""
    detail = f"The request must fit /openapi.json; {'; '.join(shown)}{more}."
    return ProblemError(400, "does-not-fit", detail).response()


async def _tell_http(request: Request, error: Any) -> Response:
    details = {
        404: f"There is nothing at {request.url.path}. /openapi.json lists what there is.",
        405: f"{request.method} is not offered at {request.url.path}; see the header Allow.",
    }
    detail = details.get(error.status_code, str(error.detail))
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    return ProblemError(error.status_code, kind, detail, error.headers).response()
