"""From the words of the command line to the parts of a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from labelkin.beyond.fitting import read_evidence_weight
from labelkin.content.any_classifier import PerLabel
from labelkin.content.naive_bayes import NaiveBayes
from labelkin.content.nearest_neighbours import NearestNeighbours
from labelkin.content.platt_svm import PlattSVM
from labelkin.corpora import Corpus
from labelkin.method.label_evidence import LogisticLabels, SVMLabels
from labelkin.rules import Rules, read_relations, read_skos
from labelkin.text import TermWeights, WordCounts
from labelkin.thresholds import (
    ExpectedF1,
    GlobalCut,
    LabelLimits,
    MCut,
    RCut,
    SCut,
    SCutFBR,
    ThresholdRule,
    as_rule,
)

CONTENT: dict[str, Callable[[int], Any]] = {
    "svm": lambda seed: PlattSVM(random_state=seed),
    "naive-bayes": lambda seed: NaiveBayes(),
    "neighbours": lambda seed: NearestNeighbours(),
}
"""Content classifiers by name; the seed is for those that draw at random."""
LABELS: dict[str, Callable[[], Any]] = {"logistic": LogisticLabels, "svm": SVMLabels}
"""Label classifiers by name."""
RULES: dict[str, Callable[[], ThresholdRule]] = {
    "scut": SCut,
    "scutfbr": SCutFBR,
    "global": GlobalCut,
    "mcut": MCut,
    "rcut": RCut,
    "expected-f1": ExpectedF1,
}
"""Threshold rules by name."""
#: A metric as tables of scores call it → as threshold rules do.
_SYNONYMS = {"document-f1": "samples-f1", "document_f1": "samples_f1"}
TABLES = (".csv", ".tsv")


def read_weight(text: str) -> float | str:
    """Return an evidence weight: ``"auto"`` or a number of at least 0."""
    if text == "auto":
        return text
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    read_evidence_weight(weight if weight >= 0 else text)
    return weight


def read_thresholds(
    text: str | None, at_least: int = 0, at_most: int | None = None
) -> ThresholdRule:
    """Return a threshold rule for log-odds: of a number, a metric or a rule's name, with limits."""
    limited = at_least > 0 or at_most is not None
    rule = _rule(text)
    if at_most is not None and at_most < at_least:
        raise ValueError(f"--at-most must not be below --at-least, got {at_most} and {at_least}.")
    return LabelLimits(rule, at_least, at_most) if limited else rule


def read_rules(path: Path) -> Rules:
    """Return what a table or a SKOS vocabulary says about labels."""
    return read_relations(path) if path.suffix.lower() in TABLES else read_skos(path).rules


def read_stop_words(text: str) -> Any:
    """Return the stop words of a name, or of a file that has one per line; ``"none"``: none."""
    if text in ("auto", "smart"):
        return text
    if text == "none":
        return None
    path = Path(text)
    if not path.is_file():
        raise ValueError(
            f"--stop-words must be auto, smart, none or a file of words, got {text!r}."
        )
    return sorted(set(path.read_text(encoding="utf-8-sig").split()))


def make_content(name: str, features: str, seed: int) -> Any:
    """Return a content classifier; naive Bayes of numbers that are no counts is Gaussian."""
    if name == "naive-bayes" and features == "numbers":
        return PerLabel(GaussianNB(), random_state=seed)
    return CONTENT[name](seed)


def make_steps(corpus: Corpus, content: str, words: dict[str, Any]) -> list[BaseEstimator]:
    """Return what stands before the classifier: words of texts, tf-idf, or one scale for all.

    Naive Bayes takes counts and numbers as they are.
    """
    steps: list[BaseEstimator] = [WordCounts(**words)] if corpus.features == "text" else []
    if content == "naive-bayes":
        return steps
    if corpus.features in ("text", "counts"):
        steps.append(TermWeights("tfidf"))
    if corpus.features == "numbers":
        steps.append(StandardScaler(with_mean=not sparse.issparse(corpus.documents)))
    return steps


def _rule(text: str | None) -> ThresholdRule:
    if text in RULES:
        return as_rule(RULES[text](), "log_odds")
    try:
        number = None if text is None else float(text)
    except ValueError:
        return _rule_for_metric(str(text))
    if number is not None and not 0 < number < 1:
        raise ValueError(f"--thresholds must be strictly between 0 and 1, got {text}.")
    return as_rule(number, "log_odds")


def _rule_for_metric(text: str) -> ThresholdRule:
    try:
        return as_rule(_SYNONYMS.get(text, text).replace("-", "_"), "log_odds")
    except ValueError as error:
        raise ValueError(
            f"--thresholds must be a probability, a rule ({', '.join(RULES)}) or a metric, got "
            f"{text!r}. {error}"
        ) from None
