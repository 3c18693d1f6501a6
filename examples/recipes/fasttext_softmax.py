"""Softmax scores of fastText, which add up to 1 over all labels and need calibration."""

import tempfile
from pathlib import Path

import numpy as np

from labelkin.evaluation.splits import MultilabelStratifiedKFold


def softmax_scores(texts, Y, new_texts, epochs=25):
    """Train fastText's classifier, loss softmax; return its scores of new documents."""
    import fasttext

    lines = [
        " ".join([*(f"__label__{j}" for j in np.flatnonzero(row)), _one_line(text)])
        for text, row in zip(texts, Y, strict=True)
        if row.any()  # fastText cannot use a document without labels
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.txt")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        model = fasttext.train_supervised(
            str(path), loss="softmax", epoch=epochs, lr=0.5, dim=50, thread=1, seed=0, verbose=0
        )
    scores = np.zeros((len(new_texts), Y.shape[1]))
    for i, text in enumerate(new_texts):
        # model.predict calls this, but fails with NumPy 2.
        for score, label in model.f.predict(_one_line(text) + "\n", -1, 0.0, "strict"):
            scores[i, int(label.removeprefix("__label__"))] = min(max(score, 0.0), 1.0)
    return scores


def scores(texts, Y, new_texts, folds=5):
    """Return out-of-fold scores of the training documents, and scores of new ones."""
    texts, unseen = np.asarray(texts, dtype=object), np.empty(Y.shape)
    for fit, left in MultilabelStratifiedKFold(folds, random_state=0).split(texts, Y):
        unseen[left] = softmax_scores(texts[fit], Y[fit], texts[left])
    return unseen, softmax_scores(texts, Y, new_texts)


def _one_line(text):
    return " ".join(str(text).lower().split())
