"""The files of docs/how-to/deployment.md are valid and start existing commands."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from docs.make.dependencies import found_packages, licence_of

TOP = Path(__file__).parent.parent
FOLDER = TOP / "docs" / "how-to" / "deployment"


def options_of(folder, *words):
    """Raise unless the command line accepts these words; the model file need not exist."""
    from typer.main import get_command

    from labelkin.cli.app import app

    (folder / "news.labelkin").touch()
    words = [str(folder / Path(w).name) if w.endswith(".labelkin") else w for w in words]
    group = get_command(app)
    context = group.make_context("labelkin", list(words), resilient_parsing=True)
    _, command, rest = group.resolve_command(context, list(words))
    command.make_context(command.name, rest, resilient_parsing=False)


def test_the_unit_starts_a_command_that_exists(tmp_path):
    text = (FOLDER / "labelkin.service").read_text()
    [line] = re.findall(r"^ExecStart=\S+/labelkin (.*)$", text, re.M)
    options_of(tmp_path, *shlex.split(line))


def test_the_container_starts_a_command_that_exists(tmp_path):
    [line] = re.findall(r"^CMD \[(.*)\]$", (FOLDER / "Dockerfile").read_text(), re.M)
    options_of(tmp_path, *re.findall(r'"([^"]*)"', line))


def test_the_container_copies_what_is_there():
    for line in re.findall(r"^COPY (.*) \S+$", (FOLDER / "Dockerfile").read_text(), re.M):
        assert all((TOP / name).exists() for name in line.split())


def test_the_container_is_laid_out_as_such_files_should_be():
    """Rules of linters: a fixed base, no root, commands that receive signals."""
    text = (FOLDER / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    instructions = [line.split(maxsplit=1) for line in lines]
    known = {
        *("FROM", "RUN", "COPY", "USER", "ENV", "VOLUME", "EXPOSE"),
        *("STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"),
    }
    assert {name for name, _ in instructions} <= known
    names = [name for name, _ in instructions]
    by_name = dict(instructions)
    assert re.fullmatch(r"python:3\.\d+-slim", by_name["FROM"])
    assert names.count("CMD") == names.count("ENTRYPOINT") == names.count("FROM") == 1
    assert by_name["USER"] not in ("root", "0")
    assert names.index("USER") > max(i for i, name in enumerate(names) if name in ("RUN", "COPY"))
    for name in ("CMD", "ENTRYPOINT"):
        assert all(isinstance(word, str) for word in json.loads(by_name[name]))
    assert by_name["EXPOSE"] in json.loads(by_name["CMD"])
    assert f":{by_name['EXPOSE']}/ready" in by_name["HEALTHCHECK"]
    assert by_name["STOPSIGNAL"] == "SIGTERM"
    installs = [what for name, what in instructions if name == "RUN" and "pip install" in what]
    assert all("--no-cache-dir" in what for what in installs)


def has_engine():
    """Whether containers can be built and started: the command alone is not enough."""
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_engine(), reason="needs a Docker engine")
def test_the_container_is_built_and_answers(tmp_path):
    from sklearn.pipeline import make_pipeline

    from labelkin import LabelDependenceClassifier, NaiveBayes, storage
    from labelkin.text import WordCounts

    def docker(*words):
        command = ["docker", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    model = make_pipeline(
        WordCounts(min_documents=1), LabelDependenceClassifier(NaiveBayes(), evidence_weight=1)
    ).fit(["gas oil", "tea milk", "oil", "milk"], [["fuel"], ["drink"], ["fuel"], ["drink"]])
    storage.save(model, tmp_path / "news.labelkin")
    tmp_path.chmod(0o777)
    image = "labelkin-test"
    docker("build", "-f", FOLDER / "Dockerfile", "-t", image, TOP)
    started = docker(
        "run", "-d", "-e", "LABELKIN_TOKEN=secret", "-v", f"{tmp_path}:/models",
        "-p", "127.0.0.1::8000", image,
    )  # fmt: skip
    try:
        address = f"http://{docker('port', started, '8000').splitlines()[0]}"
        httpx = pytest.importorskip("httpx")
        for _ in range(120):
            try:
                if httpx.get(f"{address}/ready").status_code == 200:
                    break
            except httpx.HTTPError:
                time.sleep(0.5)
        assert httpx.get(f"{address}/api/models").status_code == 401
        answer = httpx.post(
            f"{address}/v1/projects/news/suggest",
            data={"text": "oil"},
            headers={"Authorization": "Bearer secret"},
        )
        assert answer.json()["results"][0]["label"] == "fuel"
        docker("stop", "-t", "60", started)
        assert docker("inspect", "-f", "{{.State.ExitCode}}", started) == "0"
        assert (tmp_path / "news.saved.sqlite").exists()
    finally:
        docker("rm", "-f", started)


def test_every_bound_of_the_page_is_that_of_the_service():
    from labelkin.service import Limits

    text, limits = FOLDER.with_suffix(".md").read_text(), Limits()
    for bound in (
        f"{limits.connections} connections",
        f"{limits.seconds:g} s from the header to the answer",
        f"{limits.body_bytes // 2**20} MiB per body",
        f"{limits.bodies_bytes // 2**20} MiB for all bodies",
        f"{limits.saved_work_bytes // 2**30} GiB per file of saved work",
    ):
        assert bound in text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_takes_the_unit():
    unit = FOLDER / "labelkin.service"
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )
    assert "Unknown" not in done.stderr


@pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
def test_nginx_takes_the_proxy(tmp_path):
    text = re.sub(r"(?m)^.*ssl_cert.*$", "", (FOLDER / "nginx.conf").read_text())
    (tmp_path / "site.conf").write_text(text.replace("listen 443 ssl", "listen 127.0.0.1:18443"))
    whole = f"pid {tmp_path}/pid; events {{}} http {{ include {tmp_path}/site.conf; }}"
    (tmp_path / "nginx.conf").write_text(whole)
    command = ["nginx", "-t", "-c", tmp_path / "nginx.conf", "-p", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_bill_of_materials_has_every_dependency_and_none_is_copyleft():
    import tomllib

    about = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    lines = [*about["dependencies"]]
    for extra in ("fast", "cli", "text", "plot", "skos", "serve"):
        lines += about["optional-dependencies"][extra]
    packages = found_packages()
    assert {re.match(r"[A-Za-z0-9-]+", line)[0].lower() for line in lines} <= set(packages)
    assert not [name for name, (it, _) in packages.items() if "GPL" in licence_of(it).upper()]


def test_the_bill_of_materials_names_versions():
    done = subprocess.run(
        [sys.executable, "-m", "docs.make.dependencies"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=True,
    )
    bill = json.loads(done.stdout)
    assert bill["bomFormat"] == "CycloneDX"
    purls = [component["purl"] for component in bill["components"]]
    assert any(re.fullmatch(r"pkg:pypi/numpy@\d+\.\d+.*", purl) for purl in purls)
