"""Learning curves: run small, compared by hand, and written to a page."""

import json

import numpy as np
import pytest
from docs.make import next_documents as page
from docs.make.next_documents import Curve, difference, documents_needed


def made(strategy, values, one_error=(0.5, 0.5, 0.5)):
    """Curves of two seeds, whose F1 differs by 0.02."""
    return [
        Curve(
            "enron",
            strategy,
            seed,
            [10, 20, 30],
            {
                "micro_f1": [v + 0.02 * seed for v in values],
                "macro_f1": [v / 2 for v in values],
                "one_error": list(one_error),
            },
        )
        for seed in range(2)
    ]


@pytest.fixture
def curves():
    return {
        "random": made("random", [0.2, 0.3, 0.4]),
        "entropy": made("entropy", [0.2, 0.4, 0.5], [0.5, 0.4, 0.4]),
    }


def test_a_difference_is_of_means_without_the_start(curves):
    found = difference(curves, "entropy", "random", "micro_f1")
    assert found.better == pytest.approx(0.1)
    assert found.half == pytest.approx(0.0, abs=1e-9)
    assert str(found).endswith("▲")
    assert difference(curves, "entropy", "random", "one_error").better == pytest.approx(0.1)
    assert str(difference(curves, "random", "entropy", "macro_f1")).endswith("▼")


def test_the_interval_is_student_s(curves):
    curves["entropy"][1].scores["micro_f1"][1] += 0.04  # gains are 0.10 and 0.12
    found = difference(curves, "entropy", "random", "micro_f1")
    assert found.better == pytest.approx(0.11)
    assert found.half == pytest.approx(12.7062 * 0.01, rel=1e-4)


def test_documents_needed_are_read_off_the_mean_curve(curves):
    assert documents_needed(curves, "entropy", "micro_f1") == pytest.approx(20)
    assert documents_needed(curves, "random", "micro_f1") == pytest.approx(30)
    curves["entropy"] = made("entropy", [0.2, 0.25, 0.3])
    assert np.isnan(documents_needed(curves, "entropy", "micro_f1"))


def test_the_page_is_written_from_stored_curves(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is in the extra plot")
    values = {"random": 0.3, "entropy": 0.35}
    for strategy in page.STRATEGIES:
        end = values.get(strategy, 0.31)
        for curve in made(strategy, [0.2, end, end + 0.1]):
            (tmp_path / curve.file).write_text(json.dumps(curve._asdict()))
    out = tmp_path / "page.md"
    page.write_next_documents(tmp_path, out)
    text = out.read_text()
    assert "| entropy over random | +0.0500 ± 0.0000 ▲ | +0.0250 ± 0.0000 ▲ |" in text
    assert "{" not in text.split("## Learning curves")[1]
    assert (tmp_path / "page.svg").read_text().count("<svg") == 1
