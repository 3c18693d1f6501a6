"""Golden log-odds of every system of the paper, and of the learned weight, on two corpora.

Only public names are used, so that the numbers do not depend on the structure of the code. A matrix
is stored as some of its rows and as random sums over all of them, which cover every cell.
"""

import os
from functools import cache
from pathlib import Path

import numpy as np

from labelkin import (
    LabelDependenceClassifier,
    LabelRescorer,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PlattSVM,
    SVMLabels,
    corpora,
)
from labelkin.text import TermWeights, WordCounts
from labelkin.thresholds import SCutFBR

TOP = Path(__file__).parents[2]
DATA = Path(os.environ.get("LABELKIN_DATA", TOP.parent / "shared" / "data"))
CONTENT = {"NB": NaiveBayes, "kNN": NearestNeighbours, "SVM": lambda: PlattSVM(random_state=0)}
LABELS = {"BLR": LogisticLabels(), "SMO": SVMLabels(), "Weka": LogisticLabels(solver="weka")}
VARIANTS = {"M1": "hard", "M2": "soft", "M1cut": SCutFBR()}
#: Systems by name: content, labels, variant, evidence weight.
SYSTEMS = {
    **{content: (content, "BLR", "M2", 0.0) for content in CONTENT},
    **{
        f"{content}+{labels}+{variant}": (content, labels, variant, 1.0)
        for content in CONTENT
        for labels in ("BLR", "SMO")
        for variant in ("M1", "M2")
    },
    **{f"{content}+BLR+M2 w=auto": (content, "BLR", "M2", "auto") for content in CONTENT},
    "NB+BLR+M1cut w=auto": ("NB", "BLR", "M1cut", "auto"),
    "kNN+BLR+M1 w=auto": ("kNN", "BLR", "M1", "auto"),
    "SVM+SMO+M2 w=auto": ("SVM", "SMO", "M2", "auto"),
    "NB+Weka+M2 w=0.4": ("NB", "Weka", "M2", 0.4),
}
#: Of these also the posterior with known labels, and that of the training documents, out of fold.
ALSO_KNOWN = ("SVM+BLR+M2 w=auto", "NB+SMO+M1", "kNN+BLR+M1 w=auto")
ALSO_OUT_OF_FOLD = ("NB+BLR+M2 w=auto", "SVM+BLR+M2")
#: Of these also the decisions, by these thresholds.
DECIDED = [
    (name, thresholds)
    for name in ("NB+BLR+M2 w=auto", "kNN+SMO+M1", "SVM+BLR+M2 w=auto")
    for thresholds in (None, "micro_f1")
]
#: Of every matrix: rows that are kept, and random sums over all of them.
N_ROWS, N_SUMS = 12, 2


class Vectors:
    """A corpus as vectors, and content evidence on it, computed once."""

    def __init__(self, corpus, step=1):
        train, test = corpus.train[::step], corpus.test
        self.Y_train, self.Y_test = (corpus.Y[rows] for rows in (train, test))
        words = WordCounts().fit(corpus.documents[train])
        counts = [words.transform(corpus.documents[rows]) for rows in (train, test)]
        weights = TermWeights("tfidf").fit(counts[0])
        tfidf = [weights.transform(part) for part in counts]
        self.features = {"NB": counts, "kNN": tfidf, "SVM": tfidf}
        self.evidence = cache(self._evidence)
        self.classifier = cache(self._classifier)

    def _evidence(self, content):
        """Return log-odds of the training documents, out of fold, and of the test documents."""
        train, test = self.features[content]
        classifier = CONTENT[content]()
        return classifier.fit_out_of_fold(train, self.Y_train), classifier.log_odds(test)

    def accepted(self):
        """Return known labels: of a document with several labels the first is accepted."""
        own = [np.flatnonzero(row == 1).tolist() for row in self.Y_test]
        return [{"accepted": labels[:1]} if len(labels) > 1 else {} for labels in own]

    def rescored(self, name, known=None):
        """Return the log-odds that ``LabelRescorer`` makes of the content's."""
        unseen, scores = self.evidence(SYSTEMS[name][0])
        return _rescorer(name).fit(self.Y_train, scores=unseen).rescore(scores, known)

    def rescored_out_of_fold(self, name):
        """Return the same out of fold, of the training documents."""
        unseen, _ = self.evidence(SYSTEMS[name][0])
        return _rescorer(name).fit_out_of_fold(self.Y_train, scores=unseen)

    def classified(self, name, thresholds=None, known=None):
        """Return the log-odds that ``LabelDependenceClassifier`` gives, and its decisions."""
        test = self.features[SYSTEMS[name][0]][1]
        model, _ = self.classifier(name, thresholds)
        return model.log_odds(test, known), model.predict(test, known)

    def _classifier(self, name, thresholds):
        """Return the fitted classifier, and out-of-fold log-odds of the training documents."""
        content, labels, variant, weight = SYSTEMS[name]
        model = LabelDependenceClassifier(
            CONTENT[content](),
            labels=LABELS[labels],
            variant=VARIANTS[variant],
            evidence_weight=weight,
            thresholds=thresholds,
        )
        return model, model.fit_out_of_fold(self.features[content][0], self.Y_train)


def newsroom():
    """Return the built-in corpus."""
    return Vectors(corpora.newsroom(900))


def reuters21578():
    """Return every fourth training document of Reuters-21578; some labels have no document left."""
    return Vectors(corpora.load("reuters21578", DATA / "reuters21578"), step=4)


CORPORA = {"newsroom": newsroom, "reuters21578": reuters21578}


def kept(log_odds):
    """Return what is kept of a matrix: rows, and random sums over all rows."""
    finite = np.nan_to_num(log_odds, nan=np.nan, posinf=1e4, neginf=-1e4)
    rows = np.linspace(0, len(finite) - 1, N_ROWS).astype(int)
    factors = np.random.default_rng(0).standard_normal((N_SUMS, len(finite)))
    return np.vstack([finite[rows], factors @ finite / len(finite) ** 0.5])


def packed(decisions):
    """Return decisions, eight a byte."""
    return np.packbits(np.asarray(decisions) == 1)


def golden_numbers(vectors):
    """Return by name what is kept of all systems on a corpus."""
    known = vectors.accepted()
    return {
        **{name: kept(vectors.rescored(name)) for name in SYSTEMS},
        **{f"{name}, known": kept(vectors.rescored(name, known)) for name in ALSO_KNOWN},
        **{
            f"{name}, out of fold": kept(vectors.rescored_out_of_fold(name))
            for name in ALSO_OUT_OF_FOLD
        },
        **{
            f"{name}, {thresholds}": packed(vectors.classified(name, thresholds)[1])
            for name, thresholds in DECIDED
        },
    }


def _rescorer(name):
    _, labels, variant, weight = SYSTEMS[name]
    return LabelRescorer(
        LABELS[labels], variant=VARIANTS[variant], evidence_weight=weight, scale="log_odds"
    )
