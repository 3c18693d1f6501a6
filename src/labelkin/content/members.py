"""The classifiers of an ensemble: what each is called, and what it sees of a document."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.preprocessing import FunctionTransformer

from labelkin.content.any_classifier import as_content
from labelkin.registry import PARTS


class Member(NamedTuple):
    """One classifier of an ensemble.

    Attributes
    ----------
    name
        What explanations and parameters call it.
    features
        Transformer from the documents to what it sees, its view; ``None``: the documents.
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


def name_of(classifier: Any) -> str:
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
        return Member(name_of(classifier), None, classifier)
    if len(given) not in (2, 3) or not isinstance(given[0], str):
        raise ValueError(
            "A member must be a classifier, (name, classifier) or (name, transformer, classifier), "
            f"got {given!r:.80}."
        )
    name, *features, classifier = given
    if "__" in name or not name or name in ("prior", "members", "shrinkage", "random_state"):
        raise ValueError(
            f"The name of a member must be a word of its own, without '__', got {name!r}."
        )
    view = features[0] if features else None
    if view is not None and not hasattr(view, "transform"):
        if not callable(view):
            raise TypeError(
                f"What member {name!r} sees must be made by a transformer or a function of the "
                f"documents, got {view!r:.80}."
            )
        view = FunctionTransformer(view)
    return Member(name, view, as_content(classifier))
