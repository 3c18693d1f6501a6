"""What is learned from predicted labels is learned for the posterior that is deployed."""

import numpy as np
import pytest
from labelkin.learned.predicted_evidence import PredictedEvidence
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from labelkin import LabelDependenceClassifier, NaiveBayes, NearestNeighbours, PlattSVM, corpora
from labelkin.label_matrix import read_labels
from labelkin.method.combination import probable_labels
from labelkin.method.label_evidence import LogisticLabels, SVMLabels

CONTENT = {
    "nb": (NaiveBayes(), CountVectorizer()),
    "knn": (NearestNeighbours(), TfidfVectorizer(sublinear_tf=True)),
    "svm": (PlattSVM(random_state=0), TfidfVectorizer(sublinear_tf=True)),
}


@pytest.mark.parametrize("name", CONTENT)
def test_the_out_of_fold_posterior_is_as_strong_as_the_deployed_one(name):
    """In distribution: what labels add in the mean, and how many are given at the tuned cut.

    Fitted under the prior of the whole, the parts that are crosswise fitted on fewer documents
    would add a tenth to a fifth less than what is deployed.
    """
    news = corpora.newsroom(1200)
    content, words = CONTENT[name]
    X = words.fit_transform(news.documents[news.train])
    X_new = words.transform(news.documents[news.test])
    model = LabelDependenceClassifier(content, thresholds="micro_f1", keep_out_of_fold=True)
    model.fit(X, news.Y[news.train])
    seen = model.out_of_fold_
    deployed = model.posterior(X_new)
    added = np.abs(seen.posterior - seen.content).mean()
    added_new = np.abs(deployed.log_odds - deployed.content).mean()
    assert added / added_new == pytest.approx(1, abs=0.05)
    given = model.thresholds_.decide(seen.posterior).sum(axis=1).mean()
    assert given / deployed.decisions().sum(axis=1).mean() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("labels", [LogisticLabels(), SVMLabels()], ids=str)
def test_a_part_that_is_like_the_whole_learns_what_the_whole_learns(labels):
    """Four copies of a corpus, one in each fold: every part has the whole's distribution."""
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 5)) < 0.4).astype(int)
    Y[:, 4] |= Y[:, 0] & (rng.random(60) < 0.8)
    whole = read_labels(np.repeat(Y, 4, axis=0))
    content = np.repeat(rng.normal(size=Y.shape), 4, axis=0)
    evidence = PredictedEvidence.of(labels, probable_labels, content, whole, None)
    assert all((np.bincount(evidence.fold[i : i + 4]) == 1).all() for i in range(0, 240, 4))
    expected = labels.fit(whole).log_odds(evidence.filled) - np.log(
        whole.prior() / (1 - whole.prior())
    )
    np.testing.assert_allclose(evidence.paper, expected, atol=1e-3)
