"""Nearest neighbours against scikit-learn's brute-force cosine search."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.setting import Setting
from benchmarks.table import Row, ratio_row
from benchmarks.timing import Ratio, Turn, alternate, ratio, timed, user_seconds
from labelkin.content.nearest_neighbours import NearestNeighbours

K = 30
Array = NDArray[np.float64]


def measure_neighbours(setting: Setting) -> list[Row]:
    """Fit and predict tf-idf; scikit-learn's votes are timed plain, and checked weighted.

    scikit-learn fills a dense matrix, test × training documents: the system time of that
    memory differs much from call to call, so the time without the system's part stands beside.
    """
    train, test = setting.corpus.train, setting.corpus.test
    Y = train.indicator

    def ours() -> Array:
        return NearestNeighbours(K).fit(train.tfidf, Y).predict_proba(test.tfidf)

    def peer(weights: Any = "uniform") -> list[Array]:
        found: list[Array] = _peer(weights).fit(train.tfidf, Y).predict_proba(test.tfidf)
        return found

    measured = _ratio(timed(ours), timed(peer), setting.rounds)
    user = partial(timed, at_least=0.5, clock=user_seconds)
    user_ratio = _ratio(user(ours), user(peer), setting.rounds)
    shares = np.column_stack([label[:, 1] for label in peer(lambda distance: 1 - distance)])
    distances, _ = _peer("uniform").fit(train.tfidf, Y).kneighbors(test.tfidf, K + 1)
    check = _compare_shares(np.abs(ours() - shares), distances)
    against = "scikit-learn KNeighborsClassifier (brute, cosine), fit + predict_proba"
    subject = f"NearestNeighbours({K}), fit + predict_proba"
    return [
        ratio_row(subject, against, measured, 0.15, check),
        ratio_row(f"{subject}, user time only", against, user_ratio, None),
    ]


def _ratio(ours: Turn, peer: Turn, rounds: int) -> Ratio:
    seconds = alternate({"peer": peer, "ours": ours}, rounds)
    return ratio(seconds["ours"], seconds["peer"])


def _peer(weights: Any) -> KNeighborsClassifier:
    return KNeighborsClassifier(K, metric="cosine", algorithm="brute", weights=weights)


def _compare_shares(apart: Array, distances: Array) -> str:
    """Return the largest difference of shares, and whether a tie explains it."""
    differs = apart.max(axis=1) > 1e-3
    tied = distances[:, K] - distances[:, K - 1] < 1e-6
    return (
        f"mean |Δ share| {apart.mean():.1e} with similarity weights; {np.sum(differs)} of "
        f"{len(apart)} documents differ by more than 0.001, {np.sum(differs & tied)} of them tied "
        f"at rank {K}"
    )
