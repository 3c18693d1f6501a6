"""
When it does not help
=====================

**Label evidence needs two conditions: labels that depend on each other, and content that is
uncertain.** A synthetic corpus with a parameter for each condition shows when there is a gain and
when there is not.
"""

# %%
# A corpus with two parameters
# ----------------------------
# There are twelve labels in groups of three. Each group has a hidden value per document, and
# *dependence* is the share of this value in its labels. Each label has twenty words, which occur in
# half of its documents, and in other documents with probability *noise*.

import matplotlib.pyplot as plt
import numpy as np

from labelkin import LabelRescorer, PlattSVM
from labelkin.evaluation import metrics


def synthetic(dependence, noise, n_documents=1300, seed=0):
    rng = np.random.default_rng(seed)
    topic = np.repeat(rng.normal(size=(n_documents, 4)), 3, axis=1)
    own = rng.normal(size=(n_documents, 12))
    Y = np.sqrt(dependence) * topic + np.sqrt(1 - dependence) * own > 0.8
    chance = np.where(np.repeat(Y, 20, axis=1), 0.5, noise)
    return (rng.random(chance.shape) < chance).astype(float), Y.astype(int)


# %%
# Vary both parameters
# --------------------
# A linear SVM is fitted to 300 documents. Then label evidence is added, with the paper's weight and
# with a learned one.

dependences, noises = (0.0, 0.3, 0.6, 0.9), (0.05, 0.1, 0.2, 0.3, 0.4)
fit, new = slice(0, 300), slice(300, None)
alone = np.zeros((len(dependences), len(noises)))
gain = {"the paper, weight 1": alone.copy(), "learned weight": alone.copy()}
for row, dependence in enumerate(dependences):
    for column, noise in enumerate(noises):
        X, Y = synthetic(dependence, noise)
        svm = PlattSVM(random_state=0)
        out_of_fold = svm.fit_out_of_fold(X[fit], Y[fit])
        content = svm.log_odds(X[new])
        alone[row, column] = metrics.micro_f1(Y[new], (content > 0).astype(int))
        for found, weight in zip(gain.values(), (1, "auto"), strict=True):
            rescorer = LabelRescorer(evidence_weight=weight, scale="log_odds")
            posterior = rescorer.fit(Y[fit], scores=out_of_fold).rescore(content)
            decided = (posterior > 0).astype(int)
            found[row, column] = metrics.micro_f1(Y[new], decided) - alone[row, column]

# %%
figure, panels = plt.subplots(1, 3, figsize=(9, 3.6), sharey=True, layout="constrained")
tables = {"content alone": alone, **gain}
for axes, (title, table) in zip(panels, tables.items(), strict=True):
    if table is alone:
        axes.imshow(table, cmap="Greys", vmin=0, vmax=2, origin="lower", aspect="auto")
    else:
        axes.imshow(table, cmap="RdBu", vmin=-0.15, vmax=0.15, origin="lower", aspect="auto")
    for (row, column), value in np.ndenumerate(table):
        text = f"{value:.2f}" if table is alone else f"{100 * value:+.1f}"
        axes.text(column, row, text, ha="center", va="center", size=9)
    axes.set_xticks(range(len(noises)), map(str, noises))
    axes.set_yticks(range(len(dependences)), map(str, dependences))
    unit = "micro F1" if table is alone else "gain in micro F1, points"
    axes.set(title=f"{title}:\n{unit}", xlabel="noise of the words")
    axes.spines[:].set_visible(False)
panels[0].set_ylabel("dependence of the labels")

# %%
# Without dependence there is nothing to gain (lower rows). Precise words leave little uncertainty
# (left), and very noisy words predict no label well enough to be evidence for others (right).
# Between them is a gain, but only for strongly dependent labels. The paper's weight loses where the
# content is good; the learned weight keeps most of the gain and loses almost nothing. Before you
# use label evidence, check that your labels depend on each other and that the content alone is
# uncertain.
