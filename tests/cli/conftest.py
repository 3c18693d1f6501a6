"""A corpus in a file, and models trained on it by the command line."""

import json

import pytest
from in_process import call

from labelkin.corpora import newsroom

N_DOCUMENTS, N_TRAIN = 420, 300


@pytest.fixture(scope="session")
def news():
    return newsroom(N_DOCUMENTS)


@pytest.fixture(scope="session")
def news_file(news, tmp_path_factory):
    """The corpus as JSON lines, with a split."""
    path = tmp_path_factory.mktemp("corpus") / "news.jsonl"
    rows = [
        {
            "id": f"n{i}",
            "text": text,
            "labels": list(labels),
            "split": "train" if i < N_TRAIN else "test",
        }
        for i, (text, labels) in enumerate(zip(news.documents, news.label_sets(), strict=True))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="session")
def trained(news_file, tmp_path_factory):
    """A model file, and what was printed when it was trained."""
    path = tmp_path_factory.mktemp("model") / "news.labelkin"
    return path, call("train", news_file, "-o", path)


@pytest.fixture(scope="session")
def model(trained):
    path, done = trained
    assert done.code == 0, done.err
    return path


@pytest.fixture(scope="session")
def vector_model(tmp_path_factory):
    """A model that takes vectors, and one document of that kind per line is no text."""
    from labelkin import NaiveBayes, save

    fitted = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    return save(fitted, tmp_path_factory.mktemp("vectors") / "vectors.labelkin")
