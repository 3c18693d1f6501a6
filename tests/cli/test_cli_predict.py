"""``labelkin predict``: order, formats, bounded memory, kill and resume."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import call

from labelkin import LabelDependenceClassifier, NaiveBayes, load, save

PROGRAM = """
import re, sys
from labelkin.cli import main
try:
    main()
finally:
    status = open("/proc/self/status").read() if sys.platform == "linux" else "VmHWM: 0 kB"
    sys.stderr.write(re.search(r"VmHWM:\\s*(\\d+) kB", status)[0] + "\\n")
"""


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def texts(news, tmp_path_factory):
    """Documents without labels, as JSON lines."""
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    rows = ({"id": f"d{i}", "text": text} for i, text in enumerate(news.documents))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def whole(model, texts):
    """All answers, as printed."""
    return call("predict", model, texts, "-q").done()


class TestAnswers:
    def test_answers_equal_the_model_in_document_order(self, model, news, whole):
        pipeline = load(model)
        probability = pipeline.predict_proba(news.documents)
        names = pipeline[-1].label_names_
        sets = pipeline[-1].label_sets(pipeline.predict(news.documents))
        answers = lines(whole)
        assert [answer["id"] for answer in answers] == [f"d{i}" for i in range(len(sets))]
        assert [set(answer["labels"]) for answer in answers] == [set(labels) for labels in sets]
        for i, answer in enumerate(answers):
            message = answer["probabilities"]
            assert list(message) == answer["labels"]
            assert list(message.values()) == sorted(message.values(), reverse=True)
            expected = [probability[i, list(names).index(label)] for label in message]
            np.testing.assert_allclose(list(message.values()), expected, rtol=1e-5)

    def test_all_scores_contains_every_label(self, model, texts, whole):
        message = lines(call("predict", model, texts, "-q", "--all-scores").done())
        assert all(len(answer["probabilities"]) == 38 for answer in message)
        assert [a["labels"] for a in message] == [a["labels"] for a in lines(whole)]

    @pytest.mark.parametrize("kind", ["csv", "tsv"])
    def test_tables_equal_json_lines(self, model, texts, whole, kind):
        printed = call("predict", model, texts, "-q", "--format", kind).done()
        rows = csv.DictReader(io.StringIO(printed), delimiter={"csv": ",", "tsv": "\t"}[kind])
        for row, answer in zip(rows, lines(whole), strict=True):
            assert row["id"] == answer["id"]
            assert [x for x in row["labels"].split(";") if x] == answer["labels"]
            numbers = [float(x) for x in row["probabilities"].split(";") if x]
            assert numbers == list(answer["probabilities"].values())


class TestInputs:
    """One model, the same two documents in every form."""

    first, second = "The wheat harvest in the ports", "Elections, and a football match"

    @pytest.fixture
    def expected(self, model, tmp_path):
        return self.answers(model, self.write(tmp_path, "a.txt", f"{self.first}\n{self.second}\n"))

    def write(self, folder, name, text):
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    def answers(self, model, path, *options, **stdin):
        printed = call("predict", model, path, "-q", *options, **stdin).done()
        return [(a["labels"], a["probabilities"]) for a in lines(printed)]

    def test_csv_and_tsv(self, model, tmp_path, expected):
        table = f'text,id\n"{self.first}",a\n"{self.second}",b\n'
        assert self.answers(model, self.write(tmp_path, "t.csv", table)) == expected
        table = f"n\tabstract\n1\t{self.first}\n2\t{self.second}\n"
        path = self.write(tmp_path, "t.tsv", table)
        assert self.answers(model, path, "--columns", "text=abstract") == expected

    def test_stdin_of_texts_and_of_json(self, model, expected):
        plain = f"{self.first}\n{self.second}".encode()
        assert self.answers(model, "-", stdin=plain) == expected
        found = "".join(json.dumps({"text": t}) + "\n" for t in (self.first, self.second))
        assert self.answers(model, "-", stdin=b"\xef\xbb\xbf" + found.encode()) == expected


class TestResume:
    @pytest.mark.parametrize("options", [(), ("--format", "csv"), ("--all-scores",)])
    def test_resuming_from_any_byte_gives_the_same_file(self, model, texts, tmp_path, options):
        few = tmp_path / "few.jsonl"
        few.write_text("".join(texts.read_text().splitlines(keepends=True)[:12]))
        complete = tmp_path / "complete"
        call("predict", model, few, "--out", complete, *options, "-q").done()
        data = complete.read_bytes()

        @given(st.integers(0, len(data)), st.integers(1, 5))
        @settings(max_examples=15, deadline=None)
        def law(length, batch):
            cut = tmp_path / "cut"
            cut.write_bytes(data[:length])
            arguments = ["--out", cut, "--resume", "--batch", batch, "-q", *options]
            call("predict", model, few, *arguments).done()
            assert cut.read_bytes() == data

        law()

    def test_the_input_is_never_the_output(self, model, texts):
        before = texts.read_bytes()
        for options in ([], ["--resume"]):
            message = call("predict", model, texts, "--out", texts, *options).refused()
            assert "another file than the input" in message
        assert texts.read_bytes() == before

    @pytest.fixture
    def stopped(self, model, tmp_path):
        """A run that an invalid line stopped after four answers; the line is valid now."""
        source, out = tmp_path / "few.jsonl", tmp_path / "out.jsonl"
        rows = [json.dumps({"text": f"wheat and corn {i}"}) + "\n" for i in range(6)]
        source.write_text("".join([*rows[:4], "{\n"]))
        arguments = ["predict", model, source, "--out", out, "--batch", 2, "-q"]
        assert "line 5" in call(*arguments, "--limit", 2).refused()
        source.write_text("".join(rows))
        return arguments, out

    def test_resuming_with_other_options_is_an_error(self, stopped):
        arguments, out = stopped
        note = out.with_name("out.jsonl.resume.json")
        before = out.read_bytes()
        assert before.count(b"\n") == 4
        message = call(*arguments, "--resume").refused()
        assert "first run, {'--limit': 2}, got {'--limit': None}" in message
        message = call(*arguments, "--limit", 2, "--all-scores", "--resume").refused()
        assert "{'--all-scores': False}, got {'--all-scores': True}" in message
        assert out.read_bytes() == before
        assert note.exists()
        call(*arguments, "--limit", 2, "--resume").done()
        assert out.read_bytes().count(b"\n") == 6
        assert not note.exists()


def start(*arguments):
    """Start the command in another process, which prints its peak memory at the end."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def kill_within(process, path, n_bytes, seconds=120):
    """Kill the process when its file has grown; return whether it was still running."""
    end = time.monotonic() + seconds
    while not path.exists() or path.stat().st_size < n_bytes:
        if process.poll() is not None:
            return False
        assert time.monotonic() < end, "nothing was written"
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def many(path, news, n_documents):
    """Write `n_documents` synthetic documents, each with a number."""
    with path.open("w") as file:
        for i in range(n_documents):
            text = f"{news.documents[i % len(news.documents)]} {i}"
            file.write(json.dumps({"id": i, "text": text}) + "\n")
    return path


