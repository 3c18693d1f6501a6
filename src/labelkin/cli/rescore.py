"""``labelkin rescore``: better scores for any classifier, without its model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from labelkin.cli.options import Quiet
from labelkin.cli.printing import tell
from labelkin.cli.targets import check_new, check_not_input, check_place

if TYPE_CHECKING:
    from labelkin.cli.scores import Scores
    from labelkin.label_matrix import LabelMatrix


def rescore(
    scores: Annotated[
        Path,
        typer.Argument(metavar="SCORES", help="A score matrix: .npz, .npy, .csv, .tsv, .jsonl."),
    ],
    labels: Annotated[
        str, typer.Option(metavar="TRAIN", help="Training labels: a corpus, or a 0/1 matrix.")
    ],
    out: Annotated[Path | None, typer.Option(help="A new file; stdout if not named.")] = None,
    scale: Annotated[
        Literal["probability", "log_odds"], typer.Option(help="What the scores are.")
    ] = "probability",
    weight: Annotated[
        str, typer.Option(help="Of label evidence: a number, 1 is the paper's; auto needs --oof.")
    ] = "1",
    oof: Annotated[
        Path | None,
        typer.Option(help="Scores of the training documents, made without them, for auto."),
    ] = None,
    classifier: Annotated[
        Literal["logistic", "svm"], typer.Option(help="What judges by the other labels.")
    ] = "logistic",
    variant: Annotated[
        Literal["soft", "hard"],
        typer.Option(help="Other labels as probabilities (M2) or as decisions (M1)."),
    ] = "soft",
    quiet: Quiet = False,
) -> None:
    """Improve another classifier's scores by what the other labels say.

    Columns are matched by the names of the labels where the files have them, else by their order.

    Example:  labelkin rescore scores.csv --labels train.jsonl --out better.csv
    """
    from labelkin.cli import choices
    from labelkin.cli.scores import Scores, is_text, read_scores, write_scores
    from labelkin.cli.training_labels import labels_of_columns, read_training_labels
    from labelkin.method.rescorer import LabelRescorer

    if out is not None:
        check_place(out)
        check_not_input(out, scores)
        check_new(out)
    evidence_weight = choices.read_weight(weight)
    if evidence_weight == "auto" and oof is None:
        raise ValueError("--weight auto learns from guesses: name them by --oof.")
    kind = _kind(scores, out)
    if out is None and not is_text(kind):
        kind = ".csv"
    known = read_training_labels(labels)
    missing = 0.0 if scale == "probability" else None
    given = read_scores(scores, [str(name) for name in known.names.tolist()], missing)
    truth = labels_of_columns(known, given.names)
    _tell_left_out(known, truth, quiet)
    rescorer = LabelRescorer(
        choices.LABELS[classifier](),
        variant,
        evidence_weight,
        scale,
    )
    rescorer.fit(
        truth,
        scores=None if oof is None else _in_order(read_scores(oof, given.names, missing), given),
    )
    better = Scores(rescorer.rescore(given.values), given.names, given.ids)
    _write(write_scores(better, kind), out)
    tell(f"{given.values.shape[0]:,} documents, {given.values.shape[1]:,} labels.", quiet)


def _kind(scores: Path, out: Path | None) -> str:
    return (out or scores).suffix.lower()


def _tell_left_out(known: LabelMatrix, used: LabelMatrix, quiet: bool) -> None:
    names = set(map(str, used.names.tolist()))
    left_out = [str(name) for name in known.names.tolist() if str(name) not in names]
    if left_out:
        tell(f"{len(left_out)} training labels have no scores and are left out.", quiet)


def _in_order(scores: Scores, like: Scores) -> object:
    """Return out-of-fold scores with their columns in the order of the scores to be improved."""
    if scores.names is None or like.names is None or scores.names == like.names:
        return scores.values
    place = {name: j for j, name in enumerate(scores.names)}
    missing = [name for name in like.names if name not in place]
    if missing:
        raise ValueError(f"--oof must have all labels of the scores, and lacks {missing[:5]}.")
    return scores.values[:, [place[name] for name in like.names]]


def _write(data: bytes, out: Path | None) -> None:
    if out is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        out.write_bytes(data)
