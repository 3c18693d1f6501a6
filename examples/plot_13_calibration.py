"""
Are the probabilities honest?
=============================

**Of the labels that are given a probability of 0.8, eight in ten should be right.** Label
evidence of full weight counts the words twice and makes honest probabilities too extreme; the
learned weight does not. What was not honest to begin with can be calibrated.
"""

# %%
# Four kinds of probabilities for two content classifiers
# -------------------------------------------------------

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from labelkin import LabelDependenceClassifier, NaiveBayes, PlattSVM, corpora
from labelkin.evaluation import metrics

news = corpora.newsroom()
counts = CountVectorizer().fit_transform(news.documents)
features = {
    "linear SVM": (PlattSVM(random_state=0), TfidfTransformer().fit_transform(counts)),
    "naive Bayes": (NaiveBayes(), counts),
}
ways = {
    "content alone": {"evidence_weight": 0},
    "the paper, weight 1": {"evidence_weight": 1},
    "learned weight": {},
    "learned weight, calibrated": {"calibrate": True},
}
Y_train, Y_test = news.Y[news.train], news.Y[news.test]

judged = {}
for content_name, (content, X) in features.items():
    for way, parameters in ways.items():
        model = LabelDependenceClassifier(content, **parameters).fit(X[news.train], Y_train)
        judged[content_name, way] = metrics.evaluate(
            Y_test, probabilities=model.predict_proba(X[news.test]), n_bins=10
        )

# %%
# Reliability
# -----------
# For every bin of probability: what is promised, and what happens. Points below the diagonal
# promise too much.

styles = dict(zip(ways, ("o-", "s-", "^-", "D:"), strict=True))
colours = dict(zip(ways, ("0.5", "C1", "C0", "C2"), strict=True))
plt.rc("axes.spines", top=False, right=False)
figure, panels = plt.subplots(1, 2, figsize=(8, 4.5), sharey=True, layout="constrained")
for axes, content_name in zip(panels, features, strict=True):
    axes.plot([0, 1], [0, 1], color="0.8", lw=1)
    for way, style in styles.items():
        bins = judged[content_name, way].reliability
        axes.plot(
            bins.mean_probability, bins.share_positive, style, color=colours[way], ms=4, label=way
        )
    axes.set(title=content_name, xlabel="promised", aspect="equal", xlim=(0, 1), ylim=(0, 1))
panels[0].set_ylabel("share that has the label")
panels[0].legend(frameon=False, loc="upper left")

# %%
# In numbers
# ----------
# The calibration error is the mean distance from the diagonal; log loss and Brier score also
# reward those who tell documents apart.

names = {
    "error": "expected_calibration_error",
    "log loss": "log_loss",
    "Brier": "brier_score",
    "micro F1": "micro_f1",
    "macro F1": "macro_f1",
}
print(f"{'':39}", *(f"{name:>8}" for name in names))
for (content_name, way), found in judged.items():
    print(f"{content_name + ', ' + way:39}", *(f"{found[name]:8.4f}" for name in names.values()))

# %%
# The SVM's probabilities are nearly honest already; weight 1 bends them, the learned weight does
# not. Naive Bayes takes every word for a new piece of evidence and is nearly always sure: no
# weight can make that good, calibration can. Calibration is no gain in decisions by itself: cut
# at ½, as in the last two columns, it makes naive Bayes more careful, which micro F1 rewards and
# macro F1 does not. The model leaves that choice to ``thresholds``: ``predict`` decides the same
# with ``calibrate=True`` as without.
