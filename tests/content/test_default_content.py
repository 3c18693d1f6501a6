"""The default content classifier."""

import numpy as np
import pytest
from scipy import sparse

from labelkin import ContentEnsemble, LabelDependenceClassifier, PlattSVM
from labelkin.content.ensemble import default_content, looks_like_words

rng = np.random.default_rng(0)
NUMBERS = rng.normal(size=(60, 4))
COUNTS = rng.poisson(0.4, size=(60, 8)).astype(float)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (NUMBERS, False),
        (np.abs(NUMBERS), False),
        (COUNTS, True),
        (-COUNTS, False),
        (sparse.csr_array(NUMBERS), True),
        (sparse.csr_matrix(COUNTS), True),
        ((COUNTS > 0).tolist(), True),
        (["a text"] * 60, True),
        (np.where(NUMBERS > 2, np.nan, NUMBERS), True),  # an error that the SVM explains
    ],
)
def test_default_content_depends_on_the_features(X, words):
    assert looks_like_words(X) is words
    assert isinstance(default_content(X), PlattSVM if words else ContentEnsemble)


def test_few_documents_get_one_classifier():
    assert isinstance(default_content(NUMBERS[:29]), PlattSVM)
    assert isinstance(default_content(NUMBERS[:30]), ContentEnsemble)


def test_chosen_content_is_reported(capsys):
    Y = NUMBERS[:, :2] > 0
    model = LabelDependenceClassifier(random_state=0, verbose=1).fit(NUMBERS, Y)
    assert isinstance(model.content_, ContentEnsemble)
    shown = capsys.readouterr().err
    assert "content chosen by the features: ContentEnsemble" in shown
    assert model.content is None
    words = LabelDependenceClassifier(random_state=0).fit(COUNTS, Y)
    assert isinstance(words.content_, PlattSVM)
    assert capsys.readouterr().err == ""
