"""
Learned and true label evidence
===============================

**For the synthetic newsroom the true p(label | other labels) is known exactly. So we can measure
how well it is learned, from how many documents, and where a sum of weights is not sufficient.**
"""

# %%
# The truth
# ---------
# The label sets of the newsroom are drawn from an explicit distribution. ``newsroom_truth`` has its
# exact conditionals: the log-odds of a label given all others.

import matplotlib.pyplot as plt
import numpy as np

from labelkin import LogisticLabels, corpora

truth = corpora.newsroom_truth()
names = truth.names.tolist()
for others in (["wheat"], ["wheat", "corn"], ["weather"]):
    log_odds = truth.log_odds([others])[0, names.index("grain")]
    print(f"{' and '.join(others)} known, nothing else: grain has log-odds {log_odds:+.2f}")
prior = truth.prior[names.index("grain")]
print(f"before anything is known: {np.log(prior / (1 - prior)):+.2f}")

# %%
# Learning curves
# ---------------
# Label evidence is a logistic regression of each label on all others. It is evaluated by the log
# loss of new label sets, summed over the labels of a document. The truth is the lowest possible
# value, and the prior alone is the baseline.

L = truth.sample(4000, seed=1)
exact = truth.log_odds(L)
certain = ~np.isfinite(exact)


def log_loss(log_odds):
    """Mean over documents, without cells of probability 0 or 1."""
    signed = np.where(L == 1, log_odds, -log_odds)
    return np.where(certain, 0, np.logaddexp(0, -np.where(certain, 0, signed))).sum(axis=1).mean()


sizes = [50, 100, 200, 500, 1000, 2000, 5000, 10000]
layers = {n: LogisticLabels().fit(truth.sample(n, seed=2)) for n in sizes}
losses = [log_loss(layers[n].log_odds(L)) for n in sizes]
prior = log_loss(np.broadcast_to(np.log(truth.prior / (1 - truth.prior)), L.shape))
for n, loss in zip(sizes, losses, strict=True):
    print(f"{n:>6} documents: log loss {loss:.3f}")
print(f"  the prior alone: {prior:.3f};  the truth: {log_loss(exact):.3f}")

plt.rc("axes.spines", top=False, right=False)
figure, axes = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
axes.plot(sizes, losses, "o-", label="learned")
axes.axhline(prior, color="0.5", ls="--", label="prior alone")
axes.axhline(log_loss(exact), color="C2", label="truth")
axes.set(xscale="log", xlabel="training documents", ylabel="log loss of a label set")
axes.set_ylim(0, None)
axes.legend(frameon=False)

# %%
# Cell by cell
# ------------
# Learned and true log-odds with 2,000 documents; one cell in twenty is drawn.

learned = layers[2000].log_odds(L)
shown = ~certain & (np.random.default_rng(0).random(exact.shape) < 0.05)
figure, axes = plt.subplots(figsize=(5.5, 5), layout="constrained")
axes.plot([-13, 9], [-13, 9], color="0.7", lw=1)
for given, colour, name in [(L == 0, "C1", "without the label"), (L == 1, "C0", "with it")]:
    cells = shown & given
    axes.plot(exact[cells], learned[cells], ".", ms=3, alpha=0.4, color=colour, label=name)
axes.set(xlabel="true log-odds", ylabel="learned log-odds", xlim=(-13, 9), ylim=(-13, 9))
axes.legend(frameon=False, markerscale=4)

# %%
# With 2,000 label sets, four fifths of the possible improvement over the prior is reached, and most
# of that with a few hundred. The rest is out of reach for a linear model: in the newsroom the
# effect of two labels together is not the sum of their effects. Cells near 0, which matter for
# decisions, are close to the line. Cells with very low probability are less accurate, which rarely
# matters, because the decision is negative anyway. This is evidence from *true* other labels;
# evidence from predicted labels is weaker.
