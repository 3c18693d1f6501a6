"""Damaged, foreign and incomplete files raise errors with a reason; headers."""

import errno
import os
import pickle
import random
import re
import struct
import sys
import warnings
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from forged_files import FIXED, MAGIC, join_file, split_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from labelkin import LabelRescorer, NaiveBayes, PerLabel
from labelkin.storage import load, read_header, save

SETS = [["sea"], ["sea", "town"], ["town"], []]


@pytest.fixture
def path(tmp_path):
    return save(LabelRescorer().fit(SETS), tmp_path / "model.labelkin")


@pytest.fixture
def other(tmp_path):
    model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4], [1, 1]], SETS)
    return save(model, tmp_path / "other.labelkin")


def why_not(read, path):
    with pytest.raises(ValueError) as caught:
        read(path)
    return str(caught.value)


def flipped(raw, other, draw):
    place = draw.randrange(len(raw))
    return raw[:place] + bytes([raw[place] ^ (1 << draw.randrange(8))]) + raw[place + 1 :]


def truncated(raw, other, draw):
    return raw[: draw.randrange(len(raw))]


def appended(raw, other, draw):
    return raw + draw.randbytes(draw.randint(1, 100))


def spliced(raw, other, draw):
    """The first half of one file and the second of another, or the same with a piece left out."""
    place = draw.randrange(1, len(raw))
    second = other if draw.random() < 0.5 else raw
    return raw[:place] + second[place + draw.randint(1, 9) :]


DAMAGES = (flipped, truncated, appended, spliced)


def test_random_damage_is_detected(path, other, tmp_path):
    whole, second, draw = path.read_bytes(), other.read_bytes(), random.Random(0)
    damaged = tmp_path / "damaged.labelkin"
    for i in range(400):
        raw = DAMAGES[i % len(DAMAGES)](whole, second, draw)
        if raw == whole:
            continue
        damaged.write_bytes(raw)
        for read in (load, read_header):
            message = why_not(read, damaged)
            assert re.search(r"damaged|cut off|not a labelkin|format version", message), message


def test_checksum_is_verified_first(path, monkeypatch):
    raw = bytearray(path.read_bytes())
    raw[100] ^= 1
    path.write_bytes(raw)
    monkeypatch.setattr("labelkin.storage.file.json", None)  # parsing fails
    for read in (load, read_header):
        assert "checksum is not that of its contents. Copy it again" in why_not(read, path)


@pytest.mark.parametrize("part", [40, 48, 56])
def test_forged_lengths_allocate_no_memory(path, part):
    raw = bytearray(path.read_bytes())
    raw[part : part + 8] = (2**62).to_bytes(8, "little")
    path.write_bytes(raw)
    for read in (load, read_header):
        assert re.search(r"is cut off: by its header it has 4611686\d+ bytes", why_not(read, path))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is bounded there")
@pytest.mark.parametrize("part", [0, 1, 2])
def test_sparse_file_larger_than_memory_is_named(tmp_path, part):
    import resource

    lengths = [8, 8, 64]
    lengths[part] = 20 * 2**30
    path = tmp_path / "gaps"
    path.write_bytes(struct.pack(FIXED, MAGIC, 3, b"0.1.0", *lengths))
    os.truncate(path, 64 + sum(lengths) + 32)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + 2**30, before[1]))
    try:
        with pytest.raises(
            ValueError, match=r"gaps has a part of 21,474,836,\d+ bytes, and there is no memo"
        ):
            load(path)
        if part == 0:
            with pytest.raises(ValueError, match="there is no memory to load it"):
                read_header(path)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_newer_format_is_named_with_its_writer(path):
    join_file(path, b"?", b"?", version=7, writer=b"3.2.1")
    for read in (load, read_header):
        message = why_not(read, path)
        assert "format version 7, written by labelkin '3.2.1', and this" in message
        assert "reads version 3. Update labelkin" in message


@pytest.mark.parametrize("version", [0, 1, 2])
def test_older_format_asks_for_training(path, version):
    join_file(path, b"?", b"?", version=version)
    sentence = (
        f"{path} has format version {version}, written by labelkin '0.1.0', and this labelkin "
        "reads version 3. Train the model again."
    )
    for read in (load, read_header):
        assert why_not(read, path) == sentence


