"""
Thresholds for a measure
========================

**No cut is right for every measure: say which one you are judged by, and the cut is tuned for
it.** Tuning looks at out-of-fold scores of training documents, never at test documents.
"""

# %%
# One model, many ways to cut
# ---------------------------
# ``keep_out_of_fold`` keeps what the model thinks of every training document as if it had not
# seen it. Threshold rules are fitted on that, and work on any matrix of scores.

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
unseen, scores = model.out_of_fold_.posterior, model.log_odds(X_test)

# %%
# One cut for all labels
# ----------------------
# Micro F1 and Hamming loss of every cut, by training documents out of fold and by test documents.

cuts = np.linspace(0.02, 0.9, 45)
curves = {
    (metric, part): [
        getattr(metrics, metric)(Y, (z > np.log(cut / (1 - cut))).astype(int)) for cut in cuts
    ]
    for metric in ("micro_f1", "hamming_loss")
    for part, Y, z in [("train", Y_train, unseen), ("test", Y_test, scores)]
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
    axes.set(xlabel="a label is given above the probability", ylabel=shown(metric))
panels[1].legend(frameon=False)

# %%
# A rule for each measure
# -----------------------
# ``thresholds="micro_f1"`` in the model does the same as ``rule_for("micro_f1")`` here. Micro F1
# gets one cut for all labels, macro F1 a cut for each label, the share of exact label sets the
# largest gap in each document's scores. The last row is a limit, at least one label.

measures = ("hamming_loss", "micro_f1", "macro_f1", "document_f1", "subset_loss")
rules = {shown(measure): rule_for(measure) for measure in measures}
rules["½, but at least one label"] = LabelLimits(rule_for("hamming_loss"), at_least=1)
table = np.array(
    [
        [
            metrics.evaluate(Y_test, decisions=rule.fit(unseen, Y_train).decide(scores))[measure]
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
# Columns are measures, the best of each in bold. The cut at ½ suits Hamming loss, and costs a
# weak classifier such as nearest neighbours a good deal of F1, because it rarely dares to be
# sure. The diagonal is strong and need not be the best of its column: a rule is chosen for a
# measure before test documents are read, and another may turn out as good. Whoever needs all
# measures at once has to say what each is worth; there is no cut for that.
