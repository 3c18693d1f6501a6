"""Models from names, and their descriptions.

The command line and experiments build their models here. The presets of models of texts are:

- ``"fast"``: naive Bayes of word counts, and label evidence with the weight 0.1;
- ``"default"``: a linear SVM of tf-idf;
- ``"strong"``: linear SVMs of several views of a text (title, beginning, whole text, characters),
  with a weight per label; every document gets a label if every training document has one. Takes
  about ten times as long as ``"default"``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from labelkin.content.any_classifier import PerLabel, as_content
from labelkin.content.ensemble import ContentEnsemble
from labelkin.content.members import content_name
from labelkin.content.platt_svm import PlattSVM
from labelkin.corpora.corpus import Corpus
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.registry import SHORT, Kind, part_class
from labelkin.text import TermWeights, TextView, WordCounts
from labelkin.text.terms import View
from labelkin.thresholds import LabelLimits
from labelkin.validation import check_choice

Preset = Literal["fast", "default", "strong"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
#: Evidence weight of the preset "fast": learning it would take most of the time.
FAST_WEIGHT = 0.1
#: Views of a text, and all of it with the words of its title as separate features.
VIEWS: tuple[str, ...] = (*get_args(View), "titled_text")
#: The views of the strong preset.
STRONG = ("titled_text", "lead", "title", "characters")
#: The classifiers of the strong preset for words that are counted already.
_STRONG_WORDS = ("svm", "naive_bayes", "nearest_neighbours")
#: Candidates of a document for Omikuji; default of ``top``.
_CANDIDATES = 100
#: Weight of the words of the title beside those of the text.
_TITLE = 0.5
#: Weights of pieces of words below it are left out: there are a hundred thousand per label.
_LITTLE = 0.01


class ContentPlan(NamedTuple):
    """Names of content classifiers, and the documents that they are for.

    Attributes
    ----------
    names
        Names in the registry; empty: chosen by the features when the model is fitted.
    views
        Views of texts; empty: the words of the whole text.
    features
        ``"text"``, ``"counts"`` or ``"numbers"``.
    is_sparse
        Whether the documents are a sparse matrix.
    """

    names: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    features: str = "text"
    is_sparse: bool = False

    def __str__(self) -> str:
        return ",".join(self.names) or "by the features"


def plan_content(
    preset: Preset | None = None,
    names: Sequence[str] = (),
    views: Sequence[str] = (),
    features: str = "text",
    is_sparse: bool = False,
) -> ContentPlan:
    """Return the content of a preset; ``names`` and ``views`` replace its own.

    Examples
    --------
    >>> plan_content("strong").views
    ('titled_text', 'lead', 'title', 'characters')
    >>> str(plan_content("strong", features="counts")), str(plan_content(features="numbers"))
    ('svm,naive_bayes,nearest_neighbours', 'by the features')
    """
    check_choice("preset", preset or "default", PRESETS)
    names = tuple(dict.fromkeys(SHORT.get(name, name) for name in names))
    views = tuple(views)
    is_text = features == "text"
    is_words = is_text or features == "counts" or is_sparse
    if preset == "strong" and is_text and not names:
        views = views or STRONG
    if not names and preset == "fast":
        names = ("naive_bayes",)
    elif not names and is_words:
        names = _STRONG_WORDS if preset == "strong" and not is_text else ("svm",)
    return ContentPlan(names, views, features, is_sparse)


def plan_for_corpus(
    corpus: Corpus, preset: Preset | None, names: Sequence[str], views: Sequence[str]
) -> ContentPlan:
    """Return the content for a corpus; views that it cannot have are an error."""
    named, seen = (tuple(one.strip() for one in some if one.strip()) for some in (names, views))
    if seen and corpus.features != "text":
        raise ValueError(f"--views are of texts, and {corpus.name} has {corpus.features}.")
    if "title" in seen and not any("\n" in text for text in corpus.documents):
        raise ValueError(
            f"--views title needs titles, and {corpus.name} has none: the first line of a text of "
            "several lines is one. Name their column by --columns title=NAME."
        )
    is_sparse = sparse.issparse(corpus.documents)
    return plan_content(preset, named, seen, corpus.features, is_sparse)


def build_content(plan: ContentPlan, *, top: int | None = None, words: Any = None) -> Any:
    """Return an unfitted content classifier or ensemble; ``None``: chosen by the features.

    Parameters
    ----------
    plan
        As :func:`plan_content` returns it.
    top
        Candidates per document; default all labels, 100 for Omikuji.
    words
        ``WordCounts`` of the views.
    """
    made = [_build_named(name, plan.features, top) for name in plan.names]
    if plan.views:
        return ContentEnsemble(view_members(plan.views, made, words=words))
    if len(made) > 1:
        return ContentEnsemble(list(zip(plan.names, made, strict=True)))
    return made[0] if made else None


def build_model(
    plan: ContentPlan, words: WordCounts | None = None, *, top: int | None = None, **parameters: Any
) -> Any:
    """Return an unfitted model: a pipeline, or a classifier if the plan has no steps before it.

    Parameters
    ----------
    plan : ContentPlan
        Result of :func:`plan_content`.
    words : WordCounts, optional
        How words are counted; default ``WordCounts()``.
    top : int, optional
        Candidates per document; default all labels.
    **parameters
        Of :class:`~labelkin.LabelDependenceClassifier`.
    """
    content = build_content(plan, top=top, words=words)
    classifier = LabelDependenceClassifier(content, **parameters)
    steps = build_steps(plan, WordCounts() if words is None else words)
    return make_pipeline(*steps, classifier) if steps else classifier


def build_steps(plan: ContentPlan, words: WordCounts) -> list[BaseEstimator]:
    """Return the steps before the classifier: word counts, tf-idf, or one scale for numbers.

    Naive Bayes and forests take counts and numbers as they are. Views count their own words, and a
    classifier that is chosen by the features contains its own scale.
    """
    if plan.views:
        return []
    steps: list[BaseEstimator] = [words] if plan.features == "text" else []
    if not plan.names or set(plan.names) <= {"naive_bayes", "forest"}:
        return steps
    if plan.features in ("text", "counts"):
        steps.append(TermWeights("tfidf"))
    if plan.features == "numbers":
        steps.append(StandardScaler(with_mean=not plan.is_sparse))
    return steps


def build_part(
    kind: Kind, part: str | Callable[..., Any], random_state: Any = None, **parameters: Any
) -> Any:
    """Return an unfitted part, by its name in the registry or by its class.

    Examples
    --------
    >>> build_part("content", "svm", random_state=1)
    PlattSVM(random_state=1)
    >>> build_part("content", "naive_bayes", random_state=1)
    NaiveBayes()
    """
    make = part_class(kind, part) if isinstance(part, str) else part
    if make is GaussianNB:
        return PerLabel(make(**parameters), random_state=random_state)
    draws = "random_state" in inspect.signature(make).parameters
    return make(**parameters, **({"random_state": random_state} if draws else {}))


def view_members(
    views: Sequence[str], classifiers: Sequence[Any] = ("svm",), *, words: Any = None
) -> list[tuple[str, BaseEstimator, Any]]:
    """Return the members of a :class:`~labelkin.ContentEnsemble` for views of texts.

    Parameters
    ----------
    views : sequence of str
        Of :class:`labelkin.text.TextView`: ``"text"``, ``"title"``, ``"lead"``, ``"body"``,
        ``"characters"``; or ``"titled_text"``, all words and again those of the title.
    classifiers : sequence, default ("svm",)
        Content classifiers, or their names: each for every view.
    words : WordCounts, optional
        How words are counted; default ``WordCounts()``.

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
            name = f"{view}_{content_name(fresh)}" if len(classifiers) > 1 else view
            if view == "characters" and isinstance(fresh, PlattSVM) and not fresh.prune:
                fresh.set_params(prune=_LITTLE)
            members.append((name, _view(view, words), fresh))
    return members


