"""Whatever goes wrong is answered the same way: ``application/problem+json`` (RFC 9457)."""

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
#: How many of the faults of one request are named.
_MOST_FAULTS = 5


class Problem(BaseModel):
    """Why a request got no answer."""

    type: str
    title: str
    status: int
    detail: str


class ProblemError(Exception):
    """A request cannot be answered, and the client learns why.

    Parameters
    ----------
    status : int
        Of HTTP.
    kind : str
        What the problem is called: the end of its ``type``.
    detail : str
        The rule, what came, and the way out.
    headers : mapping or None, default None
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
        """Return the answer."""
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


def answer_problems(app: FastAPI) -> None:
    """Have the application answer every exception it expects as a problem, and describe them so."""
    for kind in (ProblemError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _answer)
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        description = describe()
        schemas = description.setdefault("components", {}).setdefault("schemas", {})
        # No route returns a problem, so none brings its schema along.
        schemas["Problem"] = Problem.model_json_schema()
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        for path in description["paths"].values():
            for operation in path.values():
                # FastAPI's own: requests that do not fit get 400 here.
                responses = operation["responses"]
                if "application/json" in responses.get("422", {}).get("content", {}):
                    del responses["422"]
        return description

    app.openapi = openapi  # type: ignore[method-assign]


async def _answer(request: Request, error: Exception) -> Response:
    if isinstance(error, RequestValidationError):
        error = _misfit(error)
    elif isinstance(error, HTTPException):
        error = _of_http(request, error)
    assert isinstance(error, ProblemError)
    return error.response()


def _misfit(error: RequestValidationError) -> ProblemError:
    """Name what does not fit the route's schema, without repeating what was sent."""
    faults = error.errors()
    shown = [
        f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}"
        for fault in faults[:_MOST_FAULTS]
    ]
    more = f" ({len(faults)} faults in all)" if len(faults) > _MOST_FAULTS else ""
    detail = f"The request must fit /openapi.json; {'; '.join(shown)}{more}."
    return ProblemError(400, "does-not-fit", detail)


def _of_http(request: Request, error: HTTPException) -> ProblemError:
    details = {
        404: f"There is nothing at {request.url.path}. /openapi.json lists what there is.",
        405: f"{request.method} is not offered at {request.url.path}; see the header Allow.",
    }
    detail = details.get(error.status_code, str(error.detail))
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    return ProblemError(error.status_code, kind, detail, error.headers)
