"""``corpus`` and ``experiment``: output, files and exit codes."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from in_process import call

from labelkin.corpora import newsroom
from labelkin.evaluation.significance import (
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
)
from labelkin.research.experiments import read_results, shipped_experiments

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


def start(*arguments, **environment):
    """Start the command in another process."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        env={**os.environ, "MPLBACKEND": "agg", **environment},
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


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No data anywhere."""
    monkeypatch.setenv("LABELKIN_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_version_is_printed():
    assert call("--version").done().startswith("labelkin 0.")


def test_corpora_are_listed_and_described(nowhere):
    listed = call("corpus", "list").done()
    assert "newsroom" in listed
    assert "not here" in listed
    described = call("corpus", "info", "newsroom").done()
    assert "3,000: 2,000 to train, 1,000 to test" in described
    assert "labels       38" in described


def test_exported_files_contain_the_documents_of_the_corpus(tmp_path):
    out = tmp_path / "files"
    exported = ("corpus", "export", "newsroom", "--out", out, "--n-documents", 90)
    assert "new.csv: 30 documents" in call(*exported).done()
    news = newsroom(90)
    lines = [json.loads(line) for line in (out / "news.jsonl").open(encoding="utf-8")]
    table, new = (
        list(csv.DictReader((out / name).open(encoding="utf-8", newline="")))
        for name in ("news.csv", "new.csv")
    )
    assert [line["text"] for line in lines] == [*news.documents[news.train]]
    assert [f"{row['title']}\n{row['text']}" for row in table] == [*news.documents[news.train]]
    assert [f"{row['title']}\n{row['text']}" for row in new] == [*news.documents[news.test]]
    assert [row["labels"].split(";") for row in table] == [line["labels"] for line in lines]
    assert lines[0]["labels"] == ["music"] and "labels" not in new[0]
    assert len({row["id"] for row in (*table, *new)}) == 90
    assert "60: 60 to train" in call("corpus", "info", out / "news.csv").done()
    assert "news.csv exists: delete it" in call(*exported).refused()


def test_missing_corpora_are_errors_with_a_hint(nowhere):
    message = call("corpus", "info", "reuters21578").refused()
    assert "pass its folder as path" in message
    assert "pass its folder as path" in call("train", "reuters21578", "-o", "m").refused()
    assert "no path, got" in call("corpus", "info", "newsroom", "--path", "x").refused()
    assert "--n-documents" in call("demo", "--n-documents", 1).refused()
    assert "labelkin corpus fetch reuters21578" in message
    assert "Known corpora: 'newsroom'" in call("corpus", "info", "reuter").refused()
    assert "cannot be fetched" in call("corpus", "fetch", "rcv1-sample").refused()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A folder with a small experiment that has been run, and what was printed."""
    folder = tmp_path_factory.mktemp("experiment")
    (folder / "small.toml").write_text(SMALL)
    done = call("experiment", "run", folder / "small.toml", "--out", folder / "results")
    done.done()
    return folder, done


@pytest.mark.xdist_group("command line experiment")
class TestExperiment:
    def test_tables_and_file_names_are_printed(self, ran):
        folder, done = ran
        assert "| NB+BLR+M2 |" in done.out
        assert "scores.csv" in done.err
        header = (folder / "results" / "scores.csv").read_text().splitlines()[0]
        assert header == "corpus,system,metric,value,paper,difference"

    def test_second_run_trains_nothing(self, ran):
        folder, done = ran
        runs = {p: p.stat().st_mtime_ns for p in (folder / "results").rglob("run.json")}
        assert len(runs) == 2
        arguments = ["experiment", "run", folder / "small.toml", "--out", folder / "results"]
        assert call(*arguments, "--quiet").done() == done.out
        assert {p: p.stat().st_mtime_ns for p in runs} == runs

    def test_runs_are_listed_and_reported(self, ran):
        folder, _ = ran
        assert "NB+BLR+M2\tseed 0" in call("experiment", "list", folder / "results").done()
        call("experiment", "report", folder / "results", "--out", folder / "tables").done()
        assert (folder / "tables" / "tables.tex").exists()

    def test_interrupted_experiment_keeps_complete_runs(self, ran):
        folder, _ = ran
        many = SMALL.replace("seeds = [0]", f"seeds = {list(range(40))}")
        (folder / "many.toml").write_text(many)
        arguments = ["experiment", "run", folder / "many.toml", "--out", folder / "many"]
        with start(*arguments) as process:
            wait_for(folder / "many", "**/*@seed[0-9]/run.json")  # whole, no longer called .part
            process.send_signal(signal.SIGINT)
            message = process.communicate(timeout=60)[1]
        assert process.returncode == 1
        assert "labelkin: Interrupted. Finished work is kept" in message
        assert "Traceback" not in message
        listed = call("experiment", "list", folder / "many").done()
        assert 0 < len(listed.splitlines()) < 80


