"""
Why this label?
===============

**Every suggestion can be decomposed: prior, content and other labels are log-odds, and their sum
is the result.** The content evidence can be decomposed further, into words.
"""

# %%
# Fit a pipeline
# --------------

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, corpora
from labelkin.explain import explain_terms

news = corpora.newsroom()
words = TfidfVectorizer(sublinear_tf=True)
model = LabelDependenceClassifier(random_state=0)
pipeline = make_pipeline(words, model)
pipeline.fit(news.documents[news.train], news.label_sets(news.train))

# %%
# A document that the words alone get wrong
# -----------------------------------------
# We look for a label that is correct, rejected by the words alone, and assigned with label
# evidence. Of these we take the one that label evidence changes most.

X_test = words.transform(news.documents[news.test])
content, posterior = model.content_.log_odds(X_test), model.log_odds(X_test)
rescued = (news.Y[news.test] == 1) & (content < 0) & (posterior > 0)
row, column = np.unravel_index(np.argmax(np.where(rescued, posterior - content, 0)), rescued.shape)
text, label = news.documents[news.test[row]], model.classes_[column]
print(*(fill(line, 75) for line in text.splitlines()), sep="\n")
print("labels:", *news.label_sets()[news.test[row]])

# %%
# Parts that add up
# -----------------

[[why]] = model.explain(X_test[[row]], label_names=[label])
print(why)

# %%
# The same as a waterfall chart: it starts at the prior, and each part is a step. The label is
# assigned if the sum is above 0.

steps = {"prior": why.parts["prior"], "content": why.parts["content"]}
steps |= {f"label {one.label}": one.log_odds for one in why.labels[:5]}
steps["everything else"] = why.log_odds - sum(steps.values())
names, sizes = list(steps), np.array(list(steps.values()))
ends = np.cumsum(sizes)

plt.rc("axes.spines", top=False, right=False)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
bars = axes.barh(names, sizes, left=ends - sizes, color=np.where(sizes > 0, "C0", "C1"))
axes.bar_label(bars, labels=[f"{size:+.2f}" for size in sizes], padding=3)
axes.axvline(0, color="0.3", lw=1)
axes.axvline(ends[-1], color="0.3", lw=1, ls=":")
axes.invert_yaxis()
axes.set_xlim(min(ends.min(), 0) - 0.5, max(ends.max(), 0) + 0.5)
axes.set(xlabel="log-odds", title=f"{label}: {why.probability:.0%}")

# %%
# Word by word
# ------------
# A pipeline knows the names of its features, so the content evidence can be listed by word.

[[by_word]] = explain_terms(pipeline, [text], [label], top=8)
for term in by_word.terms:
    print(f"{term.log_odds:+.2f}  {term.term}")
print(f"{by_word.rest:+.2f}  other words\n{by_word.constant:+.2f}  intercept")

# %%
# The words are not sufficient for the label; other labels that are probable in this document are.
# The parts add up exactly because the method itself adds log-odds. This is true for linear content
# classifiers and linear label classifiers, which are the defaults; other classifiers are explained
# as far as they are additive. An explanation shows how the model computed its result, not whether
# the result is correct.
