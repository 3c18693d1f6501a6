"""Repeat one action; in each repetition a different system call fails.

A program for test_faults.py, which starts it with faults.c in front of the system's functions.
Children inherit the imports. Prints the results as JSON.
"""

import ctypes
import errno
import io
import json
import os
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, NaiveBayes, cli, storage
from labelkin.curation.saved_work import Entry, SavedWork, read_saved_documents
from labelkin.text import WordCounts

SYSTEM = ctypes.CDLL(None)
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "kill": 0}
TEXTS = ["gas oil", "tea milk", "oil", "milk"] * 3
CORPUS = "".join(
    json.dumps({"text": text, "labels": ["fuel" if "oil" in text else "drink"]}) + "\n"
    for text in TEXTS
)


def fitted(*labels):
    model = LabelDependenceClassifier(NaiveBayes(), evidence_weight=0.5)
    steps = make_pipeline(WordCounts(min_documents=1), model)
    return steps.fit(TEXTS[:4], [[labels["oil" not in text]] for text in TEXTS[:4]])


def run(*arguments):
    """Run a command; its message is the error where it fails."""
    printed = io.StringIO()
    try:
        with redirect_stdout(io.TextIOWrapper(io.BytesIO())), redirect_stderr(printed):
            cli.main([str(argument) for argument in arguments])
    except SystemExit as end:
        if end.code:
            lines = printed.getvalue().strip().splitlines()
            raise RuntimeError(lines[-1] if lines else "") from None


class Saving:
    """The file contains the complete old model or the complete new one."""

    files = ("m.labelkin",)
    old, new = fitted("old", "drink"), fitted("new", "drink")

    def prepare(self, folder):
        storage.save(self.old, folder / "m.labelkin")

    def act(self, folder):
        storage.save(self.new, folder / "m.labelkin")

    def state(self, folder):
        return storage.load(folder / "m.labelkin").classes_[-1].item()

    allowed = ("old", "new")
    done = "new"


class Training(Saving):
    def act(self, folder):
        run("train", folder / "c.jsonl", "-o", folder / "m.labelkin", "--replace", "--content",
            "naive_bayes", "--min-documents", "1", "--evidence-weight", "1")  # fmt: skip

    def prepare(self, folder):
        (folder / "c.jsonl").write_text(CORPUS)
        super().prepare(folder)

    allowed = ("old", "fuel")
    done = "fuel"


class Predicting:
    """Prediction resumes to the same file, byte for byte."""

    files = ("out.jsonl",)
    model = fitted("fuel", "drink")

    def prepare(self, folder):
        storage.save(self.model, folder / "m.labelkin")
        (folder / "t.txt").write_text("".join(f"{text}\n" for text in TEXTS))

    def act(self, folder):
        run("predict", folder / "m.labelkin", folder / "t.txt", "-o", folder / "out.jsonl",
            "--batch", "3", "--resume")  # fmt: skip

    def state(self, folder):
        out = folder / "out.jsonl"
        whole = out.read_text().rpartition("\n")[0].splitlines() if out.exists() else []
        ids = [json.loads(line)["id"] for line in whole]
        self.act(folder)
        again = [json.loads(line)["id"] for line in out.open()]
        is_right = ids == list(range(1, len(ids) + 1)) and again == list(range(1, 13))
        left = sorted(path.name for path in folder.iterdir() if path.suffix != ".part")
        return "resumed" if is_right and left == ["m.labelkin", "out.jsonl", "t.txt"] else "mixed"

    allowed = ("resumed",)
    done = "resumed"


class SavingWork:
    """An acknowledged entry is stored once, another one at most once."""

    files = ("j.sqlite",)

    def prepare(self, folder):
        saved_work = SavedWork(folder / "j.sqlite")
        saved_work.save([Entry("m", str(i), ("a",)) for i in range(3)])
        saved_work.close()

    def act(self, folder):
        saved_work = SavedWork(folder / "j.sqlite")
        try:
            saved_work.save([Entry("m", "new", ("b",))])
            (folder.parent / f"{folder.name}.acknowledged").touch()
        finally:
            saved_work.close()

    def state(self, folder):
        acknowledged = (folder.parent / f"{folder.name}.acknowledged").exists()
        documents = read_saved_documents(folder / "j.sqlite").documents
        SavedWork(folder / "j.sqlite").close()
        if documents == ["0", "1", "2", "new"]:
            return "new"
        return "old" if documents == ["0", "1", "2"] and not acknowledged else "lost"

    allowed = ("old", "new")
    done = "new"


SCENES = {
    "save": Saving,
    "train": Training,
    "predict": Predicting,
    "saved work": SavingWork,
}


def child(work):
    """Run work in a child process; return its result or its error."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        said = {"error": None}
        try:
            said["result"] = work()
        except BaseException as error:
            said["error"] = f"{type(error).__name__}: {error} {getattr(error, 'filename', '')}"
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    return json.loads(said) if said else {"error": f"status {status}"}


def main():
    name, place, every = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    scene, seen, bad = SCENES[name](), 0, []

    def acting(folder, call, error):
        SYSTEM.fault_arm(f"{folder}/".encode(), call, error)
        try:
            scene.act(folder)
        finally:
            n_calls = SYSTEM.fault_calls()
            SYSTEM.fault_arm(b"", -1, 0)
        return n_calls

    folder = place / "whole"
    folder.mkdir()
    scene.prepare(folder)
    whole = child(lambda: acting(folder, -1, 0))
    assert whole["error"] is None, whole
    n_calls = whole["result"]
    for first, (error, number) in enumerate(ERRORS.items()):
        for call in range(first % every, n_calls, every):
            folder = place / f"{error}-{call}"
            folder.mkdir()
            scene.prepare(folder)
            ended = child(lambda: acting(folder, call, number))  # noqa: B023
            state = child(lambda: scene.state(folder))  # noqa: B023
            if state.get("result") not in scene.allowed:
                bad.append([error, call, "state", state, ended])
            elif number and ended["error"] and not any(f in ended["error"] for f in scene.files):
                bad.append([error, call, "message", ended["error"]])
            left = [path.name for path in folder.rglob("*.part")] if number else []
            if left:
                bad.append([error, call, "left", left])
            seen += 1
            shutil.rmtree(folder)
    print(json.dumps({"calls": n_calls, "cases": seen, "bad": bad}))


main()
