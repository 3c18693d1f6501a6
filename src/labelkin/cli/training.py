"""Train a model and judge it out of fold: what ``labelkin train`` does once all is chosen."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelkin.cli.printing import duration_text, print_message, stage, watching
from labelkin.content.any_classifier import as_content
from labelkin.content.default_content import default_content
from labelkin.content.ensemble import ContentEnsemble
from labelkin.content.platt_svm import PlattSVM
from labelkin.corpora import Corpus
from labelkin.corpora.corpus import labels_of, object_array
from labelkin.curation.corrections import Corrections, chosen_changes
from labelkin.evaluation.metrics import evaluate
from labelkin.evaluation.splits import round_robin_folds
from labelkin.label_matrix import LabelMatrix, read_labels, spread_out
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.models.presets import STRONG, view_members
from labelkin.research.experiments.train import make_content_classifier
from labelkin.research.reports.scores import METRICS
from labelkin.text import TermWeights, WordCounts

Scores = dict[str, dict[str, float | None]]

#: Candidates of a document where Omikuji is asked and their number is not named.
_CANDIDATES = 100
_STAGES = {"WordCounts": "words", "TermWeights": "weights of words", "StandardScaler": "scales"}


class TrainingDocuments(NamedTuple):
    """What is learned from.

    Attributes
    ----------
    documents, labels
        Texts or vectors, and their label sets.
    mark
        Position in the saved work that was read; ``None``: none was read.
    """

    documents: Any
    labels: LabelMatrix
    mark: list[Any] | None = None


def training_documents(
    corpus: Corpus, all_documents: bool, saved_work: Path | None, quiet: bool = False
) -> TrainingDocuments:
    """Return the training part of a corpus, or all of it, and what people have told a service.

    Labels that people have changed when they reviewed an audit are changed in the corpus; the
    documents that they have labelled are added to it.
    """
    part: Any = slice(None) if all_documents else corpus.train
    documents, labels = corpus.documents[part], labels_of(corpus).rows(part)
    if saved_work is None:
        return TrainingDocuments(documents, labels)
    from labelkin.curation.saved_work import read_answers, read_saved_documents

    if changes := chosen_changes(read_answers(saved_work)):
        corrections = Corrections(changes.values())
        labels = corrected_labels(corpus, corrections).rows(part)
        print_message(f"{saved_work}: {corrections.summary()}.", quiet)
    texts, label_sets, mark = read_saved_documents(saved_work)
    if corpus.features != "text":
        if texts:
            raise ValueError(f"--saved-work adds texts, and {corpus.name} has {corpus.features}.")
        return TrainingDocuments(documents, labels, list(mark))
    sets = [set(one) for one in (*labels.label_sets(), *label_sets)]
    names = sorted({*labels.names.tolist(), *(name for one in label_sets for name in one)})
    together = object_array([*documents, *texts])
    return TrainingDocuments(together, read_labels(sets, names=names), list(mark))


def corrected_labels(corpus: Corpus, corrections: Corrections) -> LabelMatrix:
    """Return the labels of a corpus with changes made; labels that nobody has had may come in."""
    sets: list[set[Any]] = []
    given = labels_of(corpus)
    for i, (name, labels) in enumerate(zip(corpus.names(), given.label_sets(), strict=True)):
        text = str(corpus.documents[i]) if corpus.features == "text" else None
        changed = corrections.apply(name, text, labels)
        sets.append(set(labels if changed is None else changed))
    names = given.names.tolist()
    new = sorted(set().union(*sets) - set(names))
    corrected = read_labels(sets, names=[*names, *new])
    if given.unknown is None:
        return corrected
    nowhere = sparse.csr_array((len(sets), len(new)))
    return replace(corrected, unknown=sparse.csr_array(sparse.hstack([given.unknown, nowhere])))


class ChosenContent(NamedTuple):
    """Which content classifiers there are, by name, and which views each of them sees.

    Attributes
    ----------
    names
        Of the registry; none: what the features suggest.
    views
        As :func:`labelkin.models.presets.view_members`; none: the words of the whole text.
    """

    names: tuple[str, ...] = ()
    views: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """All names, for the summary."""
        return ",".join(self.names) or "by the features"


def choose_content(
    preset: str | None, content: str | None, views: str | None, corpus: Corpus
) -> ChosenContent:
    """Return what a preset means, with what was named in its place."""
    names = tuple(content.split(",")) if content else ()
    seen = tuple(view.strip() for view in views.split(",")) if views else ()
    is_text = corpus.features == "text"
    if seen and not is_text:
        raise ValueError(f"--views are of texts, and {corpus.name} has {corpus.features}.")
    if preset == "fast" and not names:
        names = ("naive_bayes",)
    if preset == "strong" and is_text and not names and not seen:
        seen = STRONG
    is_words = is_text or corpus.features == "counts" or sparse.issparse(corpus.documents)
    if preset == "strong" and not is_text and is_words and not names:
        names = ("svm", "naive_bayes", "nearest_neighbours")
    if not names and is_words:
        names = ("svm",)
    if views and "title" in seen and not any("\n" in text for text in corpus.documents):
        raise ValueError(
            f"--views title needs titles, and {corpus.name} has none: the first line of a text of "
            "several lines is one. Name their column by --columns title=NAME."
        )
    return ChosenContent(names, seen)


def choose_at_least(
    preset: str | None, at_least: int | None, labels: LabelMatrix, quiet: bool
) -> int:
    """Return how many labels a document has at least; say where one would be fair."""
    if at_least is not None:
        return at_least
    if not bool((np.diff(labels.positive.indptr) > 0).all()):
        return 0
    if preset == "strong":
        print_message("Every training document has a label, and every new one will get one.", quiet)
        return 1
    print_message(
        "Every training document has a label: --at-least 1 gives one to every new one, too.", quiet
    )
    return 0


def make_content(
    chosen: ChosenContent,
    features: str,
    random_state: int,
    top: int | None = None,
    words: dict[str, Any] | None = None,
) -> Any:
    """Return a content classifier, or an ensemble; ``None``: what the features suggest."""
    made = [_make_one(name, features, random_state, top) for name in chosen.names]
    if chosen.views:
        counts = WordCounts(**(words or {}))
        members = view_members(chosen.views, made, words=counts)
        return ContentEnsemble(members, random_state=random_state)
    if len(made) > 1:
        return ContentEnsemble(
            list(zip(chosen.names, made, strict=True)), random_state=random_state
        )
    return made[0] if made else None


def _make_one(name: str, features: str, random_state: int, top: int | None) -> Any:
    """Return a content classifier; naive Bayes of numbers that are no counts is Gaussian.

    Omikuji is for very many labels: it gives candidates also where their number is not named.
    """
    if name == "omikuji" and top is None:
        top = _CANDIDATES
    is_gaussian = name == "naive_bayes" and features == "numbers"
    if top is not None and (is_gaussian or name == "forest"):
        which = "naive Bayes of numbers" if is_gaussian else "a forest"
        raise ValueError(
            f"--top must be left out with {which}, which scores all labels. Use --content "
            "nearest_neighbours, or svm."
        )
    if is_gaussian:
        return make_content_classifier("gaussian_naive_bayes", random_state)
    if name == "forest":
        return make_content_classifier(name, random_state)
    return make_content_classifier(name, random_state, top=top)


def make_steps(corpus: Corpus, chosen: ChosenContent, words: dict[str, Any]) -> list[BaseEstimator]:
    """Return what stands before the classifier: words of texts, tf-idf, or one scale for all.

    Naive Bayes and forests take counts and numbers as they are; views count their words themselves,
    and what is chosen by the features brings its own scale.
    """
    if chosen.views:
        return []
    steps: list[BaseEstimator] = [WordCounts(**words)] if corpus.features == "text" else []
    if not chosen.names or set(chosen.names) <= {"naive_bayes", "forest"}:
        return steps
    if corpus.features in ("text", "counts"):
        steps.append(TermWeights("tfidf"))
    if corpus.features == "numbers":
        steps.append(StandardScaler(with_mean=not sparse.issparse(corpus.documents)))
    return steps


def train_model(
    training: TrainingDocuments,
    steps: list[BaseEstimator],
    classifier: LabelDependenceClassifier,
    quiet: bool = False,
) -> tuple[Any, Scores]:
    """Fit the steps and the classifier, and judge both evidences on documents as if unseen.

    Parameters
    ----------
    training
        Documents and label sets.
    steps
        Transformers before the classifier; may be none.
    classifier
        Unfitted; it is fitted itself.
    quiet
        Whether nothing is printed on stderr.

    Returns
    -------
    model
        A pipeline, or the classifier alone where nothing stands before it.
    scores
        By system, ``"content"`` and ``"model"``, and metric; out of fold, ``None`` where a metric
        does not exist.
    """
    vectors = training.documents
    for step in steps:
        with stage(_STAGES.get(type(step).__name__, "vectors"), quiet):
            vectors = step.fit_transform(vectors)
    classifier.set_params(keep_out_of_fold=True, verbose=int(not quiet))
    _forecast(classifier, vectors, training.labels, quiet)
    with watching(quiet):
        unseen = classifier.fit(vectors, training.labels).out_of_fold_
    with stage("cross-validated scores", quiet):
        scores = {
            "content": _judge(classifier, training.labels, unseen.content),
            "model": _judge(classifier, training.labels, unseen.posterior),
        }
    # How it was trained is no affair of who uses it.
    del classifier.out_of_fold_
    classifier.set_params(keep_out_of_fold=False, verbose=0, n_jobs=None)
    return make_pipeline(*steps, classifier) if steps else classifier, scores


#: Seconds that an SVM takes for a label and an entry of the vectors, all folds and sweeps, about.
_SVM_SECONDS = 4e-8
#: Seconds that are worth a warning.
_LONG = 120.0


def _forecast(
    classifier: LabelDependenceClassifier, vectors: Any, labels: LabelMatrix, quiet: bool
) -> None:
    """Report before the work what will take long, and what would not."""
    if not hasattr(vectors, "shape"):  # texts, of which each view makes vectors of its own
        return
    named = default_content(vectors) if classifier.content is None else classifier.content
    content = as_content(named)
    n_svms = sum(isinstance(part, PlattSVM) for part in [content, *content.get_params().values()])
    n_entries = vectors.nnz if sparse.issparse(vectors) else np.size(vectors)
    seconds = n_svms * _SVM_SECONDS * n_entries * labels.shape[1]
    if seconds > _LONG:
        print_message(
            f"An SVM for each of {labels.shape[1]:,} labels on {labels.shape[0]:,} documents will "
            f"take about {duration_text(seconds)} of one core. --n-jobs shares it among several; "
            "--content nearest_neighbours --top 100 takes a small part of it.",
            quiet,
        )


def _judge(
    classifier: LabelDependenceClassifier, labels: LabelMatrix, log_odds: Any
) -> dict[str, float | None]:
    """Judge log-odds and the decisions of the classifier's rule, tuned for them on other folds."""
    fold = round_robin_folds(labels)
    rows, parts = [], []
    for k in np.unique(fold):
        unseen = np.flatnonzero(fold == k)
        seen = np.flatnonzero(fold != k) if len(np.unique(fold)) > 1 else unseen
        rule = clone(classifier.thresholds_).fit(log_odds[seen], labels.rows(seen))
        rows.append(unseen)
        parts.append(rule.decide(log_odds[unseen]))
    order = np.argsort(np.concatenate(rows))
    is_sparse = sparse.issparse(log_odds)
    joined: Any = sparse.csr_array(sparse.vstack(parts)) if is_sparse else np.vstack(parts)
    decided = joined[order]
    rules = classifier.rescorer_.rules_
    if rules is not None:
        given = decided.toarray() if is_sparse else decided
        decided = rules.decisions(spread_out(log_odds), given)
    scores = evaluate(labels, log_odds, decided).scores()
    # Of candidates there is a ceiling to all of them: the true labels that are among them.
    names = [*METRICS, *(["candidate_recall"] if is_sparse else [])]
    return {name: scores[name] if math.isfinite(scores[name]) else None for name in names}