def _view(view: Any, words: Any) -> TextView:
    if view == "titled_text":
        return TextView("text", title_weight=_TITLE, counts=words)
    # The parameters of word counts do not apply to characters.
    return TextView(view, counts=None if view == "characters" else words)


def _build_named(name: str, features: str, top: int | None) -> Any:
    """Return a content classifier; naive Bayes of numbers is Gaussian."""
    is_gaussian = name == "naive_bayes" and features == "numbers"
    if top is not None and (is_gaussian or name == "forest"):
        which = "naive Bayes of numbers" if is_gaussian else "a forest"
        raise ValueError(
            f"top must be left out with {which}, which scores all labels. Use "
            "nearest_neighbours or svm."
        )
    if is_gaussian:
        return PerLabel(GaussianNB())
    options = {} if name == "forest" else {"top": top}
    if name == "omikuji" and not top:
        options = {"top": _CANDIDATES}
    return part_class("content", name)(**options)


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
    if name == "fast":
        options = {"evidence_weight": FAST_WEIGHT, **options}
    if name == "strong":
        options = {"thresholds": LabelLimits(at_least="auto"), **options}
    return build_model(plan, words, **options)


def describe_model(model: Any) -> dict[str, Any]:
    """Return the parts of a model as plain values."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    last = steps[-1]
    found: dict[str, Any] = {"steps": [*map(_one_line, steps[:-1]), type(last).__name__]}
    words = [len(step.vocabulary_) for step in steps if hasattr(step, "vocabulary_")]
    if words:
        found["terms"] = words[0]
    if hasattr(last, "rescorer_"):
        found |= {
            "content": _one_line(last.content_),
            "label_classifier": _one_line(last.rescorer_.labels_),
            "variant": last.variant if isinstance(last.variant, str) else _one_line(last.variant),
            "evidence_weight": float(last.evidence_weight_),
            "thresholds": _one_line(last.thresholds_),
            "rules": 0 if last.rules is None else len(last.rules),
            "cuts": [cut._asdict() for cut in last.thresholds_.table()],
        }
    return found


def _one_line(part: Any) -> str:
    return " ".join(repr(part).split())
