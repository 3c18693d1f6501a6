"""The library and the command line work without functions of Unix."""

import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
#: Removes functions of Unix that Windows lacks, before labelkin is imported.
BARE = """
import os, signal, socket, sys, warnings

sys.modules.update(dict.fromkeys(["fcntl", "grp", "pwd", "resource", "termios", "uvloop"]))
import numpy, scipy.sparse, sklearn, joblib, numba  # these have wheels of their own for Windows

for name in ("O_DIRECTORY", "fchown", "fork", "getuid", "geteuid", "sysconf"):
    vars(os).pop(name, None)
for name in ("ITIMER_PROF", "SIGHUP", "SIGKILL", "SIGPROF", "setitimer"):
    vars(signal).pop(name, None)
vars(socket).pop("SO_REUSEPORT", None)
warnings.filterwarnings("error", category=EncodingWarning, module="labelkin")
"""
EVERY_MODULE = """
import pkgutil, importlib
import labelkin

names = [m.name for m in pkgutil.walk_packages(labelkin.__path__, "labelkin.")]
assert len(names) > 100, len(names)
for name in names:
    importlib.import_module(name)
"""
CORE = """
import pathlib, tempfile
import labelkin

X = [[3, 0], [2, 1], [0, 4], [1, 1], [4, 0], [0, 2]]
sets = [["sea"], ["sea", "town"], ["town"], ["sea"], ["sea"], ["town"]]
model = labelkin.LabelDependenceClassifier(labelkin.NaiveBayes()).fit(X, sets)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.labelkin"
    for _ in range(2):  # the second time it is replaced
        labelkin.save(model, path)
    again = labelkin.load(path)
assert (again.predict_proba(X) == model.predict_proba(X)).all()
"""
COMMANDS = """
import json, pathlib, tempfile
from labelkin.cli import main

def run(*arguments):
    try:
        main([str(a) for a in arguments])
    except SystemExit as end:
        assert end.code == 0, arguments

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    rows = [{"text": t, "labels": l} for t, l in (
        ("wheat harvest grain", ["grain", "wheat"]), ("gold mine", ["gold"]),
        ("grain ships", ["grain"]), ("gold price", ["gold"])) for _ in range(6)]
    corpus = folder / "news.jsonl"
    corpus.write_text("\\n".join(map(json.dumps, rows)), encoding="utf-8")
    run("train", corpus, "-o", folder / "news.labelkin", "--content", "naive_bayes")
    run("suggest", folder / "news.labelkin", "wheat ships", "--accept", "grain", "--explain")
    run("predict", folder / "news.labelkin", corpus, "-o", folder / "answers.csv")
    run("inspect", folder / "news.labelkin")
"""


@pytest.mark.parametrize("program", [EVERY_MODULE + CORE, COMMANDS], ids=["library", "commands"])
def test_library_and_commands_work_without_unix_functions(program):
    """Files are UTF-8; printed text has the encoding of the console."""
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", BARE + program],
        capture_output=True,
        text=True,
        encoding="cp1252",
        env={"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "PATH": "", "COLUMNS": "100"},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_files_are_opened_with_an_encoding():
    """The default encoding differs between machines."""
    command = ["ruff", "check", "--preview", "--isolated", "--select", "PLW1514"]
    folders = [TOP / name for name in ("src", "benchmarks", "docs", "integration", "packages")]
    done = subprocess.run(
        [sys.executable, "-m", *command, *folders], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_file_names_are_valid_on_every_system():
    done = subprocess.run(
        ["git", "-C", str(TOP), "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("not a clone: the files of the repository are not known")
    names = done.stdout.split("\0")
    assert [
        name for name in names if set(name) & set('<>:"|?*\\') or name.endswith((" ", "."))
    ] == []
    folded = [name.casefold() for name in names]
    assert len(set(folded)) == len(folded)
