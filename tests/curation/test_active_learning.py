"""The documents to label next: values, and the choice of a batch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import entropy
from sklearn.preprocessing import normalize

from labelkin import LabelDependenceClassifier, NaiveBayes, NearestNeighbours
from labelkin.corpora import newsroom
from labelkin.curation import next_documents
from labelkin.curation.active_learning import document_values
from labelkin.text import WordCounts


@pytest.fixture(scope="module")
def news():
    return newsroom(420)


@pytest.fixture(scope="module")
def words(news):
    return WordCounts().fit(news.documents[news.train])


@pytest.fixture(scope="module")
def model(news, words):
    X = words.transform(news.documents[news.train])
    return LabelDependenceClassifier(NaiveBayes()).fit(X, news.Y[news.train])


@pytest.fixture(scope="module")
def pool(news, words):
    return words.transform(news.documents[news.test])


def assert_entropies(model, pool):
    """Assert that values are sums of entropies, and that a choice lists uncertain labels."""
    p = model.predict_proba(pool)
    p = p.toarray() if sparse.issparse(p) else p
    bits = entropy([p, 1 - p], base=2, axis=0)
    values = document_values(model, pool)
    assert values == pytest.approx(bits.sum(axis=1), abs=1e-9)
    for one in next_documents(model, pool, 5):
        assert one.value == values[one.document]
        order = np.argsort(-bits[one.document], kind="stable")[: len(one.labels)]
        assert [label.bits for label in one.labels] == pytest.approx(bits[one.document, order])
        assert [label.label for label in one.labels] == model.label_names_[order].tolist()
        assert [x.probability for x in one.labels] == pytest.approx(p[one.document, order])


@pytest.mark.parametrize(
    "classifier",
    [
        LabelDependenceClassifier(NaiveBayes()),
        NaiveBayes(),
        LabelDependenceClassifier(NearestNeighbours(top=6)),
        NearestNeighbours(top=6),
    ],
    ids=["dependence", "content alone", "candidates", "candidates of content"],
)
def test_value_is_the_sum_of_label_entropies(news, words, pool, classifier):
    X = words.transform(news.documents[news.train])
    assert_entropies(classifier.fit(X, news.Y[news.train]), pool)


@given(seed=st.integers(0, 1000), n=st.integers(1, 30))
@settings(max_examples=15, deadline=None)
def test_order_of_the_pool_does_not_change_the_choice(model, pool, seed, n):
    order = np.random.RandomState(seed).permutation(pool.shape[0])
    one = next_documents(model, pool, n)
    other = next_documents(model, pool[order], n)
    assert [a.document for a in one] == [order[b.document] for b in other]


def cosines(pool):
    unit = normalize(pool)
    return np.asarray((unit @ unit.T).todense())


def represented(values, alike, batch):
    """Return the value that a batch represents, by its definition."""
    return float(values @ alike[batch].max(axis=0)) if len(batch) else 0.0


def test_each_step_has_the_highest_gain(model, pool):
    values, alike = document_values(model, pool), cosines(pool)
    chosen = next_documents(model, pool, 6)
    before: list[int] = []
    for one in chosen:
        now = represented(values, alike, before)
        every = [represented(values, alike, [*before, i]) - now for i in range(pool.shape[0])]
        assert one.gain == pytest.approx(every[one.document])
        assert one.gain == pytest.approx(max(every))
        nearest = alike[one.document, before].max() if before else 0.0
        assert one.similarity == pytest.approx(nearest)
        before.append(one.document)


def test_document_with_known_labels_has_value_0(model, pool):
    n_labels = len(model.classes_)
    known = np.full((pool.shape[0], n_labels), np.nan)
    known[3] = 0
    known[4] = 1
    values = document_values(model, pool, known=known)
    assert values[[3, 4]] == pytest.approx([0, 0], abs=1e-12)
    assert values[5] == pytest.approx(document_values(model, pool[[5]])[0])


def test_known_labels_are_given_by_name(model, pool):
    label = next_documents(model, pool[:1], 1)[0].labels[0].label
    [then] = next_documents(model, pool[:1], 1, known={"accepted": [label]})
    assert label not in [one.label for one in then.labels]
    assert then.value < next_documents(model, pool[:1], 1)[0].value


def test_vectors_define_similarity(model, pool):
    one_hot = np.zeros((pool.shape[0], 2))
    one_hot[:, 0] = 1
    one_hot[7] = 0, 1
    chosen = next_documents(model, pool, 2, vectors=one_hot)
    assert 7 in [one.document for one in chosen]
    with pytest.raises(ValueError, match="row for each of the"):
        next_documents(model, pool, 2, vectors=one_hot[:3])
