"""
Reading the label graph
=======================

**What a model has learned about labels can be read: who speaks for whom, how loudly, and how many
documents are behind it.** No text is needed for it, only label sets.
"""

# %%
# Learn from label sets
# ---------------------
# The label layer is learned from the training label sets alone. With ``evidence_weight=1``, the
# paper's, nothing has to be known about the classifier of texts that it will be used with.

import matplotlib.pyplot as plt
import numpy as np

from labelkin import LabelRescorer, corpora
from labelkin.explain import label_graph

news = corpora.newsroom()
rescorer = LabelRescorer(evidence_weight=1).fit(news.label_sets(news.train))

graph = label_graph(rescorer, n_attractions=6, n_repulsions=6)
print(graph)

# %%
# An edge is the mean of two weights, both in log-odds: what the first label, once it is known,
# adds to the second, and the other way round. Behind it stand the counts: how many documents have
# both, how many have each, and how many would have both by chance. Edges are sorted by how much
# of the weight the documents bear out at the least; a pair that was seen once bears out nothing.

edge = graph.edges[0]
print(f"{edge.first} adds {edge.to_second:+.2f} to {edge.second}")
print(f"{edge.second} adds {edge.to_first:+.2f} to {edge.first}")
print(f"documents bear out {edge.bound:+.2f} of {edge.strength:+.2f}")

# %%
# One label and its kin
# ---------------------
# Who speaks for *grain*, who against it?

related = graph.related("grain", top=6)
said = np.array([edge.to_second for edge in related])
order = np.argsort(said)

plt.rc("axes.spines", top=False, right=False)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
bars = axes.barh(
    [f"{related[k].first}  ({related[k].n_both:.0f} of {related[k].n_first:.0f})" for k in order],
    said[order],
    color=np.where(said[order] > 0, "C0", "C1"),
)
axes.bar_label(bars, fmt="%+.1f", padding=3)
axes.margins(x=0.12)
axes.axvline(0, color="0.5", lw=1)
axes.set(xlabel="log-odds added to grain when the label is known")
axes.set_title("Documents with the label that have grain, too, in brackets")

# %%
# *Corn* and *wheat* are what grain is made of, and speak loudly for it; *coffee* speaks against
# it. *Shipping* hardly speaks at all, although more than a quarter of its documents have grain,
# too. A weight is what a label adds *beside all other labels*: what shipping could say about
# grain has been said by wheat and corn. So the graph is no table of pairs that occur together,
# and a weight is no cause: it says what to expect, not why.
