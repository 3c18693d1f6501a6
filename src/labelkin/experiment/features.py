"""What a content classifier sees of the documents; learnt from training documents only."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, Normalizer, StandardScaler

from labelkin.experiment.plan import Content
from labelkin.text import TermSelection, TermWeights

#: The weights of :class:`labelkin.text.TermWeights`; 1 where a term is present; the corpus' own
#: numbers; these with mean 0 and variance 1; the same in rows of length 1, as SVMs like them.
WEIGHTS = ("counts", "tfidf", "ltc", "presence", "as_is", "standardised", "standardised_unit")
#: What must be counts: a term that is there twice as often.
_OF_COUNTS = ("counts", "tfidf", "ltc")


def make_features(content: Content) -> Pipeline:
    """Return what turns counts or vectors into what a content classifier sees: terms, then weights.

    Its ``fit_transform`` takes the training documents and their labels.
    """
    terms = "passthrough" if content.terms is None else TermSelection(**content.terms)
    return Pipeline([("terms", terms), ("weights", _weights(content.weights))])


def check_features(content: Content, X: Any, kind: str, corpus: str) -> None:
    """Refuse weights that make no sense of what the corpus holds.

    Parameters
    ----------
    content
        The content classifier that is to see them.
    X, kind
        The documents as vectors, and what they hold, as :class:`labelkin.corpora.Corpus` has it.
    corpus
        Its name, for messages.
    """
    where = f"[content.{content.name}]: weights = {content.weights!r}"
    if content.weights in _OF_COUNTS and kind in ("weights", "numbers"):
        raise ValueError(
            f"{where} must be given counts, and {corpus} holds {kind}. "
            "Use 'as_is' or 'presence', or 'standardised' for numbers on different scales."
        )
    if content.weights.startswith("standardised") and sparse.issparse(X):
        raise ValueError(
            f"{where} must be given a dense matrix, and {corpus} is sparse. Use 'as_is' or 'tfidf'."
        )


def _weights(name: str) -> Any:
    others: dict[str, Any] = {
        "presence": Binarizer(),
        "as_is": "passthrough",
        "standardised": StandardScaler(),
        "standardised_unit": make_pipeline(StandardScaler(), Normalizer()),
    }
    return others[name] if name in others else TermWeights(name)
