"""Benchmarks: arithmetic with a fake clock, tables and pages."""

import importlib
from pathlib import Path

import pytest
from scipy import sparse

TOP = Path(__file__).parent.parent


@pytest.fixture
def module(monkeypatch):
    """Return a function that imports a module of the benchmarks."""
    monkeypatch.syspath_prepend(str(TOP))
    return lambda name: importlib.import_module(f"benchmarks.{name}")


class FakeClock:
    """A clock that advances only by ``work``."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def work(self, seconds):
        self.now += seconds


def test_a_turn_is_the_mean_of_as_many_runs_as_fill_its_time(module):
    clock = FakeClock()
    pace = iter([0.25, 0.5, 0.75, 9.0])
    turn = module("timing").timed(lambda: clock.work(next(pace)), at_least=1.0, clock=clock)
    assert turn() == 0.5


def test_turns_alternate_round_by_round(module):
    order = []

    def turn(name, seconds):
        return lambda: order.append(name) or seconds

    turns = {"peer": turn("peer", 4.0), "ours": turn("ours", 1.0)}
    seconds = module("timing").alternate(turns, 3)
    assert order == ["peer", "ours"] * 3
    assert seconds == {"peer": [4.0] * 3, "ours": [1.0] * 3}


def test_a_round_in_which_the_machine_is_slow_does_not_move_the_ratio(module):
    measured = module("timing").ratio(ours=[1.0, 30.0, 1.0, 3.0], peer=[4.0, 120.0, 4.0, 4.0])
    assert (measured.middle, measured.low, measured.high) == (0.25, 0.25, 0.75)


@pytest.mark.parametrize(
    ("value", "target", "verdict"),
    [
        (0.08, 0.08, "reached"),
        (0.081, 0.08, "missed"),
        (0.5, None, "information"),
        (None, 0.08, "skipped"),
    ],
)
def test_the_verdict_compares_the_value_with_the_target(module, value, target, verdict):
    assert module("table").Row("a", "b", value, target, "").verdict == verdict


@pytest.fixture
def rows(module):
    table, timing = module("table"), module("timing")
    return [
        table.ratio_row("fit", "peer", timing.Ratio(0.05, 0.04, 0.0625), 0.08, "max |ΔP| 1e-12"),
        table.skipped_row("fit a lot", "another", 2.6, "no compiler"),
    ]


def test_the_page_has_its_command_and_setting(module, rows):
    page = module("table").markdown_page(rows, ["corpus: made up", "machine: 2 cores"])
    assert "python -m benchmarks --write docs/findings/benchmarks.md" in page
    assert "Ratios of CPU time, alternating in one run" in page
    assert "- corpus: made up\n- machine: 2 cores\n" in page
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in lines} == {7}
    assert r"max \|ΔP\| 1e-12" in lines[2]


def test_without_data_the_corpus_is_the_newsroom(module, tmp_path):
    corpus = module("corpus").load_corpus(tmp_path)
    assert corpus.description.startswith("newsroom")
    assert "LABELKIN_DATA" in corpus.description
    assert corpus.train.tfidf.shape[1] == corpus.test.counts.shape[1]
    assert corpus.train.indicator.shape == (2000, 38)


def test_every_subject_that_can_be_asked_for_exists(module):
    main = module("__main__")
    for place in main.SUBJECTS.values():
        name, function = place.split(".")
        assert callable(getattr(module(name), function))


def test_the_page_on_scale_has_the_cost_of_doubling_and_missing_systems(module, tmp_path):
    page = module("growth_page")

    def took(seconds, trouble=""):
        if trouble:
            return dict.fromkeys(("fit", "predict", "mb", "ndcg")) | {"trouble": trouble}
        return {"fit": seconds, "predict": 0.5, "mb": 100.0, "ndcg": 0.5, "trouble": ""}

    def size(documents):
        return {"documents": documents, "labels": 9, "features": 50}

    rows = [
        (size(100), {page.PEER: took(1.0), "labelkin, SVM": took(0.5)}),
        (size(400), {page.PEER: took(9.0), "labelkin, SVM": took(2.0)}),
        (size(800), {page.PEER: took(0, "> 40 s"), "labelkin, SVM": took(4.0)}),
    ]
    systems = ["labelkin, SVM", page.PEER]
    missing = {"Omikuji": "it cannot be installed here"}
    growth = page.Growth({"documents": rows}, systems, "2 cores", {"numpy": "2"}, missing, 1, 40)
    page.write(page.Growth.from_json(growth.to_json()), tmp_path / "scale.md")
    text = (tmp_path / "scale.md").read_text(encoding="utf-8")
    assert "| 400 | 9 | 50 | 2.00 (0.22 ×) | 9.00 (1 ×) |" in text
    assert "| 800 | 9 | 50 | 4.00 | > 40 s |" in text
    assert f"alone costs: labelkin, SVM 2.0 ×, {page.PEER} 3.0 ×." in text
    assert "Omikuji is not in the tables: it cannot be installed here" in text
    assert (tmp_path / "scale.svg").read_text(encoding="utf-8").startswith("<?xml")
    page.write_bars(tmp_path / "scale.md", ["| a | 1 | ≤ 2 | yes |", "| b | 1 | ≤ 2 | yes |"])
    page.write_bars(tmp_path / "scale.md", ["| a | 3 | ≤ 2 | **no** |"])
    page.write(growth, tmp_path / "scale.md")  # keeps what another program has measured
    again = (tmp_path / "scale.md").read_text(encoding="utf-8")
    rows = [*page.BARS_HEAD, "| a | 3 | ≤ 2 | **no** |", "| b | 1 | ≤ 2 | yes |", ""]
    assert again.startswith(text) and again.endswith("\n".join(rows))


def test_synthetic_documents_have_every_label_and_are_reproducible(module, tmp_path):
    growth = module("growth")
    truth = growth.make_documents(growth.Size(60, 50, 100), tmp_path)
    X, Y = (sparse.load_npz(tmp_path / f"{name}.npz") for name in ("X", "Y"))
    assert X.shape == (60, 100) and truth.shape == (500, 50)
    assert (Y.sum(axis=0) > 0).all() and set(Y.data.tolist()) == {1}
    again = growth.make_documents(growth.Size(60, 50, 100), tmp_path)
    assert (again != truth).nnz == 0


def test_growth_resumes_only_with_the_same_setting(module, tmp_path):
    growth, page = module("growth"), module("growth_page")
    size, took = growth.Size(60, 50, 100), growth.Measured(1.0, 0.5, 100.0, 0.5)
    late = growth.Measured(trouble="> 40 s")
    tables = {"documents": [(vars(size), {"labelkin, SVM": took, page.PEER: late})]}
    setting = (["labelkin, SVM", page.PEER], "2 cores", {"numpy": "2"}, {}, 1)
    keep = tmp_path / "growth.json"
    assert growth._kept(keep, page.Growth({}, *setting, 40)) == {}
    keep.write_text(page.Growth(tables, *setting, 40, left_out=11).to_json(), encoding="utf-8")
    kept = growth._kept(keep, page.Growth({}, *setting, 40, left_out=12))
    assert kept == {size: {"labelkin, SVM": took, page.PEER: late}}
    assert growth._kept(keep, page.Growth({}, *setting, 80)) == {}