def peak_memory(process):
    """Wait for the process; return its peak memory in MB."""
    err = process.communicate(timeout=1200)[1]
    assert process.returncode == 0, err
    return int(re.search(r"VmHWM:\s*(\d+)", err)[1]) / 1024


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_killed_and_resumed_run_is_complete_in_bounded_memory(
    model, news, tmp_path, long_proofs, record_property
):
    n_documents, n_kills = (100_000, 5) if long_proofs else (3_000, 1)
    source, out = many(tmp_path / "many.jsonl", news, n_documents), tmp_path / "out.jsonl"
    command = ["predict", model, source, "--out", out, "--batch", 100 if long_proofs else 20]
    kills = 0
    for k in range(n_kills):
        grown = (out.stat().st_size if out.exists() else 0) + (k + 1) * 20_000
        kills += kill_within(start(*command, "--resume"), out, grown)
    assert kills >= 1
    n_before = out.read_bytes().count(b"\n")
    assert 0 < n_before < n_documents
    peak = peak_memory(start(*command, "--resume"))
    answers = lines(out.read_text())
    assert [answer["id"] for answer in answers] == list(range(n_documents))

    few = many(tmp_path / "few.jsonl", news, n_documents // 10)
    unbroken = tmp_path / "unbroken.jsonl"
    peak_of_few = peak_memory(start(*command[:2], few, "--out", unbroken, *command[5:]))
    for answer, expected in zip(answers, lines(unbroken.read_text()), strict=False):
        assert answer["labels"] == expected["labels"]
        np.testing.assert_allclose(
            list(answer["probabilities"].values()),
            list(expected["probabilities"].values()),
            rtol=1e-5,
        )
    print(f"{n_documents} documents: peak {peak:.0f} MB, a tenth of them: {peak_of_few:.0f} MB")
    record_property("peak_mb", peak)
    assert peak < peak_of_few + 20


class TestAsAnnifIndexes:
    """A number of labels, and a minimum probability, as in ``annif index``."""

    def test_documents_without_labels_are_counted_and_at_least_adds_labels(self, model, texts):
        done = call("predict", model, texts, "--threshold", 0.999)
        n_empty = sum(not answer["labels"] for answer in lines(done.done()))
        assert n_empty > 0
        assert f"{n_empty} of them without a label." in done.err
        done = call("predict", model, texts, "--threshold", 0.999, "--at-least", 1)
        assert all(answer["labels"] for answer in lines(done.done()))
        assert "each with a label." in done.err

    def test_several_inputs_in_one_call(self, model, tmp_path):
        (tmp_path / "a.csv").write_bytes("Nr;Title\n7;Öl und Gas\n".encode("cp1252"))
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "c.txt").write_text("wheat")
        done = call("predict", model, tmp_path / "a.csv", tmp_path / "b")
        assert [answer["id"] for answer in lines(done.done())] == [1, "c"]
        said = "a.csv: columns separated by semicolons, text from 'Title', not used: 'Nr', encoding"
        assert said in done.err
        assert "read alone" in call("predict", model, "-", tmp_path / "b").refused()

    def test_replace_overwrites_a_file(self, model, texts, tmp_path):
        out = tmp_path / "out.csv"
        out.write_text("old")
        call("predict", model, texts, "--out", out, "--replace", "-q").done()
        assert out.read_text().startswith("id,labels,")

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (["--top", 2, "--at-least", 3], "--at-least must not be above 2"),
            (["--threshold", 2], "--threshold"),
            (["--replace"], "--replace overwrites a file"),
        ],
    )
    def test_contradicting_options_are_errors(self, model, texts, options, expected):
        assert expected in call("predict", model, texts, *options).refused()


class TestWrongCalls:
    def test_invalid_models_are_errors(self, texts, vector_model, tmp_path):
        assert "not a labelkin model file" in call("predict", texts, texts).refused()
        assert "does not exist" in call("predict", tmp_path / "no", texts).refused()
        assert "takes vectors" in call("predict", vector_model, texts).refused()

    def test_labels_with_the_separator_need_json_lines(self, tmp_path, texts):
        from sklearn.pipeline import make_pipeline

        from labelkin.text import WordCounts

        last = LabelDependenceClassifier(NaiveBayes())
        pipeline = make_pipeline(WordCounts(min_documents=1), last)
        path = save(pipeline.fit(["tea", "milk"] * 4, [["a;b"], ["c"]] * 4), tmp_path / "m")
        message = call("predict", path, texts, "--format", "csv").refused()
        assert "the label 'a;b'" in message
