"""
Is it significant, and against what?
====================================

**A gain is believed when chance is an unlikely explanation, and when no cheaper trick gains as
much.** Label evidence is compared with the content alone, and with two baselines that know
nothing of other labels: calibrated probabilities and a tuned cut.
"""

# %%
# Six systems, one content classifier
# -----------------------------------
# Naive Bayes is a weak and overconfident classifier of words, so there is much to gain, by
# whatever means. An evidence weight of 0 is the content alone, 1 the paper; ``"auto"``, the
# default, learns it. Everything is learned from training documents, and the test documents are
# read once.

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer

from labelkin import LabelDependenceClassifier, NaiveBayes, corpora
from labelkin.evaluation import metrics, significance

news = corpora.newsroom(1500)
words = CountVectorizer()
X_train = words.fit_transform(news.documents[news.train])
X_test = words.transform(news.documents[news.test])
Y_train, Y_test = news.Y[news.train], news.Y[news.test]


def fitted(**parameters):
    return LabelDependenceClassifier(NaiveBayes(), **parameters).fit(X_train, Y_train)


decisions = {
    "content alone": fitted(evidence_weight=0).predict(X_test),
    "content, calibrated": fitted(evidence_weight=0, calibrate=True).predict_proba(X_test) > 0.5,
    "content, tuned cut": fitted(evidence_weight=0, thresholds="micro_f1").predict(X_test),
    "labels, the paper": fitted(evidence_weight=1).predict(X_test),
    "labels, learned": fitted().predict(X_test),
    "labels, learned, tuned cut": fitted(thresholds="micro_f1").predict(X_test),
}
measures = ("micro_f1", "macro_f1", "hamming_loss", "subset_loss")
print(f"{'':>26}", *(f"{measure:>12}" for measure in measures))
for name, decided in decisions.items():
    scores = metrics.evaluate(Y_test, decisions=decided).scores()
    print(f"{name:>26}", *(f"{scores[measure]:12.3f}" for measure in measures))

# %%
# The paper's tests
# -----------------
# The s-test counts single decisions, the S-test labels. ``≪`` and ``<`` say that the first system
# is worse (P < 0.01 and P < 0.05), ``≫`` and ``>`` that it is better, ``~`` that nothing was
# shown.


def compare(baseline, proposal):
    pair = Y_test, decisions[baseline], decisions[proposal]
    micro, macro = significance.micro_sign_test(*pair), significance.macro_sign_test(*pair)
    print(f"{baseline}  {micro.sign} (micro)  {macro.sign} (macro)  {proposal}")


compare("content alone", "labels, the paper")
compare("content alone", "labels, learned")
compare("content, tuned cut", "labels, learned")
compare("content, tuned cut", "labels, learned, tuned cut")

# %%
# Intervals
# ---------
# A paired bootstrap draws test documents with replacement, the same ones for both systems, and
# says how far the difference moves. It speaks of other documents, not of training again.

plt.rc("axes.spines", top=False, right=False)
figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
names = list(decisions)[1:]
for axes, metric in zip(panels, ("micro_f1", "macro_f1"), strict=True):
    for place, name in enumerate(names):
        found = significance.paired_bootstrap(
            Y_test, decisions["content alone"], decisions[name], metric, random_state=0
        )
        colour = "C0" if name.startswith("labels") else "0.5"
        axes.plot([found.low, found.high], [place, place], color=colour, lw=2)
        axes.plot(found.difference, place, "o", color=colour)
    axes.axvline(0, color="0.3", lw=1)
    axes.set(yticks=range(len(names)), yticklabels=names)
    axes.set(xlabel=f"{metric.replace('_f1', ' F1')}, better than content alone by")
    axes.locator_params(axis="x", nbins=5)
panels[0].invert_yaxis()

# %%
# Against the content alone label evidence is significantly better, and that is the trap: in micro
# F1 one tuned cut gains more than the paper's weight and nearly as much as the learned one,
# without any other label. The honest question is what label evidence adds *to a tuned content
# classifier*. Here the answer is modest: in micro F1 nothing is shown, and over labels, macro F1,
# the gain is just significant. One made corpus with 500 test documents shows how to ask; what
# real ones answer stands in the findings.
