"""Help, start-up, interrupts and wrong calls."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from in_process import call

import labelkin.cli
from labelkin.cli.app import Commands, load_command

SOURCE = Path(labelkin.cli.__file__).parent.parent


def commands():
    """Yield every command as it is typed, with those of groups."""
    for name in Commands.table:
        inner = getattr(load_command(name), "commands", None)
        yield from [(name, other) for other in inner] if inner else [(name,)]


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


def test_list_of_commands_fits_one_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("--help").done().splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    for name, entry in Commands.table.items():
        assert sum(f"│ {name} " in line and entry.about in line for line in lines) == 1, name


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_help_has_an_example_with_options_that_exist(words):
    message = call(*words, "--help").done()
    assert f"Usage: labelkin {' '.join(words)} " in message
    before, _, options = message.partition("╭")
    example = before.split(f"Example:  labelkin {' '.join(words)}")[1].split("Example:")[0]
    for option in re.findall(r" (--?[a-z-]+)", " ".join(example.split("\n\n")[0].split())):
        assert option in options, option


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["trian"], "labelkin: No such command 'trian'. Did you mean 'train'? See labelkin --help"),
        (["--colour"], "No such option"),
        (["train"], "labelkin train: Missing argument"),
        (
            ["serve"],
            "labelkin: There must be a model to serve, or issues to --review, got neither.",
        ),
        (["serve", "m", "--port", "70000"], "--port"),
    ],
)
def test_wrong_call_is_one_line(arguments, expected):
    assert expected in call(*arguments).refused()


def run_program(program, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


def test_listing_commands_loads_no_scikit_learn():
    """The package itself is left out: this is about what the command line loads."""
    program = f"""
import json, sys, types
package = types.ModuleType("labelkin")
package.__path__ = [{str(SOURCE)!r}]
sys.modules["labelkin"] = package
from labelkin.cli import main
helps = [[command, "--help"] for command in {list(Commands.table)!r}]
for call in (["--version"], ["--help"], ["predict"], *helps):
    try:
        main(call)
    except SystemExit:
        pass
print(json.dumps(sorted({{"sklearn", "numpy", "scipy"}} & set(sys.modules))))
"""
    done = run_program(program)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_wrong_call_is_rejected_before_scikit_learn_is_loaded(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "news.jsonl").write_text('{"id": 1, "text": "tea", "labels": ["tea"]}')
    (tmp_path / "m.labelkin").touch()
    calls = [
        (["train", "news.jsonl", "-o", "mine.txt"], "must be a new file"),
        (["train", "no.jsonl", "-o", "m"], "There is no file or folder"),
        (["train", "news.jsonl", "-o", "m", "--rules", "no.csv"], "'no.csv' does not exist"),
        (["inspect", "no.labelkin"], "'no.labelkin' does not exist"),
        (["predict", "m.labelkin", "mine.txt", "--out", "news.jsonl"], "must be a new file"),
        (["audit", "news.jsonl", "--out", "issues.txt"], "must end in .csv, .tsv, .jsonl"),
        (["correct", "news.jsonl", "no.csv", "-o", "c.jsonl"], "'no.csv' does not exist"),
        (["corpus", "info", "nwesroom"], "Known corpora: 'newsroom'"),
    ]
    program = f"""
import os, sys
sys.modules["sklearn"] = None  # who imports it gets an error
os.chdir({str(tmp_path)!r})
from labelkin.cli import main
for call in {[arguments for arguments, _ in calls]!r}:
    try:
        main(call)
    except SystemExit as end:
        print(end.code)
