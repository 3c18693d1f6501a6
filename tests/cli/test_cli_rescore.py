"""``labelkin rescore``: any score matrix in, the rescorer's out, columns matched by name."""

import json
import warnings

import numpy as np
import pytest
from in_process import call
from scipy import sparse

from labelkin import LabelRescorer
from labelkin.prediction.scores import ScoreMatrix, read_score_file, write_scores

NAMES = ["gold", "grain", "wheat"]
SETS = [["grain", "wheat"]] * 5 + [["grain"]] * 3 + [["gold"]] * 4 + [[]]
Y = np.array([[float(name in labels) for name in NAMES] for labels in SETS])
SCORES = np.array([[0.1, 0.5, 0.9], [0.8, 0.2, 0.3]])
with warnings.catch_warnings(action="ignore"):  # that it is cautious
    BETTER = LabelRescorer().fit(Y).rescore(SCORES)


@pytest.fixture
def train(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps({"labels": labels}) + "\n" for labels in SETS))
    return path


def write(path, text):
    path.write_text(text)
    return path


def table(values, names=NAMES, order=(0, 1, 2)):
    head = ",".join(["id", *(names[j] for j in order)])
    rows = [",".join([f"d{i}", *(repr(float(row[j])) for j in order)])
            for i, row in enumerate(values)]  # fmt: skip
    return "\n".join([head, *rows]) + "\n"


def test_table_keeps_names_and_ids(tmp_path, train):
    path = write(tmp_path / "s.csv", table(SCORES))
    done = call("rescore", path, "--train", train, "-q")
    assert done.done() == table(BETTER)


def test_json_lines_may_leave_out_labels(tmp_path, train):
    rows = [{"id": "a", "scores": {"grain": 0.5, "wheat": 0.9}}]
    path = write(tmp_path / "s.jsonl", json.dumps(rows[0]) + "\n")
    (message,) = map(json.loads, call("rescore", path, "--train", train, "-q").done().splitlines())
    expected = LabelRescorer().fit(Y).rescore([[0.0, 0.5, 0.9]])[0]
    assert message["id"] == "a"
    np.testing.assert_allclose([message["scores"][name] for name in NAMES], expected)
    assert (
        "must be a log-odds for each"
        in call("rescore", path, "--train", train, "--scale", "log_odds").refused()
    )


def test_output_of_predict_is_rescored(tmp_path, model, news_file):
    out, better = tmp_path / "p.jsonl", tmp_path / "b.npz"
    call("predict", model, news_file, "--out", out, "--all-scores", "-q").done()
    call("rescore", out, "--train", news_file, "--out", better, "-q").done()
    with np.load(better) as stored:
        assert stored["scores"].shape == (420, 38)
        assert stored["labels"][0] == "aviation"


@pytest.mark.parametrize("kind", [".npy", ".npz", ".csv", ".tsv", ".jsonl"])
def test_every_kind_of_file_gives_the_same(tmp_path, train, kind):
    names = None if kind == ".npy" else NAMES
    with (tmp_path / f"s{kind}").open("wb") as file:
        write_scores(file, ScoreMatrix(SCORES, names), kind)
    out = tmp_path / f"better{kind}"
    call("rescore", tmp_path / f"s{kind}", "--train", train, "--out", out, "-q").done()
    np.testing.assert_allclose(read_score_file(out, NAMES).values, BETTER, rtol=1e-15)


def test_sparse_scores_and_sparse_labels(tmp_path):
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(SCORES))
    sparse.save_npz(tmp_path / "y.npz", sparse.csr_array(Y))
    printed = call("rescore", tmp_path / "s.npz", "--train", tmp_path / "y.npz", "-q").done()
    path = write(tmp_path / "better.txt", printed)
    np.testing.assert_allclose(read_score_file(path).values.toarray(), BETTER)


def test_training_labels_from_tables_matrices_and_corpora(tmp_path):
    path = write(tmp_path / "s.csv", table(SCORES))
    sets = "labels\n" + "".join(f'"{";".join(labels)}"\n' for labels in SETS)
    matrix = ",".join(NAMES) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in Y)
    np.save(tmp_path / "y.npy", Y)
    for labels in (write(tmp_path / "sets.csv", sets), write(tmp_path / "matrix.csv", matrix)):
        assert call("rescore", path, "--train", labels, "-q").done() == table(BETTER)
    np.save(tmp_path / "s.npy", SCORES)
    call("rescore", tmp_path / "s.npy", "--train", tmp_path / "y.npy", "-q").done()
    wide = write(tmp_path / "wide.csv", "corn,grain\n0.5,0.5\n")
    done = call("rescore", wide, "--train", "newsroom")
    assert "36 training labels have no scores" in done.err
    assert done.out.splitlines()[0] == "corn,grain"


def test_weight_is_fixed_or_learned_from_out_of_fold_scores(tmp_path, train):
    path = write(tmp_path / "s.csv", table(SCORES))
    alone = call("rescore", path, "--train", train, "--evidence-weight", 0, "-q").done()
    np.testing.assert_allclose(
        read_score_file(write(tmp_path / "alone.csv", alone)).values, SCORES, atol=1e-12
    )
    guesses = np.clip(Y * 0.6 + 0.2, 0, 1)
    oof = write(tmp_path / "oof.csv", table(guesses, order=(1, 2, 0)))
    options = [
        "--train",
        train,
        "--evidence-weight",
        "auto",
        "--out-of-fold",
        oof,
        "--labels",
        "svm",
        "-q",
    ]
    printed = call("rescore", path, *options).done()
    from labelkin import SVMLabels

    expected = LabelRescorer(SVMLabels(), evidence_weight="auto").fit(Y, scores=guesses)
    found = read_score_file(write(tmp_path / "better.csv", printed))
    np.testing.assert_allclose(found.values, expected.rescore(SCORES), rtol=1e-12)


