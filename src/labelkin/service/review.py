"""Issues of an audit and the answers of reviewers."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from labelkin.corpora.lines import decoded_lines, json_objects
from labelkin.curation.corrections import ANSWERS, Decision
from labelkin.service.journal import Journal
from labelkin.service.messages import IssueRecord, ProblemError, ReviewedIssue, ReviewState
from labelkin.service.serving import Limits


def read_issues(path: Path, limits: Limits) -> list[IssueRecord]:
    """Read issues as ``labelkin audit --out issues.jsonl`` writes them, within the bounds."""
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file of issues {path}. labelkin audit CORPUS --out {path.name} writes it."
        )
    if path.suffix.lower() in (".csv", ".tsv"):
        raise ValueError(
            f"A review needs issues as JSON lines, which hold the texts, and {path.name} is a "
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
    """Issues in their order, and the answers that are in the journal.

    Parameters
    ----------
    name : str
        Of the file.
    issues : list of IssueRecord
        What is asked.
    journal : Journal
        Where the answers are and go.
    """

    def __init__(self, name: str, issues: list[IssueRecord], journal: Journal) -> None:
        self.name = name
        self.journal = journal
        self._issues = issues
        number = {(x.document, x.label, x.given): n for n, x in enumerate(issues, start=1)}
        #: Number → answer, in the order of the answers.
        self._answers: dict[int, Any] = {}
        for one in journal.answers():
            found = number.get((one.document, one.label, one.given))
            if found is not None:
                self._answers[found] = one.answer

    def issue(self, number: int) -> ReviewedIssue:
        """Return an issue and its answer."""
        issue = self._issue(number).model_dump()
        return ReviewedIssue(number=number, answer=self._answers.get(number), **issue)

    def answer(self, number: int, answer: str | None) -> Future[list[int]]:
        """Write an answer to the journal, ``None`` to withdraw it; shown when it is durable."""
        issue = self._issue(number)
        said = cast(Any, answer or "")
        decision = Decision(
            issue.document, issue.label, issue.given, said, fingerprint=issue.fingerprint
        )

        def count(written: Future[list[int]]) -> None:
            if written.cancelled() or written.exception() is not None:
                return
            self._answers.pop(number, None)
            if answer is not None:
                self._answers[number] = answer

        written = self.journal.append([decision])
        written.add_done_callback(count)
        return written

    def state(self) -> ReviewState:
        """Return how far the review is."""
        said = list(self._answers.values())
        counts = {answer.replace(" ", "_"): said.count(answer) for answer in ANSWERS}
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
