"""Examples of the gallery run, draw, and have the layout of sphinx-gallery."""

import ast
import runpy
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is in the extra plot")

FOLDER = Path(__file__).parent.parent / "examples"
ESSAYS = sorted(FOLDER.glob("*.py"))


@pytest.fixture
def plots(tmp_path, monkeypatch):
    """Draw into memory, and leave nothing behind."""
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    plt.close("all")
    with matplotlib.rc_context():
        yield plt
    plt.close("all")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ESSAYS, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(path, plots, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert "nan" not in capsys.readouterr().out.split()
    assert plots.get_fignums()


@pytest.mark.parametrize("path", ESSAYS, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_claim_and_a_conclusion(path):
    assert path.name.startswith("plot_")  # what sphinx-gallery runs
    text = path.read_text(encoding="utf-8")
    first, title, rule, blank, claim, *_ = ast.get_docstring(ast.parse(text), clean=False).split(
        "\n"
    )
    assert (first, blank) == ("", "")
    assert rule == "=" * len(title)
    assert claim.startswith("**")
    *_, last = text.split("\n# %%\n")
    words = last.splitlines()
    assert len(words) >= 3
    assert all(line.startswith("# ") for line in words)


def test_the_gallery_is_at_least_the_twelve_that_were_promised():
    assert len(ESSAYS) >= 12
    assert (FOLDER / "GALLERY_HEADER.rst").read_text(encoding="utf-8").startswith("Gallery\n====")