class TestReport:
    def test_small_weight_without_out_of_fold_scores_is_reported(self, tmp_path, train):
        path = write(tmp_path / "s.csv", table(SCORES))
        done = call("rescore", path, "--train", train)
        assert "the evidence weight cannot be learned, so it is 0.1" in done.err
        assert "train.jsonl: labels from 'labels'" in done.err
        assert len(done.err.splitlines()) == 3
        found = read_score_file(write(tmp_path / "better.csv", done.done()))
        np.testing.assert_allclose(found.values, BETTER, rtol=1e-12)

    def test_metrics_before_and_after_are_printed(self, tmp_path, train):
        path = write(tmp_path / "s.csv", table(SCORES))
        known = [{"id": "d1", "labels": ["gold"]}, {"id": "d0", "labels": ["grain", "wheat"]}]
        truth = write(tmp_path / "truth.jsonl", "\n".join(map(json.dumps, known)))
        weight = ["--evidence-weight", 1]
        done = call("rescore", path, "--train", train, "--truth", truth, *weight)
        assert "2 scored documents with known labels: micro F1 0.8000 → 1.0000" in done.err
        assert "do not help" not in done.err
        np.save(tmp_path / "y.npy", np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]))
        done = call("rescore", path, "--train", train, "--truth", tmp_path / "y.npy", *weight)
        assert "The other labels do not help: --evidence-weight 0" in done.err
        np.save(tmp_path / "y.npy", np.ones((3, 3)))
        message = call("rescore", path, "--train", train, "--truth", tmp_path / "y.npy", *weight)
        assert "--truth must have the scored documents" in message.err

    def test_test_documents_of_the_training_file_are_found(self, tmp_path):
        rows = [
            {"id": f"t{i}", "labels": labels, "split": "train"} for i, labels in enumerate(SETS)
        ]
        rows.append({"id": "d0", "labels": ["wheat"], "split": "test"})
        train = write(tmp_path / "all.jsonl", "\n".join(map(json.dumps, rows)))
        path = write(tmp_path / "s.csv", table(SCORES))
        done = call("rescore", path, "--train", train)
        assert "1 scored document with known labels: micro F1" in done.err
        found = read_score_file(write(tmp_path / "better.csv", done.done()))
        np.testing.assert_allclose(found.values, BETTER, rtol=1e-12)


class TestWrongCalls:
    def test_no_file_is_overwritten(self, tmp_path, train):
        path = write(tmp_path / "s.csv", table(SCORES))
        other = write(tmp_path / "mine.csv", "mine")
        arguments = ["rescore", path, "--train", train, "--out"]
        assert "another file than the input" in call(*arguments, path).refused()
        message = call(*arguments, other).refused()
        assert "must be a new file" in message
        assert "name another" in message
        assert (path.read_text(), other.read_text()) == (table(SCORES), "mine")

    def test_log_odds_without_the_option_name_it(self, tmp_path, train):
        path = write(tmp_path / "s.csv", table(SCORES * 3))
        assert 'scale="log_odds"' in call("rescore", path, "--train", train, "-q").refused()

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (
                "grain,wheat\n0.1,much\n",
                "line 2: scores must be numbers, got: could not convert string to float: 'much'",
            ),
            ("grain,wheat\n0.1,1.5\n", "1.5"),
            ("zoo,ape\n0.1,0.5\n", "labels in common"),
            ("0.1,0.5\n", "(n, 3), got shape (1, 2)"),
        ],
    )
    def test_invalid_scores_are_errors(self, tmp_path, train, text, expected):
        path = write(tmp_path / "s.csv", text)
        assert expected in call("rescore", path, "--train", train, "-q").refused()


class TestCandidates:
    """Sparse scores go in and come out with the same cells."""

    CANDIDATES = sparse.csr_array(np.array([[0.0, 0.5, 0.9], [0.8, 0.0, 0.3]]))

    def test_text_of_omikuji_and_napkinxc(self, tmp_path, train):
        path = write(tmp_path / "s.txt", "1:0.5\t2:0.9\n0:0.8 2:0.3\n")
        out = tmp_path / "better.txt"
        call("rescore", path, "--train", train, "--out", out, "-q").done()
        expected = LabelRescorer().fit(Y).rescore(self.CANDIDATES)
        found = read_score_file(out).values
        assert (found.indices == expected.indices).all()
        np.testing.assert_allclose(found.data, expected.data, rtol=1e-15)
        assert out.read_text().splitlines()[0] == "2 3"

    @pytest.mark.parametrize("compressed", [False, True])
    def test_predictions_as_pecos_saves_them(self, tmp_path, train, compressed):
        """float32 in a csr_matrix, the best label of a document first: columns do not rise."""
        best_first = sparse.csr_matrix(
            (np.array([0.9, 0.5, 0.8, 0.3], np.float32), [2, 1, 0, 2], [0, 2, 4]), shape=(2, 3)
        )
        assert not best_first.has_sorted_indices
        sparse.save_npz(tmp_path / "s.npz", best_first, compressed=compressed)
        found = read_score_file(tmp_path / "s.npz").values
        assert found.has_sorted_indices
        assert found.dtype == np.float64
        np.testing.assert_allclose(found.toarray(), self.CANDIDATES.toarray(), rtol=1e-7)
        out = tmp_path / "b.npz"
        call("rescore", tmp_path / "s.npz", "--train", train, "--out", out, "-q").done()
        expected = LabelRescorer().fit(Y).rescore(self.CANDIDATES)
        np.testing.assert_allclose(
            sparse.load_npz(out).toarray(), expected.toarray(), rtol=1e-6
        )  # PECOS reads scores as SciPy does
