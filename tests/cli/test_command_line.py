"""The commands as a person types them: what is printed where, and the exit code."""

import os
import signal
import subprocess
import sys
import time

import pytest

SMALL = """
name = "small"
seeds = [0]
variants = ["M2"]
corpus = { name = "newsroom", options = { n_documents = 150 } }

[words]
stop_words = "smart"
stem = false
min_documents = 2

[content.NB]
classifier = "naive_bayes"
weights = "counts"

[labels.BLR]
classifier = "logistic"
"""


PROGRAM = "import sys; from labelkin.cli import main; sys.argv[0] = 'labelkin'; main()"


def start(*arguments, cwd):
    """Start the command and go on."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(folder, pattern, seconds=60):
    """Wait until a file is there."""
    end = time.monotonic() + seconds
    while not any(folder.glob(pattern)):
        assert time.monotonic() < end, f"no {pattern} in {folder}"
        time.sleep(0.02)


def labelkin(*arguments, cwd=None, **environment):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "MPLBACKEND": "agg", "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def fails(done, code=2):
    """One line on stderr, nothing on stdout, no traceback."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr.strip()


def test_version_and_help_teach():
    assert labelkin("--version").stdout.startswith("labelkin 0.")
    told = labelkin("--help").stdout
    for command in ("demo", "corpus", "experiment", "report"):
        assert command in told
    for command in (["demo"], ["corpus", "list"], ["corpus", "info"], ["corpus", "fetch"],
                    ["experiment", "run"], ["experiment", "list"], ["report"]):  # fmt: skip
        assert "Example:  labelkin" in labelkin(*command, "--help").stdout


def test_corpora_are_listed_and_described(tmp_path):
    listed = labelkin("corpus", "list", LABELKIN_DATA=str(tmp_path), XDG_DATA_HOME=str(tmp_path))
    assert listed.returncode == 0
    assert "newsroom" in listed.stdout
    assert "not here" in listed.stdout
    described = labelkin("corpus", "info", "newsroom").stdout
    assert "3,000: 2,000 to train, 1,000 to test" in described
    assert "labels       38" in described


def test_a_corpus_of_ones_own_is_described(tmp_path):
    path = tmp_path / "mine.jsonl"
    rows = [
        '{"id": "1", "text": "corn", "labels": ["farm"]}',
        '{"id": "2", "text": "ship", "labels": []}',
    ]
    path.write_text("\n".join(rows))
    described = labelkin("corpus", "info", path).stdout
    assert "1 documents have none" in described


def test_what_is_not_there_is_told_with_the_way_to_it(tmp_path):
    nowhere = {"LABELKIN_DATA": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    told = fails(labelkin("corpus", "info", "reuters21578", **nowhere))
    assert "labelkin corpus fetch reuters21578" in told
    assert "Known corpora: 'newsroom'" in fails(labelkin("corpus", "info", "reuter", **nowhere))
    told = fails(labelkin("corpus", "fetch", "rcv1-sample", **nowhere))
    assert "cannot be fetched" in told


def test_wrong_calls_end_with_code_2():
    assert labelkin("corpus", "nothing").returncode == 2
    assert labelkin("experiment", "run").returncode == 2


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A folder with a small experiment that has been run, and what was printed."""
    folder = tmp_path_factory.mktemp("experiment")
    (folder / "small.toml").write_text(SMALL)
    done = labelkin("experiment", "run", "small.toml", "--out", "results", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.mark.xdist_group("command line experiment")
class TestExperiment:
    def test_it_runs_prints_the_tables_and_names_the_files(self, ran):
        folder, done = ran
        assert "| NB+BLR+M2 |" in done.stdout
        assert "scores.csv" in done.stderr
        header = (folder / "results" / "scores.csv").read_text().splitlines()[0]
        assert header == "corpus,system,metric,value,paper,difference"

    def test_running_again_does_nothing_anew(self, ran):
        folder, done = ran
        runs = {p: p.stat().st_mtime_ns for p in (folder / "results").rglob("run.json")}
        assert len(runs) == 2
        again = labelkin(
            "experiment", "run", "small.toml", "--out", "results", "--quiet", cwd=folder
        )
        assert again.returncode == 0
        assert again.stdout == done.stdout
        assert {p: p.stat().st_mtime_ns for p in runs} == runs

    def test_its_runs_are_listed_and_reported_elsewhere(self, ran):
        folder, _ = ran
        listed = labelkin("experiment", "list", "results", cwd=folder).stdout
        assert "NB+BLR+M2\tseed 0" in listed
        reported = labelkin(
            "report", "results", "--out", "tables", "--reproduction", "page.md", cwd=folder
        )
        assert reported.returncode == 0, reported.stderr
        assert (folder / "tables" / "tables.tex").exists()
        assert (folder / "page.md").read_text().startswith("# Reproduction")

    def test_an_interrupt_is_told_and_the_rest_is_done_by_the_same_command(self, ran):
        folder, _ = ran
        many = SMALL.replace("seeds = [0]", f"seeds = {list(range(40))}")
        (folder / "many.toml").write_text(many)
        arguments = ["experiment", "run", "many.toml", "--out", "many"]
        with start(*arguments, cwd=folder) as process:
            wait_for(folder / "many", "**/run.json")
            process.send_signal(signal.SIGINT)
            told = process.communicate(timeout=60)[1]
        assert process.returncode == 1
        assert "labelkin: Interrupted. What was finished is kept" in told
        assert "Traceback" not in told
        listed = labelkin("experiment", "list", "many", cwd=folder).stdout
        assert 0 < len(listed.splitlines()) < 80

    def test_a_wrong_file_is_one_line(self, ran):
        folder, _ = ran
        (folder / "wrong.toml").write_text(SMALL + "\n[contents.X]\nclassifier = 'svm'\n")
        told = fails(labelkin("experiment", "run", "wrong.toml", "--out", "no", cwd=folder))
        assert "contents" in told
        assert "content" in told
        fails(labelkin("experiment", "run", "missing.toml", "--out", "no", cwd=folder))
        fails(labelkin("report", "no-such-folder", cwd=folder))


def test_without_typer_the_command_names_the_extra(tmp_path):
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('no typer', name='typer')\n")
    done = labelkin("--version", PYTHONPATH=str(tmp_path))
    assert 'pip install "labelkin[cli]"' in fails(done)
