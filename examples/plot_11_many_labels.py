"""
Many labels
===========

**With thousands of labels, only some of them are evaluated: content selects candidate labels,
each label is predicted from its most related labels, and costs grow with these numbers instead of
with all pairs.** The price is also measured: a label outside the candidates cannot be predicted.
"""

# %%
# A synthetic corpus of any size
# ------------------------------
# Each topic has ten labels, and each document has four labels of one topic. Most labels produce a
# word of their own, and other words are noise. Real documents are harder: use this corpus to see
# how costs grow, not how good the results are.

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from labelkin import LabelDependenceClassifier, LogisticLabels, NearestNeighbours
from labelkin.evaluation import metrics


def synthetic(n_documents, n_labels, seed=0):
    rng = np.random.default_rng(seed)
    topic = rng.integers(n_labels // 10, size=n_documents)
    # Four of ten without replacement, in proportion to 1, 1/2, 1/3 …
    chances = -np.log(np.arange(1, 11)) + rng.gumbel(size=(n_documents, 10))
    labels = 10 * topic[:, None] + np.argsort(-chances, axis=1)[:, :4]
    words = 3 * labels + rng.integers(3, size=labels.shape)
    silent = rng.random(words.shape) < 0.2
    words[silent] = rng.integers(3 * n_labels, size=silent.sum())
    noise = rng.integers(3 * n_labels, size=(n_documents, 4))
    return as_matrix(np.hstack([words, noise]), 3 * n_labels), as_matrix(labels, n_labels)


def as_matrix(columns, n_columns):
    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    cells = (np.ones(columns.size), (rows, columns.ravel()))
    return sparse.csr_array(cells, (len(columns), n_columns))


# %%
# How costs grow
# --------------
# ``top`` is the number of candidates per document; by default all labels are evaluated. With more
# than 300 labels, a label has at most 32 related labels as features. The times are those of the
# machine that built this page, without compilation.

contents = {"50 candidates": NearestNeighbours(top=50), "all labels": NearestNeighbours()}
for n_labels in (100, 400):  # compiles the kernels
    LabelDependenceClassifier(contents["50 candidates"]).fit(*synthetic(100, n_labels))

sizes = [100, 200, 400, 800]
seconds = {name: [] for name in contents}
weights = {"learned": [], "all pairs": []}
for n_labels in sizes:
    X, Y = synthetic(500, n_labels)
    for name, content in contents.items():
        begin = time.process_time()
        LabelDependenceClassifier(content).fit(X, Y)
        seconds[name].append(time.process_time() - begin)
    weights["learned"].append(sparse.csc_array(LogisticLabels().fit(Y).weights_).nnz)
    weights["all pairs"].append(n_labels * (n_labels - 1))

plt.rc("axes.spines", top=False, right=False)
figure, panels = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for axes, curves in zip(panels, (seconds, weights), strict=True):
    for (name, values), style in zip(curves.items(), ("o-", "s--"), strict=True):
        axes.plot(sizes, values, style, label=name)
    axes.set(xlabel="labels", ylim=(0, None), xticks=sizes)
    axes.legend(frameon=False)
panels[0].set_ylabel("CPU seconds of a fit")
panels[1].set_ylabel("weights between labels")

# %%
# What candidates cost, and what label evidence adds
# --------------------------------------------------
# The share of true labels among the candidates is an upper limit of recall. Thresholds are tuned
# for micro F1, with and without label evidence.

X, Y = synthetic(2000, 600)
train, test = slice(0, 1500), slice(1500, 2000)
tops, measures = (5, 10, 20, 40), ("candidate_recall", "micro_f1", "macro_f1")
print(f"{'':>23}", *(f"{measure:>16}" for measure in measures))
recall, macro = [], {"content alone": [], "with label evidence": []}
for top in tops:
    for (name, values), weight in zip(macro.items(), (0, "auto"), strict=True):
        model = LabelDependenceClassifier(
            NearestNeighbours(top=top), evidence_weight=weight, thresholds="micro_f1"
        )
        model.fit(X[train], Y[train])
        scores = metrics.evaluate(Y[test], model.log_odds(X[test]), model.predict(X[test]))
        values.append(scores["macro_f1"])
        print(f"{top:>2} {name:>20}", *(f"{scores[measure]:16.3f}" for measure in measures))
    recall.append(scores["candidate_recall"])

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(tops, recall, "^:", color="0.5", label="true labels among the candidates")
for (name, values), style, colour in zip(macro.items(), ("s--", "o-"), ("C1", "C0"), strict=True):
    axes.plot(tops, values, style, color=colour, label=f"macro F1, {name}")
axes.set(xlabel="candidates per document", ylim=(0, 1), xticks=tops)
axes.legend(frameon=False, loc="lower right")

# %%
# Above 300 labels the number of weights no longer grows with the number of label pairs, and with
# candidates the cost of a fit grows slowly. With fewer labels, candidates cost more than they save.
# Ten to twenty candidates contain most of the labels that forty contain. Label evidence helps rare
# labels most, as macro F1 shows, but with only five candidates it lowers the scores. It cannot
# restore a label outside the candidates.
