"""The backend: suggestions of source projects, rescored with label evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import annif.parallel
import annif.util
import numpy as np
from annif.backend import backend, ensemble
from annif.corpus import Document
from annif.exception import (
    ConfigurationException,
    NotInitializedException,
    NotSupportedException,
    OperationFailedException,
)
from annif.suggestion import SuggestionBatch
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from labelkin import LabelRescorer, load, save
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.label_matrix.cells import best_of
from labelkin.odds import count_log_odds
from labelkin.storage import read_header
from labelkin_annif.fusion import Fusion

#: Keys of a document's metadata: URIs of its known subjects.
_ACCEPTED, _REJECTED = "accepted", "rejected"


class _Model(NamedTuple):
    """A trained model, and the ids of its subjects in the current vocabulary.

    Attributes
    ----------
    fusion : Fusion
        Weights of the scores of the sources.
    rescorer : LabelRescorer
        Label evidence.
    subjects : ndarray of int
        Subject id of each label of the model; −1 for a subject that was removed.
    """

    fusion: Fusion
    rescorer: LabelRescorer
    subjects: NDArray[np.intp]


class LabelkinBackend(ensemble.BaseEnsembleBackend, backend.AnnifLearningBackend):
    """Ensemble that learns weights of its sources, and which subjects occur together.

    Train it on documents that its sources were *not* trained on, as every trained ensemble of
    Annif. Subjects in the metadata ``accepted`` or ``rejected`` of a document (URIs separated by
    spaces) are known labels.

    Parameters of a project: ``sources``; ``limit``, the number of suggestions per document (100);
    ``candidates``, the number of subjects used per document and source (100).
    """

    name = "labelkin"

    MODEL_FILE = "labelkin-model.labelkin"
    DEFAULT_PARAMETERS = {"candidates": 100}  # noqa: RUF012 (Annif's way)

    _model: _Model | None = None

    def initialize(self, parallel: bool = False) -> None:
        """Load the sources and the model."""
        super().initialize(parallel)
        if self._model is None:
            self._model = self._load()

    def _suggest_batch(self, documents: list[Document], params: dict[str, Any]) -> SuggestionBatch:
        """Suggest subjects, given those that are known."""
        model = self._model
        assert model is not None
        batches = self._suggest_with_sources(documents, annif.util.parse_sources(params["sources"]))
        scores = {
            source: self._of_labels(batches[source], model.subjects, params)
            for source in model.fusion.sources
        }
        counts = model.rescorer.label_sets_
        prior = count_log_odds(counts.positives(), counts.n_documents)
        known = [self._known(document, model) for document in documents]
        is_known = any(labels for one in known for labels in one.values())
        found = model.rescorer.rescore(
            model.fusion.log_odds(scores, prior), known if is_known else None
        )
        n_removed = int((model.subjects < 0).sum())
        found = best_of(found, int(params["limit"]) + n_removed)
        values = expit(found.data).astype(np.float32)
        subject = model.subjects[found.indices]
        keep = (subject >= 0) & (values > 0)
        document = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        shape = (found.shape[0], len(self.project.subjects))
        return SuggestionBatch(
            sparse.csr_array((values[keep], (document[keep], subject[keep])), shape=shape)
        )

    def _train(self, corpus: Any, params: dict[str, Any], jobs: int = 0) -> None:
        if corpus == "cached":
            raise NotSupportedException("Training a labelkin project from cached data.")
        if corpus.is_empty():
            raise NotSupportedException("Cannot train a labelkin project with no documents.")
        names = [source for source, _ in annif.util.parse_sources(params["sources"])]
        if len(set(names)) < len(names):
            raise ConfigurationException(
                "sources must name each project once", project_id=self.project.project_id
            )
        active = list(self.project.subjects.active)
        uris = [subject.uri for _, subject in active]
        subjects = np.array([number for number, _ in active], dtype=np.intp)
        self.info(f"asking {', '.join(names)} about the documents")
        batches, sets = self._ask(corpus, names, jobs)
        truth = _truth(sets, uris, subjects)
        scores = {
            source: sparse.csr_array(
                sparse.vstack([self._of_labels(one, subjects, params) for one in of_source])
            )
            for source, of_source in batches.items()
        }
        self.info(f"learning from {len(sets)} documents and {len(uris)} subjects")
        try:
            fusion, content = Fusion.learn(scores, truth.positive)
        except ValueError as error:
            raise OperationFailedException(str(error), backend_id=self.backend_id) from None
        rescorer = LabelRescorer(scale="log_odds").fit(truth, scores=content)
        self.info(f"evidence weight {rescorer.evidence_weight_:.2f}")
        self._save(_Model(fusion, rescorer, subjects))

    def _learn(self, corpus: Any, params: dict[str, Any]) -> None:
        """Update label evidence with further documents; label sets add up."""
        model = self._load()
        sets = [document.subject_set for document in corpus.documents]
        if sets:
            truth = _truth(sets, model.rescorer.label_names_.tolist(), model.subjects)
            self._save(model._replace(rescorer=model.rescorer.learn_more(truth)))

    def _ask(
        self, corpus: Any, sources: list[str], jobs: int
    ) -> tuple[dict[str, list[SuggestionBatch]], list[Any]]:
        """Return the suggestions of the sources for the documents, and the documents' subjects."""
        for source in sources:  # before processes are forked, to save memory
            self.project.registry.get_project(source).initialize(parallel=True)
        ask = annif.parallel.ProjectSuggestMap(
            self.project.registry, sources, backend_params=None, limit=None, threshold=0.0
        )
        n_jobs, pool_class = annif.parallel.get_pool(jobs)
        batches: dict[str, list[SuggestionBatch]] = {source: [] for source in sources}
        sets: list[Any] = []
        with pool_class(n_jobs) as pool:
            # In order: the model does not depend on the number of processes.
            for found, subject_sets in pool.imap(ask.suggest_batch, corpus.doc_batches):
                for source in sources:
                    batches[source].append(found[source])
                sets.extend(subject_sets)
        return batches, sets

    def _of_labels(
        self, batch: SuggestionBatch, subjects: NDArray[np.intp], params: Mapping[str, Any]
    ) -> sparse.csr_array:
        """Return suggestions with a column per label of the model, the best of each document."""
        scores = sparse.csr_array(batch.array, dtype=np.float64, copy=True)
        scores.sum_duplicates()
        scores.eliminate_zeros()  # they are not suggestions
        scores.resize(scores.shape[0], len(self.project.subjects) + 1)
        of_labels = scores[:, subjects]  # the last column is empty: that of removed subjects, -1
        of_labels.sort_indices()
        return best_of(of_labels, int(params["candidates"]))

    def _known(self, document: Document, model: _Model) -> dict[str, list[str]]:
        """Return the labels that metadata calls accepted or rejected; accepted takes precedence."""
        labels = set(model.rescorer.label_names_.tolist())
        found: dict[str, list[str]] = {}
        for state in (_ACCEPTED, _REJECTED):
            given = document.metadata.get(state) or ()
            names = given.split() if isinstance(given, str) else list(map(str, given))
            uris = dict.fromkeys(map(annif.util.cleanup_uri, names))
            if missing := [uri for uri in uris if uri not in labels]:
                self.warning(f"metadata {state}: no subject {', '.join(missing[:5])}")
            found[state] = [x for x in uris if x in labels and x not in found.get(_ACCEPTED, ())]
        return found

    @property
    def _path(self) -> Path:
        return Path(self.datadir) / self.MODEL_FILE

    def _save(self, model: _Model) -> None:
        save(model.rescorer, self._path, summary={"fusion": list(model.fusion)})
        self._model = model

    def _load(self) -> _Model:
        if not self._path.exists():
            raise NotInitializedException(
                f"model {self._path} not found: train the project first",
                backend_id=self.backend_id,
            )
        try:
            fusion = Fusion.read((read_header(self._path).summary or {})["fusion"])
            rescorer = load(self._path)
        except (ValueError, KeyError, TypeError) as error:
            raise OperationFailedException(
                f"{self._path} is not a model of labelkin-annif: {error}",
                backend_id=self.backend_id,
            ) from None
        by_uri = self.project.subjects.by_uri
        ids = [by_uri(uri, warnings=False) for uri in rescorer.label_names_.tolist()]
        subjects = np.array([-1 if one is None else one for one in ids], dtype=np.intp)
        return _Model(fusion, rescorer, subjects)


def _truth(sets: Iterable[Any], uris: list[str], subjects: NDArray[np.intp]) -> LabelMatrix:
    """Return which document has which label of the model."""
    uri = dict(zip(subjects.tolist(), uris, strict=True))
    uri.pop(-1, None)
    return read_labels([{uri[one] for one in found if one in uri} for found in sets], names=uris)
