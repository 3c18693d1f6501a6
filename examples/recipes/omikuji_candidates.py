"""Top-k candidates of Omikuji as a sparse score matrix.

``OmikujiContent`` contains these steps; here Omikuji's Python API is used directly. Suggestions of
Annif and of XR-Linear (PECOS) have the same form.
"""

import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin.evaluation.splits import MultilabelStratifiedKFold


def candidate_scores(X, Y, X_new, top=20):
    """Train Omikuji's trees; return the scores of each new document's best labels."""
    import omikuji

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.txt")
        lines = [f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}"]
        for i in range(X.shape[0]):
            terms = zip(*_stored(X, i), strict=True)
            named = ",".join(map(str, np.flatnonzero(Y[i])))
            lines.append(" ".join([named, *(f"{j}:{value:.6g}" for j, value in terms)]))
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
        model = omikuji.Model.train_on_data(str(path), omikuji.Model.default_hyper_param(), 1)
    rows, columns, values = [], [], []
    for i in range(X_new.shape[0]):
        terms = list(zip(*(part.tolist() for part in _stored(X_new, i)), strict=True))
        for label, score in model.predict(terms, top_k=top):
            rows.append(i)
            columns.append(label)
            values.append(min(score, 1.0))
    found = sparse.csr_array((values, (rows, columns)), shape=(X_new.shape[0], Y.shape[1]))
    found.sort_indices()
    return found


def scores(texts, Y, new_texts, folds=5, top=20):
    """Return out-of-fold candidates of the training documents, and those of new ones."""
    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    X = sparse.csr_array(words.fit_transform(texts))
    X_new = sparse.csr_array(words.transform(new_texts))
    parts, order = [], []
    for fit, left in MultilabelStratifiedKFold(folds, random_state=0).split(X, Y):
        parts.append(candidate_scores(X[fit], Y[fit], X[left], top))
        order.append(left)
    unseen = sparse.csr_array(sparse.vstack(parts, format="csr")[np.argsort(np.concatenate(order))])
    return unseen, candidate_scores(X, Y, X_new, top)


def _stored(X, i):
    row = slice(X.indptr[i], X.indptr[i + 1])
    return X.indices[row], X.data[row]
