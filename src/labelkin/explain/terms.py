"""Which words speak for and against a label: the terms of a whole pipeline, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

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
from labelkin.explain.contributions import check_top
from labelkin.label_matrix import names_to_columns
from labelkin.records import short_repr


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
        Of the content alone, before the other labels are listened to.
    terms
        The strongest terms, by name where it is known, otherwise by column.
    rest
        What all other terms add together.
    constant, clipped, neighbours
        As in :class:`ContentContributions`.

    Examples
    --------
    >>> from labelkin import LabelDependenceClassifier, NaiveBayes, explain_terms
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

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        plain = asdict(self)
        plain["terms"] = [term._asdict() for term in self.terms]
        plain["neighbours"] = [neighbour._asdict() for neighbour in self.neighbours]
        return plain


def explain_terms(
    model: Any, X: Any, label_names: Sequence[Any], top: int = 10
) -> list[list[TermExplanation]] | None:
    """Return which terms of some documents speak for and against some labels.

    Parameters
    ----------
    model : pipeline or classifier
        A fitted pipeline that ends in :class:`~labelkin.LabelDependenceClassifier`, whose first
        steps name the terms; or the classifier alone, which names them if it has seen a DataFrame.
        A content classifier can stand in for it.
    X : documents
        Documents as the model takes them.
    label_names : sequence of names
        Names of labels.
    top : int, default 10
        How many terms for each.

    Returns
    -------
    list of lists, or None
        For every document an explanation of every label, in the order given; ``None`` if the
        content classifier has no exact shares, such as a forest.

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
    check_top(top)
    steps, classifier = (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)
    content = _content_of(classifier)
    columns = names_to_columns(label_names, classifier.label_names_)
    documents = steps.transform(X) if steps else X
    shares = contributions_of(content, documents, columns)
    if shares is None:
        return None
    names = terms_of(steps) if steps else getattr(classifier, "feature_names_in_", None)
    return [
        [
            _explanation(label, with_term_names(cell, names), top)
            for label, cell in zip(label_names, row, strict=True)
        ]
        for row in shares
    ]


def _content_of(classifier: Any) -> Any:
    """Return the content classifier within a classifier, or one that stands alone."""
    if not hasattr(classifier, "log_odds"):
        raise TypeError(
            "explain_terms takes a fitted LabelDependenceClassifier, or a pipeline that ends in "
            f"one, got {type(classifier).__name__}."
        )
    check_is_fitted(classifier)
    return getattr(classifier, "content_", classifier)


def _explanation(label: Any, shares: ContentContributions, top: int) -> TermExplanation:
    return TermExplanation(
        label,
        shares.log_odds,
        shares.terms[:top],
        float(sum(term.log_odds for term in shares.terms[top:])),
        shares.constant,
        shares.clipped,
        shares.neighbours,
    )
