"""A trained Omikuji forest: the files of its folder, and the scores that Omikuji returns.

Omikuji is compiled code that ends the whole process on unexpected input, and that prints to
standard output. So it is trained in a separate process, and a folder that comes from a model file
is first read by a separate process, which scores a document that has every feature: that reaches
each weight of each tree.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import omikuji
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from labelkin.files import python_command
from labelkin.solvers.cosine_index import unit_rows

#: Seconds a process may take to try a folder: at least, and per megabyte.
_SECONDS, _SECONDS_PER_MB = 60.0, 1.0
#: Minimum number of branches that are followed on each level of a tree: Omikuji's default.
_LEAST_BEAM = 10
#: Documents × features written at a time.
_ROWS = 1000
_FIELDS = ("files", "n_features", "n_labels")
_stdout_lock = Lock()

#: Program of the training process: data file, folder, threads, number of trees.
_TRAIN = """
import json, sys
import omikuji
data, folder, threads, n_trees = json.loads(sys.argv[1])
parameters = omikuji.Model.default_hyper_param()
parameters.n_trees = n_trees
omikuji.Model.train_on_data(data, parameters, threads).save(folder)
"""
#: Program of the process that tries a folder, with limited memory.
_TRY = """
import json, sys
import omikuji
folder, n_features, n_labels, n_trees, most_bytes = json.loads(sys.argv[1])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
except (ImportError, OSError, ValueError):
    pass
model = omikuji.Model.load(folder)
model.init_prediction_thread_pool(1)
assert (model.n_features, model.n_trees) == (n_features, n_trees)
every = [(j, 1.0) for j in range(n_features)]
for document in ([], every):
    found = model.predict(document, n_labels + 1, n_labels + 1)
    assert all(label < n_labels and 0 <= score <= 1.001 for label, score in found)
    assert len({label for label, _ in found}) == len(found) <= n_labels
