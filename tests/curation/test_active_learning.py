"""Which documents come next: laws, and what the choice is made of."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from labelkin import LabelDependenceClassifier, NaiveBayes
from labelkin.corpora import newsroom
from labelkin.curation import next_documents
from labelkin.curation.active_learning import binary_entropy, document_values
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


def entropy(model, pool):
    """The sum of the entropies of each document's labels, in bits."""
    p = model.predict_proba(pool)
    if not sparse.issparse(p):
        return binary_entropy(p).sum(axis=1)
    bits = sparse.csr_array((binary_entropy(p.data), p.indices, p.indptr), shape=p.shape)
    return np.asarray(bits.sum(axis=1)).ravel()


def test_value_is_the_sum_of_the_entropies_of_the_labels(news, words, model, pool):
    X, Y = words.transform(news.documents[news.train]), news.Y[news.train]
    for one in (model, NaiveBayes().fit(X, Y)):
        assert document_values(one, pool) == pytest.approx(entropy(one, pool), abs=1e-9)


def test_binary_entropy_equals_its_definition():
    p = np.array([0.1, 0.5, 0.9])
    expected = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    assert binary_entropy(p) == pytest.approx(expected)
    assert binary_entropy([0.0, 1.0]).tolist() == [0.0, 0.0]


def test_labels_of_a_document_add_up_to_at_most_its_value(model, pool):
    best = pool[[document_values(model, pool).argmax()]]
    [first] = next_documents(model, best, 1)
    assert len(first.labels) == 5
    assert sum(one.bits for one in first.labels) <= first.value + 1e-9
    p = model.predict_proba(best)[0]
    names = model.classes_.tolist()
    for one in first.labels:
        assert one.probability == pytest.approx(p[names.index(one.label)])
    assert [one.bits for one in first.labels] == sorted(
        (one.bits for one in first.labels), reverse=True
    )


@given(seed=st.integers(0, 1000), n=st.integers(1, 30))
@settings(max_examples=15, deadline=None)
def test_the_order_of_the_pool_does_not_matter(model, pool, seed, n):
    order = np.random.RandomState(seed).permutation(pool.shape[0])
    one = next_documents(model, pool, n)
    other = next_documents(model, pool[order], n)
    assert [a.document for a in one] == [order[b.document] for b in other]


@given(
    copies=st.lists(st.integers(0, 139), min_size=1, max_size=40),
    n=st.integers(1, 40),
)
@settings(max_examples=20, deadline=None)
def test_no_document_is_chosen_twice(model, pool, copies, n):
    rows = np.concatenate([np.arange(pool.shape[0]), copies])
    chosen = next_documents(model, pool[rows], n)
    assert len({rows[one.document] for one in chosen}) == n
    assert all(one.similarity < 1 - 1e-9 for one in chosen)


def test_empty_documents_are_all_the_same(model, pool):
    empty = sparse.csr_array((5, pool.shape[1]), dtype=pool.dtype)
    some = sparse.vstack([empty, pool[:5]], format="csr")
    chosen = next_documents(model, some, 6)
    assert sum(one.document < 5 for one in chosen) == 1


def cosines(pool):
    unit = normalize(pool)
    return np.asarray((unit @ unit.T).todense())


def represented(values, alike, batch):
    """What a batch represents, by its definition."""
    return float(values @ alike[batch].max(axis=0)) if len(batch) else 0.0


def test_a_representative_batch_adds_the_most_at_every_step(model, pool):
    """Against all documents tried one by one, by the definition."""
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


def test_a_representative_pair_is_nearly_the_best_of_all(model, pool):
    some = pool[:25]
    values, alike = document_values(model, some), cosines(some)
    best = max(represented(values, alike, list(pair)) for pair in combinations(range(25), 2))
    found = represented(values, alike, [one.document for one in next_documents(model, some, 2)])
    assert (1 - 1 / np.e) * best <= found <= best + 1e-9


