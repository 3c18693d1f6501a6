"""What known labels are worth, counted by hand."""

import numpy as np
from sklearn.metrics import f1_score

from labelkin.experiment.train import score_known_labels
from labelkin.label_matrix import read_labels

Y = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 1], [0, 0, 0, 0]])


def test_documents_have_so_many_labels_and_only_open_cells_are_scored():
    content = np.where(Y == 1, 1.0, -1.0)
    one, two = score_known_labels(lambda content, known=None: content, content, read_labels(Y))
    assert [one["n_known"], one["documents"], one["with_more"]] == [1, 3, 2]
    assert [two["n_known"], two["documents"], two["with_more"]] == [2, 2, 1]
    for found in (one, two):
        assert found["alone"] == found["known"] == {"micro_f1": 1.0, "one_error": 0.0}


def test_the_model_knows_true_labels_and_nothing_else():
    seen = []

    def judge(content, known=None):
        seen.append(known)
        return content

    score_known_labels(judge, np.zeros(Y.shape), read_labels(Y))
    given = [known for known in seen if known is not None]
    assert [np.nansum(known, axis=1).tolist() for known in given] == [[1, 1, 1], [2, 2]]
    for known, truth in zip(given, (Y[:3], Y[[0, 2]]), strict=True):
        assert (truth[known == 1] == 1).all()


def test_scores_are_scikit_learns_on_the_open_cells():
    rng = np.random.default_rng(0)
    truth = (rng.random((80, 6)) < 0.5).astype(int)
    content = rng.normal(size=truth.shape) + truth
    known_cells = []

    def judge(content, known=None):
        if known is not None:
            known_cells.append(known == 1)
        return content + 0.5

    found = score_known_labels(judge, content, read_labels(truth))
    for k, given, entry in zip((1, 2, 3), known_cells, found, strict=True):
        rows = truth.sum(axis=1) >= k
        is_open = ~given
        for name, shift in (("alone", 0.0), ("predicted", 0.5), ("known", 0.5)):
            decided = content[rows][is_open] + shift > 0
            expected = f1_score(truth[rows][is_open], decided)
            assert abs(entry[name]["micro_f1"] - expected) < 1e-12
