"""The sentences of a report: every number in them is counted from the records."""

from dataclasses import replace

import numpy as np
import pytest

from labelkin.method.rescorer import LabelRescorer
from labelkin.report.comparison import Comparison, compare
from labelkin.report.sentences import gains_per_label, read_comparison


def with_signs(comparison, micro, macro):
    """Give the proposals, in turn, the signs."""
    signs = iter(zip(micro, macro, strict=True))
    systems = [_sign(s, *next(signs)) if s.addition else s for s in comparison.systems]
    return Comparison(comparison.corpus, tuple(systems))


def _sign(system, micro, macro):
    micro, macro = replace(system.micro, sign=micro), replace(system.macro, sign=macro)
    return replace(system, micro=micro, macro=macro)


@pytest.fixture(scope="module")
def tea():
    """Rescoring mends one label of half the documents: every F1 rises, every error falls."""
    Y = [["tea", "sugar"]] * 6 + [["milk"]] * 6
    additions = {"BLR+M2": LabelRescorer(scale="log_odds").fit(Y)}
    content = [[-2.0, -0.5, 3.0]] * 6 + [[2.0, -2.0, -2.0]] * 6
    return Comparison("tea", tuple(compare("NB", content, additions, Y)))


def test_significant_changes_are_counted_by_their_signs(comparison, report):
    counts = report.labels.counts()[0]
    told = with_signs(comparison, ["≪", "<", "≫", "~"], ["<", "~", ">", "≫"])
    micro, macro, *_ = read_comparison(told, "BLR+M2", counts)
    assert "2 significantly better, 1 significantly worse" in micro
    assert "1 significantly better, 2 significantly worse" in macro


@pytest.mark.parametrize(("place", "metric"), [(0, "micro_f1"), (1, "macro_f1")])
def test_higher_scores_are_counted_against_the_own_baseline(comparison, report, place, metric):
    sentence = read_comparison(comparison, "BLR+M2", report.labels.counts()[0])[place]
    scores = {system.name: system.evaluation[metric] for system in comparison.systems}
    higher = sum(scores[n] > scores[n.split("+")[0]] for n in scores if "+" in n)
    assert f": {higher} of 4 proposals score" in sentence


def test_one_proposal_that_mends_everything_is_told_in_the_singular(tea):
    micro, macro, best, losses, halves, _ = read_comparison(tea, "BLR+M2", np.array([6, 6, 6]))
    assert micro.startswith("Micro F1: 1 of 1 proposal scores higher")
    assert macro.startswith("Macro F1: 1 of 1 proposal scores higher")
    assert best == (
        "Best scores: micro F1 1.0000 (NB+BLR+M2, +25.00 % on NB alone) and macro F1 1.0000 "
        "(NB+BLR+M2, +50.00 % on NB alone)."
    )
    assert losses == (
        "Of the same 1, fewer errors by Hamming loss in 1, subset 0/1 loss in 1 and one-error in 0."
    )
    assert "(mean over NB)" in halves


def test_a_baseline_that_is_best_is_said_to_be_alone(tea):
    alone, added = tea.systems
    turned = Comparison(
        "tea",
        (replace(alone, evaluation=added.evaluation), replace(added, evaluation=alone.evaluation)),
    )
    sentences = read_comparison(turned, "BLR+M2", np.array([6, 6, 6]))
    assert "micro F1 1.0000 (NB alone)" in sentences[2]
    assert "Hamming loss in 0, subset 0/1 loss in 0 and one-error in 0" in sentences[3]


def test_gains_are_split_between_rare_and_frequent_labels(tea):
    gains = gains_per_label(tea, tea["NB+BLR+M2"])
    np.testing.assert_allclose(gains, [0, 1, 0])  # milk, sugar, tea
    rarest = read_comparison(tea, "BLR+M2", np.array([3, 1, 9]))[4]
    assert "+0.5000 on average over the rarer half" in rarest
    assert "by 0.0000 over the more frequent half" in rarest


def test_calibration_is_told_before_and_after(comparison, report):
    sentence = read_comparison(comparison, "BLR+M2", report.labels.counts()[0])[5]
    for content in ("NB", "kNN"):
        before, after = (
            comparison[name].evaluation["expected_calibration_error"]
            for name in (content, f"{content}+BLR+M2")
        )
        assert f"{content} {before:.4f} → {after:.4f}" in sentence
