"""
Suggestions that react
======================

**When a user accepts or rejects a label, the rest of the list should change.** This is the use
case of the paper: a person assigns labels with the help of ranked suggestions. The example shows
one document first, and then measures all test documents: how much sooner are the right labels
found?
"""

# %%
# Fit a model
# -----------

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin import LabelDependenceClassifier, corpora
from labelkin.evaluation import metrics

news = corpora.newsroom()
words = TfidfVectorizer(sublinear_tf=True)
X_train = words.fit_transform(news.documents[news.train])
X_test = words.transform(news.documents[news.test])
model = LabelDependenceClassifier(random_state=0).fit(X_train, news.label_sets(news.train))

# %%
# One document, two answers
# -------------------------
# This document was chosen because the words leave several labels uncertain. A user accepts the
# first suggestion and then rejects the third; the probabilities of the other labels change.
# ``known`` contains label names, or is a matrix with 1 (accepted), 0 (rejected) and NaN (open).

row = 708
document = X_test[[row]]
print(*(fill(line, 75) for line in news.documents[news.test[row]].splitlines()), sep="\n")
print("labels:", *news.label_sets()[news.test[row]])

first, _, third = (suggested.label for suggested in model.suggest(document, top=3)[0])
states = {
    "nothing known": {},
    f"{first} accepted": {"accepted": [first]},
    f"{first} accepted,\n{third} rejected": {"accepted": [first], "rejected": [third]},
}
probability = [model.predict_proba(document, known=known)[0] for known in states.values()]

plt.rc("axes.spines", top=False, right=False)
shown = np.argsort(-probability[0])[:8][::-1]
figure, panels = plt.subplots(1, 3, figsize=(8, 3.6), sharey=True, layout="constrained")
for axes, (state, known), height in zip(panels, states.items(), probability, strict=True):
    answered = np.isin(
        model.classes_[shown], [*known.get("accepted", []), *known.get("rejected", [])]
    )
    axes.barh(model.classes_[shown], height[shown], color=np.where(answered, "0.8", "C0"))
    axes.set(title=state, xlim=(0, 1), xlabel="probability")

# %%
# All test documents
# ------------------
# A simulated user answers the first suggestion of each document correctly, then the next one, and
# so on. After each answer we measure the ranking of the open labels twice: with updated
# probabilities, and with the initial ones. A document is included while at least one of its labels
# is open.

truth = news.Y[news.test]
known = np.full(truth.shape, np.nan)
initial = model.log_odds(X_test)
updated, unchanged = [], []
for _ in range(6):
    current = model.log_odds(X_test, known=known)
    is_open = np.isnan(known)
    included = (truth * is_open).any(axis=1)
    for scores, curve in ((current, updated), (initial, unchanged)):
        # Labels that are answered go to the end of the list, where they count for nothing.
        ranked = np.where(is_open, scores, -1000.0)
        curve.append(
            metrics.label_ranking_average_precision((truth * is_open)[included], ranked[included])
        )
    best = np.where(is_open, current, -np.inf).argmax(axis=1)
    rows = np.arange(len(known))
    known[rows, best] = truth[rows, best]

for n_answers, (one, other) in enumerate(zip(updated, unchanged, strict=True)):
    print(f"{n_answers} answers: updated {one:.3f}, initial {other:.3f}")

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(updated, "o-", label="updated ranking")
axes.plot(unchanged, "s--", color="0.5", label="initial ranking")
axes.set(xlabel="answers given", ylabel="ranking average precision", ylim=(0, 1))
axes.set_title("Ranking of the open labels")
axes.legend(frameon=False)

# %%
# With the initial ranking the quality falls with each answer, because the easy labels are answered
# first. With the updated ranking it falls more slowly: an accepted label raises related labels, and
# a rejected one lowers them. Known labels have a weight of 0.75 instead of 1, because the words
# already contain part of their evidence.
