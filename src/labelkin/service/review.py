"""Issues of an audit and the answers of reviewers."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any, cast

from pydantic import ValidationError

from labelkin.corpora.lines import decoded_lines, json_objects
from labelkin.curation.corrections import ANSWERS, Decision
from labelkin.curation.saved_work import SavedWork
from labelkin.service.messages import IssueRecord, ProblemError, ReviewedIssue, ReviewState
from labelkin.service.serving import Limits


def read_issues(path: Path, limits: Limits) -> list[IssueRecord]:
    """Read the issues that ``labelkin audit --out issues.jsonl`` writes, within the limits."""
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file of issues {path}. labelkin audit CORPUS --out {path.name} writes it."
        )
    if path.suffix.lower() in (".csv", ".tsv"):
        raise ValueError(
            f"A review needs issues as JSON lines, which contain the texts, and {path.name} is a "
            "table. Write them with: labelkin audit CORPUS --out issues.jsonl."
        )
    issues: list[IssueRecord] = []
    for place, record in json_objects(decoded_lines(path), path.name):
        if len(issues) == limits.review_issues:
            raise ValueError(
                f"A review may have {limits.review_issues:,} issues, and {path.name} has more. "
                "Audit with a smaller --top."
            )
        try:
            issue = IssueRecord.model_validate(record)
        except ValidationError as error:
            fault = error.errors()[0]
            raise ValueError(
                f"{place}: an issue must be as labelkin audit writes it; "
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}."
            ) from None
        issues.append(issue.model_copy(update={"text": issue.text[: limits.text_characters]}))
    if not issues:
        raise ValueError(f"{path.name}: a review must have issues, and has none.")
    return issues


class Review:
    """Issues in their order, and the answers in the saved work.

    Parameters
    ----------
    name : str
        Name of the file of issues.
    issues : list of IssueRecord
        The issues.
    saved_work : SavedWork
        The file of the answers.
    """

    def __init__(self, name: str, issues: list[IssueRecord], saved_work: SavedWork) -> None:
        self.name = name
        self._issues = issues
        self._saved_work = saved_work
        self._lock = Lock()
        number = {(x.document, x.label, x.given): n for n, x in enumerate(issues, start=1)}
        #: Number → answer, in the order of the answers.
        self._answers: dict[int, Any] = {}
        for one in saved_work.answers():
            found = number.get((one.document, one.label, one.given))
            if found is not None:
                self._answers[found] = one.answer

    def issue(self, number: int) -> ReviewedIssue:
        """Return an issue and its answer."""
        issue = self._issue(number).model_dump()
        return ReviewedIssue(number=number, answer=self._answers.get(number), **issue)

    def answer(self, number: int, answer: str | None) -> ReviewState:
        """Save an answer, ``None`` to withdraw it; return the new state."""
        issue = self._issue(number)
        given = cast(Any, answer or "")
        cell = issue.document, issue.label, issue.given
        with self._lock:
            self._saved_work.save([Decision(*cell, given, fingerprint=issue.fingerprint)])
            self._answers.pop(number, None)
            if answer is not None:
                self._answers[number] = answer
            return self.state()

    def state(self) -> ReviewState:
        """Return how many issues were answered, the next one and the last one."""
        given = list(self._answers.values())
        counts = {answer.replace(" ", "_"): given.count(answer) for answer in ANSWERS}
        numbers = range(1, len(self._issues) + 1)
        return ReviewState(
            name=self.name,
            total=len(self._issues),
            next=next((number for number in numbers if number not in self._answers), None),
            last=next(reversed(self._answers), None),
            **counts,
        )

    def _issue(self, number: int) -> IssueRecord:
        if number > len(self._issues):
            detail = f"There are {len(self._issues)} issues, and there is no number {number}."
            raise ProblemError(404, "no-such-issue", detail)
        return self._issues[number - 1]
