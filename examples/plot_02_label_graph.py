"""
Reading the label graph
=======================

**A fitted model contains a graph of labels: which labels are evidence for or against each other,
how strong the evidence is, and how many documents support it.** The graph needs no texts, only
label sets.
"""

# %%
# Learn from label sets
# ---------------------
# The label classifier is fitted to the training label sets alone. With ``evidence_weight=1``, the
# weight of the paper, no content scores are needed.

import matplotlib.pyplot as plt
import numpy as np

from labelkin import LabelRescorer, corpora
from labelkin.explain import label_graph

news = corpora.newsroom()
rescorer = LabelRescorer(evidence_weight=1).fit(news.label_sets(news.train))

graph = label_graph(rescorer, n_attractions=6, n_repulsions=6)
print(graph)

# %%
# The weight of an edge is the mean of two log-odds: the evidence of the first label for the second,
# and of the second for the first. The counts are the documents with both labels, with each label,
# and the number with both that is expected by chance. Edges are sorted by the part of the weight
# that the counts support; a pair that occurs in one document supports almost nothing.

edge = graph.edges[0]
print(f"{edge.first} adds {edge.to_second:+.2f} to {edge.second}")
print(f"{edge.second} adds {edge.to_first:+.2f} to {edge.first}")
print(f"supported by the counts: {edge.bound:+.2f} of {edge.strength:+.2f}")

# %%
# The neighbours of one label
# ---------------------------
# Which labels are evidence for *grain*, and which against it?

related = graph.related("grain", top=6)
added = np.array([edge.to_second for edge in related])
order = np.argsort(added)

plt.rc("axes.spines", top=False, right=False)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
bars = axes.barh(
    [f"{related[k].first}  ({related[k].n_both:.0f} of {related[k].n_first:.0f})" for k in order],
    added[order],
    color=np.where(added[order] > 0, "C0", "C1"),
)
axes.bar_label(bars, fmt="%+.1f", padding=3)
axes.margins(x=0.12)
axes.axvline(0, color="0.5", lw=1)
axes.set(xlabel="log-odds added to grain when the label is known")
axes.set_title("In brackets: documents with the label and grain, of those with the label")

# %%
# *Corn* and *wheat* are kinds of grain and strong evidence for it; *coffee* is evidence against it.
# *Shipping* has almost no weight, although more than a quarter of its documents have the label
# grain. A weight is the evidence of a label *in addition to all other labels*, and wheat and corn
# already contain the evidence of shipping. The graph is therefore not a table of pairs that occur
# together, and a weight does not imply a cause.
