"""
A first prediction
==================

**A classifier that decides each label from the words alone ignores useful evidence: the other
labels.** This example trains a model with label evidence on a synthetic news corpus. Then it
compares the decisions with and without label evidence on held-out documents.
"""

# %%
# Texts and their labels
# ----------------------
# The newsroom corpus is synthetic: its texts are generated from label sets with known
# probabilities. It shows how things work, not how large the gain is on real data. Most documents
# have two or three of 38 labels.

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
# ``X`` can be any input that a scikit-learn classifier accepts, here tf-idf weights. ``Y`` is a
# matrix with documents as rows and labels as columns, or a list of label names per document.

words = TfidfVectorizer(sublinear_tf=True)
X_train = words.fit_transform(news.documents[news.train])
X_test = words.transform(news.documents[news.test])
Y_train, Y_test = news.label_sets(news.train), news.Y[news.test]

model = LabelDependenceClassifier(random_state=0).fit(X_train, Y_train)
print(model.content_, "\nevidence weight:", model.evidence_weight_)

# %%
# Compare
# -------
# The fitted model contains both results: ``content_`` is the content classifier alone. Log-odds
# above 0 are probabilities above ½.

alone = metrics.evaluate(Y_test, model.content_.log_odds(X_test))
together = metrics.evaluate(Y_test, model.log_odds(X_test))
for name in ("micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error", "log_loss"):
    print(f"{name:>12}  words alone {alone[name]:.4f}   with label evidence {together[name]:.4f}")

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
axes.set_title("Gain from the other labels, by label")
print(f"better {np.sum(gain > 0)}, equal {np.sum(gain == 0)}, worse {np.sum(gain < 0)}")

# %%
# More labels gain than lose, and the gains are larger than the losses. ``markets`` has one of the
# largest gains: few words are specific to it in these texts, but it follows from other labels. The
# weight of predicted labels was learned from the training documents. It is well below 1, the weight
# of the paper, because predicted labels partly repeat the evidence of the words.
