"""Nearest neighbours against scikit-learn's brute-force cosine search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.setting import Setting
from benchmarks.table import Row, ratio_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.method.content.nearest_neighbours import NearestNeighbours

K = 30


def measure_neighbours(setting: Setting) -> list[Row]:
    """Fit and predict tf-idf; scikit-learn's votes are timed plain, and checked weighted."""
    train, test = setting.corpus.train, setting.corpus.test
    Y = train.Y

    def ours() -> NDArray[np.float64]:
        return NearestNeighbours(K).fit(train.tfidf, Y).predict_proba(test.tfidf)

    def peer(weights: Any) -> list[NDArray[np.float64]]:
        model = KNeighborsClassifier(K, metric="cosine", algorithm="brute", weights=weights)
        found: list[NDArray[np.float64]] = model.fit(train.tfidf, Y).predict_proba(test.tfidf)
        return found

    seconds = alternate(
        {"peer": timed(lambda: peer("uniform")), "ours": timed(ours)}, setting.rounds
    )
    shares = np.column_stack([label[:, 1] for label in peer(lambda distance: 1 - distance)])
    apart = np.abs(ours() - shares)
    changed = np.count_nonzero(apart.max(axis=1) > 1e-3)
    check = (
        f"mean |Δ share| {apart.mean():.1e} with similarity weights; {changed} of {len(apart)} "
        "documents differ by more than 0.001 (ties at rank k)"
    )
    against = "scikit-learn KNeighborsClassifier (brute, cosine), fit + predict_proba"
    measured = ratio(seconds["ours"], seconds["peer"])
    return [
        ratio_row(f"NearestNeighbours({K}), fit + predict_proba", against, measured, 0.15, check)
    ]
