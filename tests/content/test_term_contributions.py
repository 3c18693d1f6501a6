"""Contributions of terms and neighbours add up to the content log-odds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from labelkin import (
    LabelDependenceClassifier,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
)
from labelkin.content import MultilabelContent
from labelkin.content.term_contributions import contributions_of
from labelkin.explain.contributions import explain_terms
from labelkin.text import TermSelection, TermWeights, WordCounts

TEXTS = [
    "Trading ships carry corn",
    "Corn, good corn and wheat!",
    "A ship sank at sea",
    "Good ships sink slowly",
    "Wheat harvests and corn trade",
    "Gold was traded, gold was mined",
    "The gold mine sank money",
    "Ships trade gold for wheat",
] * 3
TOPICS = [
    ["sea", "farm"], ["farm"], ["sea"], ["sea"], ["farm"], ["money"], ["money"],
    ["sea", "farm", "money"],
] * 3  # fmt: skip


def world(seed=0, n=60, terms=20, p=5):
    """Return counts with an empty document and an unused term; labels 3 and 4 are constant."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, (n, terms)).astype(float)
    Y = (X[:, :p] + rng.random((n, p)) > 1).astype(float)
    X[3], X[:, -1], Y[:, 3], Y[:, 4] = 0, 0, 0, 1
    return X, Y


def queries(X):
    """Return documents, one without words and one with a new term."""
    asked = X[:6].copy()
    asked[1], asked[2, -1] = 0, 3
    return asked


def total(cell):
    return cell.constant + sum(term.log_odds for term in cell.terms) + cell.clipped


def assert_adds_up(model, X, columns, clipped=False):
    shares = model.term_contributions(X, columns)
    np.testing.assert_allclose(
        [[total(cell) for cell in row] for row in shares], model.log_odds(X)[:, columns], atol=1e-9
    )
    cells = [cell for row in shares for cell in row]
    assert clipped or not any(cell.clipped for cell in cells)
    for cell in cells:
        sizes = [abs(term.log_odds) for term in cell.terms]
        assert sizes == sorted(sizes, reverse=True)
        assert 0 not in sizes
    return shares


LINEAR = {
    "svm": lambda: PlattSVM(random_state=0),
    "naive Bayes": NaiveBayes,
    "logistic": lambda: PerLabel(LogisticRegression()),
    "multinomial": lambda: PerLabel(MultinomialNB()),
    "one vs rest": lambda: MultilabelContent(OneVsRestClassifier(LogisticRegression())),
    "multi-output": lambda: MultilabelContent(MultiOutputClassifier(LogisticRegression())),
}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("name", LINEAR)
def test_contributions_add_up_to_the_log_odds(name, kind):
    X, Y = world()
    model = LINEAR[name]().fit(kind(X), Y)
    shares = assert_adds_up(model, kind(queries(X)), [4, 0, 3, 2])
    assert shares[0][1].terms
    assert [cell.terms for cell in shares[0][::2]] == [(), ()]  # constant labels
    assert not shares[1][1].terms  # no words


def changes_without(model, document):
    """Return the decrease of the log-odds without each term, terms × labels."""
    without = np.tile(document, (len(document), 1))
    np.fill_diagonal(without, 0)
    return model.log_odds(document[None]) - model.log_odds(without)


@pytest.mark.parametrize("name", ["svm", "naive Bayes", "logistic", "multinomial"])
def test_contribution_is_the_change_without_the_term(name):
    X, Y = world(1)
    model = LINEAR[name]().fit(X, Y)
    told = np.zeros((20, 5))
    for j, cell in enumerate(model.term_contributions(X[:1], range(5))[0]):
        told[[term.term for term in cell.terms], j] = [term.log_odds for term in cell.terms]
        for term in cell.terms:
            assert term.value == X[0, term.term] != 0
        np.testing.assert_allclose(cell.constant, model.log_odds(0 * X[:1])[0, j], atol=1e-9)
    assert np.abs(told).max() > 0.1
    np.testing.assert_allclose(told, changes_without(model, X[0]), atol=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.booleans(), st.floats(1e-3, 1e3))