def test_of_a_large_pool_the_most_valuable_documents_are_represented(model, pool, monkeypatch):
    monkeypatch.setattr("labelkin.curation.active_learning._REPRESENTED", 40)
    monkeypatch.setattr("labelkin.curation.active_learning._CANDIDATES", 20)
    values = document_values(model, pool)
    chosen = next_documents(model, pool, 5)
    assert len({one.document for one in chosen}) == 5
    fortieth = np.sort(values)[-40]
    assert all(one.value >= fortieth for one in chosen)


def test_a_document_with_certain_labels_is_worth_nothing(model, pool):
    n_labels = len(model.classes_)
    known = np.full((pool.shape[0], n_labels), np.nan)
    known[3] = 0
    known[4] = 1
    values = document_values(model, pool, known=known)
    assert values[[3, 4]] == pytest.approx([0, 0], abs=1e-12)
    assert values[5] == pytest.approx(document_values(model, pool[[5]])[0])


def test_known_labels_may_be_named(model, pool):
    label = next_documents(model, pool[:1], 1)[0].labels[0].label
    [then] = next_documents(model, pool[:1], 1, known={"accepted": [label]})
    assert label not in [one.label for one in then.labels]
    assert then.value < next_documents(model, pool[:1], 1)[0].value


def test_texts_are_a_pool_for_a_pipeline(news, words, model, pool):
    chain = make_pipeline(words, model)
    texts = list(news.documents[news.test])
    by_text = next_documents(chain, texts, 5)
    assert by_text == next_documents(model, pool, 5)


def test_vectors_of_ones_own_say_who_is_similar(model, pool):
    one_hot = np.zeros((pool.shape[0], 2))
    one_hot[:, 0] = 1
    one_hot[7] = 0, 1
    chosen = next_documents(model, pool, 2, vectors=one_hot)
    assert 7 in [one.document for one in chosen]
    with pytest.raises(ValueError, match="row for each of the"):
        next_documents(model, pool, 2, vectors=one_hot[:3])


def test_blocks_change_nothing(model, pool, monkeypatch):
    whole = document_values(model, pool)
    monkeypatch.setattr("labelkin.curation.active_learning._CELLS", 1)
    np.testing.assert_allclose(document_values(model, pool), whole, rtol=1e-9)


def test_candidates_have_the_value_of_their_entropies(news, words, pool):
    from labelkin import NearestNeighbours

    X, Y = words.transform(news.documents[news.train]), news.Y[news.train]
    few = LabelDependenceClassifier(NearestNeighbours(top=6)).fit(X, Y)
    assert sparse.issparse(few.log_odds(pool[:2]))
    assert document_values(few, pool) == pytest.approx(entropy(few, pool))
    chosen = next_documents(few, pool, 5)
    assert len(chosen) == 5
    p = few.predict_proba(pool)
    for one in chosen:
        stored = {few.classes_[j]: x for j, x in zip(*_row(p, one.document), strict=True)}
        assert all(stored[open_.label] == pytest.approx(open_.probability) for open_ in one.labels)


def _row(matrix, i):
    cells = slice(matrix.indptr[i], matrix.indptr[i + 1])
    return matrix.indices[cells], matrix.data[cells]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be a whole number of at least 1, got 0"),
        ({"n": True}, "n must be a whole number"),
    ],
)
def test_what_makes_no_sense_is_an_error(model, pool, options, message):
    with pytest.raises(ValueError, match=message):
        next_documents(model, pool, **options)


def test_known_labels_need_label_evidence(news, words, pool):
    X, Y = words.transform(news.documents[news.train]), news.Y[news.train]
    with pytest.raises(ValueError, match="Use LabelDependenceClassifier"):
        document_values(NaiveBayes().fit(X, Y), pool, known=np.full((140, Y.shape[1]), np.nan))


def test_a_pool_that_is_smaller_is_returned_whole(model, pool):
    assert len(next_documents(model, pool[:3], 10)) == 3
    assert next_documents(model, pool[:0], 10) == []
