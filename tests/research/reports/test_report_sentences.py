"""The sentences of a report: every number in them is counted from the record."""

from dataclasses import replace

import numpy as np
import pytest
from judged import find, judge_all, system_of

from labelkin.label_matrix import read_labels
from labelkin.models.rescorer import LabelRescorer
from labelkin.research.reports.results import Outcome
from labelkin.research.reports.sentences import describe, gains_per_label


def with_signs(outcome, micro, macro):
    """Give the proposals, in turn, the signs."""
    signs = iter(zip(micro, macro, strict=True))
    systems = [_sign(s, *next(signs)) if s.addition else s for s in outcome.systems]
    return replace(outcome, systems=systems)


def _sign(system, micro, macro):
    micro, macro = replace(system.micro, sign=micro), replace(system.macro, sign=macro)
    return replace(system, micro=micro, macro=macro)


@pytest.fixture(scope="module")
def tea():
    """Rescoring mends one label of half the documents: every F1 rises, every error falls."""
    Y = [["tea", "sugar"]] * 6 + [["milk"]] * 6
    additions = {"BLR+M2": LabelRescorer(evidence_weight=1, scale="log_odds").fit(Y)}
    content = [[-2.0, -0.5, 3.0]] * 6 + [[2.0, -2.0, -2.0]] * 6
    systems = list(judge_all({"NB": content}, additions, Y))
    return Outcome("tea", "Tea", systems, labels=read_labels(Y))


def test_the_learned_weight_comes_first_with_what_it_changes_and_how_sure_that_is(outcome):
    first = describe(with_signs(outcome, "≪<≫~", "<~>≫"))[0]
    assert first.startswith("BLR+M2 against the content classifier alone: micro F1 NB ")
    before, after = (find(outcome, name, "macro_f1").value for name in ("kNN", "kNN+BLR+M2"))
    assert first.endswith(f"and kNN {before:.4f} → {after:.4f} (≫).")


def test_significant_changes_are_counted_by_their_signs(outcome):
    _, micro, macro, *_ = describe(with_signs(outcome, "≪<≫~", "<~>≫"), "BLR+M2")
    assert "2 significantly better, 1 significantly worse" in micro
    assert "1 significantly better, 2 significantly worse" in macro


@pytest.mark.parametrize(("place", "metric"), [(1, "micro_f1"), (2, "macro_f1")])
def test_higher_scores_are_counted_against_the_own_baseline(outcome, place, metric):
    sentence = describe(outcome, "BLR+M2")[place]
    scores = {system.name: system.evaluation[metric] for system in outcome.systems}
    higher = sum(scores[n] > scores[n.split("+")[0]] for n in scores if "+" in n)
    assert f": {higher} of 4 proposals score" in sentence


def test_one_proposal_that_mends_everything_is_described_in_the_singular(tea):
    _, micro, macro, best, losses, halves, _ = describe(tea, "BLR+M2")
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
    turned = [
        replace(alone, evaluation=added.evaluation),
        replace(added, evaluation=alone.evaluation),
    ]
    sentences = describe(replace(tea, systems=turned), "BLR+M2")
    assert "micro F1 1.0000 (NB alone)" in sentences[3]
    assert "Hamming loss in 0, subset 0/1 loss in 0 and one-error in 0" in sentences[4]


def test_gains_are_split_between_rare_and_frequent_labels(tea):
    gains = gains_per_label(*tea.systems)
    np.testing.assert_allclose(gains, [0, 1, 0])  # milk, sugar, tea
    rarest = [["milk"]] * 3 + [["sugar"]] + [["tea"]] * 9
    sentence = describe(replace(tea, labels=read_labels(rarest)), "BLR+M2")[5]
    assert "+0.5000 on average over the rarer half" in sentence
    assert "by 0.0000 over the more frequent half" in sentence


def test_calibration_is_described_before_and_after(outcome):
    sentence = describe(outcome, "BLR+M2")[6]
    for content in ("NB", "kNN"):
        before, after = (
            system_of(outcome, name).evaluation["expected_calibration_error"]
            for name in (content, f"{content}+BLR+M2")
        )
        assert f"{content} {before:.4f} → {after:.4f}" in sentence


def test_without_anything_added_there_is_nothing_to_say(outcome):
    alone = [system for system in outcome.systems if not system.addition]
    assert describe(replace(outcome, systems=alone)) == []
    no_baseline = [system for system in outcome.systems if system.name != "NB"]
    assert "NB" not in " ".join(describe(replace(outcome, systems=no_baseline))).replace("kNN", "")