class TestExperimentsByName:
    def test_shipped_experiments_and_their_corpora_are_listed(self, nowhere):
        lines = {line.split()[0]: line for line in call("experiment", "list").done().splitlines()}
        assert re.search(r"Reuters-21578 .* reuters21578 +21  not here$", lines["reuters21578"])
        assert re.search(r"newsroom +18  synthetic$", lines["demo"])
        assert lines["proteins"].endswith("not here")
        assert len(lines) == 1 + len(shipped_experiments())

    def test_experiment_is_run_by_name(self, tmp_path, monkeypatch):
        from labelkin.research.experiments import configuration

        monkeypatch.setattr(configuration, "shipped_experiments", lambda: {"small": SMALL})
        monkeypatch.chdir(tmp_path)
        assert "| NB+BLR+M2 |" in call("experiment", "run", "small", "--quiet").done()
        assert (tmp_path / "labelkin-results" / "small" / "tables.html").exists()

    def test_new_experiment_for_a_table_runs(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rows = [f"{i},{'corn' if i % 2 else 'ship'} news,{'farm' if i % 2 else 'sea|farm'}"
                for i in range(20)]  # fmt: skip
        (tmp_path / "mine.csv").write_text("\n".join(["id,body,labels", *rows]))
        options = ["--columns", "text=body", "--separator", "|"]
        assert call("experiment", "new", "mine.csv", *options).done() == "mine.toml\n"
        printed = call("experiment", "run", "mine.toml", "--quiet").done()
        assert "| SVM+BLR+M2 w=auto |" in printed
        message = call("experiment", "new", "mine.csv", *options).refused()
        assert "mine.toml exists: name another by --out, or delete it." in message


def test_scores_tests_and_intervals_are_those_of_the_library(ran):
    results = read_results(ran[0] / "results")
    one, other = results.corpora[0].run("NB"), results.corpora[0].run("NB+BLR+M2")
    arguments = ["experiment", "compare", one.folder, other.folder, "--n-draws", 200]
    message = json.loads(call(*arguments, "--json").done())
    truth = results.corpora[0].Y
    decisions = (one.decisions(), other.decisions())
    names = (message["baseline"], message["proposal"])
    assert names == ("NB (seed 0)", "NB+BLR+M2 (seed 0)")
    tests = [micro_sign_test(truth, *decisions, names), macro_sign_test(truth, *decisions, names)]
    assert message["tests"] == [vars(test) for test in tests]
    (found,) = [b for b in message["bootstraps"] if b["metric"] == "macro_f1"]
    expected = paired_bootstrap(
        truth, *decisions, "macro_f1", n_draws=200, random_state=0, names=names
    )
    assert found == vars(expected)
    assert "one_error" in {b["metric"] for b in message["bootstraps"]}
    printed = call(*arguments).done()
    for number in message["scores"]["micro_f1"]:
        assert f"{number:.5f}" in printed
    assert "S-test" in printed
    signs = {b["metric"]: b["sign"] for b in message["bootstraps"]}
    better = {"≪": names[1], "<": names[1], "≫": names[0], ">": names[0], "~": "none shown"}
    (line,) = [x for x in printed.split("bootstrap")[1].splitlines() if x.startswith("macro_f1")]
    assert line.endswith(better[signs["macro_f1"]])
