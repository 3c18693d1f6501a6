"""Audit a corpus: what ``labelkin audit`` does once all is chosen."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from labelkin.content.platt_svm import PlattSVM
from labelkin.content.term_contributions import terms_of
from labelkin.curation.audit import Issue, LabelAudit
from labelkin.curation.audit.label_audit import FEWEST
from labelkin.estimator import fit_content
from labelkin.explain.terms import explain_terms
from labelkin.files import write_atomic
from labelkin.label_matrix import LabelMatrix
from labelkin.research.reports.issues import ShownIssue, Word, shown_issue
from labelkin.scaling.blocks import read_block
from labelkin.storage import load, save
from labelkin.text import WordCounts, surface_forms

#: Cells whose content evidence is learned, and kept, at a time.
_BLOCK_CELLS = 2**21
_MOST_WORDS = 12

Matrix = NDArray[np.float64]
#: Called with what is being done, how much of it is done, and how much there is.
Report = Callable[[str, int, int], None]


def check_auditable(labels: LabelMatrix, name: str) -> None:
    """Raise for a corpus too small to leave documents out, or with no label to learn."""
    if labels.shape[0] < FEWEST:
        raise ValueError(
            f"An audit needs at least {FEWEST} documents, so that each can be judged by the "
            f"others, and {name} has {labels.shape[0]}."
        )
    positive, known = labels.counts()
    if not ((positive >= 2) & (known - positive >= 2)).any():
        raise ValueError(
            f"An audit needs a label that at least 2 documents have and 2 lack, and none of the "
            f"{labels.shape[1]} labels of {name} is such."
        )


@dataclass(frozen=True)
class KeptEvidence:
    """Content evidence in a folder, block by block of labels, until the audit is finished.

    Attributes
    ----------
    folder
        Where; ``None``: nothing is kept.
    """

    folder: Path | None

    @classmethod
    def beside(cls, out: Path | None, made_of: dict[str, Any], X: Any, labels: LabelMatrix) -> Any:
        """Return what is kept beside a file; what other documents or options have left is cleared.

        Parameters
        ----------
        out
            The file that the audit will write.
        made_of
            All that decides what the evidence is, beside the documents.
        X, labels
            The documents.
        """
        if out is None:
            return cls(None)
        folder = out.with_name(f".{out.name}.audit")
        record = made_of | {"version": version("labelkin"), "sha256": _checksum(X, labels)}
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        note = folder / "audit.json"
        if not note.is_file() or note.read_text(encoding="utf-8") != text:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            write_atomic(note, text)
        return cls(folder)

    def read(self, k: int, shape: tuple[int, int]) -> tuple[Matrix, Any] | None:
        """Return the evidence of a block and its classifier, if they are there."""
        values = self._path(k, "npy")
        if values is None or not values.is_file():
            return None
        found, model = read_block(values), values.with_suffix(".labelkin")
        if found.shape != shape:
            return None
        return np.array(found), load(model) if model.is_file() else None

    def write(self, k: int, values: Matrix, classifier: Any) -> None:
        """Keep a block; its evidence, written last, says that all is there."""
        path = self._path(k, "npy")
        if path is None:
            return
        if hasattr(classifier, "term_contributions"):
            save(classifier, path.with_suffix(".labelkin"))
        file = io.BytesIO()
        np.save(file, values)
        write_atomic(path, file.getvalue())

    def remove(self) -> None:
        """Clear it away: the audit is finished."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, k: int, ending: str) -> Path | None:
        return None if self.folder is None else self.folder / f"block-{k:04d}.{ending}"


class ContentEvidence(NamedTuple):
    """Out-of-fold log-odds, ``(n_documents, n_labels)``, and who gave them, by block of labels."""

    log_odds: Matrix
    classifiers: list[tuple[NDArray[np.int64], Any]]
    n_kept: int

    def classifier_of(self, column: int) -> Any:
        """Return the classifier, fitted on all documents, that knows a label."""
        return next(fitted for columns, fitted in self.classifiers if column in columns)


def content_evidence(
    X: Any,
    labels: LabelMatrix,
    make: Callable[[], Any],
    kept: KeptEvidence,
    report: Report,
    n_jobs: int | None = None,
) -> ContentEvidence:
    """Learn content evidence out of fold, or take what is kept of it.

    SVMs know nothing of each other's labels, and are learned some labels at a time; whatever else
    there is learns all labels at once.
    """
    n_documents, n_labels = labels.shape
    size = max(1, _BLOCK_CELLS // n_documents) if isinstance(make(), PlattSVM) else n_labels
    blocks = [np.arange(n_labels)[start : start + size] for start in range(0, n_labels, size)]
    result = np.empty(labels.shape)
    classifiers, n_kept = [], 0
    for k, columns in enumerate(blocks):
        report("content evidence", k, len(blocks))
        found = kept.read(k, (n_documents, len(columns)))
        n_kept += found is not None
        if found is None:
            classifier = make()
            part = labels.columns(columns) if len(blocks) > 1 else labels
            with nullcontext() if n_jobs is None else parallel_config(n_jobs=n_jobs):
                values = fit_content(classifier, X, part, {}, out_of_fold=True)
            assert values is not None
            found = values, classifier
            kept.write(k, *found)
        result[:, columns] = found[0]
        classifiers.append((columns, found[1]))
    return ContentEvidence(result, classifiers, n_kept)


def shown_issues(
    audit: LabelAudit,
    top: int | None,
    X: Any,
    labels: LabelMatrix,
    names: Sequence[str],
    texts: Sequence[str] | None,
    evidence: ContentEvidence,
    steps: Sequence[BaseEstimator],
    terms: Any = None,
) -> list[ShownIssue]:
    """Return the surest issues with names, texts and words."""
    if steps:
        terms = terms_of(make_pipeline(*steps), terms)
    counts = steps[0] if steps and isinstance(steps[0], WordCounts) else None
    column = {name: j for j, name in enumerate(labels.names.tolist())}
    label_sets = labels.label_sets()
    forms: dict[int, Any] = {}
    shown = []
    for issue in audit.issues(top):
        if counts is not None and texts is not None and issue.document not in forms:
            forms[issue.document] = surface_forms(str(texts[issue.document]), counts)
        classifier = evidence.classifier_of(column[issue.label])
        words = _words(issue, classifier, X, terms, forms.get(issue.document, {}))
        shown.append(shown_issue(issue, names, label_sets, texts, words))
    return shown


def _words(issue: Issue, classifier: Any, X: Any, terms: Any, forms: dict[Any, Any]) -> list[Word]:
    """Return what the strongest terms of a document add to the log-odds of the change."""
    if classifier is None:
        return []
    found = explain_terms(classifier, X[[issue.document]], [issue.label], top=_MOST_WORDS)
    if found is None:
        return []
    sign = -1.0 if issue.given else 1.0
    words = []
    for term, added, _ in found[0][0].terms:
        name = str(terms[term]) if terms is not None and isinstance(term, int) else str(term)
        spelled = list(dict.fromkeys(form.word for form in forms.get(name, ())))
        words.append(Word(name, spelled, round(sign * added, 4)))
    return words


def _checksum(X: Any, labels: LabelMatrix) -> str:
    digest = hashlib.sha256()
    matrices = [X, labels.positive, *([] if labels.unknown is None else [labels.unknown])]
    for matrix in matrices:
        digest.update(str(matrix.shape).encode())
        arrays = (
            (matrix.data, matrix.indices, matrix.indptr) if sparse.issparse(matrix) else (matrix,)
        )
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
    digest.update(json.dumps([str(name) for name in labels.names.tolist()]).encode())
    return digest.hexdigest()
