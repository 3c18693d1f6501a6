"""Predicting with label evidence against the content alone, and against bare arithmetic."""

from __future__ import annotations

from typing import Any

from scipy.special import expit
from threadpoolctl import threadpool_limits

from benchmarks.setting import Setting
from benchmarks.svm import micro_f1
from benchmarks.table import Row, ratio_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.content.platt_svm import PlattSVM
from labelkin.models.classifier import LabelDependenceClassifier


def measure_prediction(setting: Setting) -> list[Row]:
    """Measure one fitted classifier on the test documents, with and without label evidence."""
    train, test = setting.corpus.train, setting.corpus.test
    model = LabelDependenceClassifier(PlattSVM(random_state=0)).fit(train.tfidf, train.labels)
    predicted = model.rescorer_.combination_.predicted
    fill_in: Any = predicted.fill_in
    calibration, term = fill_in.calibration, predicted.linear
    assert term is not None

    def arithmetic() -> Any:
        content = model.content_.log_odds(test.tfidf)
        L = expit(calibration.slope * content + calibration.shift)
        return expit(content + L @ term.weights + term.bias)

    turns = {
        "content": timed(lambda: model.content_.log_odds(test.tfidf)),
        "arithmetic": timed(arithmetic),
        "both": timed(lambda: model.log_odds(test.tfidf)),
        "probabilities": timed(lambda: model.predict_proba(test.tfidf)),
        "one": timed(lambda: [model.predict_proba(test.tfidf[[0]]) for _ in range(100)]),
    }
    with threadpool_limits(1, user_api="blas"):  # idle threads of linear algebra take CPU time
        seconds = alternate(turns, setting.rounds)
    content, both = (
        micro_f1(test.indicator, found.log_odds(test.tfidf) > 0)
        for found in (model.content_, model)
    )
    check = f"micro F1 {content} → {both} with label evidence"
    one = f"one document: {10 * min(seconds['one']):.3f} ms CPU"
    return [
        ratio_row(
            "LabelDependenceClassifier, log_odds",
            "its PlattSVM alone, log_odds",
            ratio(seconds["both"], seconds["content"]),
            1.3,
            check,
        ),
        ratio_row(
            "LabelDependenceClassifier, predict_proba",
            "its PlattSVM and two lines of arithmetic",
            ratio(seconds["probabilities"], seconds["arithmetic"]),
            1.3,
            one,
        ),
    ]
