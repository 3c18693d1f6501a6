"""
When it does not help
=====================

**Label evidence needs two things: labels that depend on each other, and content that leaves
something open.** A made world has a knob for each, and shows where the gain comes from and where
it ends.
"""

# %%
# A world with two knobs
# ----------------------
# Twelve labels in groups of three. A document is more or less in the mood for each group, and
# *dependence* says how far its labels follow the mood. Every label has twenty words that show up
# in half of its documents, and in others by *noise*.

import matplotlib.pyplot as plt
import numpy as np

from labelkin import LabelRescorer, PlattSVM
from labelkin.evaluation import metrics


def made(dependence, noise, n_documents=1300, seed=0):
    rng = np.random.default_rng(seed)
    mood = np.repeat(rng.normal(size=(n_documents, 4)), 3, axis=1)
    own = rng.normal(size=(n_documents, 12))
    Y = np.sqrt(dependence) * mood + np.sqrt(1 - dependence) * own > 0.8
    chance = np.where(np.repeat(Y, 20, axis=1), 0.5, noise)
    return (rng.random(chance.shape) < chance).astype(float), Y.astype(int)


# %%
# Turn the knobs
# --------------
# A linear SVM learns from 300 documents; then the other labels are added, with the paper's weight
# and with a learned one.

dependences, noises = (0.0, 0.3, 0.6, 0.9), (0.05, 0.1, 0.2, 0.3, 0.4)
fit, new = slice(0, 300), slice(300, None)
alone = np.zeros((len(dependences), len(noises)))
gain = {"the paper, weight 1": alone.copy(), "learned weight": alone.copy()}
for row, dependence in enumerate(dependences):
    for column, noise in enumerate(noises):
        X, Y = made(dependence, noise)
        svm = PlattSVM(random_state=0)
        unseen = svm.fit_out_of_fold(X[fit], Y[fit])
        content = svm.log_odds(X[new])
        alone[row, column] = metrics.micro_f1(Y[new], (content > 0).astype(int))
        for found, weight in zip(gain.values(), (1, "auto"), strict=True):
            rescorer = LabelRescorer(evidence_weight=weight, scale="log_odds")
            posterior = rescorer.fit(Y[fit], scores=unseen).rescore(content)
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
# Labels that do not depend have nothing to say to each other: in the lower rows there is nothing
# to gain. Words that say it all leave nothing open, on the left; and where they say next to
# nothing, on the right, no label is predicted that others could learn from. The gain lies
# between, and only where labels depend strongly. The paper's weight pays for its gain with losses
# where the content is good; the learned weight keeps most of the gain and loses next to nothing.
# Before you use label evidence, look for dependent labels, and for content that needs help.
