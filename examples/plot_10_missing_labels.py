"""
Unknown labels
==============

**NaN marks a label as unknown. If unknown labels are stored as 0, a model learns that labels are
rarer than they are; if incomplete documents are dropped, hardly any documents remain.** This
example hides a growing share of the training labels and compares the three ways.
"""

# %%
# Three ways to treat unknown labels
# ----------------------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin import LabelDependenceClassifier, corpora
from labelkin.evaluation import metrics

news = corpora.newsroom(1500)
words = TfidfVectorizer(sublinear_tf=True)
X_train = words.fit_transform(news.documents[news.train])
X_test = words.transform(news.documents[news.test])
Y_train, Y_test = news.Y[news.train].astype(float), news.Y[news.test]


def learn(X, Y):
    return LabelDependenceClassifier(random_state=0).fit(X, Y)


def as_unknown(Y):
    return learn(X_train, Y)


def as_zero(Y):
    return learn(X_train, np.nan_to_num(Y))


def complete_documents_only(Y):
    rows = np.flatnonzero(~np.isnan(Y).any(axis=1))
    return learn(X_train[rows], Y[rows])


# %%
# Cells are hidden at random, positive and negative ones alike. This matters: if only positive
# labels are lost, as in many real corpora, NaN does not help, because their positions are unknown.

ways = {
    "NaN: unknown": as_unknown,
    "stored as 0": as_zero,
    "complete documents only": complete_documents_only,
}
shares = [0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9]
scores = {way: [] for way in ways}
priors = {way: [] for way in ways}
for share in shares:
    hidden = np.random.default_rng(0).random(Y_train.shape) < share
    Y = np.where(hidden, np.nan, Y_train)
    n_complete = np.sum(~hidden.any(axis=1))
    print(f"{share:.0%} hidden: {n_complete} of {len(Y)} documents are complete")
    for way, fit in ways.items():
        if way == "complete documents only" and n_complete < 20:
            continue
        model = fit(Y)
        scores[way].append(metrics.micro_f1(Y_test, model.predict(X_test)))
        priors[way].append(model.prior_.sum())

# %%
# Effect on the decisions and on the learned priors
# -------------------------------------------------

plt.rc("axes.spines", top=False, right=False)
figure, panels = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for (way, values), style in zip(scores.items(), ("o-", "s--", "^:"), strict=True):
    panels[0].plot(shares[: len(values)], values, style, label=way)
    panels[1].plot(shares[: len(values)], priors[way], style)
panels[0].set(xlabel="share of the labels hidden", ylabel="micro F1 on test documents", ylim=(0, 1))
panels[1].axhline(Y_train.sum(axis=1).mean(), color="0.7", lw=1)
panels[1].set(xlabel="share of the labels hidden", ylabel="learned labels per document")
panels[1].set_ylim(0, 3)
panels[0].legend(frameon=False)

for way, values in scores.items():
    print(f"{way:>23}: " + "  ".join(f"{value:.3f}" for value in values))

# %%
# With NaN the learned priors stay correct, and F1 falls slowly because there is less to learn from.
# If unknown labels are stored as 0, the priors fall by half when half of the labels are hidden, and
# the model assigns ever fewer labels. Complete documents are rare even with few hidden cells: with
# 38 labels and one cell in ten hidden, 2 % of the documents are complete. Measures that count cells
# ignore unknown cells in test data; measures of whole label sets reject them.
