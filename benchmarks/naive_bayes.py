"""Naive Bayes against scikit-learn's, one label against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB

from benchmarks.setting import Setting
from benchmarks.table import Row, ratio_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.content.naive_bayes import NaiveBayes


def measure_naive_bayes(setting: Setting) -> list[Row]:
    """Fit and predict term counts; beside it, our log-odds of every document left out."""
    train, test = setting.corpus.train, setting.corpus.test
    Y = train.indicator

    def predicted(model: Any) -> NDArray[np.float64]:
        return np.asarray(model.fit(train.counts, Y).predict_proba(test.counts))

    seconds = alternate(
        {
            "peer": timed(lambda: predicted(OneVsRestClassifier(MultinomialNB()))),
            "ours": timed(lambda: predicted(NaiveBayes())),
            "out of fold": timed(lambda: NaiveBayes().fit_out_of_fold(train.counts, Y)),
        },
        setting.rounds,
    )
    apart = np.abs(predicted(NaiveBayes()) - predicted(OneVsRestClassifier(MultinomialNB())))
    against = "scikit-learn OneVsRestClassifier(MultinomialNB), fit + predict_proba"
    measured, left_out = (ratio(seconds[name], seconds["peer"]) for name in ("ours", "out of fold"))
    check = f"max |ΔP| {apart.max():.1e}"
    return [
        ratio_row("NaiveBayes, fit + predict_proba", against, measured, 0.1, check),
        ratio_row("NaiveBayes, fit + leave-one-out log-odds", against, left_out, None),
    ]
