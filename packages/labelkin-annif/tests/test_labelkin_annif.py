"""The backend inside Annif: found, trained, asked with known subjects, and after an update."""

import os

import numpy as np
import pytest

os.environ.setdefault("FLASK_RUN_FROM_CLI", "true")
pytest.importorskip("annif", reason="Annif is installed by make integration")

import annif.backend
from annif.corpus import Document, DocumentList, SubjectSet
from annif.exception import NotInitializedException, OperationFailedException
from annif.suggestion import SuggestionBatch
from annif.vocab import Subject, SubjectIndexFile
from scipy import sparse

import labelkin_annif
from labelkin_annif.backend import LabelkinBackend
from labelkin_annif.fusion import Fusion

N_SUBJECTS = 2_000
BASE = "http://example.org/"


class Source:
    """A source with noisy scores; the text of a document is its number."""

    def __init__(self, truth, scale, seed):
        draw = np.random.default_rng(seed)
        noise = draw.normal(size=truth.shape).astype(np.float32)
        sure = 1 / (1 + np.exp(-(4 * truth - 3 + 1.5 * noise)))
        sure[sure < np.partition(sure, -40, axis=1)[:, [-40]]] = 0
        self.scores = sparse.csr_array(sure**scale, dtype=np.float32)

    def initialize(self, parallel=False):
        pass

    def suggest(self, documents, backend_params=None):
        rows = [int(document.text) for document in documents]
        return SuggestionBatch(self.scores[rows])


class World:
    """Two sources, a vocabulary, and documents in which subject 2k + 1 goes with 2k."""

    def __init__(self, folder):
        draw = np.random.default_rng(0)
        self.truth = np.zeros((400, N_SUBJECTS))
        for row in self.truth:
            first = 2 * draw.integers(0, 12, 2)
            row[first] = 1
            row[first + 1] = draw.random(2) < 0.9
        self.sources = {"a": Source(self.truth, 1, 1), "b": Source(self.truth, 3, 2)}
        self.subjects = SubjectIndexFile()
        for j in range(N_SUBJECTS):
            self.subjects.append(Subject(f"{BASE}{j}", {"en": f"subject {j}"}, f"N{j}"))
        self.datadir = str(folder)
        self.project_id = "kin"
        self.registry = self

    def get_project(self, name):
        return self.sources[name]

    def documents(self, rows, **metadata):
        return [
            Document(str(i), SubjectSet(np.flatnonzero(self.truth[i]).tolist()), metadata)
            for i in rows
        ]

    def backend(self):
        return LabelkinBackend("labelkin", {"sources": "a,b"}, self)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    found = World(tmp_path_factory.mktemp("kin"))
    found.backend().train(DocumentList(found.documents(range(300))), jobs=1)
    return found


def precision(batch, truth, top=4):
    rows = batch.array.toarray()
    best = np.argsort(-rows, axis=1)[:, :top]
    return np.take_along_axis(truth, best, axis=1).mean()


def test_annif_finds_the_backend_by_its_configuration():
    assert annif.backend.get_backend("labelkin") is LabelkinBackend
    with pytest.raises(ValueError, match="No such backend type"):
        annif.backend.get_backend("labelkin2")
    app = annif.create_flask_app("labelkin_annif.Config")
    assert app.config["DATADIR"] == "data"
    assert labelkin_annif.Config.INITIALIZE_PROJECTS is False


def test_ensemble_is_better_than_its_sources_and_their_mean(world):
    rows = range(300, 400)
    found = world.backend().suggest(world.documents(rows))
    assert found.array.shape == (100, N_SUBJECTS)
    assert found.array.dtype == np.float32
    assert 0 < found.array.data.min() <= found.array.data.max() <= 1
    sources = [source.suggest(world.documents(rows)) for source in world.sources.values()]
    mean = SuggestionBatch.from_averaged(sources, [0.5, 0.5])
    limited = world.backend().suggest(world.documents([300, 301]), {"limit": 3})
    assert np.diff(limited.array.indptr).tolist() == [3, 3]
    ours = precision(found, world.truth[300:])
    assert ours > max(precision(one, world.truth[300:]) for one in (*sources, mean))