def test_naive_bayes_adds_up_for_real_values_unknown_cells_and_weights(seed, unknown, scale):
    X, Y = world(seed)
    rng = np.random.default_rng(seed)
    X *= scale * rng.random(X.shape)
    if unknown:
        Y[rng.random(Y.shape) < 0.3] = np.nan
    model = NaiveBayes().fit(X, Y, sample_weight=rng.random(len(X)))
    assert_adds_up(model, queries(X) / scale, range(5))


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6))
def test_contributions_of_stored_zeros_and_repeated_entries_add_up(seed):
    X, Y = world(seed)
    model = PlattSVM(random_state=0).fit(X, Y)
    rng = np.random.default_rng(seed)
    repeated = sparse.csr_array(
        (rng.integers(-2, 3, 8).astype(float), rng.integers(0, 20, 8), [0, 4, 8]), shape=(2, 20)
    )
    assert_adds_up(model, repeated, [2, 0])
    assert repeated.nnz == 8  # as it came


def test_clipping_is_a_separate_part():
    X, Y = world(3)
    model = MultilabelContent(OneVsRestClassifier(LogisticRegression(C=100)), clip=0.01).fit(X, Y)
    shares = assert_adds_up(model, X, [0, 1, 2], clipped=True)
    cells = [cell for row in shares for cell in row]
    end = np.log(0.99 / 0.01)
    for cell in cells:
        linear = total(cell) - cell.clipped
        np.testing.assert_allclose(total(cell), np.clip(linear, -end, end), atol=1e-9)
    assert 0 < sum(cell.clipped != 0 for cell in cells) < len(cells)


@pytest.mark.parametrize(
    "content",
    [
        PerLabel(GaussianNB()),
        PerLabel(RandomForestClassifier(3, random_state=0)),
        PerLabel(CalibratedClassifierCV(LogisticRegression(), cv=2)),
        MultilabelContent(RandomForestClassifier(3, random_state=0)),
        MultilabelContent(ClassifierChain(LogisticRegression())),
        MultilabelContent(OneVsRestClassifier(GaussianNB())),
    ],
    ids=str,
)
def test_classifiers_that_are_not_linear_have_no_contributions(content):
    X, Y = world(6)
    assert content.fit(X, Y).term_contributions(X[:3], [0, 1]) is None
    assert contributions_of(content, X[:3], [0]) is None
    assert content.term_contributions(X[:3], [3]) is not None or isinstance(
        content, MultilabelContent
    )


class Misleading(LogisticRegression):
    """A classifier whose probabilities are not those of its weights."""

    def predict_proba(self, X):
        return super().predict_proba(X) ** 2 / (super().predict_proba(X) ** 2).sum(1, keepdims=True)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("estimator", [Misleading(), SVC(kernel="linear", probability=True)])
def test_weights_that_do_not_give_the_log_odds_are_not_used(estimator):
    X, Y = world(7)
    assert PerLabel(estimator).fit(X, Y).term_contributions(X[:3], [0]) is None