class Bomb:
    """Unpickled, it leaves a trace."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


@pytest.mark.parametrize("protocol", range(2, 6))
def test_pickle_is_named_and_not_loaded(tmp_path, protocol):
    path = tmp_path / "model.labelkin"
    path.write_bytes(pickle.dumps(Bomb(tmp_path / "trace"), protocol=protocol))
    assert "looks like a pickle, as joblib files are" in why_not(load, path)
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", "another kind of data"),
        (b"label,score\nsea,0.5\n", "another kind of data"),
        (
            b"\x89LABELKIN\n\x1a\n" + bytes(90),
            "a model file whose line ends a transfer has changed",
        ),
    ],
)
def test_other_files_are_named_by_first_bytes(tmp_path, raw, kind):
    path = tmp_path / "model.labelkin"
    path.write_bytes(raw)
    for read in (load, read_header):
        message = why_not(read, path)
        assert f"{path} is not a labelkin model file: it looks like {kind}" in message
        assert "labelkin.save write model files." in message


def test_folder_and_missing_file_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"A model must be an ordinary file, got"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no model file .*none.labelkin .*labelkin.save"):
        load(tmp_path / "none.labelkin")
    with pytest.raises(FileExistsError, match=r"must be an ordinary file, and .* is a folder"):
        save(LabelRescorer().fit(SETS), tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nowhere.m\.labelkin"):
        save(LabelRescorer().fit(SETS), tmp_path / "nowhere" / "m.labelkin")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")
def test_pipe_is_rejected(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "an ordinary file" in why_not(load, tmp_path / "pipe")


class Interrupted(BaseException):
    """As Ctrl-C is, no Exception."""


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "disk full"), Interrupted()], ids=repr)
@pytest.mark.parametrize("step", ["os.replace", "os.fsync", "labelkin.storage.file.array_bytes"])
def test_interrupted_save_leaves_only_the_old_file(path, monkeypatch, step, error):
    before = path.read_bytes()

    def fail(*_):
        raise error

    with monkeypatch.context() as patch, pytest.raises(type(error)):
        patch.setattr(step, fail)
        save(NaiveBayes().fit([[1, 0], [0, 2]], [["a"], ["b"]]), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


X = np.array([[3.0, 0], [2, 1], [0, 4], [1, 1]])
Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
TEXTS = ["sea sea", "sea town", "town", "gulls"]
SETS = [["sea"], ["sea", "town"], ["town"], []]


def test_header_describes_the_model(tmp_path):
    summary = {"corpus": "coast", "documents": 4, "micro_f1": 0.75, "nested": {"list": [1, None]}}
    model = make_pipeline(CountVectorizer(), NaiveBayes()).fit(TEXTS, SETS)
    path = save(model, tmp_path / "coast.labelkin", summary=summary)
    header = read_header(path)
    assert header.path == path
    assert header.format_version == 3
    assert header.model == "Pipeline"
    assert header.labels == ("sea", "town")
    assert header.summary == summary
    assert header.file_bytes == path.stat().st_size
    assert set(header.class_names) == {
        "NaiveBayes",
        "TermCounts",
        "sklearn.feature_extraction.text.CountVectorizer",
        "sklearn.pipeline.Pipeline",
    }
    assert timedelta(0) <= datetime.now(UTC) - header.created < timedelta(minutes=5)
    for package in ("labelkin", "numpy", "scikit-learn", "scipy"):
        assert header.versions[package] == version(package)


def saved_by(path, **versions):
    about, model, data = split_file(path)
    return join_file(path, {**about, "versions": about["versions"] | versions}, model, data)


def test_other_scikit_learn_version_warns(tmp_path):
    path = save(PerLabel(LogisticRegression()).fit(X, Y), tmp_path / "model.labelkin")
    saved_by(path, **{"scikit-learn": "1.2.3"})
    now = version("scikit-learn")
    with pytest.warns(
        UserWarning, match=rf"model.labelkin was saved with .*1\.2\.3.*{now}"
    ) as warned:
        load(path)
    assert warned[0].filename == __file__


def test_model_without_scikit_learn_parts_does_not_warn(tmp_path):
    path = save(NaiveBayes().fit(X, Y), tmp_path / "model.labelkin")
    saved_by(path, **{"scikit-learn": "1.2.3"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(path)


def test_missing_parameter_raises(tmp_path):
    path = save(NaiveBayes().fit(X, Y), tmp_path / "model.labelkin")
    about, model, data = split_file(path)
    del model["model"]["object"][1]["alpha"]
    join_file(path, about, model, data)
    with pytest.raises(ValueError, match="NaiveBayes lacks alpha, which this version has; read"):
        load(path)
