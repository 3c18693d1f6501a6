"""Metadata of a release agree, and configuration files match their schemas."""

import os
import re
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHANGELOG = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = (TOP / "CITATION.cff").read_text(encoding="utf-8")
HEADING = re.compile(r"^## \[(?P<version>[^]]+)\](?: - (?P<day>\d{4}-\d\d-\d\d))?$", re.M)
SCHEMAS = [
    ("vendor.github-workflows", ".github/workflows/*.yml"),
    ("custom.github-workflows-require-timeout", ".github/workflows/*.yml"),
    ("vendor.dependabot", ".github/dependabot.yml"),
    ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE/*.yml"),
    ("vendor.citation-file-format", "CITATION.cff"),
]


def run(*command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("schema", "files"), SCHEMAS)
def test_configuration_files_match_their_schemas(schema, files):
    pytest.importorskip("check_jsonschema")
    found = sorted(TOP.glob(files))
    assert found
    run("check_jsonschema", "--builtin-schema", schema, *map(str, found))


def test_hooks_are_local_and_valid():
    pytest.importorskip("pre_commit")
    path = TOP / ".pre-commit-config.yaml"
    run("pre_commit", "validate-config", str(path))
    assert set(re.findall(r"repo: (\S+)", path.read_text(encoding="utf-8"))) == {"local"}


def test_changelog_lists_versions_newest_first():
    first, *released = [(m["version"], m["day"]) for m in HEADING.finditer(CHANGELOG)]
    assert len(released) + 1 == len(re.findall(r"^## ", CHANGELOG, re.M))
    assert first == ("Unreleased", None)
    numbers = [tuple(map(int, version.split("."))) for version, _ in released]
    days = [date.fromisoformat(day) for _, day in released]
    assert numbers == sorted(numbers, reverse=True)
    assert days == sorted(days, reverse=True)


def test_package_citation_and_changelog_have_the_same_version():
    """In a workflow for a tag the tag is also compared, and the changelog has its date."""
    version = PROJECT["version"]
    assert f"\nversion: {version}\n" in CITATION
    days = {m["version"]: m["day"] for m in HEADING.finditer(CHANGELOG)}
    if version in days:
        assert f"\ndate-released: {days[version]}\n" in CITATION.replace('"', "")
    else:
        assert "date-released" not in CITATION
    if os.environ.get("GITHUB_REF_TYPE") == "tag":
        assert os.environ["GITHUB_REF_NAME"] == f"v{version}"
        assert version in days


def test_declared_python_versions_are_tested():
    said = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if "Python :: 3." in c]
    tests = (TOP / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    for tested in re.findall(r"^ +python: \[(.*)\]$", tests, re.M):
        assert [v.strip('"') for v in tested.split(", ")] == said
    assert PROJECT["requires-python"] == f">={said[0]}"
    [line] = re.findall(r"^\*\*Python (\S+) to (\S+)\*\* · .*$", readme(), re.M)
    assert line == (said[0], said[-1])
    assert f" · {PROJECT['license']} · " in readme()


def readme():
    return (TOP / "README.md").read_text(encoding="utf-8")
