"""
Labels that nobody knows
========================

**NaN says that nobody knows. Writing "no" instead teaches a model that labels are rarer than they
are; throwing incomplete documents away throws away nearly all of them.** We hide more and more of
the training labels and look at what is left.
"""

# %%
# Three ways to go on
# -------------------

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


def as_no(Y):
    return learn(X_train, np.nan_to_num(Y))


def complete_documents_only(Y):
    rows = np.flatnonzero(~np.isnan(Y).any(axis=1))
    return learn(X_train[rows], Y[rows])


# %%
# Cells are hidden at random, yes and no alike. That matters: where only the yes of a label gets
# lost, NaN cannot help, because nobody can say where.

ways = {
    "NaN: unknown": as_unknown,
    'taken for "no"': as_no,
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
# What it does to decisions, and to what a model takes for usual
# --------------------------------------------------------------

plt.rc("axes.spines", top=False, right=False)
figure, panels = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for (way, values), style in zip(scores.items(), ("o-", "s--", "^:"), strict=True):
    panels[0].plot(shares[: len(values)], values, style, label=way)
    panels[1].plot(shares[: len(values)], priors[way], style)
panels[0].set(xlabel="share of the labels hidden", ylabel="micro F1 on test documents", ylim=(0, 1))
panels[1].axhline(Y_train.sum(axis=1).mean(), color="0.7", lw=1)
panels[1].set(xlabel="share of the labels hidden", ylabel="labels per document, as learned")
panels[1].set_ylim(0, 3)
panels[0].legend(frameon=False)

for way, values in scores.items():
    print(f"{way:>23}: " + "  ".join(f"{value:.3f}" for value in values))

# %%
# With NaN the frequencies stay what they are, and F1 falls slowly, simply because there is less
# to learn from. Taking the unknown for "no" halves the frequencies when half is hidden, and the
# model follows: it gives ever fewer labels. Complete documents are gone almost at once, with 38
# labels even if only one cell in ten is hidden. Measures that count cells skip unknown ones in
# test data, too; those that need whole label sets refuse them.
