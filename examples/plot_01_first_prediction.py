"""
A first prediction
==================

**Who decides every label by the words alone leaves something on the table: the other labels.** A
classifier of words is trained on a made corpus of news, the other labels are listened to, and
both are compared on documents that neither has seen.
"""

# %%
# Texts and their labels
# ----------------------
# The newsroom is made: its texts are written from label sets whose probabilities are known. So it
# shows how things work, and is no evidence for how well. A document has two or three of 38
# labels.

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin import LabelDependenceClassifier, corpora
from labelkin.evaluation import metrics

news = corpora.newsroom()
document = news.test[1]
print(*(fill(line, 75) for line in news.documents[document].splitlines()), sep="\n")
print("labels:", *news.label_sets()[document])

# %%
# Fit
# ---
# ``X`` is whatever a classifier of scikit-learn takes, here tf-idf of words. ``Y`` is a matrix of
# documents and labels, or simply lists of label names.

words = TfidfVectorizer(sublinear_tf=True)
X_train = words.fit_transform(news.documents[news.train])
X_test = words.transform(news.documents[news.test])
Y_train, Y_test = news.label_sets(news.train), news.Y[news.test]

model = LabelDependenceClassifier(random_state=0).fit(X_train, Y_train)
print(model.content_, "\nlabel evidence counts", model.evidence_weight_)

# %%
# Compare
# -------
# One model holds both: the content evidence alone is in ``content_``. Log-odds above 0 are
# probabilities above ½.

alone = metrics.evaluate(Y_test, model.content_.log_odds(X_test))
together = metrics.evaluate(Y_test, model.log_odds(X_test))
for name in ("micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error", "log_loss"):
    print(f"{name:>12}  words alone {alone[name]:.4f}   with the other labels {together[name]:.4f}")

# %%
# Which labels gain?
# ------------------

gain = together.per_label()["f1"] - alone.per_label()["f1"]
n_train = news.Y[news.train].sum(axis=0)

plt.rc("axes.spines", top=False, right=False)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.axhline(0, color="0.7", lw=1)
axes.vlines(n_train, 0, gain, color=np.where(gain >= 0, "C0", "C1"), lw=1.5)
axes.scatter(n_train, gain, c=np.where(gain >= 0, "C0", "C1"), s=20)
for j in [*np.argsort(gain)[:2], *np.argsort(-gain)[:4]]:
    axes.annotate(model.classes_[j], (n_train[j], gain[j]), (6, 0), textcoords="offset points")
axes.set(xscale="log", xlabel="training documents with the label", ylabel="gain in F1")
axes.set_title("What the other labels add, label by label")
print(f"better {np.sum(gain > 0)}, equal {np.sum(gain == 0)}, worse {np.sum(gain < 0)}")

# %%
# More labels gain than lose, and those that gain, gain more. Among the largest gains is
# ``markets``: it has hardly a word of its own in these texts, and follows from labels that have.
# The evidence weight, how much labels count that are themselves only predicted, was learned from
# training documents. It is well below the 1 of the paper: guesses repeat what the words have said
# already.
