"""
An indexer accepts a label, refuses another, and the rest of the list moves
===========================================================================

The paper's own use case: a person assigns labels with a ranked list of suggestions before them.
"""

from sklearn.feature_extraction.text import CountVectorizer

from labelkin import LabelDependenceClassifier, NaiveBayes, corpora

news = corpora.newsroom(1500)
words = CountVectorizer()
X = words.fit_transform(news.documents)
model = LabelDependenceClassifier(content=NaiveBayes())
model.fit(X[news.train], news.Y.rows(news.train))


# %% A document the model has not seen
document = int(news.test[0])
print(news.documents[document], "\n")


def show(title, known=None):
    print(title)
    for label, probability, _ in model.suggest(X[[document]], top=5, known=known)[0]:
        print(f"  {probability:6.1%}  {label}")


show("suggested:")

# %% The first is accepted, the second refused; both leave the list, and the others respond
first, second = (s.label for s in model.suggest(X[[document]], top=2)[0])
show(f"\n{first} accepted:", {"accepted": [first]})
show(f"\n{first} accepted, {second} refused:", {"accepted": [first], "refused": [second]})
