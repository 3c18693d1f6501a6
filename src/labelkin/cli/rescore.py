"""``labelkin rescore``: better scores for any classifier, without its model."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli import options
from labelkin.cli.printing import counted, print_message

if TYPE_CHECKING:
    from labelkin.cli.score_files import Labelled, Scores


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
    evidence_weight: options.EvidenceWeight = "auto",
    out_of_fold: Annotated[
        Path | None,
        typer.Option(
            help="Scores of the training documents, made without them; auto learns from them. "
            "Without them auto is cautious.",
        ),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            help="Labels of the scored documents, as --train: then before and after are printed; "
            "matched by id, else by order. If not named, those of --train that are scored."
        ),
    ] = None,
    labels: options.Labels = "logistic",
    variant: options.Variant = "soft",
    replace: options.Replace = False,
    quiet: options.Quiet = False,
) -> None:
    """Improve another classifier's scores by what the other labels say.

    Columns are matched by the names of the labels where the files have them, else by their order.

    Example:  labelkin rescore scores.csv --train train.jsonl --out better.csv

    Example:  labelkin rescore scores.npz --train labels.npz --out-of-fold training-scores.npz
    --out better.npz
    """
    options.check_input(scores)
    options.check_input(out_of_fold)
    options.check_corpus(train)
    if out is not None:
        options.check_out(out, scores)
        if not replace:
            options.check_new(out, "--replace overwrites it; else delete it or name another.")
    if truth is not None:
        options.check_corpus(truth)
    weight = options.read_evidence_weight(evidence_weight)
    import numpy as np

    from labelkin.cli import score_files
    from labelkin.files import write_whole
    from labelkin.method.rescorer import LabelRescorer
    from labelkin.registry import part_class

    kind = (out or scores).suffix.lower()
    if out is None and kind in (".npy", ".npz"):  # no text for a terminal
        kind = ".csv"
    labelled = score_files.read_labelled(train)
    learned = labelled.labels.rows(labelled.train)
    names = [str(name) for name in learned.names.tolist()]
    missing = 0.0 if scale == "probability" else None
    given = score_files.read_scores(scores, names, missing)
    if given.names is not None:
        learned = score_files.labels_in_order(learned, given.names, "Scores and training labels")
        left_out = set(names).difference(given.names)
        if left_out:
            print_message(
                f"{len(left_out)} training labels have no scores and are left out.", quiet
            )
    unseen = (
        None if out_of_fold is None else score_files.read_scores(out_of_fold, given.names, missing)
    )
    rescorer = LabelRescorer(part_class("labels", labels)(), variant, weight, scale)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # said below, as options
        rescorer.fit(learned, scores=None if unseen is None else _in_order(unseen, given))
    absent = 0.0 if scale == "probability" else -np.inf
    after = score_files.Scores(rescorer.rescore(given.values), given.names, given.ids, absent)
    if not quiet:
        _compare(
            given,
            after,
            labelled if truth is None else score_files.read_labelled(truth),
            scale,
            is_named=truth is not None,
        )
    better = score_files.write_scores(after, kind)
    if out is None:
        sys.stdout.buffer.write(better)
        sys.stdout.buffer.flush()
    else:
        write_whole(out, better)
    n_documents, n_labels = given.values.shape
    print_message(f"{counted(n_documents, 'document')}, {counted(n_labels, 'label')}.", quiet)
    if weight == "auto" and unseen is None:
        caution = f"predicted labels count cautiously, {rescorer.evidence_weight_:g}"
        named = "--evidence-weight names another weight"
        print_message(f"Without --out-of-fold {caution}; {named}.", quiet)


def _compare(
    before: Scores, after: Scores, labelled: Labelled, scale: str, *, is_named: bool
) -> None:
    """Print what scores are worth before and after, on documents whose labels are known."""
    from labelkin.cli.score_files import labels_in_order
    from labelkin.metrics import evaluate
    from labelkin.report.scores import WORDS

    n_documents = before.values.shape[0]
    found = labelled.of(before)
    if found is None and is_named:
        if labelled.labels.shape[0] != n_documents:
            raise ValueError(
                f"--truth must have the scored documents, by id or {n_documents:,} of them in "
                f"their order, got {labelled.labels.shape[0]:,} others."
            )
        found = list(range(n_documents)), labelled.labels
    if found is None:
        return
    rows, labels = found
    if before.names is not None and labels.names.dtype.kind not in "iu":  # those are by order
        labels = labels_in_order(labels, before.names, "Scores and known labels")
    key = "probabilities" if scale == "probability" else "log_odds"
    pair = [evaluate(labels, **{key: one.values[rows]}).scores() for one in (before, after)]
    shown = ("micro_f1", "macro_f1", "one_error")
    said = ", ".join(f"{WORDS[name]} {pair[0][name]:.4f} → {pair[1][name]:.4f}" for name in shown)
    worse = pair[1]["micro_f1"] < pair[0]["micro_f1"]
    hint = (
        " The other labels do not help: --evidence-weight 0 leaves scores alone." if worse else ""
    )
    print_message(f"{counted(len(rows), 'scored document')} with known labels: {said}.{hint}")


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