def brute_force(X, query, k):
    """Return the k largest positive cosines, largest first."""
    norms = np.linalg.norm(X, axis=1) * np.linalg.norm(query)
    cosine = np.divide(X @ query, norms, out=np.zeros(len(X)), where=norms > 0)
    first = np.argsort(-cosine, kind="stable")[:k]
    return [(int(i), cosine[i]) for i in first if cosine[i] > 0]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_neighbours_are_those_of_brute_force(kind):
    rng = np.random.default_rng(9)
    X, Y = world(9)
    X *= rng.random(X.shape)  # no ties
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[0] = [0, 1, 0, 0, 1]
    asked = queries(X)
    model = NearestNeighbours(7).fit(kind(X), Y)
    shares = assert_adds_up(model, kind(asked), [0, 2])
    for query, row in zip(asked, shares, strict=True):
        expected = brute_force(X, query, 7)
        for j, cell in zip([0, 2], row, strict=True):
            assert [n.document for n in cell.neighbours] == [i for i, _ in expected]
            told = [n.similarity for n in cell.neighbours]
            np.testing.assert_allclose(told, [cosine for _, cosine in expected], atol=1e-6)
            voters = sum(cosine for i, cosine in expected if not np.isnan(Y[i, j]))
            for neighbour, (i, cosine) in zip(cell.neighbours, expected, strict=True):
                known = not np.isnan(Y[i, j])
                assert neighbour.has_label == (bool(Y[i, j]) if known else None)
                np.testing.assert_allclose(neighbour.share, known * cosine / voters, atol=1e-6)


def test_empty_documents_and_constant_labels_have_no_votes():
    X, Y = world(11)
    model = NearestNeighbours(5).fit(X, Y)
    assert model.term_contributions(0 * X[:1], [0])[0][0].neighbours == ()
    assert [cell.neighbours for cell in model.term_contributions(X[:1], [3, 4])[0]] == [(), ()]


@pytest.mark.parametrize("name", ["svm", "naive Bayes", "logistic", "one vs rest"])
def test_invalid_columns_raise(name):
    X, Y = world(12)
    model = LINEAR[name]().fit(X, Y)
    with pytest.raises(ValueError, match=r"from 0 to 4, got 5 \(1 such of 2\)"):
        model.term_contributions(X[:1], [0, 5])
    with pytest.raises(TypeError, match="list of integers"):
        model.term_contributions(X[:1], [0.5])
    assert model.term_contributions(X[:2], []) == [[], []]


def explained_total(cell):
    return cell.constant + sum(term.log_odds for term in cell.terms) + cell.rest + cell.clipped


def text_pipeline(content=None):
    classifier = LabelDependenceClassifier(content, random_state=0, evidence_weight=1.0)
    steps = WordCounts(min_documents=1), TermSelection(k=9), TermWeights("tfidf")
    return make_pipeline(*steps, classifier).fit(TEXTS, TOPICS)


@pytest.mark.parametrize("content", [None, NaiveBayes(), LogisticRegression()], ids=str)
def test_a_text_pipeline_names_the_terms_of_a_text(content):
    model = text_pipeline(content)
    asked = ["Ships and golden ships, traded for corn", "", "nothing known here"]
    for i, row in enumerate(explain_terms(model, asked, ["sea", "money"], top=2)):
        told = model[-1].content_.log_odds(model[:-1].transform(asked))[i]
        for cell, j in zip(row, [2, 1], strict=True):
            assert cell.label == model.classes_[j]
            np.testing.assert_allclose([explained_total(cell), cell.log_odds], told[j], atol=1e-9)
    [sea, money] = explain_terms(model, asked[:1], ["sea", "money"])[0]
    assert sea.terms[0].term == "ship" and sea.terms[0].log_odds > 0
    assert {term.term for term in sea.terms} <= {"ship", "corn", "trade", "gold", "golden"}
    assert sea.rest == 0
    assert {t.term: t.log_odds for t in money.terms}["ship"] < 0


def test_invalid_arguments_raise_with_a_hint():
    model = text_pipeline()
    with pytest.raises(ValueError, match="among the 3 labels of the model, got 'sky'"):
        explain_terms(model, ["gold"], ["sea", "sky"])
    with pytest.raises(ValueError, match="top must be a whole number of at least 1, got 0"):
        explain_terms(model, ["gold"], ["sea"], top=0)
    with pytest.raises(TypeError, match="a pipeline that ends in one, got CountVectorizer"):
        explain_terms(CountVectorizer(), ["gold"], ["sea"])
    with pytest.raises(NotFittedError):
        explain_terms(LabelDependenceClassifier(), [[1.0]], ["sea"])
