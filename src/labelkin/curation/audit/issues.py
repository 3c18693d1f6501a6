"""Suspected errors as records: what, how probable, why; and where the list should end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from labelkin.explain.contributions import LabelContribution
from labelkin.records import short_repr

Kind = Literal["missing", "wrong", "twin", "rule"]
KINDS: tuple[Kind, ...] = ("missing", "wrong", "twin", "rule")
#: Reasons that add less are printed as 0.0, and are not printed.
_SHOWN = 0.05


@short_repr
class SimilarDocument(NamedTuple):
    """A document that resembles the one in question.

    Attributes
    ----------
    document
        Its row.
    similarity
        Cosine of the two.
    given
        Whether it has the label; ``None``: nobody knows.

    Examples
    --------
    >>> from labelkin.curation.audit import SimilarDocument
    >>> similar = [SimilarDocument(7, 0.91, True), SimilarDocument(4, 0.85, None)]
    >>> [one.document for one in similar if one.given]
    [7]
    """

    document: int
    similarity: float
    given: bool | None


@short_repr
class LabelErrors(NamedTuple):
    """How many errors a label is expected to have.

    Attributes
    ----------
    label
        Its name.
    documents
        How many documents have it.
    missing, wrong
        Expected number of documents that lack it, and that have it, wrongly.

    Examples
    --------
    >>> from labelkin.curation.audit import LabelErrors
    >>> grain = LabelErrors("grain", documents=120, missing=6.5, wrong=1.5)
    >>> grain.documents + grain.missing - grain.wrong  # that should have it
    125.0
    """

    label: Any
    documents: int
    missing: float
    wrong: float


@short_repr
@dataclass(frozen=True)
class Issue:
    """A cell of the label matrix that is probably wrong.

    Attributes
    ----------
    document
        Row of the document.
    label
        Name of the label.
    kind
        ``"missing"``: the document lacks the label. ``"wrong"``: it has it. ``"twin"``: a document
        with the same or nearly the same text is labelled otherwise. ``"rule"``: together with
        another cell it breaks a rule.
    given
        What the corpus says: ``True``, the document has the label. The repair is the opposite.
    probability
        That what the corpus says is wrong.
    parts
        What adds up to the log-odds of the error, by name; positive parts support it:
        ``"prior"``, ``"content"``, ``"other labels"``, ``"number of labels"``, ``"noise"`` (how
        often such errors occur), ``"rules"``.
    labels
        What each other label of the document, given or not, adds to it, strongest first; empty
        where label evidence is not linear.
    similar
        Similar documents and whether they have the label, most similar first.
    reason
        The rule that is broken or the twin, in words; ``""`` otherwise.

    Examples
    --------
    >>> from labelkin.curation.audit import Issue
    >>> parts = {"prior": 1.0, "content": 2.5, "other labels": 1.5, "noise": -3.0}
    >>> issue = Issue(3, "grain", "missing", given=False, probability=0.88, parts=parts)
    >>> issue.repair, sum(issue.parts.values())
    ('add', 2.0)
    """

    document: int
    label: Any
    kind: Kind
    given: bool
    probability: float
    parts: dict[str, float]
    labels: tuple[LabelContribution, ...] = ()
    similar: tuple[SimilarDocument, ...] = ()
    reason: str = ""

    @property
    def repair(self) -> Literal["add", "remove"]:
        """What to do about it."""
        return "remove" if self.given else "add"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        plain = asdict(self)
        plain["labels"] = [one._asdict() for one in self.labels]
        plain["similar"] = [one._asdict() for one in self.similar]
        return {**plain, "repair": self.repair}


def list_end(probability: ArrayLike, n_errors: float) -> int:
    """Return how many of the surest suspects to read: as many as have the best expected F1.

    Of the first k, the sum of their probabilities are errors; F1 weighs the share of the list that
    is right against the share of all errors that is in it.

    Parameters
    ----------
    probability : array of shape (n_suspects,)
        In descending order.
    n_errors : float
        How many errors there are in all, in expectation.

    Examples
    --------
    >>> list_end([0.9, 0.8, 0.1, 0.1], 1.9)
    2
    """
    found = np.cumsum(np.asarray(probability, dtype=np.float64))
    if not len(found) or n_errors <= 0:
        return 0
    f1 = 2 * found / (np.arange(1, len(found) + 1) + n_errors)
    return int(np.argmax(f1)) + 1


def reasons(
    parts: Mapping[str, float], labels: Iterable[tuple[str, float]], reason: str, most: int = 3
) -> str:
    """Return the strongest reasons for an error, then the strongest against it.

    Parameters
    ----------
    parts : mapping of str to float
        Parts of the log-odds of the error, as in :class:`Issue`.
    labels : iterable of tuples
        Other labels and what they add.
    reason : str
        The broken rule or the twin in words, or "".
    most : int, default 3
        Number of reasons, by absolute value; one for the error is always among them.

    Examples
    --------
    >>> reasons({"content": 6.68, "other labels": -0.7}, [("coffee", -0.5), ("no grain", -0.2)], "")
    'content +6.7; against: coffee -0.5; no grain -0.2'
    """
    found = [("content", parts.get("content", 0.0)), *labels]
    found.append(("number of labels", parts.get("number of labels", 0.0)))
    found.append((reason, parts.get("rules", 0.0)))
    found = sorted((one for one in found if abs(one[1]) >= _SHOWN), key=lambda one: -abs(one[1]))
    best = [one for one in found if one[1] > 0][:1]
    shown = sorted([*best, *(one for one in found if one not in best)][:most], key=found.index)
    supports = "; ".join(f"{name} {added:+.1f}" for name, added in shown if added > 0)
    opposes = "; ".join(f"{name} {added:+.1f}" for name, added in shown if added < 0)
    twin = "" if "rules" in parts else reason
    return "; ".join(filter(None, (supports, opposes and f"against: {opposes}", twin)))


def issues_table(issues: Sequence[Issue], ids: Sequence[Any] | None = None) -> Any:
    """Return issues as a pandas DataFrame, a row each, parts in columns."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError('issues_frame requires pandas: pip install "labelkin[frames]"') from None
    parts = list(dict.fromkeys(name for issue in issues for name in issue.parts))
    rows = [
        {
            "document": issue.document if ids is None else ids[issue.document],
            "label": issue.label,
            "kind": issue.kind,
            "given": issue.given,
            "repair": issue.repair,
            "probability": issue.probability,
            "reason": issue.reason,
            **{name.replace(" ", "_"): issue.parts.get(name, 0.0) for name in parts},
            "because_of": reasons(
                issue.parts,
                [
                    (f"{'' if one.value else 'no '}{one.label}", one.log_odds)
                    for one in issue.labels
                ],
                issue.reason,
            ),
            "similar": "; ".join(
                f"{one.document if ids is None else ids[one.document]} ({one.similarity:.2f}, "
                f"{'unknown' if one.given is None else 'has it' if one.given else 'lacks it'})"
                for one in issue.similar
            ),
        }
        for issue in issues
    ]
    first = ["document", "label", "kind", "given", "repair", "probability", "reason"]
    return pd.DataFrame(
        rows, columns=[*first, *(name.replace(" ", "_") for name in parts), "because_of", "similar"]
    )
