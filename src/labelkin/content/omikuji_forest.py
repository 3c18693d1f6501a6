"""A trained Omikuji forest: the files of its folder, and the scores that Omikuji gives from them.

Omikuji is compiled code that ends the whole process where it meets what it does not expect, and
that prints to standard output. So it is trained in a process of its own, and a folder that comes
from a file is first read by a process of its own, which scores a document that has every feature:
that reaches each weight of each tree. What that process survives is read here.

Needs Omikuji (``pip install "labelkin[omikuji]"``), which is imported when it is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.helper_process import python_command
from labelkin.solvers.cosine_index import unit_rows

_NEEDED = 'OmikujiContent needs Omikuji: pip install "labelkin[omikuji]".'
_SETTINGS = "settings.json"
_TREE = re.compile(r"tree(0|[1-9]\d{0,3})\.cbor")
#: Bytes of all files together, and of the settings, which are two lines.
_MOST_BYTES, _MOST_SETTINGS = 2**36, 2**12
#: Seconds a process may take to try a folder: at least, and per megabyte.
_SECONDS, _SECONDS_PER_MB = 60.0, 1.0
#: Documents × features written at a time.
_ROWS = 1000

#: What the training process does: data file, folder, threads, hyper-parameters.
_TRAIN = """
import json, sys
import omikuji
data, folder, threads, given = json.loads(sys.argv[1])
parameters = omikuji.Model.default_hyper_param()
for name, value in given.items():
    setattr(parameters, name, value)
