"""Counts of blocks are added up in a fixed tree, and models fitted from blocks are equal."""

from operator import add

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelkin import LabelRescorer, LearnedWeight, LogisticLabels, NaiveBayes
from labelkin.evaluation.metrics import evaluate_blocks
from labelkin.label_matrix import read_labels
from labelkin.prediction import evaluate_model_blocks
from labelkin.scaling.blocks import Local, read_block, row_blocks


def in_rounds(values):
    """The same tree written another way: neighbours in rounds, as a cluster adds them."""
    while len(values) > 1:
        pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
        values = [sum(pair[1:], pair[0]) for pair in pairs]
    return values[0]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 11, 100])
def test_fold_adds_neighbours_in_rounds(n):
    values = np.random.default_rng(n).normal(size=n) * 10.0 ** np.arange(n)[::-1] ** 0.5
    assert Local().fold(float, add, iter(values)) == in_rounds([float(v) for v in values])


class TestFittingFromBlocks:
    """A model fitted block by block equals the model of all documents."""

    def made(self):
        rng = np.random.default_rng(0)
        return rng.poisson(0.3, (90, 9)).astype(float), (rng.random((90, 5)) < 0.4).astype(float)

    @pytest.mark.parametrize("labels", [None, LogisticLabels(neighbours=3)])
    def test_label_sets_are_equal(self, labels):
        _, Y = self.made()
        blocks = iter([Y[:10], Y[10:11], Y[11:60], Y[60:]])
        found = LabelRescorer(labels, evidence_weight=0.5).fit_blocks(blocks)
        whole = LabelRescorer(labels, evidence_weight=0.5).fit(Y)
        scores = np.full(Y.shape, 0.3)
        assert found.rescore(scores).tobytes() == whole.rescore(scores).tobytes()
        assert found.label_sets_.count.sum() == 90

    def test_rules_that_do_not_add_up_raise(self):
        _, Y = self.made()
        with pytest.raises(ValueError, match="requires LogisticLabels or SVMLabels"):
            LabelRescorer(evidence_weight=LearnedWeight()).fit_blocks([Y])
        with pytest.raises(ValueError, match="Blocks must have the same labels, got 5 and 4"):
            LabelRescorer(evidence_weight=1).fit_blocks([Y, Y[:, :4]])

    def test_naive_bayes_counts_further_documents(self):
        X, Y = self.made()
        whole = NaiveBayes().fit(X, Y)
        parts = NaiveBayes()
        for rows in (slice(0, 30), slice(30, 31), slice(31, 90)):
            parts.partial_fit(X[rows], Y[rows])
        assert parts.log_odds(X).tobytes() == whole.log_odds(X).tobytes()
        named = NaiveBayes().partial_fit(X[:1], [{"a"}], classes=["a", "b"])
        assert named.partial_fit(X[1:2], [{"b"}]).counts_.positive.tolist() == [1, 1]
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            parts.partial_fit(X[:3], Y[:2])


def test_row_blocks_keep_the_type_of_matrices():
    dense, texts = np.arange(10.0).reshape(5, 2), list("abcde")
    frame, labels = pd.DataFrame(dense), read_labels(dense > 4)
    for block, first in zip(
        row_blocks(dense, texts, frame, labels, size=2), (0, 2, 4), strict=True
    ):
        rows = slice(first, first + 2)
        np.testing.assert_array_equal(block[0], dense[rows])
        assert block[1] == texts[rows]
        assert list(block[2].index) == list(range(5))[rows]
        np.testing.assert_array_equal(block[3].dense(), (dense > 4)[rows])
    with pytest.raises(ValueError, match=r"same rows, got \[5, 4\]"):
        list(row_blocks(dense, texts[:4]))
    with pytest.raises(ValueError, match="at least 1 document, got 0"):
        list(row_blocks(dense, size=0))


def test_paths_are_read(tmp_path):
    Y = np.eye(3)
    np.save(tmp_path / "a.npy", Y)
    sparse.save_npz(tmp_path / "a.npz", sparse.coo_array(Y))
    mapped, stored, given = read_block((tmp_path / "a.npy", tmp_path / "a.npz", Y))
    assert isinstance(mapped, np.memmap)
    assert given is Y
    np.testing.assert_array_equal(mapped, stored.toarray())
    with pytest.raises(ValueError, match=r"\.npy.*\.npz.*got 'a.csv'"):
        read_block(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_damaged_file_is_named(tmp_path, name):
    path = tmp_path / name
    np.save(tmp_path / "a.npy", np.eye(3))
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(np.eye(3)))
    whole = path.read_bytes()
    for damaged in (b"", b"no such thing", whole[: len(whole) // 2], whole[:-9]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"{name}: it must be an a.*Write it again"):
            read_block(path)


@pytest.mark.parametrize("block", [np.eye(3), "a.npz", (np.eye(3),), (np.eye(3),) * 4])
def test_block_with_other_parts_raises(block):
    model = NaiveBayes().fit(np.eye(3), np.eye(3))
    for work in (
        lambda: NaiveBayes().fit_blocks([block]),
        lambda: evaluate_model_blocks(model, [block]),
        lambda: evaluate_blocks([block]),
    ):
        with pytest.raises(ValueError, match=r"A block must be a tuple of .*, got .*row_blocks"):
            work()
