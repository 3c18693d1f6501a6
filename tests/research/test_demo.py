"""The demo from end to end: printed tables, written files, errors."""

import csv
import io
from contextlib import redirect_stderr, redirect_stdout

import pytest

from labelkin.cli import main
from labelkin.research import demo

SYSTEMS = [
    content + addition
    for content in ("NB", "kNN", "SVM")
    for addition in ("", "+BLR+M1", "+BLR+M2", "+BLR+M2 w=auto", "+SMO+M1", "+SMO+M2")
]


def run_demo(out, *options):
    stdout, stderr = io.StringIO(), io.StringIO()
    arguments = ["demo", "--n-documents", "300", "--out", str(out), *options]
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code, stdout.getvalue(), stderr.getvalue()


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return out, *run_demo(out)


def read_scores(out):
    with (out / "scores.csv").open(newline="", encoding="utf-8") as file:
        return {(row["system"], row["metric"]): float(row["value"]) for row in csv.DictReader(file)}


def test_both_tables_are_printed_with_the_scores_of_the_file(result):
    out, code, stdout, stderr = result
    scores, rows = read_scores(out), []
    for line in stdout.splitlines():
        names = [name for name in SYSTEMS if line.startswith(f"{name} ")]
        if names:
            name = max(names, key=len)
            rows.append((name, line.removeprefix(name).split()))
    learned = [name for name in SYSTEMS if "+" not in name or "auto" in name]
    assert [name for name, _ in rows] == learned + [s for s in SYSTEMS if "auto" not in s]
    for name, (micro, change, sign, macro, *_) in rows:
        assert [micro, macro] == [f"{scores[name, m]:.5f}" for m in ("micro_f1", "macro_f1")]
        assert ("+" in name) == (change != "–") == (sign != "–")
    assert (code, "18/18" in stderr) == (0, True)
    assert stdout.rstrip().endswith(f"Report: {(out / 'report.html').resolve()}")


def test_the_page_has_every_system_and_loads_nothing(result):
    out = result[0]
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "scores.csv"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert all(f">{name}<" in page for name in SYSTEMS)
    assert "http" not in page and page.count("<img") == 3 + 3


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_scores(result, tmp_path):
    assert run_demo(tmp_path / "again", "--quiet")[2] == ""
    for name in ("scores.csv", "report.html"):
        assert (tmp_path / "again" / name).read_bytes() == (result[0] / name).read_bytes()
    run_demo(tmp_path / "other", "--random-state", "1", "--quiet")
    assert read_scores(tmp_path / "other") != read_scores(result[0])


def test_a_missing_extra_is_named_before_anything_is_computed(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'jinja2: pip install "labelkin\[cli\]"'):
        demo.run_demo(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