omikuji.Model.train_on_data(data, parameters, threads).save(folder)
"""
#: What the process does that tries a folder; it may not take much more memory than the folder.
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
    checksums
        Name → SHA-256 of the file.
    n_features, n_labels
        What documents have, and what labels are numbered below.
    """

    files: dict[str, NDArray[np.uint8]]
    checksums: dict[str, str]
    n_features: int
    n_labels: int

    @classmethod
    def train(
        cls,
        X: Any,
        positive: sparse.csr_array,
        parameters: Mapping[str, Any],
        n_threads: int,
    ) -> OmikujiForest:
        """Train on documents and their labels, at least one of which some document has.

        Parameters
        ----------
        X
            Documents, dense or sparse; each counts by its direction alone.
        positive
            The labels of each, ``(n_documents, n_labels)``.
        parameters
            Omikuji's hyper-parameters, by its names for them.
        n_threads
            How many threads it may use.
        """
        check_installed()
        with tempfile.TemporaryDirectory(prefix="labelkin-") as private:
            data, folder = Path(private, "data.txt"), Path(private, "forest")
            _write_data(data, X, positive)
            given = [str(data), str(folder), n_threads, dict(parameters)]
            done = _run(_TRAIN, given, private, None)
            if done.returncode:
                raise ValueError(
                    f"Omikuji could not be trained on {X.shape[0]} documents with {X.shape[1]} "
                    f"features and {positive.shape[1]} labels: {_last_words(done)}"
                )
            files = {
                path.name: np.fromfile(path, dtype=np.uint8) for path in sorted(folder.iterdir())
            }
            checksums = {name: _checksum(content) for name, content in files.items()}
            trained = cls(files, checksums, X.shape[1], positive.shape[1])
            vars(trained)["_model"] = _read(folder)  # what was just trained needs no trial
        return trained

    def scores(self, X: Any, beam_size: int, top: int, n_threads: int = 1) -> sparse.csr_array:
        """Return the scores, in [0, 1], of the ``top`` best labels of each document.

        Parameters
        ----------
        X
            Documents, dense or sparse.
        beam_size
            How many branches are looked at on every level of a tree.
        top
            How many labels are returned at most.
        n_threads
            How many threads may look at the trees of a document.
        """
        model = self._model
        beam_size, top = (min(max(n, 1), self.n_labels) for n in (beam_size, top))
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

    def check(self) -> None:
        """Raise ``ValueError`` for files that are not those of a trained model."""
        files, checksums = self.files, self.checksums
        if not (isinstance(files, dict) and isinstance(checksums, dict)):
            raise ValueError("an Omikuji forest without files")
        wrong = [name for name in files if not (name == _SETTINGS or _is_tree(name))]
        if wrong:
            raise ValueError(f"an Omikuji forest with the file {str(wrong[0])[:80]!r}")
        contents = files.values()
        if not all(
            isinstance(content, np.ndarray) and content.dtype == np.uint8 and content.ndim == 1
            for content in contents
        ):
            raise ValueError("files of an Omikuji forest that are no bytes")
        if sum(content.nbytes for content in contents) > _MOST_BYTES:
            raise ValueError(f"an Omikuji forest of more than {_MOST_BYTES >> 30} GB")
        trees = {f"tree{i}.cbor" for i in range(len(files) - 1)}
        if set(files) != trees | {_SETTINGS} or not trees:
            raise ValueError("an Omikuji forest whose trees are not numbered from 0")
        if checksums != {name: _checksum(content) for name, content in files.items()}:
            raise ValueError("an Omikuji forest whose checksums are not those of its files")
        if not all(type(n) is int and n > 0 for n in (self.n_features, self.n_labels)):
            raise ValueError("an Omikuji forest without features or labels")
        self._check_settings()

    def _check_settings(self) -> None:
        content = self.files[_SETTINGS]
        try:
            settings = json.loads(content.tobytes()) if len(content) <= _MOST_SETTINGS else None
        except (ValueError, RecursionError):
            settings = None
        losses = [{"n_features": self.n_features, "classifier_loss_type": x} for x in _LOSSES]
        if settings not in losses:
            raise ValueError(
                f"an Omikuji forest whose settings are not those of {self.n_features} features"
            )

    @cached_property
    def _model(self) -> Any:
        """Omikuji's model, read from a private folder once a process of its own has read it."""
        check_installed()
        self.check()
        with tempfile.TemporaryDirectory(prefix="labelkin-") as private:
            folder = Path(private, "forest")
            folder.mkdir(mode=0o700)
            for name, content in self.files.items():  # of our own names alone, as checked
                content.tofile(folder / name)
            n_bytes = sum(content.nbytes for content in self.files.values())
            most_bytes = 2**31 + 32 * n_bytes
            sizes = [self.n_features, self.n_labels, len(self.files) - 1, most_bytes]
            seconds = _SECONDS + _SECONDS_PER_MB * n_bytes / 2**20
            try:
                done = _run(_TRY, [str(folder), *sizes], private, seconds)
            except subprocess.TimeoutExpired:
                raise ValueError(
                    f"The Omikuji forest of this model cannot be read within {seconds:.0f} s: it "
                    "is damaged or forged. Train the model again."
                ) from None
            if done.returncode:
                raise ValueError(
                    "The Omikuji forest of this model cannot be read, it is damaged or forged: "
                    f"{_last_words(done)} Train the model again."
                )
            return _read(folder)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is a pointer of this process."""
        return {name: value for name, value in vars(self).items() if name != "_model"}


_LOSSES = ("Hinge", "Log")
_quiet_lock = Lock()


def check_installed() -> None:
    """Raise where Omikuji is not installed."""
    try:
        found = find_spec("omikuji")
    except ValueError:  # someone has put None in its place
        found = None
    if found is None:
        raise ImportError(_NEEDED)


def _write_data(path: Path, X: Any, positive: sparse.csr_array) -> None:
    """Write documents as the extreme classification repository has them."""
    with path.open("w", encoding="ascii") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {positive.shape[1]}\n")
        for first in range(0, X.shape[0], _ROWS):
            rows = slice(first, first + _ROWS)
            documents, labels = sparse.csr_array(unit_rows(X[rows])), positive[rows]
            ends = zip(pairwise(documents.indptr.tolist()), pairwise(labels.indptr), strict=True)
            for (start, stop), (begin, end) in ends:
                terms = documents.indices[start:stop].tolist()
                values = documents.data[start:stop].tolist()
                named = ",".join(map(str, labels.indices[begin:end].tolist()))
                pairs = (f"{j}:{value:.9g}" for j, value in zip(terms, values, strict=True))
                file.write(" ".join([named, *pairs]) + "\n")


def _run(
    program: str, given: list[Any], folder: str, seconds: float | None
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own that finds Omikuji where this one does."""
    command, environment = python_command(program, json.dumps(given))
    return subprocess.run(
        command,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    """Return what a process said at its end, without progress bars and without its folders."""
    said = [line.split("\r")[-1].strip() for line in done.stderr.splitlines()]
    panics = [line for line in said if "panicked at" in line]
    last = [line for line in said if line][-1:]
    words = (panics[-1:] or last or [f"it ended with {done.returncode}"])[0]
    return f"{words[:200].rstrip('.:')}."


def _read(folder: Path) -> Any:
    import omikuji

    with _quiet():
        return omikuji.Model.load(str(folder))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Omikuji reports while it reads a folder from standard output."""
    with _quiet_lock:
        sys.stdout.flush()
        try:
            kept = os.dup(1)
        except OSError:  # closed
            yield
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 1)
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)
            os.close(nowhere)


def _checksum(content: NDArray[np.uint8]) -> str:
    return hashlib.sha256(content.tobytes()).hexdigest()


def _is_tree(name: Any) -> bool:
    return isinstance(name, str) and bool(_TREE.fullmatch(name))
