"""Explanations: parts of the posterior, and contributions of terms, that add up exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from labelkin.content.term_contributions import (
    ContentContributions,
    NeighbourVote,
    TermEvidence,
    contributions_of,
    terms_of,
    with_term_names,
)
from labelkin.label_matrix import best_labels, names_to_columns
from labelkin.learned.terms import Part
from labelkin.method.combination import Matrix
from labelkin.odds import to_probability
from labelkin.records import short_repr
from labelkin.validation import check_whole_number

#: Probabilities that differ by less are equal in three digits.
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
    """The contribution of one other label.

    Attributes
    ----------
    label
        The other label.
    log_odds
        Its weight × (its value − its prior) if it is predicted; × (its value − its prediction) if
        it is known. A known label is listed twice: with its prediction, and with its answer.
    value
        Its value: 1 or 0 if it is known, else as filled in.
    known
        Whether it is known.

    Examples
    --------
    >>> from labelkin import LabelRescorer
    >>> Y = [["wheat", "grain"]] * 8 + [["grain"]] * 4 + [["gold"]] * 7 + [[]]
    >>> rescorer = LabelRescorer(evidence_weight=1).fit(Y)
    >>> [[wheat]] = rescorer.explain([[0.1, 0.5, 0.8]], label_names="wheat")
    >>> [(one.label, round(one.log_odds, 2), one.known) for one in wheat.labels]
    [('gold', 0.28, False), ('grain', -0.09, False)]
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
        The summands of ``log_odds``, by name, in order: ``"prior"``, the frequency of the label;
        ``"content"``, the document; ``"predicted labels"`` and ``"known labels"``, the other
        labels; ``"rules"``, rules between labels. Parts that a model does not have are left out.
    labels
        The contributions of other labels, strongest first; empty if label evidence is not linear.
    members
        The contributions of the members of a :class:`~labelkin.ContentEnsemble` to the part
        ``"content"``, by name, and ``"all members"``, the rest. Empty for one classifier.

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
        """The sum of the contributions of other labels."""
        return self.parts.get("predicted labels", 0.0) + self.parts.get("known labels", 0.0)

    @property
    def constant(self) -> float:
        """The contribution of the other labels at their priors.

        All label evidence if it is not linear.
        """
        return self.label_evidence - sum(one.log_odds for one in self.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        # asdict would copy every number of thousands of labels.
        plain = {"parts": dict(self.parts), "labels": [one._asdict() for one in self.labels]}
        members = {"members": dict(self.members)} if self.members else {}
        whole = {key: value for key, value in vars(self).items() if key != "members"}
        return {**whole, **plain, **members, "constant": self.constant}

    def __str__(self) -> str:
        """Return the parts as a table of a few lines, the strongest first."""
        before = float(to_probability(self.log_odds))
        is_calibrated = abs(before - self.probability) > _ROUNDING
        note = f"calibrated, {before:.3f} before, " if is_calibrated else ""
        title = f"{self.label}: {self.probability:.3f} ({note}{self.log_odds:+.2f})"
        lines = list(self._lines())
        width = max(24, *(len(name) for name, _ in lines))
        return "\n".join([title, *(f"  {name:<{width}}{part:+8.2f}" for name, part in lines)])

    def _lines(self) -> Iterator[tuple[str, float]]:
        """Yield the parts, largest first; members below their content."""
        lines = [(name, self.parts[name]) for name in ("prior", "content")]
        lines += self._label_lines() if self.labels else [("other labels", self.label_evidence)]
        lines += [("rules", self.parts["rules"])] if self.parts.get("rules") else []
        for name, added in sorted(lines, key=lambda one: -round(abs(one[1]), 2)):
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
    """The posterior of some documents, for probabilities, decisions and explanations.

    Attributes
    ----------
    names
        The labels, ``(n_labels,)``.
    log_odds
        ``(n_documents, n_labels)``; ±inf where known.
    content
        Content log-odds, same shape.
    known
        1 and 0 for known labels, NaN for open ones; ``None``: all open.
    parts
        The summands of ``log_odds`` in open cells, in order.
    calibrated
        Log-odds, columns → probabilities; ``None``: not calibrated.
    decide
        Log-odds → decisions; ``None``: above 0.
    candidates
        Labels with content evidence, ``(n_documents, n_labels)``; the others are −inf. ``None``:
        all.
    members
        Contributions of the members of an ensemble to the content log-odds, ``(n_documents,
        n_labels)`` each; ``None``: one classifier.

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
    members: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Posterior of {self.log_odds.shape[0]} documents and {len(self.names)} labels"

    def probabilities(self) -> Matrix:
        """Return the probabilities, ``(n_documents, n_labels)``; 1 or 0 where known."""
        return self._probabilities(self.log_odds, slice(None))

    def decisions(self) -> NDArray[np.bool_]:
        """Return the decisions, ``(n_documents, n_labels)``."""
        return self.log_odds > 0 if self.decide is None else self.decide(self.log_odds)

    def suggest(self, top: int = 10) -> list[list[Suggestion]]:
        """Return each document's ``top`` open labels, most probable first."""
        check_whole_number("top", top)
        # Known labels, and those that follow by rules, are ±inf.
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
        """Return explanations of the ``top`` open labels of each document, or of some labels.

        Parameters
        ----------
        top : int, default 10
            Number of labels per document, most probable first.
        label_names : name or sequence of names, optional
            Labels to explain instead; known labels and those that are not candidates are left out.
        """
        check_whole_number("top", top)
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
            members={} if self.members is None else self._members(i, j, self.members),
        )

    def _members(self, i: int, j: int, members: Mapping[str, Any]) -> dict[str, float]:
        """Return the contributions of members; the rest of the content is ``"all members"``."""
        added = {name: float(values[i, j]) for name, values in members.items()}
        content = next(float(p.log_odds[i, j]) for p in self.parts if p.name == "content")
        return {**added, "all members": content - sum(added.values())}

    def _probabilities(self, log_odds: Any, columns: Any) -> Matrix:
        if self.calibrated is None:
            return to_probability(log_odds)
        return self.calibrated(log_odds, columns)


