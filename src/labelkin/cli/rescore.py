"""``labelkin rescore``: better scores for any classifier, without its model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli import options
from labelkin.cli.printing import print_message, watching

if TYPE_CHECKING:
    from labelkin.cli.score_files import Scores
    from labelkin.method.rescorer import LabelRescorer


def rescore(
    scores: Annotated[
        Path,
        typer.Argument(
            metavar="SCORES",
            help="A score matrix: .npz, .npy, .csv, .tsv, .jsonl, .txt (label:score).",
        ),
    ],
    train: Annotated[str, typer.Option(help="Training labels: a corpus, or a 0/1 matrix.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new file; stdout if not named.")
    ] = None,
    scale: Annotated[
        Literal["probability", "log_odds"], typer.Option(help="What the scores are.")
    ] = "probability",
    evidence_weight: options.EvidenceWeight = "1",
    out_of_fold: Annotated[
        Path | None,
        typer.Option(
            help="Scores of the training documents, made without them; auto learns from them.",
        ),
    ] = None,
    labels: options.Labels = "logistic",
    variant: options.Variant = "soft",
    quiet: options.Quiet = False,
) -> None:
    """Improve another classifier's scores by what the other labels say.

    Columns are matched by the names of the labels where the files have them, else by their order.

    Example:  labelkin rescore scores.csv --train train.jsonl --out better.csv

    Example:  labelkin rescore scores.npz --train labels.npz --evidence-weight auto --out-of-fold
    training-scores.npz --out better.npz
    """
    options.check_input(scores)
    options.check_input(out_of_fold)
    options.check_corpus(train)
    if out is not None:
        options.check_out(out, scores)
        options.check_new(out)
    weight = options.read_evidence_weight(evidence_weight)
    if weight == "auto" and out_of_fold is None:
        raise ValueError(
            "--evidence-weight auto learns from scores of the training documents: name them by "
            "--out-of-fold."
        )
    import numpy as np

    from labelkin.cli import score_files
    from labelkin.files import write_whole
    from labelkin.method.rescorer import LabelRescorer
    from labelkin.registry import part_class

    kind = (out or scores).suffix.lower()
    if out is None and kind in (".npy", ".npz"):  # no text for a terminal
        kind = ".csv"
    truth = score_files.read_training_labels(train)
    names = [str(name) for name in truth.names.tolist()]
    missing = 0.0 if scale == "probability" else None
    given = score_files.read_scores(scores, names, missing)
    if given.names is not None:
        truth = score_files.labels_in_order(truth, given.names, "Scores and training labels")
        left_out = set(names).difference(given.names)
        if left_out:
            print_message(
                f"{len(left_out)} training labels have no scores and are left out.", quiet
            )
    unseen = (
        None if out_of_fold is None else score_files.read_scores(out_of_fold, given.names, missing)
    )
    rescorer = LabelRescorer(part_class("labels", labels)(), variant, weight, scale)
    with watching(quiet):
        rescorer.fit(truth, scores=None if unseen is None else _in_order(unseen, given))
        rescored = _rescored(rescorer, given.values)
    absent = 0.0 if scale == "probability" else -np.inf
    better = score_files.write_scores(
        score_files.Scores(rescored, given.names, given.ids, absent), kind
    )
    if out is None:
        sys.stdout.buffer.write(better)
        sys.stdout.buffer.flush()
    else:
        write_whole(out, better)
    n_documents, n_labels = given.values.shape
    print_message(f"{n_documents:,} documents, {n_labels:,} labels.", quiet)


#: Scores that are improved at a time: 2²² numbers are 32 MB.
_CELLS = 2**22


def _rescored(rescorer: LabelRescorer, values: Any) -> Any:
    """Rescore documents block by block, which none of them notices, and report how far it is."""
    import numpy as np
    from scipy import sparse

    from labelkin.progress import track

    is_sparse = sparse.issparse(values)
    values = sparse.csr_array(values) if is_sparse else values
    width = values.nnz / values.shape[0] if is_sparse else values.shape[1]
    step = max(1, int(_CELLS / max(width, 1)))
    starts = track(range(0, values.shape[0], step), "documents rescored")
    parts = [rescorer.rescore(values[start : start + step]) for start in starts]
    return sparse.csr_array(sparse.vstack(parts)) if is_sparse else np.vstack(parts)


def _in_order(scores: Scores, like: Scores) -> Any:
    """Return out-of-fold scores with their columns in the order of the scores to be improved."""
    if scores.names is None or like.names is None or scores.names == like.names:
        return scores.values
    place = {name: j for j, name in enumerate(scores.names)}
    missing = [name for name in like.names if name not in place]
    if missing:
        raise ValueError(
            f"--out-of-fold must have all labels of the scores, and lacks {missing[:5]}."
        )
    return scores.values[:, [place[name] for name in like.names]]
