"""Closed streams, full disks and a second writer: one line, the right code, no third state."""

import json
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from labelkin.prediction.output import answers_file, make_layout, resume_note

RUN = "import sys; from labelkin.cli import main; main(sys.argv[1:])"


def labelkin(*arguments, closed=(), most_bytes=None, **options):
    """Run the command with some streams closed, and files of a bounded size."""

    def prepare():
        for descriptor in closed:
            os.close(descriptor)
        if most_bytes is not None:
            import signal

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    return subprocess.run(
        [sys.executable, "-c", RUN, *map(str, arguments)],
        preexec_fn=prepare,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": ""},  # as users have it
        timeout=120,
        **{"capture_output": True, **options},
        check=False,
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from sklearn.pipeline import make_pipeline

    from labelkin import LabelDependenceClassifier, NaiveBayes, storage
    from labelkin.text import WordCounts

    pipeline = make_pipeline(
        WordCounts(min_documents=1), LabelDependenceClassifier(NaiveBayes(), evidence_weight=0.5)
    ).fit(["gas oil", "tea milk", "oil", "milk"], [["fuel"], ["drink"], ["fuel"], ["drink"]])
    return storage.save(pipeline, tmp_path_factory.mktemp("models") / "small.labelkin")


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    path.write_text("".join(f'{{"text": "gas and tea {i}"}}\n' for i in range(3000)))
    return path


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_streams_cause_no_traceback(model, closed):
    done = labelkin("inspect", model, closed=closed)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    done = labelkin("predict", model, "-", closed=closed)
    assert done.returncode in (0, 2)
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("command", ["inspect", "predict"])
def test_full_disk_of_stdout_is_reported(model, texts, command):
    with Path("/dev/full").open("wb") as full:
        done = labelkin(
            command,
            model,
            *([texts] if command == "predict" else []),
            capture_output=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1] == "labelkin: stdout: No space left on device."
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_full_disk_of_a_file_is_reported(model, texts, tmp_path):
    out = tmp_path / "labels.jsonl"
    done = labelkin("predict", model, texts, "--out", out, "--batch", "100", most_bytes=20_000)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1] == f"labelkin: {out}: File too large."
    done = labelkin("predict", model, texts, "--out", out, "--resume")
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in out.open()] == list(range(1, 3001))


def test_two_writers_of_one_file_do_not_mix(model, texts, tmp_path):
    out = tmp_path / "labels.jsonl"
    layout, note = make_layout("jsonl", ["tea"]), resume_note(model, {})
    with answers_file(out, layout, iter(()), note) as (write, _):
        write('{"id": 1}\n')
        done = labelkin("predict", model, texts, "--out", out, "--resume")
        assert done.returncode == 2
        assert b"is being written by another" in done.stderr
        write('{"id": 2}\n')
    assert out.read_text() == '{"id": 1}\n{"id": 2}\n'


def test_a_pipe_is_neither_removed_nor_replaced_by_answers(model, texts, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = labelkin("predict", model, texts, "--out", pipe, "--replace")
    assert done.returncode == 2
    assert b"is a device or pipe" in done.stderr
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_closed_pipe_causes_no_traceback(model, texts):
    pipe = subprocess.Popen(
        [sys.executable, "-c", RUN, "predict", model, texts, "-q"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    pipe.stdout.readline()
    pipe.stdout.close()
    assert pipe.stderr.read() == b""
    pipe.stderr.close()
    assert pipe.wait(timeout=60) in (0, 1)