def content_and_members(content: Any, X: Any) -> tuple[Any, dict[str, Any] | None]:
    """Return the log-odds of a content classifier, and the contributions of its members."""
    if not hasattr(content, "decompose"):
        return content.log_odds(X), None
    log_odds, members = content.decompose(X)
    del members["prior"]
    return log_odds, members


@short_repr
@dataclass(frozen=True)
class TermExplanation:
    """The strongest terms of one label for one document; all parts in log-odds.

    constant + the contributions of the terms + rest + clipped = log_odds.

    Attributes
    ----------
    label
        Its name.
    log_odds
        Log-odds of the content alone.
    terms
        The strongest terms, by name where it is known, otherwise by column.
    rest
        The sum of all other terms.
    constant, clipped, neighbours
        As in :class:`ContentContributions`.

    Examples
    --------
    >>> from labelkin import LabelDependenceClassifier, NaiveBayes
    >>> from labelkin.explain import explain_terms
    >>> X, Y = [[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]]
    >>> model = LabelDependenceClassifier(NaiveBayes(), evidence_weight=1).fit(X, Y)
    >>> [[sea]] = explain_terms(model, [[2, 1]], ["sea"])
    >>> [(term, round(share, 2)) for term, share, _ in sea.terms]
    [(0, 3.01), (1, -1.2)]
    >>> round(sea.log_odds, 2), round(sea.constant, 2)
    (2.5, 0.69)
    """

    label: Any
    log_odds: float
    terms: tuple[TermEvidence, ...]
    rest: float
    constant: float
    clipped: float = 0.0
    neighbours: tuple[NeighbourVote, ...] = ()

    @classmethod
    def of(cls, label: Any, shares: ContentContributions, top: int) -> TermExplanation:
        """Return the strongest terms of a label, and the sum of the rest."""
        rest = float(sum(term.log_odds for term in shares.terms[top:]))
        added = (shares.terms[:top], rest, shares.constant, shares.clipped, shares.neighbours)
        return cls(label, shares.log_odds, *added)


def explain_terms(
    model: Any, X: Any, label_names: Sequence[Any], top: int = 10
) -> list[list[TermExplanation]] | None:
    """Return the contributions of terms to some labels of some documents.

    Parameters
    ----------
    model : pipeline or classifier
        A fitted pipeline that ends in :class:`~labelkin.LabelDependenceClassifier`, whose first
        steps name the terms; or the classifier alone, which names them if it was fitted on a
        DataFrame. Content classifiers are accepted as well.
    X : documents
        Documents as the model takes them.
    label_names : sequence of names
        Names of labels.
    top : int, default 10
        Number of terms.

    Returns
    -------
    list of lists, or None
        For every document an explanation of every label, in their order; ``None`` if the content
        classifier has no exact shares, such as a forest.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from labelkin import LabelDependenceClassifier, NaiveBayes
    >>> texts = ["wheat harvest", "corn harvest", "gold price", "wheat and corn", "gold mine"]
    >>> topics = [["grain"], ["grain"], ["gold"], ["grain"], ["gold"]]
    >>> model = make_pipeline(CountVectorizer(), LabelDependenceClassifier(NaiveBayes()))
    >>> [[gold]] = explain_terms(model.fit(texts, topics), ["the gold harvest"], ["gold"])
    >>> [(term, round(share, 2)) for term, share, _ in gold.terms]
    [('gold', 1.34), ('harvest', -0.86)]
    """
    check_whole_number("top", top)
    steps, classifier = (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)
    if not hasattr(classifier, "log_odds"):
        raise TypeError(
            "explain_terms takes a fitted LabelDependenceClassifier, or a pipeline that ends in "
            f"one, got {type(classifier).__name__}."
        )
    check_is_fitted(classifier)
    content = getattr(classifier, "content_", classifier)
    columns = names_to_columns(label_names, classifier.label_names_)
    documents = steps.transform(X) if steps else X
    shares = contributions_of(content, documents, columns)
    if shares is None:
        return None
    names = terms_of(steps) if steps else getattr(classifier, "feature_names_in_", None)
    return [
        [
            TermExplanation.of(label, with_term_names(cell, names), top)
            for label, cell in zip(label_names, row, strict=True)
        ]
        for row in shares
    ]
