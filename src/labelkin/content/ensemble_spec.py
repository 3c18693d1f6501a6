"""Members of an ensemble, and their evidence beyond the prior in one shape."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.preprocessing import FunctionTransformer

from labelkin.content.any_classifier import as_content, n_rows
from labelkin.content.naive_bayes import NaiveBayes
from labelkin.content.nearest_neighbours import NearestNeighbours
from labelkin.label_matrix import Cells
from labelkin.odds import to_log_odds
from labelkin.registry import PARTS

_Floats = NDArray[np.float64]


class Member(NamedTuple):
    """One classifier of an ensemble.

    Attributes
    ----------
    name
        Its name in explanations and parameters.
    features
        Transformer from the documents to its view; ``None``: the documents.
    classifier
        A content classifier.
    """

    name: str
    features: Any
    classifier: Any

    def view(self, X: Any) -> Any:
        """Return the documents as the fitted member sees them."""
        return X if self.features is None else self.features.transform(X)


def read_members(members: Any) -> list[Member]:
    """Return members with names: those they were given, or those of their kind.

    Parameters
    ----------
    members : list or tuple
        Classifiers, pairs (name, classifier), triples (name, transformer, classifier).

    Examples
    --------
    >>> [member.name for member in read_members(["svm", "svm", ("title", "naive_bayes")])]
    ['svm', 'svm_2', 'title']
    """
    if not isinstance(members, list | tuple) or not members:
        raise ValueError(f"members must be a list of classifiers, got {members!r}.")
    found: list[Member] = []
    for given in members:
        member = _read_member(given)
        taken = {one.name for one in found}
        name, again = member.name, 2
        while name in taken:
            name, again = f"{member.name}_{again}", again + 1
        found.append(member._replace(name=name))
    return found


def content_name(classifier: Any) -> str:
    """Return the name of a classifier in the registry, else that of its class."""
    kind = type(innermost(classifier))
    for name, place in PARTS["content"].items():
        if place.endswith(f".{kind.__name__}"):
            return name
    return kind.__name__.lower()


def innermost(classifier: Any) -> Any:
    """Return what is inside wrappers and pipelines."""
    inner = getattr(classifier, "estimator", None)
    if inner is not None:
        return innermost(inner)
    steps = getattr(classifier, "steps", None)
    return innermost(steps[-1][1]) if steps else classifier


def _read_member(given: Any) -> Member:
    if isinstance(given, Member):
        return given
    if not isinstance(given, tuple | list):
        classifier = as_content(given)
        return Member(content_name(classifier), None, classifier)
    if len(given) not in (2, 3) or not isinstance(given[0], str):
        raise ValueError(
            "A member must be a classifier, (name, classifier) or (name, transformer, classifier), "
            f"got {given!r:.80}."
        )
    name, *features, classifier = given
    if "__" in name or not name or name in ("prior", "members", "shrinkage", "random_state"):
        raise ValueError(
            f"The name of a member must be a word without '__' and not a parameter, got {name!r}."
        )
    view = features[0] if features else None
    if view is not None and not hasattr(view, "transform"):
        if not callable(view):
            raise TypeError(
                f"The view of member {name!r} must be a transformer or a function of documents, "
                f"got {view!r:.80}."
            )
        view = FunctionTransformer(view)
    return Member(name, view, as_content(classifier))


class MemberEvidence(NamedTuple):
    """Evidence of members beyond the prior.

    Attributes
    ----------
    values
        ``(n_members, n_documents, n_labels)``; of candidates ``(n_members, n_cells)``.
    cells
        The candidates; ``None``: all cells.
    """

    values: _Floats
    cells: Cells | None = None

    @classmethod
    def of(
        cls, members: list[Member], views: list[Any], log_odds: list[Any], prior: _Floats
    ) -> MemberEvidence:
        """Return the evidence of documents, 0 for an empty view."""
        patterns = [Cells.of(z) for z in log_odds if sparse.issparse(z)]
        if not patterns:
            values = np.empty((len(members), *log_odds[0].shape))
            for k, (member, view) in enumerate(zip(members, views, strict=True)):
                values[k] = beyond_prior(member.classifier, log_odds[k], prior)
                values[k, is_empty(view)] = 0.0
            return cls(values)
        cells = patterns[0]
        for pattern in patterns[1:]:
            cells = cells.union(pattern)[0]
        values = np.empty((len(members), cells.n))
        for k, (member, view) in enumerate(zip(members, views, strict=True)):
            found = _at(cells, log_odds[k])
            values[k] = beyond_prior(member.classifier, found, prior[cells.label])
            values[k, is_empty(view)[cells.document]] = 0.0
        return cls(values, cells)

    def some(self, members: list[int]) -> MemberEvidence:
        """Return the evidence of some members."""
        return self._replace(values=self.values[members])

    def documents(self, rows: NDArray[np.bool_]) -> tuple[MemberEvidence, Any]:
        """Return the evidence of some documents, and where they are among the values of all."""
        if self.cells is None:
            return MemberEvidence(self.values[:, rows]), rows
        cells, places = self.cells.take(np.flatnonzero(rows))
        return MemberEvidence(self.values[:, places], cells), places

    def of_labels(self, numbers: _Floats) -> _Floats:
        """Return one number per label in the shape of values."""
        return numbers if self.cells is None else numbers[self.cells.label]

    def matrix(self, values: _Floats) -> Any:
        """Return values as log-odds: dense, or a CSR array of the candidates."""
        return values if self.cells is None else self.cells.matrix(values)


def beyond_prior(classifier: Any, log_odds: _Floats, prior: _Floats) -> _Floats:
    """Return finite evidence beyond the prior, label by label along the last axis.

    Naive Bayes multiplies words as if they were independent: its evidence is the logarithm of its
    log-odds. A share of k votes is that of k + 1, the last vote being the prior's, so that no vote
    of k does not mean impossible.
    """
    inner = innermost(classifier)
    if isinstance(inner, NaiveBayes):
        beyond = log_odds - prior
        return np.asarray(np.sign(beyond) * np.log1p(np.abs(beyond)))
    votes = _votes(inner)
    if votes is not None:
        share = (votes * expit(log_odds) + expit(prior)) / (votes + 1)
        return to_log_odds(share) - prior
    return log_odds - prior


def is_empty(view: Any) -> NDArray[np.bool_]:
    """Return which documents have an empty view; none if the view is not a matrix of numbers."""
    if sparse.issparse(view):
        return np.diff(sparse.csr_array(view).indptr) == 0
    if getattr(view, "ndim", 0) == 2 and np.asarray(view).dtype.kind == "f":
        return np.isnan(np.asarray(view)).all(axis=1)
    return np.zeros(n_rows(view), dtype=np.bool_)


def _votes(classifier: Any) -> int | None:
    """Return the number of votes if probabilities are shares of votes, else ``None``."""
    if isinstance(classifier, NearestNeighbours):
        return int(classifier.n_neighbors)
    trees = getattr(classifier, "n_estimators", None)
    return int(trees) if trees is not None and hasattr(classifier, "estimators_") else None


def _at(cells: Cells, log_odds: Any) -> _Floats:
    """Return a member's log-odds at all candidates, its lowest of the document for others' ones.

    A document without a candidate of the member has the lowest of all.
    """
    if not sparse.issparse(log_odds):
        return cells.at(log_odds)
    own = Cells.of(log_odds)
    place, found = cells.find(own)
    lowest = np.full(cells.shape[0], log_odds.data.min(initial=0.0))
    some = np.flatnonzero(np.diff(own.indptr))
    if len(some):
        lowest[some] = np.minimum.reduceat(log_odds.data, own.indptr[some])
    values = lowest[cells.document]
    values[place[found]] = log_odds.data[found]
    return values
