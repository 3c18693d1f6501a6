"""In-sample scores are detected; out-of-fold scores of the same classifiers are not."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelkin import LabelAudit, LabelRescorer, RescoredClassifier
from labelkin.content import cross_val_log_odds
from labelkin.corpora import newsroom
from labelkin.odds import to_probability

sys.path.append(str(Path(__file__).parents[1] / "cli"))

FOREST = RandomForestClassifier(20, random_state=0)
LINEAR = OneVsRestClassifier(LogisticRegression())


@pytest.fixture(scope="module", params=[FOREST, LINEAR], ids=["forest", "linear"])
def scored(request):
    """Return labels, out-of-fold and in-sample probabilities of a small corpus."""
    news = newsroom(300)
    X = TfidfVectorizer().fit_transform(news.documents)
    Y = news.Y[:, news.Y.any(axis=0)]
    model = RescoredClassifier(request.param, evidence_weight=0).fit(X, Y)
    unseen = to_probability(cross_val_log_odds(request.param, X, Y, random_state=0))
    return Y, unseen, to_probability(model.content_.log_odds(X))


def fits(Y, scores):
    yield lambda: LabelRescorer().fit(Y, scores=scores)
    yield lambda: LabelRescorer().fit_out_of_fold(Y, scores=scores)
    yield lambda: LabelRescorer().fit(Y, scores=sparse.csr_array(scores))
    yield lambda: LabelAudit().fit(None, Y, scores=scores)


def test_in_sample_scores_cause_a_warning(scored):
    Y, _, in_sample = scored
    rule = r"separate \d+ of \d+ labels .* perfectly, as in-sample scores do. Use Rescored"
    for fit in fits(Y, in_sample):
        with pytest.warns(UserWarning, match=rule):
            fit()


def test_out_of_fold_scores_cause_no_warning(scored):
    Y, unseen, _ = scored
    for fit in fits(Y, unseen):
        with warnings.catch_warnings(action="error", category=UserWarning):
            fit()


def test_command_line_warns_with_another_hint(scored, tmp_path):
    from in_process import call

    Y, unseen, in_sample = scored
    rows = [{"labels": [f"n{j}" for j in np.flatnonzero(row)]} for row in Y]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = sorted({name for row in rows for name in row["labels"]})
    for kind, scores in (("unseen", unseen), ("seen", in_sample)):
        lines = [",".join(map(str, row[[int(n[1:]) for n in names]])) for row in scores]
        (tmp_path / f"{kind}.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    train, given = tmp_path / "train.jsonl", tmp_path / "unseen.csv"
    call_with = ["rescore", given, "--train", train, "--out", tmp_path / "o.csv", "--replace"]
    done = call(*call_with, "--out-of-fold", tmp_path / "seen.csv")
    assert done.code == 0
    assert "scores must come from" in done.err
    assert "cross_val_log_odds" in done.err
    assert "scores must come" not in call(*call_with, "--out-of-fold", given).err
