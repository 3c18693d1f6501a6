"""Why a label has the posterior it has: exact parts in log-odds that add up to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.beyond.guesses import Matrix
from labelkin.label_matrix import names_to_columns
from labelkin.method.combination import Combination, known_share
from labelkin.odds import probability_of


class LabelShare(NamedTuple):
    """What one other label adds.

    Attributes
    ----------
    label
        The other label.
    share
        Its weight × (its value − its prior), in log-odds.
    value
        What it counts as: 1 or 0 where it is known, else as it is guessed.
    known
        Whether a person has stated it.
    """

    label: Any
    share: float
    value: float
    known: bool


@dataclass(frozen=True)
class Explanation:
    """The posterior of one label of one document, taken apart; all parts in log-odds.

    prior + content + the shares of the labels + constant + first_place + rules = log_odds.

    Attributes
    ----------
    label, probability, log_odds
        The label and its posterior.
    prior
        How common the label is: its prior's log-odds.
    content
        What the document adds to the prior.
    labels
        What each other label adds, strongest first; empty where label evidence is not linear.
    constant
        What label evidence adds when all other labels are at their priors; all of it where label
        evidence is not linear.
    first_place
        What it takes to stay first: see :mod:`labelkin.beyond.first_place`. 0 for most.
    rules
        What rules between labels add or take.
    """

    label: Any
    probability: float
    log_odds: float
    prior: float
    content: float
    labels: tuple[LabelShare, ...]
    constant: float
    first_place: float = 0.0
    rules: float = 0.0

    @property
    def label_evidence(self) -> float:
        """What the other labels add in all."""
        return sum(share.share for share in self.labels) + self.constant

    def parts(self) -> dict[str, float]:
        """Return the parts by name, label evidence in one; they add up to ``log_odds``."""
        return {
            "prior": self.prior,
            "content": self.content,
            "labels": self.label_evidence,
            "first place": self.first_place,
            "rules": self.rules,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        plain = asdict(self)
        plain["labels"] = [share._asdict() for share in self.labels]
        return plain

    def __str__(self) -> str:
        """Lay the parts out as a table of a few lines."""
        lines = list(self._lines())
        width = max(24, *(len(name) for name, _ in lines))
        parts = [f"  {name:<{width}}{part:+8.2f}" for name, part in lines]
        return "\n".join([f"{self.label}: {self.probability:.3f} ({self.log_odds:+.2f})", *parts])

    def _lines(self) -> Iterator[tuple[str, float]]:
        yield "prior", self.prior
        yield "content", self.content
        if self.labels:
            yield from self._label_lines()
        else:
            yield "other labels", self.constant
        if self.first_place:
            yield "first place", self.first_place
        if self.rules:
            yield "rules", self.rules

    def _label_lines(self) -> Iterator[tuple[str, float]]:
        shown = [share for share in self.labels if abs(share.share) >= 0.005][:5]
        for share in shown:
            state = "" if not share.known else " (accepted)" if share.value else " (refused)"
            yield f"{share.label}{state}", share.share
        rest = self.label_evidence - self.constant - sum(share.share for share in shown)
        yield "all other labels", rest
        yield "labels at their priors", self.constant


def check_top(top: Any) -> None:
    """Refuse a number of labels that is none."""
    if not isinstance(top, int | np.integer) or isinstance(top, bool) or top < 1:
        raise ValueError(f"top must be a whole number of at least 1, got {top!r}.")


def explain_documents(
    combination: Combination,
    names: Any,
    content: Matrix,
    known: Matrix | None,
    posteriors: tuple[Matrix, Matrix],
    *,
    top: int = 10,
    labels: Any = None,
) -> list[list[Explanation]]:
    """Explain some open labels of every document.

    Parameters
    ----------
    combination
        The fitted rule.
    names
        Of the labels.
    content
        Content log-odds, ``(n_documents, n_labels)``.
    known
        1 and 0 where labels are known, NaN where they are open; ``None``: all open.
    posteriors
        The combination's posterior log-odds, and those after the rules.
    top
        How many labels per document, most probable first …
    labels
        … or which, by name; those that are known are left out.
    """
    check_top(top)
    if isinstance(labels, str):
        labels = [labels]
    columns = None if labels is None else names_to_columns(labels, names)
    is_known = np.zeros(content.shape, np.bool_) if known is None else ~np.isnan(known)
    filled = combination.variant(content)
    if known is not None:
        filled = np.where(is_known, known, filled)
    constant = _constants(combination, filled, is_known)
    plain_names = names.tolist()
    return [
        list(
            _explain(
                combination,
                plain_names,
                (content[i], constant[i], posteriors[0][i], posteriors[1][i]),
                filled[i],
                is_known[i],
                _chosen(posteriors[1][i], ~is_known[i], columns, top),
            )
        )
        for i in range(len(content))
    ]


def _constants(combination: Combination, filled: Matrix, is_known: NDArray[np.bool_]) -> Matrix:
    """Return what label evidence adds that is no label's share, ``(n_documents, n_labels)``."""
    guessed, stated = combination.guessed, combination.stated
    if guessed is None or stated is None:
        guesses, facts = combination.from_guesses_and_facts(filled, is_known)
        return guesses + facts
    fact = known_share(is_known)
    prior = combination.prior
    return np.asarray((1 - fact) * guessed.constant(prior) + fact * stated.constant(prior))


def _chosen(posterior: Matrix, is_open: Any, columns: Any, top: int) -> Any:
    """Return the labels to explain: the named ones that are open, or the most probable."""
    if columns is not None:
        return [j for j in columns if is_open[j]]
    candidates = np.flatnonzero(is_open)
    return candidates[np.argsort(-posterior[candidates], kind="stable")][:top]


def _explain(
    combination: Combination,
    names: list[Any],
    document: tuple[Matrix, Matrix, Matrix, Matrix],
    filled: Matrix,
    is_known: NDArray[np.bool_],
    columns: Any,
) -> Iterator[Explanation]:
    content, constant, combined, final = document
    prior = combination.prior_log_odds
    probability = probability_of(final)
    for j in columns:
        shares = _shares(combination, filled, is_known, j)
        listed = [
            LabelShare(names[k], float(shares[k]), float(filled[k]), bool(is_known[k]))
            for k in np.argsort(-np.abs(shares), kind="stable")
            if shares[k] != 0
        ]
        yield Explanation(
            label=names[j],
            probability=float(probability[j]),
            log_odds=float(final[j]),
            prior=float(prior[j]),
            content=float(content[j] - prior[j]),
            labels=tuple(listed),
            constant=float(constant[j]),
            first_place=_beyond_rounding(combined[j], content[j] + shares.sum() + constant[j]),
            rules=_beyond_rounding(final[j], combined[j]),
        )


def _shares(
    combination: Combination, filled: Matrix, is_known: NDArray[np.bool_], j: int
) -> Matrix:
    """Return what every label of a document adds to label j, ``(n_labels,)``."""
    guessed, stated = combination.guessed, combination.stated
    if guessed is None or stated is None:
        return np.zeros(len(filled))
    weights = np.where(is_known, stated.weights[:, j], guessed.weights[:, j])
    return np.asarray(weights * (filled - combination.prior))


def _beyond_rounding(whole: float, parts: float) -> float:
    """Return what the whole is above its parts; 0 for what sums in another order leave."""
    return 0.0 if np.isclose(whole, parts, rtol=1e-13, atol=1e-10) else float(whole - parts)
