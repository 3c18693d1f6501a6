"""
Auditing a labelled corpus
==========================

**In a labelled corpus the other labels are known, and they reveal errors that a check of one
label at a time misses.** Errors are injected into the newsroom corpus, so that every error is
known.
"""

# %%
# A corpus with errors
# --------------------
# One in ten labels is deleted, and one wrong label is added for every twenty correct ones.

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
print(f"{wrong.sum()} of {wrong.size} cells are wrong: {n_added} added, the rest deleted")

# %%
# The audit
# ---------
# Each cell of the label matrix gets the probability that it is wrong. The audit does not receive
# the number of errors; it estimates it from the labels.

audit = LabelAudit(random_state=0).fit(X_train, given)
print(f"expected errors: {audit.n_errors_:.0f}; worth reading: the first {audit.list_end_}")
for issue in audit.issues(top=5):
    label = news.label_names[issue.label]
    print(f"  document {issue.document}, {label}: {issue.repair} it ({issue.probability:.1%})")

# %%
# Compared with one label at a time
# ---------------------------------
# The baseline uses each label separately: a given label is suspicious if its out-of-fold
# probability is low, and an absent one if it is high.

probability = 1 / (1 + np.exp(-audit.content_log_odds_))
lists = {
    "content and other labels": audit.error_probability_,
    "content, one label at a time": np.where(given == 1, 1 - probability, probability),
}

plt.rc("axes.spines", top=False, right=False)
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
for (name, suspicion), colour in zip(lists.items(), ("C0", "0.5"), strict=True):
    area = average_precision_score(wrong.ravel(), suspicion.ravel())
    precision, recall, _ = precision_recall_curve(wrong.ravel(), suspicion.ravel())
    axes.plot(recall, precision, color=colour, label=f"{name}: {area:.2f}")
first = np.argsort(-audit.error_probability_.ravel())[: audit.list_end_]
found = wrong.ravel()[first]
axes.plot(found.sum() / wrong.sum(), found.mean(), "o", color="C0", label="end of the list")
axes.set(xlabel="share of the errors found", ylabel="share of errors in the list", ylim=(0, 1))
axes.legend(frameon=False, title="average precision")
for name, suspicion in lists.items():
    listed = wrong.ravel()[np.argsort(-suspicion.ravel(), kind="stable")[: audit.list_end_]]
    print(f"first {len(listed)} cells by {name}: {listed.sum()} errors, {listed.mean():.0%}")

# %%
# Is it worth correcting?
# -----------------------
# Models are trained on the given labels, on labels that the audit corrected automatically, and, for
# comparison, on the right labels.

for name, Y_train in [("given", given), ("cleaned", audit.cleaned()), ("right", right)]:
    model = LabelDependenceClassifier(random_state=0).fit(X_train, Y_train)
    decided = model.predict(X_test)
    scores = [f(Y_test, decided) for f in (metrics.micro_f1, metrics.macro_f1)]
    print(f"trained on {name:>7} labels: micro F1 {scores[0]:.3f}, macro F1 {scores[1]:.3f}")

# %%
# With the same number of cells read, the audit finds about 60 % more errors. A third of the listed
# cells are not errors: each issue has its reasons and should be checked by a person. Even without
# this check, correcting the most certain issues recovers about half of the loss. These errors are
# random; real errors are systematic and harder to detect.
