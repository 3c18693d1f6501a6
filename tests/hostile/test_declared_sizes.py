"""Small files that ask for much memory, time, or control of the terminal."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "storage"))

from forged_files import put_together, take_apart
from sklearn.pipeline import make_pipeline

from labelkin import NaiveBayes, cli, load, save
from labelkin.corpora import sparse_text
from labelkin.files import printable
from labelkin.helper_process import python_command

SETS = [["sea\x1b]0;X\x07"], ["town"]]


@pytest.fixture
def model(tmp_path):
    return save(NaiveBayes().fit([[1, 0], [0, 1]], SETS), tmp_path / "m.labelkin")


def test_helper_process_does_not_import_from_the_working_directory(tmp_path):
    (tmp_path / "labelkin.py").write_text("raise SystemExit(7)")
    command, environment = python_command("import labelkin")
    done = subprocess.run(command, env=environment, cwd=tmp_path, timeout=100, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(("n_children", "depth"), [(5, 40), (1, 2_000), (2, 60)])
def test_model_with_shared_or_deep_children_is_an_error(model, tmp_path, n_children, depth):
    about = take_apart(model).about
    name = "sklearn.pipeline.Pipeline"
    parts = [{"object": ["sklearn.preprocessing.Normalizer", {}]}]
    for i in range(depth):
        steps = [{"tuple": [str(k), {"part": i}]} for k in range(n_children)]
        parts.append({"object": [name, {"steps": steps}]})
    written = {"model": {"part": depth}, "parts": parts, "arrays": []}
    path = put_together(tmp_path / "forged", about, written)
    with pytest.raises(ValueError, match=r"nested pipelines, of at most 5|or share parts"):
        load(path)


@pytest.mark.parametrize(("n_children", "depth"), [(5, 40), (1, 2_000), (2, 30)])
def test_objects_with_shared_or_deep_children_are_an_error(model, tmp_path, n_children, depth):
    parts = [{"object": ["sklearn.preprocessing.Normalizer", {}]}]
    for i in range(depth):
        children = [{"part": i}] * n_children
        parts.append({"object": ["sklearn.preprocessing.Normalizer", {"note": children}]})
    written = {"model": {"part": depth}, "parts": parts, "arrays": []}
    path = put_together(tmp_path / "forged", take_apart(model).about, written)
    with pytest.raises(ValueError, match="nest deeper than 100 levels, or share parts"):
        load(path)


def test_nested_pipelines_within_the_limit_are_loaded(tmp_path):
    nested = make_pipeline(NaiveBayes())
    for _ in range(3):
        nested = make_pipeline(nested)
    nested.fit([[1, 0], [0, 1]], [["a"], ["b"]])
    assert load(save(nested, tmp_path / "n")).predict([[1, 0]]).shape == (1, 2)


@pytest.mark.parametrize("sizes", ["2 3 100000000", "2 1000000000 3"])
def test_sizes_in_a_header_are_bounded_by_the_file(tmp_path, sizes):
    path = tmp_path / "xmc.txt"
    path.write_text(f"{sizes}\n0 0:1\n1 1:1\n")
    with pytest.raises(ValueError, match=r"a file of .* bytes must have at most"):
        sparse_text.read_extreme(path)


def test_highest_feature_of_libsvm_is_bounded_by_the_file(tmp_path):
    (tmp_path / "x.svm").write_text("1 2147483647:1\n")
    with pytest.raises(ValueError, match=r"must have at most .* features"):
        sparse_text.read_libsvm(tmp_path / "x.svm")


def test_terminal_escapes_in_labels_and_file_names_are_escaped(model, capsys):
    with pytest.raises(SystemExit):
        cli.main(["inspect", str(model)])
    with pytest.raises(SystemExit):
        cli.main(["inspect", "x\x1b[2J.labelkin"])
    said = "".join(capsys.readouterr())
    assert "\x1b" not in said
    assert "\\u001b[2J" in said


def test_printable_keeps_lines_and_escapes_controls():
    assert printable("a\tb\nc\x9b\r\u202e") == "a\tb\nc\\u009b\\u000d\\u202e"
