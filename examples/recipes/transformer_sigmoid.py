"""Sigmoid scores of a transformer: a head with one output per label.

The body is frozen and only the head is trained, as in linear probing. A fine-tuned body returns
scores of the same kind.
"""

import numpy as np

from labelkin.evaluation.splits import MultilabelStratifiedKFold


def sigmoid_scores(X, Y, X_new, epochs=60):
    """Train a head on embeddings by binary cross-entropy; return its scores of new documents."""
    import torch

    torch.manual_seed(0)
    X, Y, X_new = (torch.as_tensor(np.asarray(part), dtype=torch.float32) for part in (X, Y, X_new))
    head = torch.nn.Linear(X.shape[1], Y.shape[1])
    optimizer = torch.optim.AdamW(head.parameters(), lr=0.02)
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(epochs):
        for rows in torch.randperm(len(X)).split(64):
            optimizer.zero_grad()
            loss(head(X[rows]), Y[rows]).backward()
            optimizer.step()
    with torch.no_grad():
        return torch.sigmoid(head(X_new)).numpy().astype(float)


def scores(X, Y, X_new, folds=5):
    """Return out-of-fold scores of the training documents, and scores of new ones."""
    unseen = np.empty(Y.shape)
    for fit, left in MultilabelStratifiedKFold(folds, random_state=0).split(X, Y):
        unseen[left] = sigmoid_scores(X[fit], Y[fit], X[left])
    return unseen, sigmoid_scores(X, Y, X_new)
