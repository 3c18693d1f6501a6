"""
Suggestions that react
======================

**When a person accepts or rejects a label, the rest of the list should move.** That is the
paper's own use case: somebody assigns labels, with ranked suggestions before them. First one
document, then all of them: how much sooner are the right labels found?
"""

# %%
# A model
# -------

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
# A document of which the words leave much open, chosen because answers move much there. The first
# suggestion is accepted, and then the third rejected: both leave the list, and the others
# respond. ``known`` takes names, or a matrix of 1 (accepted), 0 (rejected) and NaN (open).

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
    settled = np.isin(
        model.classes_[shown], [*known.get("accepted", []), *known.get("rejected", [])]
    )
    axes.barh(model.classes_[shown], height[shown], color=np.where(settled, "0.8", "C0"))
    axes.set(title=state, xlim=(0, 1), xlabel="probability")

# %%
# All test documents
# ------------------
# A careful person answers the first suggestion of every document, right or wrong, then the next,
# and so on. After each answer we ask how good the order of the labels still open is, once with a
# list that reacts, once with the list as it was. A document is counted as long as it has right
# labels among those that are still open.

truth = news.Y[news.test]
known = np.full(truth.shape, np.nan)
as_it_was = model.log_odds(X_test)
reacting, static = [], []
for _ in range(6):
    moved = model.log_odds(X_test, known=known)
    is_open = np.isnan(known)
    judged = (truth * is_open).any(axis=1)
    for scores, curve in ((moved, reacting), (as_it_was, static)):
        # Labels that are settled go to the end of the list, where they count for nothing.
        ranked = np.where(is_open, scores, -1000.0)
        curve.append(
            metrics.label_ranking_average_precision((truth * is_open)[judged], ranked[judged])
        )
    best = np.where(is_open, moved, -np.inf).argmax(axis=1)
    rows = np.arange(len(known))
    known[rows, best] = truth[rows, best]

for n_answers, (one, other) in enumerate(zip(reacting, static, strict=True)):
    print(f"{n_answers} answers: reacting {one:.3f}, as it was {other:.3f}")

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(reacting, "o-", label="the list reacts")
axes.plot(static, "s--", color="0.5", label="the list stays as it was")
axes.set(xlabel="answers given", ylabel="ranking average precision", ylim=(0, 1))
axes.set_title("Order of the labels that are still open")
axes.legend(frameon=False)

# %%
# The list as it was gets worse with every answer, because the easy labels go first. The list that
# reacts gets worse, too, but by less: an accepted label brings its kin forward, a rejected one
# takes them back. How much an answer adds was learned from training documents: as the words have
# already been counted, an answer counts only for what it says beyond its own prediction.
