"""Killed, resumed, shared, damaged, changed: the runs are the same or it is an error."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from labelkin.files import try_lock
from labelkin.research.experiments import (
    DamagedRun,
    parse_experiment,
    read_results,
    run_experiment,
    train,
)

EXPERIMENT = """
name = "small"
corpus = { name = "newsroom", options = { n_documents = 120 } }
[content.NB]
classifier = "naive_bayes"
[content.kNN]
classifier = "nearest_neighbours"
weights = "tfidf"
[labels.BLR]
classifier = "logistic"
"""
TINY = """
name = "tiny"
variants = ["M2"]
evidence_weights = ["auto"]
thresholds.S = { rule = "scut_fbr" }
corpus = { name = "newsroom", options = { n_documents = 60 } }
content.NB = { classifier = "naive_bayes" }
labels.BLR = { classifier = "logistic" }
"""
PROGRAM = Path(__file__).with_name("killed_runs.py")
needs_fork = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="this system has no fork, by which the children are made"
)


@pytest.fixture(scope="module", autouse=True)
def small_blocks():
    """Set the blocks of killed_runs.py: other blocks may change the last digits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "_BLOCK_DOCUMENTS", 15)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Run the experiment once without interruption."""
    return run_experiment(parse_experiment(EXPERIMENT), tmp_path_factory.mktemp("whole") / "out")


@pytest.fixture
def folder(whole, tmp_path):
    """Copy the finished experiment, to be harmed."""
    shutil.copytree(whole.folder, tmp_path / "out")
    return tmp_path / "out"


def files(folder):
    """Return the bytes of everything that must not depend on what happened."""
    names = (
        "log_odds.npy", "decisions.npy", "out_of_fold.npy", "truth.npz", "corpus.json",
        "experiment.toml",
    )  # fmt: skip
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.name in names
    }


@needs_fork
@pytest.mark.long
def test_a_kill_at_any_moment_loses_nothing_but_the_run_in_progress(tmp_path, long_proofs):
    file = tmp_path / "experiment.toml"
    file.write_text(TINY)
    arguments = [sys.executable, PROGRAM, file, tmp_path / "out", "1" if long_proofs else "9"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment
    ) as program:
        try:
            seen = json.loads(program.communicate(timeout=300)[0])
        finally:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
    assert seen["bad"] == []
    assert len(seen["folders"]) > (50 if long_proofs else 5)
    expected = files(run_experiment(parse_experiment(TINY), tmp_path / "whole").folder)
    for folder in map(Path, seen["folders"]):
        assert files(folder) == expected
        left = {path.name for path in folder.glob("newsroom/runs/*")}
        assert left == {
            "NB@seed0", "NB+BLR+M2_w=auto@seed0", "NB@S@seed0", "NB+BLR+M2_w=auto@S@seed0",
        }  # fmt: skip


def test_a_second_process_is_rejected_while_the_first_one_works(whole, folder):
    with (folder / ".lock").open("ab") as file:
        assert try_lock(file.fileno())
        with pytest.raises(BlockingIOError, match=r"One process at a time must run .*--out"):
            run_experiment(whole.experiment, folder)
    run_experiment(whole.experiment, folder)


def flip(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-8])


@pytest.mark.parametrize(
    ("name", "harm", "message"),
    [
        ("log_odds.npy", flip, r"log_odds.npy has the checksum \w+, and run.json has"),
        ("decisions.npy", Path.unlink, r"decisions.npy is missing"),
        ("run.json", truncate, r"run.json cannot be read"),
        ("run.json", Path.unlink, r"run.json cannot be read .*FileNotFoundError"),
    ],
)
def test_a_damaged_run_is_named_and_trained_again_after_deletion(
    whole, folder, name, harm, message
):
    run = folder / "newsroom" / "runs" / "kNN@seed0"
    harm(run / name)
    for read in (read_results, lambda place: run_experiment(whole.experiment, place)):
        with pytest.raises(DamagedRun, match=rf"kNN@seed0 is damaged: {message}.*Delete it"):
            read(folder)
    shutil.rmtree(run)
    run_experiment(whole.experiment, folder)
    assert files(folder) == files(whole.folder)


@pytest.mark.parametrize("name", ["truth.npz", "corpus.json"])
@pytest.mark.parametrize("harm", [truncate, Path.unlink])
def test_a_damaged_corpus_record_is_named_and_written_again_after_deletion(
    whole, folder, name, harm
):
    record = folder / "newsroom" / name
    harm(record)
    with pytest.raises(ValueError, match=rf"{name} is damaged: .*Delete it"):
        read_results(folder)
    record.unlink(missing_ok=True)
    run_experiment(whole.experiment, folder)
    assert files(folder) == files(whole.folder)


def test_a_run_under_a_wrong_name_is_found(folder):
    runs = folder / "newsroom" / "runs"
    shutil.rmtree(runs / "kNN+BLR+M1@seed0")
    shutil.copytree(runs / "kNN+BLR+M2@seed0", runs / "kNN+BLR+M1@seed0")
    with pytest.raises(ValueError, match=r"not of this experiment: addition.variant was 'M2' and"):
        read_results(folder)


def test_an_unfinished_experiment_is_named_and_can_be_read_in_part(folder):
    shutil.rmtree(folder / "newsroom" / "runs" / "kNN+BLR+M1@seed0")
    with pytest.raises(FileNotFoundError, match=r"unfinished: 1 of 6 .*kNN\+BLR\+M1@seed0 on news"):
        read_results(folder)
    assert len(read_results(folder, partial=True).runs) == 5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('weights = "tfidf"', 'weights = "ltc"', r"content.weights was 'tfidf' and is 'ltc'"),
        ("n_documents = 120", "n_documents = 121", r"options.n_documents was 120 and is 121"),
        (
            '"naive_bayes"',
            '"naive_bayes"\nalpha = 0.5',
            r"parameters.alpha was not given and is 0.5",
        ),
    ],
)
def test_a_changed_experiment_is_an_error_with_a_hint(folder, old, new, message):
    before = files(folder)
    changed = parse_experiment(EXPERIMENT.replace(old, new))
    with pytest.raises(ValueError, match=rf"not of this experiment: .*{message}.*--out.*or delete"):
        run_experiment(changed, folder)
    assert files(folder) == before


def test_a_changed_corpus_is_an_error(folder, whole, tmp_path):
    lines = [
        {"id": i, "text": "tea corn", "labels": ["tea"], "split": ["train", "test"][i % 2]}
        for i in range(8)
    ]
    file = tmp_path / "mine.jsonl"
    text = EXPERIMENT.replace(
        '"newsroom", options = { n_documents = 120 }', f'"m", path = "{file}"'
    )
    experiment = parse_experiment(text)
    file.write_text("\n".join(map(json.dumps, lines)))
    run_experiment(experiment, tmp_path / "mine")
    file.write_text("\n".join(map(json.dumps, lines)).replace("corn", "rice", 1))
    run_experiment(experiment, tmp_path / "mine")  # nothing is missing, and nothing is read
    shutil.rmtree(tmp_path / "mine" / "m" / "runs" / "kNN@seed0")
    with pytest.raises(ValueError, match=r"made on other data: .*training documents was '\w+' and"):
        run_experiment(experiment, tmp_path / "mine")
