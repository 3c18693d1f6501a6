"""Blocks are counted and added up in one fixed tree, wherever it happens."""

from operator import add

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelkin import LabelRescorer, LearnedWeight, LogisticLabels, NaiveBayes
from labelkin.content.naive_bayes import count_terms
from labelkin.evaluation.metrics import evaluate, evaluate_blocks
from labelkin.label_matrix import read_labels
from labelkin.method.label_sets import LabelSets, count_label_sets
from labelkin.prediction import evaluate_model_blocks
from labelkin.scaling.blocks import Local, read_block, row_blocks


def in_rounds(values):
    """The same tree written another way: neighbours in rounds, as a cluster adds them."""
    while len(values) > 1:
        pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
        values = [sum(pair[1:], pair[0]) for pair in pairs]
    return values[0]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 11, 100])
def test_a_fold_is_a_tree_of_neighbours_in_rounds(n):
    values = np.random.default_rng(n).normal(size=n) * 10.0 ** np.arange(n)[::-1] ** 0.5
    assert Local().fold(float, add, iter(values)) == in_rounds([float(v) for v in values])


def test_the_tree_is_not_a_running_sum():
    assert Local().fold(str, "({}{})".format, range(6)) == "(((01)(23))(45))"


def test_few_sums_are_alive_at_a_time():
    alive, most = 0, 0

    def count(_):
        nonlocal alive, most
        alive += 1
        most = max(most, alive)
        return 1

    def join(one, other):
        nonlocal alive
        alive -= 1
        return one + other

    assert Local().fold(count, join, range(1000)) == 1000
    assert most <= 11  # log₂ 1000, and the block itself


def test_a_block_is_counted_when_its_turn_comes():
    seen = []
    answers = Local().map(lambda block, by: seen.append(block) or block * by, iter([1, 2, 3]), by=2)
    assert next(answers) == 2
    assert seen == [1]
    assert list(answers) == [4, 6]


def test_no_block_is_an_error():
    with pytest.raises(ValueError, match="at least one block to count, got none"):
        Local().fold(int, add, [])


def test_label_sets_terms_and_evaluations_add_up_over_blocks():
    rng = np.random.default_rng(0)
    X, Y = rng.poisson(0.3, (50, 9)).astype(float), (rng.random((50, 4)) < 0.4).astype(float)
    Z = rng.normal(size=Y.shape)
    labels = read_labels(Y)
    blocks = [slice(start, start + 7) for start in range(0, 50, 7)]
    sets = Local().fold(lambda rows: count_label_sets(labels.rows(rows)), LabelSets.merge, blocks)
    whole = count_label_sets(labels)
    assert (sets.count == whole.count).all()
    assert (sets.positive != whole.positive).nnz == 0
    terms = Local().fold(lambda rows: count_terms(X[rows], labels.rows(rows)), add, blocks)
    assert (terms.inside != count_terms(X, labels).inside).nnz == 0
    judged = Local().fold(lambda rows: evaluate(Y[rows], Z[rows]), add, blocks)
    assert judged["log_loss"] == pytest.approx(evaluate(Y, Z)["log_loss"], abs=1e-12)


class TestFittingFromBlocks:
    """Documents that come block by block teach what all of them do."""

    def made(self):
        rng = np.random.default_rng(0)
        return rng.poisson(0.3, (90, 9)).astype(float), (rng.random((90, 5)) < 0.4).astype(float)

    @pytest.mark.parametrize("labels", [None, LogisticLabels(neighbours=3)])
    def test_label_sets_are_the_same_bits(self, labels):
        _, Y = self.made()
        blocks = iter([Y[:10], Y[10:11], Y[11:60], Y[60:]])
        found = LabelRescorer(labels, evidence_weight=0.5).fit_blocks(blocks)
        whole = LabelRescorer(labels, evidence_weight=0.5).fit(Y)
        scores = np.full(Y.shape, 0.3)
        assert found.rescore(scores).tobytes() == whole.rescore(scores).tobytes()
        assert found.label_sets_.count.sum() == 90

    def test_what_cannot_be_counted_is_an_error(self):
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
        with pytest.raises(ValueError, match="same number of documents"):
            parts.partial_fit(X[:3], Y[:2])


def test_matrices_are_cut_into_rows_of_their_own_kind():
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


def test_a_path_is_what_is_in_the_file(tmp_path):
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
def test_a_damaged_file_is_named(tmp_path, name):
    path = tmp_path / name
    np.save(tmp_path / "a.npy", np.eye(3))
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(np.eye(3)))
    whole = path.read_bytes()
    for damaged in (b"", b"no such thing", whole[: len(whole) // 2], whole[:-9]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"{name} must be an array .*damaged or something"):
            read_block(path)


@pytest.mark.parametrize("block", [np.eye(3), "a.npz", (np.eye(3),), (np.eye(3),) * 4])
def test_a_block_of_other_parts_is_an_error(block):
    model = NaiveBayes().fit(np.eye(3), np.eye(3))
    for work in (
        lambda: NaiveBayes().fit_blocks([block]),
        lambda: evaluate_model_blocks(model, [block]),
        lambda: evaluate_blocks([block]),
    ):
        with pytest.raises(ValueError, match=r"A block must be a tuple of .*, got .*row_blocks"):
            work()


def test_naive_bayes_of_blocks_is_that_of_the_whole():
    rng = np.random.default_rng(3)
    X, Y = rng.integers(0, 4, (50, 9)), (rng.random((50, 5)) < 0.3).astype(float)
    Y[3, 2] = np.nan
    whole, found = NaiveBayes().fit(X, Y), NaiveBayes().fit_blocks(row_blocks(X, Y, size=7))
    for name in ("inside", "unknown"):
        one, other = (getattr(model.counts_, name).toarray() for model in (whole, found))
        np.testing.assert_array_equal(one, other)
    assert vars(found).keys() == vars(whole).keys()
    np.testing.assert_array_equal(found.log_odds(X), whole.log_odds(X))
