"""Recipes run on a small corpus, and the page includes their code."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from docs.make import recipes
from examples.recipes import (
    after_any_model,
    fasttext_softmax,
    omikuji_candidates,
    sentence_embeddings,
    transformer_sigmoid,
)
from scipy import sparse

from labelkin.corpora import newsroom
from labelkin.evaluation import metrics


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Some documents of the newsroom, with the labels that are common among them."""
    news = newsroom(400)
    Y = news.Y
    train, test = news.train[:200], news.test[:60]
    common = Y[train].sum(axis=0) >= 12
    texts = np.asarray(news.documents, dtype=object)
    folder = tmp_path_factory.mktemp("recipes")
    return recipes.Drawn(texts[train], Y[train][:, common], texts[test], Y[test][:, common], folder)


@pytest.fixture(scope="module")
def vectors(drawn):
    """Stand for embeddings: words, in a few dimensions."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words, few = TfidfVectorizer(), TruncatedSVD(40, random_state=0)
    X = few.fit_transform(words.fit_transform(drawn.texts))
    return X, few.transform(words.transform(drawn.new_texts))


def check_steps(steps, drawn, first):
    rows = recipes.measure(steps, drawn.Y_new)
    assert [row["step"] for row in rows] == [first, *list(steps)[1:]]
    assert rows[-1]["step"] == "with thresholds"
    for found in steps.values():
        assert found.shape == drawn.Y_new.shape
    assert rows[-1]["micro_f1"] > rows[0]["micro_f1"] - 0.1
    return rows


def test_embeddings_are_content(drawn, vectors):
    steps = sentence_embeddings.steps(vectors[0], drawn.Y, vectors[1])
    check_steps(steps, drawn, "content alone, cut at ½")


def test_sigmoid_scores(drawn, vectors):
    pytest.importorskip("torch", reason="torch is not installed")
    unseen, scores = transformer_sigmoid.scores(vectors[0], drawn.Y, vectors[1], folds=2)
    assert unseen.shape == drawn.Y.shape
    check_steps(after_any_model.steps(unseen, drawn.Y, scores), drawn, "scores cut at ½")


def test_softmax_scores(drawn):
    pytest.importorskip("fasttext", reason="fasttext is not installed")
    unseen, scores = fasttext_softmax.scores(drawn.texts, drawn.Y, drawn.new_texts, folds=2)
    assert scores.sum(axis=1) == pytest.approx(np.ones(len(scores)), abs=1e-3)
    rows = check_steps(after_any_model.steps(unseen, drawn.Y, scores), drawn, "scores cut at ½")
    assert rows[-1]["micro_f1"] > rows[0]["micro_f1"]


def test_candidates(drawn):
    pytest.importorskip("omikuji", reason="omikuji is not installed")
    unseen, scores = omikuji_candidates.scores(
        drawn.texts, drawn.Y, drawn.new_texts, folds=2, top=5
    )
    assert sparse.issparse(unseen)
    assert unseen.shape == drawn.Y.shape
    assert np.diff(scores.indptr).max() == 5
    check_steps(after_any_model.steps(unseen, drawn.Y, scores), drawn, "scores cut at ½")


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "candidates"])
def test_softmax_like_scores_are_calibrated(drawn, is_sparse):
    rng = np.random.RandomState(0)
    noisy = np.exp(3 * drawn.Y + rng.normal(0, 1, drawn.Y.shape))
    scores = noisy / noisy.sum(axis=1, keepdims=True)
    half = len(scores) // 2
    parts = scores[:half], scores[half:]
    if is_sparse:
        parts = tuple(map(sparse.csr_array, parts))
    _, honest = after_any_model.calibrated(parts[0], drawn.Y[:half], parts[1])
    values = honest.toarray() if is_sparse else honest
    truth = drawn.Y[half:]
    assert metrics.micro_f1(truth, values > 0.5) > metrics.micro_f1(truth, scores[half:] > 0.5)
    assert values.sum() == pytest.approx(truth.sum(), rel=0.15)


def test_the_page_shows_the_code_and_the_numbers(tmp_path):
    (tmp_path / "drawn.json").write_text(
        json.dumps({"n_train": 10, "n_test": 5, "n_labels": 3, "least": 2})
    )
    rows = [
        {"step": "scores cut at ½", "micro_f1": 0.5, "macro_f1": 0.25},
        {
            "step": "calibrated",
            **{"micro_f1": 0.625, "macro_f1": 0.5},
            **{"micro_f1 gain": [0.125, 0.1, 0.15], "macro_f1 gain": [0.25, -0.1, 0.5]},
        },
    ]
    (tmp_path / "fasttext_softmax.json").write_text(json.dumps(rows))
    page = tmp_path / "recipes.md"
    recipes.write_recipes(tmp_path, page)
    text = page.read_text()
    assert (
        "| calibrated | 0.625, +0.125 (+0.100 … +0.150) | 0.500, +0.250 (-0.100 … +0.500) |" in text
    )
    included = re.findall(r"literalinclude} \.\./\.\./(\S+)", text)
    assert len(included) == 6 and all(Path(file).is_file() for file in included)
