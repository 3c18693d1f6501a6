"""Write what the interactive page computes with: ``python -m docs.make.interactive``.

The label layer of a real model of newsroom, and the content log-odds of some test documents, go to
``docs/_static/interactive/newsroom.js``; ``layer.js`` beside it computes what
``model.suggest(X, known=…)`` does. Some answers of the model to known labels drawn at random go to
``tests/docs_make/interactive_answers.json``, and a test compares them with those of the script.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin import LabelDependenceClassifier, corpora
from labelkin.files import write_atomic

PAGE = Path("docs/_static/interactive/newsroom.js")
ANSWERS = Path("tests/docs_make/interactive_answers.json")
#: Digits that numbers keep.
DIGITS = 10
#: Test documents that are looked at, and how many are shown.
LOOKED_AT, SHOWN = 300, 6
#: Sets of known labels that are drawn for every document.
DRAWN = 12


def main() -> None:
    """Train on newsroom, choose documents, write the file."""
    news = corpora.newsroom()
    words = TfidfVectorizer(sublinear_tf=True)
    model = LabelDependenceClassifier(random_state=0)
    model.fit(words.fit_transform(news.documents[news.train]), news.label_sets(news.train))
    texts = news.documents[news.test][:LOOKED_AT]
    X = words.transform(texts)
    chosen = most_moved(model, X)
    data = layer_of(model) | {
        "documents": [
            {"text": str(texts[i]), "content": rounded(model.content_.log_odds(X[[i]])[0])}
            for i in chosen
        ],
    }
    write_atomic(PAGE, script(data))
    said = [answer for at, i in enumerate(chosen) for answer in answers(model, X[[i]], at)]
    lines = ",\n".join(json.dumps(one) for one in said)  # a line each
    write_atomic(ANSWERS, f"[\n{lines}\n]\n")
    print(f"{PAGE}: {len(data['labels'])} labels, {len(chosen)} documents")


def script(data: dict[str, Any]) -> str:
    """Return the file: a script, since pages in a folder may not read other files."""
    return (
        "// Written by python -m docs.make.interactive\n"
        f"const NEWSROOM = {json.dumps(data, ensure_ascii=False)};\n"
        'if (typeof module !== "undefined") module.exports = NEWSROOM;\n'
    )


def layer_of(model: Any) -> dict[str, Any]:
    """Return the label layer of a fitted model with a learned weight and at most 150 labels."""
    terms = model.rescorer_.combination_
    predicted, paper = terms.predicted, terms.predicted.paper
    return {
        "labels": [str(name) for name in model.classes_],
        "weight": rounded(predicted.weight),
        "known_weight": rounded(terms.known.weight),
        "prior": rounded(paper.prior),
        "prior_log_odds": rounded(paper.prior_log_odds),
        "slope": rounded(predicted.fill_in.calibration.slope),
        "shift": rounded(predicted.fill_in.calibration.shift),
        "predicted_weights": rounded(predicted.linear.weights),
        "predicted_bias": rounded(predicted.linear.bias),
        "paper_weights": rounded(paper.linear.weights),
    }


def most_moved(model: Any, X: Any) -> list[int]:
    """Return documents in which an answer moves the others most, each with another first label.

    The answer accepts the open label about which the model knows least.
    """
    probabilities = model.predict_proba(X)
    asked = np.abs(probabilities - 0.5).argmin(axis=1)
    known = np.full(probabilities.shape, np.nan)
    known[np.arange(len(asked)), asked] = 1
    moved = np.abs(model.predict_proba(X, known=known) - probabilities)
    moved[np.arange(len(asked)), asked] = 0
    chosen: dict[int, int] = {}
    for i in np.argsort(-moved.sum(axis=1), kind="stable").tolist():
        chosen.setdefault(int(probabilities[i].argmax()), i)
    return list(chosen.values())[:SHOWN]


def answers(model: Any, X: Any, document: int, drawn: int = DRAWN) -> list[dict[str, Any]]:
    """Return the posterior of one document with known labels drawn at random."""
    generator = np.random.default_rng(document)
    n_labels = len(model.classes_)
    said = []
    for n in range(drawn):
        names = generator.permutation(model.classes_)[: generator.integers(0, n_labels // 2)]
        some = len(names) * n // drawn
        known = {"accepted": names[:some].tolist(), "rejected": names[some:].tolist()}
        suggested = model.suggest(X, top=n_labels, known=[known])[0]
        said.append(
            {
                "document": document,
                **known,
                "suggested": {s.label: rounded(s.log_odds) for s in suggested},
            }
        )
    return said


def rounded(values: Any) -> Any:
    """Return numbers with a number of significant digits, as lists."""
    if np.ndim(values) == 0:
        return float(f"{float(values):.{DIGITS}g}")
    return [rounded(value) for value in values]


if __name__ == "__main__":
    main()
