"""What is tuned out of fold is tuned for what is deployed: the posteriors are distributed alike.

Parts of the documents that were fitted under a prior meant for all of them would be more cautious
than the model, and a cut that is good for the one would be wrong for the other.
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
    """Mails: parts that were fitted under the prior of the whole would add a fifth less."""
    if not (MULAN / "enron").exists():
        pytest.skip(f"no enron in {MULAN}: set LABELKIN_DATA")
    corpus = corpora.load("enron", MULAN / "enron")
    return sparse.csr_array(corpus.documents), corpus.Y


def in_turn(content, X, Y, n_parts=3):
    """Return figures out of fold and of deployed models on documents that they have not seen."""
    rng = np.random.default_rng(0)
    part = rng.integers(n_parts, size=Y.shape[0])
    unseen, deployed = [], []
    for k in range(n_parts):
        train, test = np.flatnonzero(part != k), np.flatnonzero(part == k)
        A, B = X[train], X[test]
        if not isinstance(content, NaiveBayes) and hasattr(X, "indptr"):
            weights = TermWeights().fit(A)
            A, B = weights.transform(A), weights.transform(B)
        model = LabelDependenceClassifier(
            content, thresholds="micro_f1", keep_out_of_fold=True, random_state=0
        ).fit(A, Y[train])
        found = model.out_of_fold_
        content_odds, log_odds = model.content_.log_odds(B), model.log_odds(B)
        for into, z, before in (
            (unseen, found.posterior, found.content),
            (deployed, log_odds, content_odds),
        ):
            into.append(
                (
                    model.decide(z).sum(axis=1).mean(),
                    np.abs(z - before).mean(),
                    (z - before).mean(),
                )
            )
    return np.mean(unseen, axis=0), np.mean(deployed, axis=0)


CONTENT = {
    "bayes": NaiveBayes(),
    "svm": PlattSVM(random_state=0),
    "three": ["naive_bayes", "nearest_neighbours", "svm"],
}


@pytest.mark.parametrize("content", CONTENT.values(), ids=CONTENT)
@pytest.mark.parametrize("corpus", [news, enron], ids=["newsroom", "enron"])
def test_out_of_fold_and_deployed_posteriors_are_alike(corpus, content):
    X, Y = corpus()
    unseen, deployed = in_turn(content, X, Y)
    assert deployed[0] == pytest.approx(unseen[0], rel=0.1)  # labels per document at the tuned cut
    assert deployed[1] == pytest.approx(unseen[1], rel=0.2, abs=0.05)  # size of what labels add
    assert deployed[2] == pytest.approx(unseen[2], abs=0.15)  # on which side
