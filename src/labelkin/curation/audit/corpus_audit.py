"""Audit of a corpus: content evidence in resumable blocks, label evidence, issues with words."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

from labelkin.content.platt_svm import PlattSVM
from labelkin.content.term_contributions import terms_of
from labelkin.corpora import Corpus
from labelkin.corpora.corpus import labels_of
from labelkin.curation.audit.issue_table import Issue
from labelkin.curation.audit.label_audit import FEWEST, LabelAudit
from labelkin.curation.audit.shown_issues import ShownIssue, Word, shown_issue
from labelkin.estimator import fit_content
from labelkin.explain.contributions import explain_terms
from labelkin.files import write_atomic
from labelkin.label_matrix import LabelMatrix
from labelkin.models.builder import build_content, build_part, build_steps, plan_content
from labelkin.scaling.blocks import read_block
from labelkin.scaling.progress import track
from labelkin.scikit_learn import with_random_state
from labelkin.storage import load, save
from labelkin.text import WordCounts, surface_forms

#: Cells of content evidence that are learned, and kept, at a time.
_BLOCK_CELLS = 2**21
_MOST_WORDS = 12
#: Similarity from which two documents are near duplicates.
_NEAR_DUPLICATE = 0.95

_Matrix = NDArray[np.float64]


class CorpusAudit(NamedTuple):
    """A fitted audit, its issues for people, documents × labels, and resumed blocks of all."""

    audit: LabelAudit
    issues: list[ShownIssue]
    shape: tuple[int, int]
    n_resumed: int
    n_blocks: int


def check_auditable(corpus: Corpus, all_documents: bool = False) -> None:
    """Raise for a corpus that is too small for cross-validation, or has no label to learn."""
    labels = labels_of(corpus).rows(_part(corpus, all_documents))
    if labels.shape[0] < FEWEST:
        raise ValueError(
            f"An audit needs at least {FEWEST} documents, so that each can be judged by the "
            f"others, and {corpus.name} has {labels.shape[0]}."
        )
    positive, known = labels.counts()
    if not ((positive >= 2) & (known - positive >= 2)).any():
        raise ValueError(
            f"An audit needs a label that at least 2 documents have and 2 lack, and none of the "
            f"{labels.shape[1]} labels of {corpus.name} is such."
        )


def audit_corpus(
    corpus: Corpus,
    content: str = "svm",
    labels: str = "logistic",
    *,
    words: Mapping[str, Any] = {},
    rules: Any = None,
    label_names: Mapping[str, str] = {},
    all_documents: bool = False,
    top: int | None = None,
    most: int = 1000,
    resume_folder: Path | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> CorpusAudit:
    """Audit the labels of a corpus.

    Parameters
    ----------
    corpus
        Texts or vectors.
    content, labels
        Names of content classifiers, separated by commas, and of the label classifier.
    words
        Parameters of ``WordCounts``.
    rules
        As in :class:`~labelkin.curation.audit.LabelAudit`.
    label_names
        Label → name, for people.
    all_documents
        Whether test documents are audited.
    top, most
        Number of issues; default those that are worth reading, at most ``most``.
    resume_folder
        Keeps content evidence, so that an interrupted audit resumes; the caller deletes it.
    n_jobs, random_state
        As in :class:`~labelkin.curation.audit.LabelAudit`.
    """
    part = _part(corpus, all_documents)
    given = labels_of(corpus).rows(part)
    plan = plan_content(names=content.split(","), features=corpus.features)
    steps = build_steps(plan, WordCounts(**words))
    X: Any = corpus.documents[part]
    for step in steps:
        X = step.fit_transform(X)
    classifier = with_random_state(build_content(plan), random_state)
    kept = _KeptBlocks(resume_folder)
    kept.open(joblib.hash((X, given, repr(classifier), version("labelkin"))))
    evidence = _content_evidence(X, given, classifier, kept, n_jobs)
    audit = LabelAudit(
        labels=build_part("labels", labels),
        rules=rules,
        # Vectors of a few numbers are often alike without being of the same document.
        duplicate_similarity=None if corpus.features == "numbers" else _NEAR_DUPLICATE,
        scale="log_odds",
        n_jobs=n_jobs,
        random_state=random_state,
    ).fit(X, given, scores=evidence.log_odds)
    count = min(audit.list_end_, most) if top is None else top
    found = _shown_issues(audit, count, X, corpus, part, evidence, steps)
    issues = [issue.called(label_names) for issue in found]
    return CorpusAudit(audit, issues, given.shape, evidence.n_resumed, len(evidence.classifiers))


def _part(corpus: Corpus, all_documents: bool) -> NDArray[np.intp]:
    return np.arange(corpus.Y.shape[0]) if all_documents else corpus.train


@dataclass(frozen=True)
class _KeptBlocks:
    """Blocks of content evidence in a folder; ``None``: nothing is kept."""

    folder: Path | None

    def open(self, key: str) -> None:
        """Create the folder; delete blocks of other documents or options."""
        if self.folder is None:
            return
        note = self.folder / "audit.key"
        if not note.is_file() or note.read_text(encoding="utf-8") != key:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
            write_atomic(note, key)

    def read(self, k: int, shape: tuple[int, int]) -> tuple[_Matrix, Any] | None:
        """Return the evidence of a block and its classifier, if they are complete."""
        values = None if self.folder is None else self.folder / f"block-{k:04d}.npy"
        if values is None or not values.is_file():
            return None
        found, model = read_block(values), values.with_suffix(".labelkin")
        if found.shape != shape:
            return None
        return np.array(found), load(model) if model.is_file() else None

    def write(self, k: int, values: _Matrix, classifier: Any) -> None:
        """Keep a block; its evidence is written last."""
        if self.folder is None:
            return
        path = self.folder / f"block-{k:04d}.npy"
        if hasattr(classifier, "term_contributions"):
            save(classifier, path.with_suffix(".labelkin"))
        file = io.BytesIO()
        np.save(file, values)
        write_atomic(path, file.getvalue())


class _ContentEvidence(NamedTuple):
    """Out-of-fold log-odds, ``(n_documents, n_labels)``, and classifiers by block of labels."""

    log_odds: _Matrix
    classifiers: list[tuple[NDArray[np.int64], Any]]
    n_resumed: int

    def classifier_of(self, column: int) -> Any:
        """Return the classifier of a label, fitted on all documents."""
        return next(fitted for columns, fitted in self.classifiers if column in columns)


def _content_evidence(
    X: Any, labels: LabelMatrix, content: Any, kept: _KeptBlocks, n_jobs: Any
) -> _ContentEvidence:
    """Learn content evidence out of fold, or read kept blocks.

    SVMs are independent per label and are learned in blocks of labels; other classifiers learn all
    labels at once.
    """
    n_documents, n_labels = labels.shape
    size = max(1, _BLOCK_CELLS // n_documents) if isinstance(content, PlattSVM) else n_labels
    blocks = [np.arange(n_labels)[start : start + size] for start in range(0, n_labels, size)]
    result = np.empty(labels.shape)
    classifiers, n_resumed = [], 0
    for k, columns in enumerate(track(blocks, "content evidence")):
        found = kept.read(k, (n_documents, len(columns)))
        n_resumed += found is not None
        if found is None:
            classifier = clone(content)
            part = labels.columns(columns) if len(blocks) > 1 else labels
            with nullcontext() if n_jobs is None else joblib.parallel_config(n_jobs=n_jobs):
                values = fit_content(classifier, X, part, {}, out_of_fold=True)
            assert values is not None
            found = values, classifier
            kept.write(k, *found)
        result[:, columns] = found[0]
        classifiers.append((columns, found[1]))
    return _ContentEvidence(result, classifiers, n_resumed)


def _shown_issues(
    audit: LabelAudit,
    top: int,
    X: Any,
    corpus: Corpus,
    part: NDArray[np.intp],
    evidence: _ContentEvidence,
    steps: Sequence[BaseEstimator],
) -> Iterator[ShownIssue]:
    """Yield the most certain issues with names, texts and words."""
    terms = terms_of(make_pipeline(*steps), corpus.terms) if steps else corpus.terms
    texts: Any = corpus.documents[part] if corpus.features == "text" else None
    names = corpus.names()
    labels = labels_of(corpus).rows(part)
    column = {name: j for j, name in enumerate(labels.names.tolist())}
    ids, label_sets = [names[i] for i in part], labels.label_sets()
    forms: dict[int, Any] = {}
    for issue in audit.issues(top):
        if texts is not None and issue.document not in forms:
            forms[issue.document] = surface_forms(str(texts[issue.document]), steps[0])
        classifier = evidence.classifier_of(column[issue.label])
        words = _words(issue, classifier, X, terms, forms.get(issue.document, {}))
        yield shown_issue(issue, ids, label_sets, texts, words)


def _words(issue: Issue, classifier: Any, X: Any, terms: Any, forms: dict[Any, Any]) -> list[Word]:
    """Return the contributions of the strongest terms to the log-odds of the change."""
    explained = None
    if classifier is not None:
        explained = explain_terms(classifier, X[[issue.document]], [issue.label], top=_MOST_WORDS)
    if explained is None:
        return []
    sign = -1.0 if issue.given else 1.0
    words = []
    for term, added, _ in explained[0][0].terms:
        name = str(terms[term]) if terms is not None and isinstance(term, int) else str(term)
        spelled = list(dict.fromkeys(form.word for form in forms.get(name, ())))
        words.append(Word(name, spelled, round(sign * added, 4)))
    return words
