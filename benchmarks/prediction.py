"""Predicting with label evidence against predicting from the content alone."""

from __future__ import annotations

from benchmarks.setting import Setting
from benchmarks.svm import micro_f1
from benchmarks.table import Row, ratio_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.content.platt_svm import PlattSVM
from labelkin.models.classifier import LabelDependenceClassifier


def measure_prediction(setting: Setting) -> list[Row]:
    """Ask one fitted classifier for the log-odds of the test documents, with and without labels."""
    train, test = setting.corpus.train, setting.corpus.test
    model = LabelDependenceClassifier(PlattSVM(random_state=0)).fit(train.tfidf, train.labels)
    seconds = alternate(
        {
            "content": timed(lambda: model.content_.log_odds(test.tfidf)),
            "both": timed(lambda: model.log_odds(test.tfidf)),
        },
        setting.rounds,
    )
    content, both = (
        micro_f1(test.indicator, found.log_odds(test.tfidf) > 0)
        for found in (model.content_, model)
    )
    check = f"micro F1 {content} → {both} with label evidence"
    measured = ratio(seconds["both"], seconds["content"])
    against = "its PlattSVM alone, log_odds"
    return [ratio_row("LabelDependenceClassifier, log_odds", against, measured, 1.3, check)]
