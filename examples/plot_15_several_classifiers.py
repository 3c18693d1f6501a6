"""
Several content classifiers, several views
==========================================

**Classifiers with different errors are better together if their weights are learned out of
fold.** ``content=`` accepts a list of classifiers; members that do not help are dropped.
"""

# %%
# Three classifiers of the same words
# -----------------------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin import LabelDependenceClassifier, NaiveBayes, NearestNeighbours, PlattSVM, corpora
from labelkin.evaluation import metrics
from labelkin.text import TextView

news = corpora.newsroom(1500)
words = TfidfVectorizer(sublinear_tf=True)
texts_train, texts_test = news.documents[news.train], news.documents[news.test]
X_train, X_test = words.fit_transform(texts_train), words.transform(texts_test)
Y_train, Y_test = news.Y[news.train], news.Y[news.test]

svm = PlattSVM(random_state=0)
contents = {
    "naive Bayes": NaiveBayes(),
    "nearest neighbours": NearestNeighbours(),
    "linear SVM": svm,
    "all three": [NaiveBayes(), NearestNeighbours(), svm],
}
models = {
    name: LabelDependenceClassifier(content, random_state=0).fit(X_train, Y_train)
    for name, content in contents.items()
}
log_odds = {name: model.log_odds(X_test) for name, model in models.items()}

# %%
# Views of a text
# ---------------
# The same classifier can use different views of a text: the whole text, its title (here the first
# line), its beginning, or its characters. Such a member is a tuple of a name, a transformer and a
# classifier, and the model receives texts.

views = [(view, TextView(view), svm) for view in ("text", "title", "lead", "characters")]
several = LabelDependenceClassifier(views, random_state=0)
several.fit(texts_train, news.label_sets(news.train))
models["SVMs of four views"] = several
log_odds["SVMs of four views"] = several.log_odds(texts_test)

print("dropped:", several.content_.dropped_ or "no member")
measures = ("micro_f1", "macro_f1", "subset_loss", "one_error", "log_loss")
print(f"{'':>18}", *(f"{measure:>11}" for measure in measures))
for name, found in log_odds.items():
    scores = metrics.evaluate(Y_test, found).scores()
    print(f"{name:>18}", *(f"{scores[measure]:11.3f}" for measure in measures))

# %%
# Weights of the members
# ----------------------
# Each label has its own weights, which are shrunk towards the mean over all labels.

plt.rc("axes.spines", top=False, right=False)
figure, panels = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharex=True)
for axes, name in zip(panels, ("all three", "SVMs of four views"), strict=True):
    ensemble = models[name].content_
    for place, weights in enumerate(ensemble.weights_.T):
        axes.plot(weights, np.full(len(weights), place), "|", color="C0", ms=16)
        axes.plot(weights.mean(), place, "o", color="C1")
    axes.set_yticks(range(len(ensemble.members_)), [member.name for member in ensemble.members_])
    axes.set(title=name, xlabel="weight (lines: labels, dot: mean)")
    axes.set_xlim(0, None)
    axes.margins(y=0.25)
    axes.invert_yaxis()

# %%
# The explanation of a decision contains the members:

[[why]] = several.explain(texts_test[:1], top=1)
print(why)
print(np.round(sum(why.members.values()) - why.parts["content"], 6), "unexplained")

# %%
# Naive Bayes and nearest neighbours are much weaker than the SVM but contain other information: the
# three together have the lowest log loss. The decisions gain less: compared with the SVM,
# differences are small, and the subset 0/1 loss is slightly worse. Of the views the whole text was
# dropped, because these texts are short and the beginning contains most of the text. Each member
# costs its own training time; the weights cost little, because out-of-fold scores are computed
# anyway.
