"""Several content classifiers against one, and the presets against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.setting import Setting
from benchmarks.table import Row, ratio_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.content.ensemble import ContentEnsemble
from labelkin.content.platt_svm import PlattSVM
from labelkin.models.builder import preset
from labelkin.models.classifier import LabelDependenceClassifier

THREE = ("naive_bayes", "nearest_neighbours", "svm")


def measure_ensemble(setting: Setting) -> list[Row]:
    """Fit three members and their weights; with and without out-of-fold evidence for the labels."""
    train = setting.corpus.train
    svm, three = PlattSVM(random_state=0), ContentEnsemble(THREE, random_state=0)
    rows = []
    for what in ("fit", "fit_out_of_fold"):

        def of(model: Any, what: str = what) -> Callable[[], Any]:
            return lambda: getattr(model, what)(train.tfidf, train.labels)

        seconds = alternate({"peer": timed(of(svm)), "ours": timed(of(three))}, setting.rounds)
        weights = zip(three.members_, three.weights_.mean(axis=0), strict=True)
        rows.append(
            ratio_row(
                f"ContentEnsemble of {', '.join(THREE)}, {what}",
                f"PlattSVM, {what}",
                ratio(seconds["ours"], seconds["peer"]),
                1.6,
                "mean weights: " + ", ".join(f"{one.name} {mean:.2f}" for one, mean in weights),
            )
        )
    return rows


def measure_presets(setting: Setting) -> list[Row]:
    """Fit what is chosen by a look at the features, and naive Bayes, on vectors of words."""
    train = setting.corpus.train
    named = LabelDependenceClassifier("svm", random_state=0)
    default = preset("default", random_state=0)[-1]
    fast = preset("fast", random_state=0)[-1]

    def fit(model: Any, X: Any) -> Callable[[], Any]:
        return timed(lambda: model.fit(X, train.labels))

    turns = {
        "named": fit(named, train.tfidf),
        "default": fit(default, train.tfidf),
        "fast": fit(fast, train.counts),
    }
    seconds = alternate(turns, setting.rounds)
    return [
        ratio_row(
            'preset("default") after its words, fit',
            'LabelDependenceClassifier("svm"), fit',
            ratio(seconds["default"], seconds["named"]),
            1.1,
            f"content_: {type(default.content_).__name__}",
        ),
        ratio_row(
            'preset("fast") after its words, fit',
            'preset("default") after its words, fit',
            ratio(seconds["fast"], seconds["default"]),
            0.1,
            f"content_: {type(fast.content_).__name__}",
        ),
    ]
