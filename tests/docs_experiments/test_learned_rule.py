"""The experiment on the learned rule: its steps are those of the library, its counts are right."""

import numpy as np
import pytest
from docs.experiments.evidence import Evidence
from docs.experiments.learned_rule import (
    ALL_MEASURES,
    LEARNED,
    SYSTEMS,
    Line,
    compare,
    comparison_row,
    read_lines,
    rescore,
    scores,
    write_lines,
)
from sklearn.tree import DecisionTreeClassifier

from labelkin import LabelRescorer, LogisticLabels
from labelkin.label_matrix import Cells, read_labels
from labelkin.label_matrix.cells import best_of
from labelkin.learned.terms import PaperEvidence
from labelkin.method.label_evidence import as_label_classifier


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 4, 600)
    Y = (rng.random((600, 12)) < np.where(np.arange(12) % 4 == topic[:, None], 0.6, 0.05)).astype(
        int
    )
    return Y, 3 * Y - 2.0 + rng.normal(0, 1.5, Y.shape)


def top(Z, k=6):
    cells = Cells.full(Z.shape)
    return best_of(cells.matrix(Z.ravel()), k)


def evidence(Y, Z):
    return Evidence("made", "noise", 0, Z[:400], Z[400:], Y[:400], Y[400:])


@pytest.mark.parametrize(
    "classifier", [LogisticLabels(), DecisionTreeClassifier(max_depth=3, random_state=0)]
)
@pytest.mark.parametrize("candidates", [False, True])
def test_all_steps_are_the_rule_of_the_library(world, classifier, candidates):
    Y, Z = world
    Z = top(Z) if candidates else Z
    labels = read_labels(Y)
    paper = PaperEvidence.fit(as_label_classifier(classifier), labels)
    ours = rescore(LEARNED.fit(paper, Z, labels), Z)
    library = LabelRescorer(classifier, scale="log_odds").fit(Y, scores=Z).rescore(Z)
    both = [found.toarray() if candidates else found for found in (ours, library)]
    np.testing.assert_allclose(*both, atol=1e-12)


@pytest.mark.parametrize("candidates", [False, True])
def test_every_system_changes_the_scores(world, candidates):
    Y, Z = world
    given = evidence(Y, top(Z) if candidates else Z)
    paper = PaperEvidence.fit(LogisticLabels(neighbours=4), read_labels(given.labels))
    names = set(SYSTEMS) - (set() if candidates else {"square roots", "neighbours only"})
    found = {name: scores(SYSTEMS[name], paper, given)["log_loss"] for name in names}
    assert found.pop("learned") < found["content"]
    found.pop("weight 1"), found.pop("weight 0")  # one of them may be the learned weight
    assert len(set(found.values())) == len(found)


def test_counts_and_means_respect_the_direction_of_measures(tmp_path):
    lines = [
        Line(corpus, "SVM", "logistic", system, measure, value)
        for measure in ALL_MEASURES
        for corpus, a, b in [("x", 0.5, 0.6), ("y", 0.5, 0.5), ("z", 0.4, 0.1)]
        for system, value in (("A", a), ("learned", b))
    ]
    path = tmp_path / "scores.csv"
    write_lines(lines, path)
    assert read_lines(path) == lines
    found = compare(lines, "A", "learned", ["micro_f1"])
    assert found[:3] == (1, 1, 1) and found.means["micro_f1"] == pytest.approx(-0.2 / 3)
    assert compare(lines, "A", "learned", ["log_loss"]).means["log_loss"] == pytest.approx(0.2 / 3)
    assert comparison_row(lines, "A", name="B").startswith("| B | 9 / 9 / 9 | −0.0667 / −0.0667 |")
