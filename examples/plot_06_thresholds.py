"""
Thresholds for a measure
========================

**No threshold is best for every measure: name the measure that matters, and the threshold is
tuned for it.** Tuning uses out-of-fold scores of the training documents, never the test
documents.
"""

# %%
# One model, several thresholds
# -----------------------------
# ``keep_out_of_fold`` keeps the out-of-fold scores of the training documents. Threshold rules are
# fitted to these scores and can be applied to any score matrix.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin import LabelDependenceClassifier, NearestNeighbours, corpora
from labelkin.evaluation import metrics
from labelkin.thresholds import LabelLimits, rule_for

news = corpora.newsroom()
words = TfidfVectorizer(sublinear_tf=True)
X_train = words.fit_transform(news.documents[news.train])
X_test = words.transform(news.documents[news.test])
Y_train, Y_test = news.Y[news.train], news.Y[news.test]

model = LabelDependenceClassifier(NearestNeighbours(), keep_out_of_fold=True)
model.fit(X_train, Y_train)
out_of_fold, scores = model.out_of_fold_.posterior, model.log_odds(X_test)

# %%
# One threshold for all labels
# ----------------------------
# Micro F1 and Hamming loss as a function of the threshold, out of fold on the training documents
# and on the test documents.

cuts = np.linspace(0.02, 0.9, 45)
curves = {
    (metric, part): [
        getattr(metrics, metric)(Y, (z > np.log(cut / (1 - cut))).astype(int)) for cut in cuts
    ]
    for metric in ("micro_f1", "hamming_loss")
    for part, Y, z in [("train", Y_train, out_of_fold), ("test", Y_test, scores)]
}


def shown(measure):
    return measure.replace("_", " ").replace("f1", "F1")


plt.rc("axes.spines", top=False, right=False)
figure, panels = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for axes, metric, best in zip(panels, ("micro_f1", "hamming_loss"), (max, min), strict=True):
    train, test = curves[metric, "train"], curves[metric, "test"]
    axes.plot(cuts, train, "--", color="0.5", label="training, out of fold")
    axes.plot(cuts, test, color="C0", label="test")
    axes.axvline(cuts[train.index(best(train))], color="C1", lw=1, label="best in training")
    axes.axvline(0.5, color="0.3", lw=1, ls=":", label="½")
    axes.set(xlabel="threshold", ylabel=shown(metric))
panels[1].legend(frameon=False)

# %%
# A rule for each measure
# -----------------------
# ``thresholds="micro_f1"`` in the model has the same effect as ``rule_for("micro_f1")`` here. For
# micro F1 there is one threshold for all labels, and for macro F1 one per label. For the subset 0/1
# loss, each document is cut at the largest gap between its scores. The last row is a limit: at
# least one label.

measures = ("hamming_loss", "micro_f1", "macro_f1", "document_f1", "subset_loss")
rules = {shown(measure): rule_for(measure) for measure in measures}
rules["½, but at least one label"] = LabelLimits(rule_for("hamming_loss"), at_least=1)
table = np.array(
    [
        [
            metrics.evaluate(Y_test, decisions=rule.fit(out_of_fold, Y_train).decide(scores))[
                measure
            ]
            for measure in measures
        ]
        for rule in rules.values()
    ]
)

loss = [name.endswith("loss") for name in measures]
goodness = np.where(loss, -table, table)
place = (goodness - goodness.min(axis=0)) / np.ptp(goodness, axis=0)

figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
axes.imshow(place, cmap="Blues", vmin=-0.2, vmax=2, aspect="auto")
for (row, column), value in np.ndenumerate(table):
    weight = "bold" if goodness[row, column] == goodness[:, column].max() else "normal"
    axes.text(column, row, f"{value:.3f}", ha="center", va="center", weight=weight)
axes.set_xticks(range(len(measures)), map(shown, measures))
axes.set_yticks(range(len(rules)), rules)
axes.tick_params(length=0)
axes.spines[:].set_visible(False)
axes.set(xlabel="measured on test documents", ylabel="tuned for")

# %%
# Columns are measures, with the best value of each in bold. The threshold ½ suits Hamming loss. It
# costs a weak classifier such as nearest neighbours much F1, because few of its probabilities are
# above ½. The values on the diagonal are good but not always the best of their column: a rule is
# chosen on the training documents, and another rule can be as good on the test documents. If
# several measures matter, decide first how much each is worth; no threshold is best for all.
