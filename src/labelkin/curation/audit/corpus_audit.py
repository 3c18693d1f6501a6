"""Audit of a corpus: content evidence in resumable blocks, label evidence, issues with words."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from labelkin.content.platt_svm import PlattSVM
from labelkin.content.term_contributions import terms_of
from labelkin.corpora import Corpus
from labelkin.corpora.corpus import labels_of
from labelkin.curation.audit.issues import Issue
from labelkin.curation.audit.label_audit import FEWEST, LabelAudit
from labelkin.curation.audit.report import issue_record
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

#: Number of cells of content evidence that are learned, and stored, at a time.
_BLOCK_CELLS = 2**21
_MOST_WORDS = 12


class CorpusAudit(NamedTuple):
    """A fitted audit, records of its issues, documents × labels, and resumed blocks of all."""

    audit: LabelAudit
    records: list[dict[str, Any]]
    shape: tuple[int, int]
    n_resumed: int
    n_blocks: int


def check_auditable(corpus: Corpus, all_documents: bool = False) -> None:
    """Raise for a corpus that is too small for cross-validation, or has no label to learn."""
    labels = labels_of(corpus).rows(_part(corpus, all_documents))
    if labels.shape[0] < FEWEST:
        raise ValueError(
            f"An audit needs at least {FEWEST} documents, so that each can be compared with a "
            f"model of the others, and {corpus.name} has {labels.shape[0]}."
        )
    positive, known = labels.counts()
    if not ((positive >= 2) & (known - positive >= 2)).any():
        raise ValueError(
            f"An audit needs a label that at least 2 documents have and 2 lack, got "
            f"{labels.shape[1]} labels of {corpus.name} without such a label."
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
    corpus : Corpus
        Texts or vectors.
    content, labels : str
        Names of content classifiers, separated by commas, and of the label classifier.
    words : mapping
        Parameters of ``WordCounts``.
    rules : Rules, optional
        As in :class:`~labelkin.curation.audit.LabelAudit`.
    label_names : mapping of labels to names
        Names in a vocabulary.
    all_documents : bool, default False
        Whether test documents are audited.
    top, most : int
        Number of issues; default those that are worth reading, at most ``most``.
    resume_folder : Path, optional
        Folder for content evidence, so that an interrupted audit resumes; the caller deletes it.
    n_jobs, random_state
        As in :class:`~labelkin.curation.audit.LabelAudit`.

    Returns
    -------
    CorpusAudit
    """
    part = _part(corpus, all_documents)
    given = labels_of(corpus).rows(part)
    plan = plan_content(names=content.split(","), features=corpus.features)
    steps = build_steps(plan, WordCounts(**words))
    X: Any = corpus.documents[part]
    for step in steps:
        X = step.fit_transform(X)
    classifier = with_random_state(build_content(plan), random_state)
    folder = None
    if resume_folder is not None:
        # Blocks of other documents or options are in other folders.
        folder = resume_folder / joblib.hash((X, given, repr(classifier), version("labelkin")))
        folder.mkdir(parents=True, exist_ok=True)
    evidence = _content_evidence(X, given, classifier, folder, n_jobs)
    audit = LabelAudit(
        labels=build_part("labels", labels),
        rules=rules,
        scale="log_odds",
        n_jobs=n_jobs,
        random_state=random_state,
    ).fit(X, given, scores=evidence.log_odds)
    names, label_sets = corpus.names(), given.label_sets()
    ids = [names[i] for i in part]
    texts: Any = corpus.documents[part] if corpus.features == "text" else None
    terms = terms_of(make_pipeline(*steps), corpus.terms) if steps else corpus.terms
    records = []
    for issue in audit.issues(min(audit.list_end_, most) if top is None else top):
        column = given.names.tolist().index(issue.label)
        fitted = next(one for columns, one in evidence.classifiers if column in columns)
        text = None if texts is None else str(texts[issue.document])
        forms = surface_forms(text, steps[0]) if text is not None and fitted is not None else {}
        found = _words(issue, fitted, X, terms, forms)
        records.append(issue_record(issue, ids, label_sets, texts, found, label_names))
    return CorpusAudit(audit, records, given.shape, evidence.n_resumed, len(evidence.classifiers))


def _part(corpus: Corpus, all_documents: bool) -> NDArray[np.intp]:
    return np.arange(corpus.Y.shape[0]) if all_documents else corpus.train


class _ContentEvidence(NamedTuple):
    """Out-of-fold log-odds, ``(n_documents, n_labels)``, and classifiers by block of labels."""

    log_odds: NDArray[np.float64]
    classifiers: list[tuple[NDArray[np.int64], Any]]
    n_resumed: int


def _content_evidence(
    X: Any, labels: LabelMatrix, content: Any, folder: Path | None, n_jobs: Any
) -> _ContentEvidence:
    """Learn content evidence out of fold, or read stored blocks.

    SVMs are independent per label and are learned in blocks of labels; other classifiers learn all
    labels at once.
    """
    n_documents, n_labels = labels.shape
    size = max(1, _BLOCK_CELLS // n_documents) if isinstance(content, PlattSVM) else n_labels
    blocks = [np.arange(n_labels)[start : start + size] for start in range(0, n_labels, size)]
    result = np.empty(labels.shape)
    classifiers, n_resumed = [], 0
    for k, columns in enumerate(track(blocks, "content evidence")):
        path = None if folder is None else folder / f"block-{k:04d}.npy"
        if path is not None and path.is_file():
            n_resumed += 1
            model = path.with_suffix(".labelkin")
            values, classifier = read_block(path), load(model) if model.is_file() else None
        else:
            classifier = clone(content)
            part = labels.columns(columns) if len(blocks) > 1 else labels
            with nullcontext() if n_jobs is None else joblib.parallel_config(n_jobs=n_jobs):
                values = fit_content(classifier, X, part, {}, out_of_fold=True)
            if path is not None:
                _store_block(path, values, classifier)
        result[:, columns] = values
        classifiers.append((columns, classifier))
    return _ContentEvidence(result, classifiers, n_resumed)


def _store_block(path: Path, values: Any, classifier: Any) -> None:
    """Store a block; its evidence is written last."""
    if hasattr(classifier, "term_contributions"):
        save(classifier, path.with_suffix(".labelkin"))
    file = io.BytesIO()
    np.save(file, values)
    write_atomic(path, file.getvalue())


def _words(
    issue: Issue, classifier: Any, X: Any, terms: Any, forms: Mapping[Any, Any]
) -> list[dict[str, Any]]:
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
        words.append({"term": name, "words": spelled, "log_odds": round(sign * added, 4)})
    return words