"""
    done = run_program(program)
    assert done.stdout.split() == ["2"] * len(calls), done.stderr
    for line, (arguments, expected) in zip(done.stderr.splitlines(), calls, strict=True):
        assert expected in line, arguments


class TestInterrupts:
    def test_ctrl_c_in_a_command_is_one_line(self, monkeypatch, tmp_path):
        from labelkin.cli import inspect

        def interrupted(header):
            raise KeyboardInterrupt

        monkeypatch.setattr(inspect, "load_parts", interrupted)
        assert call("inspect", tmp_path).refused(code=1) == "labelkin: Interrupted."

    @pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
    def test_interrupted_stream_keeps_its_answers(self, model, tmp_path):
        out = tmp_path / "out.jsonl"
        arguments = ["predict", str(model), "-", "--out", str(out), "--batch", "1"]
        program = "from labelkin.cli import main; main()"
        with subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            process.stdin.write(b"wheat\ncorn\n")
            process.stdin.flush()
            end = time.monotonic() + 60
            while not out.exists() or out.read_bytes().count(b"\n") < 2:
                assert time.monotonic() < end, "answers must come before the stream ends"
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            message = process.communicate(timeout=60)[1].decode()
        assert process.returncode == 1
        assert message.strip() == (
            "labelkin: Interrupted. Finished work is kept; the same command with --resume "
            "resumes it."
        )


def test_warning_is_printed_as_one_line(model, monkeypatch, tmp_path):
    import warnings

    from labelkin.cli import inspect

    kept = inspect.load_parts

    def warned(path):
        warnings.warn("an\nold one", UserWarning, stacklevel=1)
        return kept(path)

    monkeypatch.setattr(inspect, "load_parts", warned)
    assert call("inspect", model).err == "labelkin: Note: an old one\n"


class TestServe:
    @pytest.fixture
    def served(self, monkeypatch):
        pytest.importorskip("fastapi", reason="the extra serve is not installed")
        import labelkin.service

        calls = []
        monkeypatch.setattr(
            labelkin.service, "serve", lambda models, **options: calls.append((models, options))
        )
        return calls

    def test_options_reach_the_service(self, served, monkeypatch, tmp_path):
        monkeypatch.setenv("LABELKIN_TOKEN", "of-the-environment")
        monkeypatch.chdir(tmp_path)
        for name in ("a.labelkin", "b.labelkin"):
            Path(name).touch()
        given = ("--port", 0, "--saved-work", "j.sqlite", "--token", "mine")
        call("serve", "a.labelkin", "b.labelkin", *given).done()
        ((models, options),) = served
        assert models == [Path("a.labelkin"), Path("b.labelkin")]
        assert options["token"] == "mine"  # not that of the environment
        assert (options["host"], options["port"]) == ("127.0.0.1", 0)
        assert options["saved_work"] == Path("j.sqlite")
        assert options["insecure"] is False

    def test_wrong_calls(self, model, tmp_path, monkeypatch):
        pytest.importorskip("fastapi", reason="the extra serve is not installed")
        monkeypatch.delenv("LABELKIN_TOKEN", raising=False)
        assert "needs a token" in call("serve", model, "--host", "0.0.0.0").refused()
        assert "no.labelkin" in call("serve", tmp_path / "no.labelkin").refused()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            message = call("serve", model, "--port", port).refused()
        assert message.startswith(f"labelkin: The service cannot use 127.0.0.1, port {port}: ")
        assert message.endswith("or 0 for any that is free.")


class TestMissingExtras:
    """Without an extra the library loads, and the message has the command that installs it."""

    TEA = "".join(
        json.dumps({"id": i, "text": text, "labels": text.split()[-1:]}) + "\n"
        for i, text in enumerate(["black tea", "green tea", "hot milk", "cold milk"] * 3)
    )

    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "tea.jsonl").write_text(self.TEA)
        (tmp_path / "tea.ttl").write_text("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .")
        (tmp_path / "m.labelkin").touch()
        return tmp_path

    TRAIN = ("train", "tea.jsonl", "-o", "out.labelkin", "-q", "--min-documents", "1")

    @pytest.mark.parametrize(
        ("missing", "arguments", "extra"),
        [
            ("typer", ["--version"], "cli"),
            ("rich", ["train", "--help"], "cli"),
            ("Stemmer", TRAIN, "text"),
            ("rdflib", [*TRAIN, "--rules", "tea.ttl", "--no-stem"], "skos"),
            ("fastapi", ["serve", "m.labelkin"], "serve"),
        ],
        ids=lambda value: value if isinstance(value, str) else value[0],
    )
    def test_message_has_the_command_that_installs_it(self, folder, missing, arguments, extra):
        done = self.run(folder, missing, arguments)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        (line,) = done.stderr.splitlines()
        assert line.startswith("labelkin: ")
        assert f'pip install "labelkin[{extra}]"' in line

    def run(self, folder, missing, arguments):
        program = f"""
import os, sys
sys.modules[{missing!r}] = None
os.chdir({str(folder)!r})
import labelkin
from labelkin.cli import main
main({list(arguments)!r})
"""
        return run_program(program)