@pytest.mark.parametrize("accepted", [f"<{BASE}0> {BASE}6", [f"{BASE}0", f"{BASE}6"]])
def test_known_subjects_are_certain_and_change_the_others(world, accepted):
    backend = world.backend()
    i = next(i for i in range(300, 400) if not world.truth[i, :2].any())
    [before] = backend.suggest(world.documents([i])).array.toarray()
    [after] = backend.suggest(world.documents([i], accepted=accepted)).array.toarray()
    assert after[0] == after[6] == 1
    if before[1]:
        assert after[1] > before[1]
    best = int(before.argmax())
    [without] = backend.suggest(world.documents([i], rejected=f"{BASE}{best}")).array.toarray()
    assert without[best] == 0


def test_updated_vocabulary_keeps_remaining_subjects(world):
    backend, ask = world.backend(), world.documents(range(300, 330))
    before = backend.suggest(ask).array.toarray()
    old = world.subjects
    try:
        world.subjects = SubjectIndexFile()
        for j in range(N_SUBJECTS):
            labels = None if j == 0 else {"en": f"subject {j}"}
            world.subjects.append(Subject(f"{BASE}{j}", labels, None))
        world.subjects.append(Subject(f"{BASE}new", {"en": "new"}, None))
        after = world.backend().suggest(ask).array.toarray()
    finally:
        world.subjects = old
    assert after.shape[1] == N_SUBJECTS + 1
    assert not after[:, 0].any()
    assert (after[:, 2:N_SUBJECTS] > 0).sum() > 0.9 * (before[:, 2:] > 0).sum()


def test_learn_updates_label_evidence(tmp_path):
    world = World(tmp_path)
    world.backend().train(DocumentList(world.documents(range(300))), jobs=1)
    metadata = {"accepted": f"{BASE}0"}
    backend = world.backend()
    ask = world.documents(range(300, 400), **metadata)
    before = backend.suggest(ask).array.toarray()
    more = [Document("0", SubjectSet([0, 20])) for _ in range(300)]
    backend.learn(DocumentList(more))
    after = world.backend().suggest(ask).array.toarray()
    both = (before[:, 20] > 0) & (after[:, 20] > 0)
    assert both.any()
    assert (after[both, 20] > before[both, 20]).mean() > 0.9


def test_missing_or_damaged_models_and_useless_documents_are_errors(world, tmp_path):
    empty = World(tmp_path)
    with pytest.raises(NotInitializedException, match="train the project first"):
        empty.backend().suggest(empty.documents([1]))
    (tmp_path / LabelkinBackend.MODEL_FILE).write_bytes(b"something else")
    with pytest.raises(OperationFailedException, match="not a model of labelkin-annif"):
        empty.backend().suggest(empty.documents([1]))
    with pytest.raises(OperationFailedException, match="subjects that the sources suggest"):
        nobody = [Document(str(i), SubjectSet([1999])) for i in range(3)]
        empty.sources["a"].scores[:, 1999] = 0
        empty.backend().train(DocumentList(nobody), jobs=1)


def test_invalid_weights_of_a_fusion_are_an_error():
    with pytest.raises(ValueError, match="must have 4 weights"):
        Fusion.read([["a"], [0.0, 1.0, 0.0], 0.0])
    fusion = Fusion.read([["a"], [0.0, 1.0, 0.0, 0.0], 0.0])
    scores = {"a": sparse.csr_array(np.array([[0.5, 0.0]]))}
    log_odds = fusion.log_odds(scores, np.zeros(2))
    assert log_odds.toarray()[0, 0] == pytest.approx(np.log(0.5))
    assert log_odds.nnz == 1