"""


@dataclass(frozen=True, eq=False)
class OmikujiForest:
    """The files of a trained model.

    Attributes
    ----------
    files
        Name → bytes: the settings, in JSON, and the trees, in CBOR.
    n_features, n_labels
        Numbers of features and labels.
    """

    files: dict[str, NDArray[np.uint8]]
    n_features: int
    n_labels: int

    @classmethod
    def train(
        cls, X: Any, positive: sparse.csr_array, n_trees: int, n_threads: int
    ) -> OmikujiForest:
        """Train on documents and their labels, at least one of which some document has.

        Parameters
        ----------
        X
            Documents, dense or sparse; only their direction is used.
        positive
            The labels of each, ``(n_documents, n_labels)``.
        n_trees
            Number of trees.
        n_threads
            Number of threads.
        """
        with tempfile.TemporaryDirectory(prefix="labelkin-") as private:
            data, folder = Path(private, "data.txt"), Path(private, "forest")
            _write_data(data, X, positive)
            if reason := _run(_TRAIN, [str(data), str(folder), n_threads, n_trees], private):
                raise ValueError(
                    f"Omikuji could not be trained on {X.shape[0]} documents with {X.shape[1]} "
                    f"features and {positive.shape[1]} labels: {reason}"
                )
            files = {
                path.name: np.fromfile(path, dtype=np.uint8) for path in sorted(folder.iterdir())
            }
            trained = cls(files, X.shape[1], positive.shape[1])
            vars(trained)["_model"] = _read(folder)  # just trained: needs no trial
        return trained

    def scores(self, X: Any, top: int, n_threads: int = 1) -> sparse.csr_array:
        """Return the scores, in [0, 1], of the ``top`` best labels of each document.

        Parameters
        ----------
        X
            Documents, dense or sparse.
        top
            Maximum number of labels per document.
        n_threads
            Number of threads.
        """
        model = self._model
        beam_size = min(max(top, _LEAST_BEAM), self.n_labels)
        documents = sparse.csr_array(unit_rows(X))
        labels, scores, ends = [], [], [0]
        model.init_prediction_thread_pool(n_threads)
        for start, stop in pairwise(documents.indptr.tolist()):
            terms = documents.indices[start:stop].tolist()
            values = documents.data[start:stop].tolist()
            found = sorted(model.predict(list(zip(terms, values, strict=True)), beam_size, top))
            labels += [label for label, _ in found]
            scores += [score for _, score in found]
            ends.append(len(labels))
        values = np.clip(np.array(scores, dtype=np.float64), 0.0, 1.0)
        shape = X.shape[0], self.n_labels
        return sparse.csr_array(
            (values, np.array(labels, dtype=np.int32), np.array(ends)), shape=shape
        )

    @staticmethod
    def check_state(state: dict[str, Any]) -> None:
        """Raise ``ValueError`` for a state whose files are not those of a trained model."""
        if set(state) != set(
            _FIELDS
        ):  # another attribute could replace the model read from the files
            raise ValueError(f"an Omikuji forest with other fields than {', '.join(_FIELDS)}")
        files, n_features, n_labels = (state[name] for name in _FIELDS)
        if not isinstance(files, dict) or not all(
            isinstance(content, np.ndarray) and content.dtype == np.uint8 and content.ndim == 1
            for content in files.values()
        ):
            raise ValueError("an Omikuji forest whose files are not bytes")
        trees = {f"tree{i}.cbor" for i in range(len(files) - 1)}
        if set(files) != trees | {"settings.json"} or not trees:
            raise ValueError("an Omikuji forest with other files than its settings and trees")
        if not all(type(n) is int and n > 0 for n in (n_features, n_labels)):
            raise ValueError("an Omikuji forest without features or labels")

    @cached_property
    def _model(self) -> Any:
        """Omikuji's model, read from a private folder after a separate process has read it."""
        self.check_state(self.__getstate__())
        with tempfile.TemporaryDirectory(prefix="labelkin-") as private:
            folder = Path(private, "forest")
            folder.mkdir(mode=0o700)
            for name, content in self.files.items():  # names were checked
                content.tofile(folder / name)
            n_bytes = sum(content.nbytes for content in self.files.values())
            most_bytes = 2**31 + 32 * n_bytes
            sizes = [self.n_features, self.n_labels, len(self.files) - 1, most_bytes]
            seconds = _SECONDS + _SECONDS_PER_MB * n_bytes / 2**20
            if reason := _run(_TRY, [str(folder), *sizes], private, seconds):
                raise ValueError(
                    "The Omikuji forest of this model cannot be read, it is damaged or forged. "
                    f"{reason} Train the model again."
                )
            return _read(folder)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the pointer of this process."""
        return {name: value for name, value in vars(self).items() if name != "_model"}


def _write_data(path: Path, X: Any, positive: sparse.csr_array) -> None:
    """Write documents in the format of the extreme classification repository."""
    with path.open("wb") as file:
        file.write(b"%d %d %d\n" % (*X.shape, positive.shape[1]))
        for first in range(0, X.shape[0], _ROWS):
            rows, text = slice(first, first + _ROWS), BytesIO()
            unit = sparse.csr_array(unit_rows(X[rows]))
            # scikit-learn writes 32-bit indices only.
            unit.indices, unit.indptr = unit.indices.astype("i4"), unit.indptr.astype("i4")
            dump_svmlight_file(unit, positive[rows], text, multilabel=True)
            file.write(text.getvalue().replace(b" \n", b"\n"))  # documents without features


def _run(program: str, given: list[Any], folder: str, seconds: float | None = None) -> str:
    """Run a program that finds Omikuji where this process does; return why it failed, or ""."""
    command, environment = python_command(program, json.dumps(given))
    try:
        subprocess.run(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return f"It took more than {seconds:.0f} s."
    except subprocess.CalledProcessError as error:
        lines = [line.split("\r")[-1].strip() for line in error.stderr.splitlines()]
        panics = [line for line in lines if "panicked at" in line]  # not the progress bars
        last = (panics or list(filter(None, lines)) or [f"exit status {error.returncode}"])[-1]
        return f"{last[:200].rstrip('.:')}."
    return ""


def _read(folder: Path) -> Any:
    """Read a folder without Omikuji's reports on standard output."""
    with _stdout_lock, Path(os.devnull).open("wb") as nowhere:
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(nowhere.fileno(), 1)
        try:
            return omikuji.Model.load(str(folder))
        finally:
            os.dup2(kept, 1)
            os.close(kept)
