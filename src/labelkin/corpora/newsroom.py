"""A made news corpus: readable texts, and label sets whose true probabilities are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.newsroom_text import write_documents
from labelkin.corpora.newsroom_truth import newsroom_truth
from labelkin.label_matrix import read_labels


def newsroom(n_documents: int = 3000, *, seed: int = 0) -> Corpus:
    r"""Write a news corpus with 38 labels that depend on one another on purpose.

    Label sets are drawn from the distribution that :func:`newsroom_truth` returns; each text is
    written from its label set alone. The three reasons for several labels that the paper gives
    (section "The semantic of assigning multiple labels") are built in:

    - *Mixture of topics*: a document on two topics, say software and telecoms, has sentences on
      both.
    - *Contextualisation*: grain goes with wheat or corn, markets with two of interest-rates,
      inflation and money-market, disaster-relief with floods or earthquakes. These labels follow
      from the others and have hardly a word of their own.
    - *Labels that exclude each other*: domestic and foreign, victory and defeat, football and
      tennis.

    Label frequencies fall from about a quarter of the documents to half a per cent. Labels share
    words with others, often go unmentioned, and are mentioned where they do not belong. How often
    was tuned until what the other labels add came near the size seen on real corpora: the corpus
    shows how the method works, it is no evidence for how well.

    Parameters
    ----------
    n_documents
        At least 2. With the same seed, fewer documents are the beginning of more.
    seed
        Same seed, same bytes, on every machine.

    Returns
    -------
    The corpus; two thirds of the documents, drawn by the seed, are for training. From 60 documents
    on, every label that occurs has a training document.

    Examples
    --------
    >>> corpus = newsroom(100)
    >>> corpus.Y.label_sets()[35]
    ('software', 'telecoms')
    >>> print(corpus.documents[35].replace(". ", ".\n"))
    Broadband lines back in the spotlight
    In the old town, the software update drew fresh attention.
    Questions about the mobile network dominated a meeting of phone companies in the capital.
    """
    if n_documents < 2:
        raise ValueError(
            f"n_documents must be at least 2, one to train on and one to test, got {n_documents!r}."
        )
    label_seed, text_seed, split_seed = np.random.SeedSequence(seed).spawn(3)
    truth = newsroom_truth()
    Y = read_labels(truth.sample(n_documents, seed=label_seed), names=truth.names)
    documents = np.empty(n_documents, dtype=object)
    documents[:] = write_documents(Y.label_sets(), np.random.default_rng(text_seed))
    train, test = _split(Y.positive, np.random.default_rng(split_seed))
    return Corpus(
        name="newsroom",
        documents=documents,
        Y=Y,
        train=train,
        test=test,
        source=f"made by labelkin.corpora.newsroom({n_documents}, seed={seed})",
        licence="BSD-3-Clause",
    )


def _split(
    Y: sparse.csr_array, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two thirds of the documents at random, the first one of every label among them."""
    order = np.argsort(rng.random(Y.shape[0]), kind="stable")
    by_label = sparse.csc_array(Y[order])
    by_label.sort_indices()
    firsts = np.unique(by_label.indices[by_label.indptr[:-1][np.diff(by_label.indptr) > 0]])
    order = np.concatenate([order[firsts], np.delete(order, firsts)])
    n_train = round(len(order) * 2 / 3)
    return np.sort(order[:n_train]), np.sort(order[n_train:])
