"""
Rules between labels
====================

**What is certain need not be learned: what happens at home does not happen abroad, and who has
won has not lost.** Rules are proposed by the data, judged by a person, and kept by every
posterior and every decision.
"""

# %%
# What the data never breaks
# --------------------------
# A rule without exceptions so far may have one in the next document, so these are proposals,
# sorted by how surprising they would be if labels were independent.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin import LabelDependenceClassifier, corpora
from labelkin.evaluation import metrics
from labelkin.vocabulary import Rules, rules_from

news = corpora.newsroom(900)
words = TfidfVectorizer(sublinear_tf=True)
X_train = words.fit_transform(news.documents[news.train])
X_test = words.transform(news.documents[news.test])
Y_train, Y_test = news.label_sets(news.train), news.Y[news.test]

proposed = rules_from(Y_train)
print(f"{len(proposed)} proposals, such as")
for rule in proposed[:12]:
    print(" ", rule)

# %%
# A person judges
# ---------------
# Domestic and foreign, victory and defeat exclude each other by what they mean. That no document
# has football *and* inflation only says that nobody has written it yet. For comparison we also
# believe every proposal.

judged = Rules(exclusive=[("domestic", "foreign"), ("victory", "defeat"), ("football", "tennis")])
everything = Rules.from_proposed(proposed)

names = news.label_names.tolist()


def broken(D, rules):
    """Count the pairs of given labels that break a rule."""
    groups = [[names.index(label) for label in group] for group in rules.exclusive]
    pairs = [(names.index(one), names.index(other)) for one, other in rules.implies]
    both = sum((D[:, group].sum(axis=1) > 1).sum() for group in groups)
    return int(both + sum((D[:, one] > D[:, other]).sum() for one, other in pairs))


print(f"test documents break the judged rules {broken(Y_test, judged)} times,")
print(f"and all {len(everything.exclusive) + len(everything.implies)} proposals", end=" ")
print(f"{broken(Y_test, everything)} times")

# %%
# Three models
# ------------

models = {"no rules": None, "judged rules": judged, "all proposals": everything}
decisions, posteriors = {}, {}
for name, rules in models.items():
    model = LabelDependenceClassifier(rules=rules, random_state=0).fit(X_train, Y_train)
    decisions[name], posteriors[name] = model.predict(X_test), model.log_odds(X_test)
    score = metrics.evaluate(Y_test, posteriors[name], decisions[name])
    print(
        f"{name:>14}: micro F1 {score['micro_f1']:.4f}, log loss {score['log_loss']:.3f}, "
        f"judged rules broken {broken(decisions[name], judged)} times"
    )

# %%
# What a rule does to probabilities
# ---------------------------------
# Domestic and foreign in every test document, without and with the rule.

one, other = names.index("domestic"), names.index("foreign")
plt.rc("axes.spines", top=False, right=False)
figure, panels = plt.subplots(1, 2, figsize=(8.5, 4.4), sharey=True, layout="constrained")
for axes, name in zip(panels, ("no rules", "judged rules"), strict=True):
    probability = 1 / (1 + np.exp(-posteriors[name]))
    axes.plot(probability[:, one], probability[:, other], ".", alpha=0.5)
    axes.plot([0, 1], [1, 0], color="0.7", lw=1)
    axes.set(xlabel="domestic", title=name, xlim=(0, 1), ylim=(0, 1))
panels[0].set_ylabel("foreign")

# %%
# Above the line both together have a probability of more than 1, which cannot be; with the rule
# no document is left there. An answer settles the rest of its group as well:

strict = LabelDependenceClassifier(rules=judged, random_state=0).fit(X_train, Y_train)
known = {"accepted": ["domestic"]}
print(f"domestic accepted: foreign has {strict.predict_proba(X_test[:1], known=known)[0, other]}")

# %%
# The judged rules make no better scores here: micro F1 and log loss are a little worse than
# without. What they give is that nobody sees a document at home and abroad. Believing every
# proposal is worse in principle: the test documents themselves break them, because most of the
# proposals were only label sets that nobody had written yet. Rules are for what a person knows.
