"""
The other labels help where words are scarce
============================================

We train on a made corpus of news, on the words alone and listening to the other labels, and
compare.
"""

# %% Load: texts, and the labels of each
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin import LabelDependenceClassifier, corpora, metrics

news = corpora.newsroom(1500)
texts = news.documents
words = TfidfVectorizer()
X_train = words.fit_transform(texts[news.train])
X_test = words.transform(texts[news.test])
Y_train, Y_test = news.Y.rows(news.train), news.Y.rows(news.test)

# %% Fit: one model holds both, the content evidence alone is in ``content_``
model = LabelDependenceClassifier(random_state=0).fit(X_train, Y_train)
alone = metrics.evaluate(Y_test, model.content_.log_odds(X_test))
together = metrics.evaluate(Y_test, model.log_odds(X_test))

# %% Look
print(f"{'':>12}  micro F1  macro F1")
for name, result in [("words alone", alone), ("with labels", together)]:
    print(f"{name:>12}  {result['micro_f1']:8.4f}  {result['macro_f1']:8.4f}")

# %% Which labels speak for which?
weights, names = model.label_weights_, model.classes_
strongest = abs(weights).ravel().argsort()[::-1][:5]
for k, j in zip(*divmod(strongest, len(names)), strict=True):
    verb = "speaks for" if weights[k, j] > 0 else "speaks against"
    print(f"{names[k]} {verb} {names[j]} ({weights[k, j]:+.2f})")
