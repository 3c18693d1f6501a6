"""Programs in environments of their own, and processes that end when a story does."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

TOP = Path(__file__).parent.parent
#: How long an installation, a command and the start of a server may take, in seconds; the first
#: start of Label Studio makes its database.
INSTALL, COMMAND, START = 1800, 1800, 1800


class SkippedError(Exception):
    """A story cannot run here; the message has the reason."""


class Environment:
    """A virtual environment that a program is installed into, and commands in it.

    Parameters
    ----------
    folder : Path
        Where it is; one that is there and whole is used again.
    packages : sequence of str
        What to install, as pip takes it.
    """

    def __init__(self, folder: Path, packages: Sequence[str]) -> None:
        self.folder = folder
        self.variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        self.variables.pop("PYTHONPATH", None)
        done = folder / "installed.txt"
        wanted = "\n".join(packages)
        if done.is_file() and done.read_text(encoding="utf-8") == wanted:
            return
        named = ", ".join(one for one in packages if not one.startswith("-"))
        progress(f"installing {named} into {folder}: minutes")
        start = time.monotonic()
        try:
            _run([sys.executable, "-m", "venv", str(folder)], INSTALL, self.variables)
            install = [str(self.program("python")), "-m", "pip", "install", "--quiet", *packages]
            _run(install, INSTALL, self.variables)
        except (subprocess.SubprocessError, OSError) as error:
            said = getattr(error, "stderr", None) or str(error)
            last = [line for line in said.splitlines() if not line.startswith("WARNING")][-1:]
            raise SkippedError(f"{packages[0]} cannot be installed: {' '.join(last)}") from None
        done.write_text(wanted, encoding="utf-8")
        progress(f"installed in {time.monotonic() - start:.0f} s")

    def program(self, name: str) -> Path:
        """Return where a command is."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin") / name

    def run(self, name: str, *args: object, cwd: Path, text: str | None = None) -> str:
        """Run a command and return what it prints."""
        if name != "python":
            progress(" ".join([name, *map(str, args)])[:100])
        return _run(self.command(name, *args), COMMAND, self.variables, cwd, text)

    def version(self, package: str) -> str:
        """Return the version of a package that is installed."""
        ask = f"from importlib.metadata import version; print(version({package!r}))"
        return self.run("python", "-c", ask, cwd=self.folder).strip()

    def command(self, name: str, *args: object) -> list[str]:
        """Return how a command is started."""
        return [str(self.program(name)), *map(str, args)]

    @contextmanager
    def server(
        self, name: str, *args: object, cwd: Path, is_up: Callable[[], bool], log: Path
    ) -> Iterator[None]:
        """Have a server run meanwhile; it, and nothing else, is ended by its own id."""
        with log.open("wb") as out:
            process = subprocess.Popen(
                self.command(name, *args),
                cwd=cwd, env=self.variables, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True,
            )  # fmt: skip
        try:
            until = time.monotonic() + START
            while not is_up():
                if process.poll() is not None or time.monotonic() > until:
                    ended = f"ended with {process.returncode}" if process.poll() else "is not up"
                    end = log.read_text(encoding="utf-8", errors="replace")[-1500:]
                    raise RuntimeError(f"{name} {ended}:\n{end}")
                time.sleep(0.3)
            yield
        finally:
            _end(process)


class OwnEnvironment(Environment):
    """The environment that runs this, with labelkin in it."""

    def __init__(self) -> None:
        self.folder = Path(sys.executable).parent.parent
        self.variables = {**os.environ, "OMP_NUM_THREADS": "1"}

    def command(self, name: str, *args: object) -> list[str]:
        """Return how labelkin's command is started, wherever it is imported from."""
        start = f"import sys; from {name}.cli import main; sys.exit(main())"
        return [sys.executable, "-c", start, *map(str, args)]


def progress(text: str) -> None:
    """Print progress to stderr."""
    print(f"  … {text}", file=sys.stderr, flush=True)


def answers(address: str) -> Callable[[], bool]:
    """Return a function that says whether there is an answer at an address."""

    def is_up() -> bool:
        try:
            with urlopen(address, timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    return is_up


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def nltk_data(folder: Path) -> Path:
    """Return NLTK's data of sentences, which Annif's analyzers want, from a package that has it."""
    data = folder / "nltk_data"
    if not (data / "tokenizers/punkt_tab/english").is_dir():
        wheels = folder / "nltk"
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        try:
            if not list(wheels.glob("*.whl")):
                _run([*download, "--dest", str(wheels), "llama-index-core"], INSTALL, os.environ)
        except subprocess.SubprocessError:
            raise SkippedError("NLTK's punkt_tab cannot be had from llama-index-core") from None
        within = "llama_index/core/_static/nltk_cache/"
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            for name in wheel.namelist():
                if name.startswith(f"{within}tokenizers/punkt_tab/") and not name.endswith("/"):
                    place = data / name.removeprefix(within)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    with wheel.open(name) as packed, place.open("wb") as file:
                        shutil.copyfileobj(packed, file)
    return data


def _run(
    command: Sequence[str],
    seconds: float,
    variables: Mapping[str, str],
    cwd: Path | None = None,
    text: str | None = None,
) -> str:
    """Run a command; the error of a failure contains its output."""
    done = subprocess.run(
        command, cwd=cwd, env=dict(variables), input=text, capture_output=True, text=True,
        timeout=seconds, check=False,
    )  # fmt: skip
    if done.returncode:
        raise subprocess.CalledProcessError(
            done.returncode, command, done.stdout[-3000:], done.stderr[-3000:]
        )
    return done.stdout


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children, which are one process group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if os.name == "nt":
            process.terminate()
        else:
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                break
        try:
            process.wait(timeout=20)
            if number == signal.SIGTERM:
                continue  # the remaining processes of the group are also ended
        except subprocess.TimeoutExpired:
            continue
