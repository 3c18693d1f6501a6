"""Atomic writes replace ordinary files only, keep modes, and leave no other files."""

import errno
import os
import stat

import pytest

from labelkin import NaiveBayes, files, storage
from labelkin.files import atomic_replace, write_atomic

MODEL = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_only_ordinary_files_are_replaced(pipe, tmp_path):
    (tmp_path / "link").symlink_to(pipe)
    for target in (pipe, tmp_path / "link"):
        with pytest.raises(FileExistsError, match="is a device or pipe"):
            write_atomic(target, "x")
        with pytest.raises(FileExistsError, match="is a device or pipe"):
            storage.save(MODEL, target)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(FileExistsError, match="is a folder"):
        write_atomic(tmp_path, "x")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_mode_of_the_file_is_kept(tmp_path, mode):
    path = tmp_path / "model"
    path.touch()
    path.chmod(mode)
    storage.save(MODEL, path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid(), reason="only root gives files away")
def test_owner_of_the_file_is_kept(tmp_path):
    path = tmp_path / "model"
    path.touch(0o600)
    os.chown(path, 12345, 12346)
    storage.save(MODEL, path)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "model"
    path.write_text("old")
    path.chmod(0o440)
    with pytest.raises(PermissionError, match="is read-only and stays"):
        storage.save(MODEL, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EFBIG])
def test_disk_error_names_the_file(tmp_path, monkeypatch, number):
    def failing(file):
        raise OSError(number, os.strerror(number))

    path = tmp_path / "model"
    path.write_text("old")
    monkeypatch.setattr(files, "to_disk", failing)
    with pytest.raises(OSError, match=os.strerror(number)) as caught, atomic_replace(path) as file:
        file.write(b"new")
    assert (caught.value.errno, caught.value.filename) == (number, str(path))
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
