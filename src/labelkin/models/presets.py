"""Whole models by one word: from texts, or numbers, to labels.

``labelkin train --preset strong`` and ``preset("strong")`` are the same model:

- ``"fast"``: naive Bayes of word counts, and a little label evidence, 0.1 of the paper's;
- ``"default"``: what :class:`~labelkin.LabelDependenceClassifier` chooses, a linear SVM of tf-idf;
- ``"strong"``: linear SVMs of several views of a text, title, beginning, all of it and its
  characters, weighed against each other; every document gets a label where every training document
  has one. Takes about ten times as long as ``"default"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

from labelkin.content.any_classifier import as_content
from labelkin.content.ensemble import ContentEnsemble
from labelkin.content.members import name_of
from labelkin.content.platt_svm import PlattSVM
from labelkin.label_matrix.record import check_choice
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.text import TermWeights, TextView, WordCounts
from labelkin.text.terms import View
from labelkin.thresholds import LabelLimits

Preset = Literal["fast", "default", "strong"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
#: What :func:`view_members` knows: the views of a text, and all of it with its title beside it.
VIEWS: tuple[str, ...] = (*get_args(View), "titled_text")
#: The views of the strong preset.
STRONG = ("titled_text", "lead", "title", "characters")
#: The evidence weight of the fast preset, which is not learned.
CAUTIOUS = 0.1
#: What the title weighs beside the text.
_TITLE = 0.5
#: Weights of pieces of words below it are left out: there are a hundred thousand per label.
_LITTLE = 0.01


def preset(name: Preset = "default", *, words: Any = None, **options: Any) -> Any:
    r"""Return an unfitted model from texts to labels.

    Parameters
    ----------
    name : {"fast", "default", "strong"}, default "default"
        How much work it may be.
    words : WordCounts, optional
        How words are counted; ``None``: ``WordCounts()``, English stems.
    **options : parameters
        Of :class:`~labelkin.LabelDependenceClassifier`, such as ``random_state`` and
        ``thresholds``.

    Returns
    -------
    Pipeline or LabelDependenceClassifier
        What takes texts; the strong one also takes records of texts
        (:func:`labelkin.text.titled_texts`).

    Examples
    --------
    >>> texts = ["Gold\nA mine opens.", "Corn\nHarvest begins.", "Gold\nThe mine closes."] * 4
    >>> topics = [["metal"], ["grain"], ["metal"]] * 4
    >>> model = preset("fast").fit(texts, topics)
    >>> model[-1].label_sets(model.predict(["The harvest of corn", "A gold mine"]))
    [('grain',), ('metal',)]
    >>> preset("strong", random_state=0).content.members[2][0]
    'title'
    """
    check_choice("preset", name, PRESETS)
    counts = WordCounts() if words is None else words
    if name == "fast":
        # How much labels count is not learned, which would take most of the time, but cautious.
        options = {"evidence_weight": CAUTIOUS, **options}
        return make_pipeline(counts, LabelDependenceClassifier("naive_bayes", **options))
    if name == "default":
        return make_pipeline(counts, TermWeights("tfidf"), LabelDependenceClassifier(**options))
    content = ContentEnsemble(view_members(STRONG, words=words))
    return LabelDependenceClassifier(
        content, **{"thresholds": LabelLimits(at_least="auto"), **options}
    )


def view_members(
    views: Sequence[str], classifiers: Sequence[Any] = ("svm",), *, words: Any = None
) -> list[tuple[str, BaseEstimator, Any]]:
    """Return the members of a :class:`~labelkin.ContentEnsemble` that see views of texts.

    Parameters
    ----------
    views : sequence of str
        Of :class:`labelkin.text.TextView`: ``"text"``, ``"title"``, ``"lead"``, ``"body"``,
        ``"characters"``; or ``"titled_text"``, all words with those of the title beside them.
    classifiers : sequence, default ("svm",)
        Content classifiers, or their names: each for every view.
    words : WordCounts, optional
        How words are counted; ``None``: ``WordCounts()``.

    Examples
    --------
    >>> [name for name, _, _ in view_members(["title", "body"])]
    ['title', 'body']
    >>> [name for name, _, _ in view_members(["title", "body"], ["svm", "naive_bayes"])]
    ['title_svm', 'title_naive_bayes', 'body_svm', 'body_naive_bayes']
    """
    unknown = [view for view in views if view not in VIEWS]
    if unknown or not views:
        raise ValueError(
            f"views must be of {', '.join(VIEWS)}, got {', '.join(unknown) or 'none'}."
        )
    members = []
    for view in dict.fromkeys(views):
        for classifier in classifiers:
            fresh = as_content(classifier if isinstance(classifier, str) else clone(classifier))
            name = f"{view}_{name_of(fresh)}" if len(classifiers) > 1 else view
            members.append((name, _view(view, words), _of_view(view, fresh)))
    return members


def _view(view: Any, words: Any) -> TextView:
    if view == "titled_text":
        return TextView("text", title_weight=_TITLE, counts=words)
    # What counts words does not count characters.
    return TextView(view, counts=None if view == "characters" else words)


def _of_view(view: str, classifier: Any) -> Any:
    """Return a classifier of a view; of the many pieces of words only the weights that matter."""
    if view == "characters" and isinstance(classifier, PlattSVM) and not classifier.prune:
        return classifier.set_params(prune=_LITTLE)
    return classifier
