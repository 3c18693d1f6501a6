"""A disk of one megabyte becomes full: an error names the file, and older data stay."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

from labelkin import LabelRescorer, cli, storage
from labelkin.curation.saved_work import Entry, SavedWork, read_saved_documents
from labelkin.text import WordCounts


@pytest.fixture
def disk(tmp_path):
    """Mount a disk, where that is allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted or not sys.platform.startswith("linux"):
        pytest.skip("a disk cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def rescorer(n_labels):
    return LabelRescorer(evidence_weight=1).fit(np.eye(n_labels, dtype=int))


def test_older_model_stays(disk):
    path = storage.save(rescorer(5), disk / "m.labelkin")
    before, other = path.read_bytes(), rescorer(6)
    (disk / "filler").write_bytes(bytes(shutil.disk_usage(disk).free))
    with pytest.raises(OSError, match=r"m\.labelkin"):
        storage.save(other, path)
    assert path.read_bytes() == before
    assert sorted(one.name for one in disk.iterdir()) == ["filler", "m.labelkin"]
    assert len(storage.load(path).label_names_) == 5


def test_acknowledged_entries_stay_and_saving_resumes(disk):
    filler = disk / "filler"
    filler.write_bytes(bytes(500_000))
    saved_work, acknowledged = SavedWork(disk / "j.sqlite"), []
    for i in range(200):
        text = f"document {i} " + "x" * 20_000
        try:
            saved_work.save([Entry("m", text, ("a",))])
        except OSError as error:
            assert "j.sqlite" in str(error)
            break
        acknowledged.append(text)
    assert 0 < len(acknowledged) < 200
    with pytest.raises(OSError, match=r"j\.sqlite"):
        saved_work.check_writable()
    filler.unlink()
    saved_work.check_writable()
    saved_work.save([Entry("m", "the last", ("a",))])
    saved_work.close()
    assert read_saved_documents(disk / "j.sqlite").documents == [*acknowledged, "the last"]


def test_predict_names_the_file_and_resumes(disk, tmp_path, capsys):
    from sklearn.pipeline import make_pipeline

    from labelkin import LabelDependenceClassifier, NaiveBayes

    texts = ["gas oil", "tea milk", "oil", "milk"]
    model = make_pipeline(
        WordCounts(min_documents=1), LabelDependenceClassifier(NaiveBayes(), evidence_weight=0.5)
    ).fit(texts, [["fuel"], ["drink"], ["fuel"], ["drink"]])
    path, source = storage.save(model, tmp_path / "m.labelkin"), tmp_path / "t.txt"
    source.write_text("gas oil\ntea\n" * 2_000)
    filler = disk / "filler"
    filler.write_bytes(bytes(2**20 - 3 * 4096))
    command = ["predict", str(path), str(source), "-o", str(disk / "out.jsonl"), "--resume"]
    with pytest.raises(SystemExit) as end:
        cli.main(command)
    assert end.value.code == 1
    said = capsys.readouterr().err
    assert "out.jsonl" in said
    assert "Traceback" not in said
    filler.unlink()
    with pytest.raises(SystemExit) as end:
        cli.main(command)
    assert not end.value.code
    assert len((disk / "out.jsonl").read_text().splitlines()) == 4_000
