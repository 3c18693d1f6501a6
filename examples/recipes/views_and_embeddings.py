"""Several views of a text, with sentence embeddings as two more members.

``python -m examples.recipes.views_and_embeddings FOLDER`` evaluates the model on Reuters-21578 and
stores the scores in the folder. The embeddings are those of ``sentence_embeddings.py``, of the
first 48 and the first 128 tokens; they are computed once, in some minutes of CPU time. Lengths and
C were chosen on two splits of the training documents, by the Brier score.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
from examples.recipes.sentence_embeddings import embeddings

from labelkin import LabelDependenceClassifier, PlattSVM, corpora
from labelkin.evaluation.metrics import evaluate
from labelkin.models.builder import STRONG, view_members
from labelkin.text import WordCounts
from labelkin.thresholds import LabelLimits


def strong_model(encoders, words=None, random_state=None):
    """Return the strong preset with more members: functions from texts to vectors, by name."""
    meanings = [(name, encode, PlattSVM(C=2.0)) for name, encode in encoders.items()]
    members = [*view_members(STRONG, words=words), *meanings]
    return LabelDependenceClassifier(
        members, thresholds=LabelLimits(at_least="auto"), random_state=random_state
    )


def encoder(texts, tokens, folder):
    """Return a function that looks up embeddings, which are computed once and stored."""
    path = folder / f"embeddings-{tokens}.npy"
    if not path.exists():
        np.save(path, embeddings(texts, words=tokens).astype(np.float32))
    vectors = dict(zip(texts, np.load(path), strict=True))
    return lambda some: np.array([vectors[text] for text in some], dtype=float)


def measure(folder, seeds):
    """Return the scores of every seed, on all documents of Reuters-21578 that have a topic."""
    corpus = corpora.load("reuters21578", split="modapte", field="titled_text")
    train, test = (part[corpus.is_labelled[part]] for part in (corpus.train, corpus.test))
    texts = np.asarray(corpus.documents, dtype=object)
    used = [*texts[train], *texts[test]]
    encoders = {f"meaning_{n}": encoder(used, n, folder) for n in (48, 128)}
    words = WordCounts(stop_words="smart", stem=True, min_documents=3, markup=False)
    rows = []
    for seed in seeds:
        begin = time.process_time()
        model = strong_model(encoders, words, seed).fit(texts[train], corpus.Y[train])
        seconds = time.process_time() - begin
        log_odds = model.log_odds(texts[test])
        scores = evaluate(corpus.Y[test], log_odds, model.decide(log_odds)).scores()
        counted = {member.name for member in model.content_.members_}
        rows.append({"seed": seed, "seconds": seconds, **scores, "members": sorted(counted)})
        (folder / "scores.json").write_text(json.dumps(rows, indent=1) + "\n")
        print(model.content_.summary(), scores, flush=True)
    return rows


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    measure(given.folder, given.seeds)
