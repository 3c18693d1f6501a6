"""Work that needs too much memory raises an error before it starts."""

import numpy as np
import pytest

import labelkin.validation
from labelkin import (
    LabelDependenceClassifier,
    LabelRescorer,
    LogisticLabels,
    NaiveBayes,
    PlattSVM,
)
from labelkin.validation import check_memory


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(labelkin.validation, "memory_of_machine", lambda: 20_000)


def test_the_error_names_size_and_hint(small):
    with pytest.raises(MemoryError, match=r"Work will take about 3.0 GB .* has 0.0 GB\. Do less\."):
        check_memory(3e9, "Work", "Do less.")
    check_memory(10.0, "Work", "Do less.")


def test_memory_of_label_weights_is_estimated(small):
    Y = np.eye(310)
    with pytest.raises(MemoryError, match=r"310 × 310 labels .*neighbours=\"auto\""):
        LogisticLabels(neighbours=None).fit(Y)
    LogisticLabels(neighbours=4).fit(Y)


def test_memory_of_a_learned_weight_is_estimated(small):
    Y = np.tile(np.eye(10), (9, 1))
    with pytest.raises(MemoryError, match=r"90 documents × 10 labels .*sparse matrix"):
        LabelRescorer(evidence_weight="auto").fit(Y, scores=Y * 0.8 + 0.1)


def test_classifier_raises_before_fitting_the_content(small):
    X = np.tile(np.eye(10), (9, 1))
    model = LabelDependenceClassifier([NaiveBayes(), NaiveBayes(alpha=2)])
    with pytest.raises(MemoryError, match=r"90 documents × 10 labels .*top=100"):
        model.fit(X, X)
    assert not hasattr(model, "content_")
    LabelDependenceClassifier([NaiveBayes(), NaiveBayes(top=3)]).fit(X, X)
    LabelDependenceClassifier(NaiveBayes(), evidence_weight=1).fit(X, X)  # learns from no scores


def test_memory_of_svm_weights_is_estimated(small):
    X, Y = np.tile(np.eye(3, 900), (9, 1)), np.tile(np.eye(3), (9, 1))
    with pytest.raises(MemoryError, match=r"3 labels × 900 features .*prune=0\.1"):
        PlattSVM().fit(X, Y)
    PlattSVM(prune=0.1, random_state=0).fit(X, Y)
