"""Posteriors of training documents are distributed like those of new documents.

Thresholds are tuned on the fitted rule, given out-of-fold content; calibration and
``out_of_fold_`` use label evidence that is out of fold as well.
"""

import numpy as np
import pytest
from benchmarks.corpus import DATA
from scipy import sparse

from labelkin import LabelDependenceClassifier, NaiveBayes, PlattSVM, corpora
from labelkin.corpora import newsroom
from labelkin.text import TermWeights, WordCounts

MULAN = DATA / "mulan"


def news():
    corpus = newsroom(900, seed=3)
    counts = WordCounts(min_documents=2, stem=False).fit_transform(corpus.documents)
    return counts, corpus.Y


def enron():
    if not (MULAN / "enron").exists():
        pytest.skip(f"no enron in {MULAN}: set LABELKIN_DATA")
    corpus = corpora.load("enron", MULAN / "enron")
    return sparse.csr_array(corpus.documents), corpus.Y


def figures(model, posterior, content):
    """Return the labels per document at the cut, and the size and mean of what labels add."""
    added = posterior - content
    return [model.decide(posterior).sum(axis=1).mean(), np.abs(added).mean(), added.mean()]


def in_turn(content, X, Y, n_parts=3):
    """Return the figures of tuning, out of fold, and of new documents, means of three splits."""
    part = np.random.default_rng(0).integers(n_parts, size=Y.shape[0])
    rows = []
    for k in range(n_parts):
        train, test = np.flatnonzero(part != k), np.flatnonzero(part == k)
        A, B = X[train], X[test]
        if not isinstance(content, NaiveBayes):
            weights = TermWeights().fit(A)
            A, B = weights.transform(A), weights.transform(B)
        model = LabelDependenceClassifier(
            content, thresholds="micro_f1", keep_out_of_fold=True, random_state=0
        ).fit(A, Y[train])
        seen = model.out_of_fold_
        tuned = model.rescorer_.rescore(seen.content)
        rows.append(
            [
                figures(model, tuned, seen.content),
                figures(model, seen.posterior, seen.content),
                figures(model, model.log_odds(B), model.content_.log_odds(B)),
            ]
        )
    return np.mean(rows, axis=0)


CONTENT = {
    "bayes": NaiveBayes(),
    "svm": PlattSVM(random_state=0),
    "three": ["naive_bayes", "nearest_neighbours", "svm"],
}


@pytest.mark.parametrize("content", CONTENT.values(), ids=CONTENT)
@pytest.mark.parametrize("corpus", [news, enron], ids=["newsroom", "enron"])
def test_out_of_fold_posteriors_are_similar_to_those_of_new_documents(corpus, content):
    X, Y = corpus()
    tuned, out_of_fold, new = in_turn(content, X, Y)
    assert tuned[0] == pytest.approx(new[0], rel=0.1)
    assert tuned[1] == pytest.approx(new[1], rel=0.1)
    assert tuned[2] == pytest.approx(new[2], rel=0.1, abs=0.1)
    assert out_of_fold[0] == pytest.approx(new[0], rel=0.1)
    assert out_of_fold[1] == pytest.approx(new[1], rel=0.2, abs=0.05)
    assert out_of_fold[2] == pytest.approx(new[2], rel=0.2, abs=0.15)
