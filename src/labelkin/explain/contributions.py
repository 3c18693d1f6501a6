"""Why a label has the posterior it has: exact parts in log-odds that add up to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import Cells, best_labels, names_to_columns
from labelkin.learned.terms import Part
from labelkin.method.combination import Matrix
from labelkin.odds import probability_of
from labelkin.records import html_table, short_repr

#: Probabilities that differ by less are the same in three digits.
_ROUNDING = 5e-4


@short_repr
class Suggestion(NamedTuple):
    """One label suggested for a document.

    Attributes
    ----------
    label
        Its name.
    probability
        Its probability, as ``predict_proba`` returns it: calibrated with ``calibrate=True``.
    log_odds
        Its posterior log-odds, as ``log_odds`` and ``decision_function`` return them: never
        calibrated.

    Examples
    --------
    >>> from labelkin import NaiveBayes, LabelDependenceClassifier
    >>> X, Y = [[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]]
    >>> model = LabelDependenceClassifier(NaiveBayes(), evidence_weight=1).fit(X, Y)
    >>> model.suggest([[5, 0]], top=1)[0][0].label
    'sea'
    """

    label: Any
    probability: float
    log_odds: float


@short_repr
class LabelContribution(NamedTuple):
    """What one other label adds.

    Attributes
    ----------
    label
        The other label.
    log_odds
        Its weight × (its value − its prior) where it is predicted; × (its value − its prediction)
        where it is known. A known label is listed twice: what its prediction says, and what the
        answer adds to that.
    value
        What it counts as: 1 or 0 where it is known, else as it is filled in.
    known
        Whether it is known.
    """

    label: Any
    log_odds: float
    value: float
    known: bool


@short_repr
@dataclass(frozen=True)
class Explanation:
    """The posterior of one label of one document, decomposed; all parts in log-odds.

    Attributes
    ----------
    label, probability, log_odds
        As in :class:`Suggestion`: the probability is calibrated with ``calibrate=True``, the
        log-odds are not.
    parts
        What adds up to ``log_odds``, by name, in order: ``"prior"``, how common the label is;
        ``"content"``, what the document adds to it; ``"predicted labels"`` and ``"known labels"``,
        what the other labels add; ``"rules"``, what rules between labels add or subtract. Parts
        that a model does not have are left out.
    labels
        What each other label adds, strongest first; empty where label evidence is not linear.
    members
        What each member of a :class:`~labelkin.ContentEnsemble` adds to the part ``"content"``, by
        name, and ``"all members"``, what is there whatever they say; they add up to it. Empty where
        the content is one classifier.

    Examples
    --------
    >>> import math
    >>> from labelkin import LabelDependenceClassifier, NaiveBayes
    >>> X, Y = [[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]]
    >>> model = LabelDependenceClassifier(NaiveBayes(), evidence_weight=1).fit(X, Y)
    >>> [[sea]] = model.explain([[1, 1]], label_names="sea")
    >>> print(sea)
    sea: 0.629 (+0.53)
      prior                      +0.69
      labels at their priors     -0.46
      content                    +0.30
      town                       -0.01
      all other labels           +0.00
    >>> math.isclose(sum(sea.parts.values()), sea.log_odds)
    True
    """

    label: Any
    probability: float
    log_odds: float
    parts: dict[str, float]
    labels: tuple[LabelContribution, ...]
    members: dict[str, float] = field(default_factory=dict)

    @property
    def label_evidence(self) -> float:
        """What the other labels add in all."""
        return self.parts.get("predicted labels", 0.0) + self.parts.get("known labels", 0.0)

    @property
    def constant(self) -> float:
        """What the other labels add when all of them are at their priors.

        All that they add where label evidence is not linear.
        """
        return self.label_evidence - sum(one.log_odds for one in self.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        # Not by asdict, which copies every number: there may be thousands of labels.
        plain = {"parts": dict(self.parts), "labels": [one._asdict() for one in self.labels]}
        members = {"members": dict(self.members)} if self.members else {}
        whole = {key: value for key, value in vars(self).items() if key != "members"}
        return {**whole, **plain, **members, "constant": self.constant}

    def __str__(self) -> str:
        """Return the parts as a table of a few lines, the strongest first."""
        lines = list(self._lines())
        width = max(24, *(len(name) for name, _ in lines))
        parts = [f"  {name:<{width}}{part:+8.2f}" for name, part in lines]
        return "\n".join([self._title(), *parts])

    def _repr_html_(self) -> str:
        return html_table(self._title(), [(name, f"{part:+.2f}") for name, part in self._lines()])

    def _title(self) -> str:
        before = float(probability_of(self.log_odds))
        is_calibrated = abs(before - self.probability) > _ROUNDING
        note = f"calibrated, {before:.3f} before, " if is_calibrated else ""
        return f"{self.label}: {self.probability:.3f} ({note}{self.log_odds:+.2f})"

    def _lines(self) -> Iterator[tuple[str, float]]:
        """Yield the parts, those that add or take most first; members below their content."""
        label_lines = (
            self._label_lines() if self.labels else [("other labels", self.label_evidence)]
        )
        others = [("rules", self.parts["rules"])] if self.parts.get("rules") else []
        parts = [(name, self.parts[name]) for name in ("prior", "content")]
        for name, added in sorted(
            [*parts, *label_lines, *others], key=lambda one: -round(abs(one[1]), 2)
        ):
            yield name, added
            if name == "content":
                yield from ((f"  by {member}", part) for member, part in self.members.items())

    def _label_lines(self) -> Iterator[tuple[str, float]]:
        shown = [one for one in self.labels if abs(one.log_odds) >= 0.005][:5]
        for one in shown:
            state = "" if not one.known else " (accepted)" if one.value else " (rejected)"
            yield f"{one.label}{state}", one.log_odds
        yield "all other labels", sum(one.log_odds for one in self.labels if one not in shown)
        yield "labels at their priors", self.constant


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior of some documents, computed once: everything else is read from it.

    Attributes
    ----------
    names
        The labels, ``(n_labels,)``.
    log_odds
        ``(n_documents, n_labels)``; ±inf where known.
    content
        Content log-odds, same shape.
    known
        1 and 0 where labels are known, NaN where they are open; ``None``: all open.
    parts
        What adds up to ``log_odds`` on open cells, in order.
    calibrated
        Log-odds, columns → probabilities; ``None``: they are not calibrated.
    decide
        Log-odds → decisions; ``None``: above 0.
    candidates
        Which labels have content evidence, ``(n_documents, n_labels)``; the others are −inf, a
        "no". ``None``: all.
    members
        What each member of an ensemble adds to the content log-odds, ``(n_documents, n_labels)``
        each; ``None``: the content is one classifier.

    Examples
    --------
    >>> from labelkin import LabelRescorer
    >>> Y = [["wheat", "grain"]] * 8 + [["grain"]] * 4 + [["gold"]] * 7 + [[]]
    >>> rescorer = LabelRescorer(evidence_weight=1).fit(Y)
    >>> posterior = rescorer.posterior([[0.1, 0.5, 0.8]])
    >>> posterior.names.tolist(), posterior.probabilities().round(2).tolist()
    (['gold', 'grain', 'wheat'], [[0.06, 0.72, 0.83]])
    >>> [one.label for one in posterior.suggest(top=2)[0]]
    ['wheat', 'grain']
    """

    names: NDArray[Any]
    log_odds: Matrix
    content: Matrix
    known: Matrix | None
    parts: Sequence[Part]
    calibrated: Callable[[Any, Any], Matrix] | None = None
    decide: Callable[[Matrix], NDArray[np.bool_]] | None = None
    candidates: NDArray[np.bool_] | None = None
    members: Mapping[str, Matrix] | None = None

    def __repr__(self) -> str:
        return f"Posterior of {self.log_odds.shape[0]} documents and {len(self.names)} labels"

    def probabilities(self) -> Matrix:
        """Return the probabilities, ``(n_documents, n_labels)``; 1 or 0 where known."""
        return self._probabilities(self.log_odds, slice(None))

    def decisions(self) -> NDArray[np.bool_]:
        """Return which labels are given, ``(n_documents, n_labels)``."""
        return self.log_odds > 0 if self.decide is None else self.decide(self.log_odds)

    def suggest(self, top: int = 10) -> list[list[Suggestion]]:
        """Return each document's ``top`` open labels, most probable first."""
        check_top(top)
        # What is known, or follows from it by rules, is ±inf and is not suggested.
        best = best_labels(self.log_odds, top, np.isfinite(self.log_odds))
        return [
            [
                Suggestion(name, float(p), float(z))
                for name, p, z in zip(
                    self.names[columns].tolist(),
                    self._probabilities(row[columns], columns),
                    row[columns],
                    strict=True,
                )
            ]
            for row, columns in zip(self.log_odds, best, strict=True)
        ]

    def explain(
        self, top: int = 10, label_names: str | Sequence[Any] | None = None
    ) -> list[list[Explanation]]:
        """Return, per document, why its ``top`` open labels, or some labels, are where they are.

        Parameters
        ----------
        top : int, default 10
            How many labels per document, most probable first …
        label_names : name or sequence of names, optional
            … or which; labels that are known or outside the candidate set are left out.
        """
        check_top(top)
        unknown = np.full(self.log_odds.shape, np.nan) if self.known is None else self.known
        is_open = np.isnan(unknown)
        if self.candidates is not None:
            is_open &= self.candidates
        chosen: Sequence[Any] = best_labels(self.log_odds, top, is_open)
        if label_names is not None:
            asked = [label_names] if isinstance(label_names, str) else label_names
            wanted = names_to_columns(asked, self.names)
            chosen = [wanted[is_open[i, wanted]] for i in range(len(self.log_odds))]
        names = self.names.tolist()
        return [
            [self._explain(i, int(j), names) for j in columns] for i, columns in enumerate(chosen)
        ]

    def _explain(self, i: int, j: int, names: list[Any]) -> Explanation:
        log_odds = self.log_odds[i, j]
        listed = [
            LabelContribution(names[k], float(added[k]), float(values[k]), part.name[0] == "k")
            for part in self.parts
            if part.values is not None
            for added, values in [(part.contributions(i, j), part.values[i])]
            for k in np.flatnonzero(added)
        ]
        return Explanation(
            label=names[j],
            probability=float(self._probabilities(log_odds, j)),
            log_odds=float(log_odds),
            parts={part.name: float(part.log_odds[i, j]) for part in self.parts},
            labels=tuple(sorted(listed, key=lambda one: -abs(one.log_odds))),
            members=self._members(i, j),
        )

    def _members(self, i: int, j: int) -> dict[str, float]:
        """Return what each member adds; what is left of the content is all members' together."""
        if self.members is None:
            return {}
        added = {name: float(values[i, j]) for name, values in self.members.items()}
        content = next(float(p.log_odds[i, j]) for p in self.parts if p.name == "content")
        return {**added, "all members": content - sum(added.values())}

    def _probabilities(self, log_odds: Any, columns: Any) -> Matrix:
        if self.calibrated is None:
            return probability_of(log_odds)
        return self.calibrated(log_odds, columns)


def content_and_members(content: Any, X: Any) -> tuple[Any, dict[str, Matrix] | None]:
    """Return the log-odds of a content classifier, and what each member of an ensemble adds."""
    if not hasattr(content, "decompose"):
        return content.log_odds(X), None
    log_odds, parts = content.decompose(X)
    members = {name: values for name, values in parts.items() if name != "prior"}
    if sparse.issparse(log_odds):
        cells = Cells.of(log_odds)
        members = {name: cells.dense(values, 0.0) for name, values in members.items()}
    return log_odds, members


def check_top(top: Any) -> None:
    """Raise for a number of labels that is none."""
    if not isinstance(top, int | np.integer) or isinstance(top, bool) or top < 1:
        raise ValueError(f"top must be a whole number of at least 1, got {top!r}.")
