"""A model in a file, a service that has it."""

import pytest
from live_server import serving
from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, LogisticLabels, NaiveBayes, corpora, storage
from labelkin.text import TermWeights, WordCounts
from labelkin.vocabulary.rules import Rules

N_DOCUMENTS = 900


@pytest.fixture(scope="session")
def newsroom():
    return corpora.newsroom(N_DOCUMENTS)


@pytest.fixture(scope="session")
def news_model(newsroom):
    """Fit the usual pipeline."""
    pipeline = make_pipeline(
        WordCounts(), TermWeights("tfidf"), LabelDependenceClassifier(random_state=0)
    )
    train = newsroom.train
    return pipeline.fit(newsroom.documents[train], newsroom.label_sets(train))


@pytest.fixture(scope="session")
def news_file(news_model, tmp_path_factory):
    """Save it; each service names its own file of saved work."""
    path = tmp_path_factory.mktemp("models") / "news.labelkin"
    return storage.save(news_model, path, summary={"name": "Newsroom", "documents": N_DOCUMENTS})


@pytest.fixture(scope="session")
def ruled_file(newsroom, tmp_path_factory):
    """Save a model with rules: wheat is grain, and football is not tennis."""
    rules = Rules(implies=[("wheat", "grain")], exclusive=[("football", "tennis")])
    pipeline = make_pipeline(
        WordCounts(), LabelDependenceClassifier(NaiveBayes(), evidence_weight=0.5, rules=rules)
    )
    train = newsroom.train
    pipeline.fit(newsroom.documents[train], newsroom.label_sets(train))
    return storage.save(pipeline, tmp_path_factory.mktemp("models") / "ruled.labelkin")


@pytest.fixture(scope="session")
def candidates_model(newsroom):
    """Fit a model that names candidates, as one of thousands of labels does."""
    classifier = LabelDependenceClassifier(
        NaiveBayes(top=8), labels=LogisticLabels(neighbours=6), random_state=0
    )
    pipeline = make_pipeline(WordCounts(), classifier)
    train = newsroom.train
    return pipeline.fit(newsroom.documents[train], newsroom.label_sets(train))


@pytest.fixture(scope="session")
def candidates_file(candidates_model, tmp_path_factory):
    return storage.save(candidates_model, tmp_path_factory.mktemp("models") / "some.labelkin")


@pytest.fixture(scope="module")
def client(news_file, ruled_file, tmp_path_factory):
    """Ask a service of both models; its saved work is the module's."""
    saved_work = tmp_path_factory.mktemp("saved") / "both.sqlite"
    with serving(news_file, ruled_file, saved_work=saved_work) as asking:
        yield asking
