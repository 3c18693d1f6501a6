"""Presets: models of texts by name, as in ``labelkin train --preset``.

- ``"fast"``: naive Bayes of word counts, and label evidence with the weight 0.1;
- ``"default"``: a linear SVM of tf-idf;
- ``"strong"``: linear SVMs of several views of a text (title, beginning, whole text, characters),
  with a weight per label; every document gets a label if every training document has one. Takes
  about ten times as long as ``"default"``.
"""

from __future__ import annotations

from typing import Any

from labelkin.models.builder import Preset, build_model, plan_content
from labelkin.thresholds import LabelLimits

#: Parameters of the classifier that differ from its own defaults.
DEFAULTS: dict[Preset, dict[str, Any]] = {
    "fast": {"evidence_weight": 0.1},  # learning the weight would take most of the time
    "default": {},
    "strong": {"thresholds": LabelLimits(at_least="auto")},
}


def preset(name: Preset = "default", *, words: Any = None, **options: Any) -> Any:
    r"""Return an unfitted model from texts to labels.

    Parameters
    ----------
    name : {"fast", "default", "strong"}, default "default"
        Name of the model.
    words : WordCounts, optional
        Word counts; default ``WordCounts()``, with English stems.
    **options : parameters
        Parameters of :class:`~labelkin.LabelDependenceClassifier`, such as ``random_state`` and
        ``thresholds``.

    Returns
    -------
    Pipeline or LabelDependenceClassifier
        A model of texts; ``"strong"`` also accepts records of texts
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
    plan = plan_content(name)  # also checks the name
    return build_model(plan, words, **{**DEFAULTS[name], **options})
