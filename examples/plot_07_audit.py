"""
Auditing a labelled corpus
==========================

**In a corpus that is labelled already the other labels are known, and they find errors that a
look at one label at a time does not.** Errors are made on purpose, so that we know what there is
to find.
"""

# %%
# A corpus with errors
# --------------------
# One in ten labels is deleted, and one wrong label is added for every twenty given.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score, precision_recall_curve

from labelkin import LabelAudit, LabelDependenceClassifier, corpora
from labelkin.evaluation import metrics

news = corpora.newsroom()
words = TfidfVectorizer(sublinear_tf=True)
X_train = words.fit_transform(news.documents[news.train])
X_test = words.transform(news.documents[news.test])
Y_test = news.Y[news.test]

right = news.Y[news.train]
rng = np.random.default_rng(0)
given = right * (rng.random(right.shape) >= 0.1)
n_added = round(0.05 * right.sum())
absent = np.flatnonzero(right.ravel() == 0)
frequency = np.broadcast_to(right.mean(axis=0), right.shape).ravel()[absent]
added = rng.choice(absent, n_added, replace=False, p=frequency / frequency.sum())
given.ravel()[added] = 1
wrong = given != right
print(f"{wrong.sum()} of {wrong.size} cells are wrong: {n_added} labels too many, the rest missing")

# %%
# The audit
# ---------
# Every cell gets the probability that what the corpus says is wrong. It is told nothing about how
# many errors there are; that, too, is learned from the labels as they are.

audit = LabelAudit(random_state=0).fit(X_train, given)
print(f"expected errors: {audit.n_errors_:.0f}; worth reading: the first {audit.list_end_}")
for issue in audit.issues(top=5):
    label = news.label_names[issue.label]
    print(f"  document {issue.document}, {label}: {issue.repair} it ({issue.probability:.1%})")

# %%
# Against one label at a time
# ---------------------------
# What a tool sees that looks at each label by itself: how little the content, out of fold,
# believes what the corpus says.

believed = 1 / (1 + np.exp(-audit.content_log_odds_))
lists = {
    "content and other labels": audit.error_probability_,
    "content, one label at a time": np.where(given == 1, 1 - believed, believed),
}

plt.rc("axes.spines", top=False, right=False)
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
for (name, suspicion), colour in zip(lists.items(), ("C0", "0.5"), strict=True):
    area = average_precision_score(wrong.ravel(), suspicion.ravel())
    precision, recall, _ = precision_recall_curve(wrong.ravel(), suspicion.ravel())
    axes.plot(recall, precision, color=colour, label=f"{name}: {area:.2f}")
first = np.argsort(-audit.error_probability_.ravel())[: audit.list_end_]
found = wrong.ravel()[first]
axes.plot(found.sum() / wrong.sum(), found.mean(), "o", color="C0", label="where the list ends")
axes.set(xlabel="share of the errors found", ylabel="share of the list that is right", ylim=(0, 1))
axes.legend(frameon=False, title="average precision")
for name, suspicion in lists.items():
    listed = wrong.ravel()[np.argsort(-suspicion.ravel(), kind="stable")[: audit.list_end_]]
    print(f"first {len(listed)} cells by {name}: {listed.sum()} errors, {listed.mean():.0%}")

# %%
# Is it worth repairing?
# ----------------------
# Models trained on the labels as they are given, on those the audit has cleaned by itself, and,
# for comparison, on the right ones.

for name, Y_train in [("given", given), ("cleaned", audit.cleaned()), ("right", right)]:
    model = LabelDependenceClassifier(random_state=0).fit(X_train, Y_train)
    decided = model.predict(X_test)
    scores = [f(Y_test, decided) for f in (metrics.micro_f1, metrics.macro_f1)]
    print(f"trained on {name:>7} labels: micro F1 {scores[0]:.3f}, macro F1 {scores[1]:.3f}")

# %%
# The list that looks at other labels, too, finds half as much again for the same reading. It is
# not a list of truths: up to its end a third of it is no error, and every suspect is meant to be
# looked at by a person, with the reasons that an issue carries. Even so, repairing the surest
# ones without anybody looking wins back about half of what the errors cost. These errors are made
# at random; real ones have habits, and are harder to find.
