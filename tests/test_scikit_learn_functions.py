"""Labels of a corpus and label sets in scikit-learn's functions, with our estimators."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.preprocessing import MultiLabelBinarizer

from labelkin import LabelDependenceClassifier, NaiveBayes, PerLabel, corpora, label_matrix
from labelkin.curation import audit
from labelkin.evaluation.splits import MultilabelStratifiedKFold

GRID = {"evidence_weight": [0, 1]}


@pytest.fixture(scope="module")
def news():
    return corpora.newsroom(300)


@pytest.fixture(scope="module")
def X(news):
    return CountVectorizer().fit_transform(news.documents)


@pytest.fixture(scope="module", params=["array", "CSR array", "DataFrame"])
def Y(request, news):
    frame = pd.DataFrame(news.Y, columns=news.label_names)
    return {"array": news.Y, "CSR array": sparse.csr_array(news.Y), "DataFrame": frame}[
        request.param
    ]


@pytest.fixture
def model():
    return LabelDependenceClassifier(NaiveBayes(), evidence_weight=1)


def test_fitting_on_label_sets_gives_the_same_model_with_names(news, X, model):
    plain = model.fit(X, news.Y).log_odds(X)
    np.testing.assert_array_equal(model.fit(X, news.label_sets()).log_odds(X), plain)
    assert model.label_names_.tolist() == news.label_names.tolist()


def test_cross_validation_accepts_labels_of_a_corpus(X, Y, model):
    if sparse.issparse(Y):
        pytest.skip("scikit-learn's cross_val_score and cross_validate reject a sparse y")
    scores = cross_val_score(model, X, Y, cv=3, scoring="f1_micro")
    assert (scores > 0.3).all()
    assert (cross_val_score(model, X, Y, cv=3) > 0).all()
    both = cross_validate(model, X, Y, cv=3, scoring=["f1_micro", "accuracy"])
    np.testing.assert_allclose(both["test_f1_micro"], scores)


def test_grid_search_accepts_labels_of_a_corpus(X, Y, model):
    search = GridSearchCV(model, GRID, cv=3, scoring="f1_micro").fit(X, Y)
    assert search.best_score_ > 0.3
    # Without min_resources scikit-learn counts the classes of a 1-d y.
    halving = HalvingGridSearchCV(
        model, GRID, cv=3, scoring="f1_micro", min_resources=100, random_state=0
    ).fit(X, Y)
    assert halving.best_params_["evidence_weight"] in (0, 1)
    assert halving.predict(X).shape == (300, 38)


def public_results(news, X, model):
    """Yield what functions of the library return for labels of a corpus."""
    for Y in (news.Y, sparse.csr_array(news.Y), news.label_sets()):
        model.fit(X, Y)
        yield model.predict(X)
        yield model.predict_proba(X)
        yield model.predict_labels(X[:2])
        audited = audit.LabelAudit(NaiveBayes(), random_state=0).fit(X, Y)
        yield audited.cleaned()
    yield from vars(news).values()
    yield from vars(news.labelled()).values()


def test_no_result_is_a_label_matrix(news, X, model):
    for result in public_results(news, X, model):
        assert not isinstance(result, label_matrix.LabelMatrix)


@pytest.mark.parametrize("content", [NaiveBayes(), PerLabel(LogisticRegression())], ids=repr)
def test_missing_feature_names_cause_one_warning(X, news, content):
    frame = pd.DataFrame(X.toarray(), columns=[f"word {j}" for j in range(X.shape[1])])
    model = LabelDependenceClassifier(content, evidence_weight=1).fit(frame, news.Y)
    for method in (model.predict, model.predict_proba, model.suggest, model.explain):
        with pytest.warns(UserWarning, match="does not have valid feature names") as caught:
            method(frame.to_numpy()[:2])
        assert len(caught) == 1


class TestLabelSets:
    """Lists of label names where scikit-learn hands them on, and the conversion where not."""

    @pytest.fixture
    def sets(self, news):
        return [list(labels) for labels in news.label_sets()]

    def test_the_documented_conversion_works_in_searches(self, X, sets, model):
        Y = MultiLabelBinarizer().fit_transform(sets)
        assert (cross_val_score(model, X, Y, cv=3) > 0).all()
        assert GridSearchCV(model, GRID, cv=3).fit(X, Y).best_score_ > 0

    @pytest.mark.parametrize("cv", [KFold(3), MultilabelStratifiedKFold(3, random_state=0)])
    def test_lists_work_with_a_splitter(self, X, sets, model, cv):
        assert (cross_val_score(model, X, sets, cv=cv) > 0).all()
        assert GridSearchCV(model, GRID, cv=cv).fit(X, sets).best_score_ > 0

    def test_scikit_learn_rejects_lists_where_it_counts_classes(self, X, sets, model):
        with pytest.raises(ValueError, match="MultiLabelBinarizer"):
            cross_val_score(model, X, sets, cv=3)
