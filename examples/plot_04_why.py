"""
Why this label?
===============

**Every suggestion can be taken apart: prior, content and other labels are log-odds that add up.**
Then the content itself is taken apart, word by word.
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
# We look for a right label that the words alone would not give and that the other labels bring
# in, the one they move most.

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
# The same as a staircase: it starts at how common the label is, and every part is a step. Above 0
# the label is given.

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
# A pipeline knows what its columns are called, so that the content evidence, too, is a sum.

[[spoken]] = explain_terms(pipeline, [text], [label], top=8)
for term in spoken.terms:
    print(f"{term.log_odds:+.2f}  {term.term}")
print(f"{spoken.rest:+.2f}  other words\n{spoken.constant:+.2f}  without any word")

# %%
# The words come near the label without reaching it, and labels that the document most probably
# has carry it over the line. That the parts add up is no approximation made for the explanation:
# the method itself adds log-odds. It is true of a linear classifier of words and of linear label
# evidence, the defaults; other classifiers are explained as far as they are additive. An
# explanation says what the model has counted, and nothing about whether it is right.
