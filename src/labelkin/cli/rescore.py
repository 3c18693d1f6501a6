"""``labelkin rescore``: better scores for any classifier, without its model."""

from __future__ import annotations

import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from labelkin.cli import options
from labelkin.cli.options import argument, option
from labelkin.cli.printing import METRIC_WORDS, counted, print_message, watching

if TYPE_CHECKING:
    from labelkin.evaluation.metrics import Evaluation


@options.expand
def rescore(
    scores: Annotated[
        Path,
        argument(
            "A score matrix: .npz, .npy, .csv, .tsv, .jsonl, .txt (label:score).",
            metavar="SCORES",
            exists=True,
        ),
    ],
    train: Annotated[str, option("Training labels: a corpus, or a 0/1 matrix.")],
    reading: options.DocumentReading,
    out: Annotated[Path | None, option("A new file. [default: stdout]", "--out", "-o")] = None,
    scale: Annotated[
        Literal["probability", "log_odds"], option("Scale of the scores.")
    ] = "probability",
    evidence_weight: options.EvidenceWeight = None,
    out_of_fold: Annotated[
        Path | None,
        option(
            "Out-of-fold scores of the training documents, which auto learns from. "
            "[default: a weight of 0.1]",
            exists=True,
        ),
    ] = None,
    truth: Annotated[
        str | None,
        option(
            "Labels of the scored documents, as --train, to print metrics before and after; "
            "matched by id, else by order. [default: scored documents of --train]"
        ),
    ] = None,
    labels: options.Labels = "logistic",
    variant: options.VariantName = "soft",
    replace: options.Replace = False,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
) -> None:
    """Improve the scores of another classifier by evidence from the other labels.

    Columns are matched by the names of the labels if the files contain them, else by their order.

    Example:  labelkin rescore scores.csv --train train.jsonl --out better.csv

    Example:  labelkin rescore scores.npz --train labels.npz --out-of-fold training-scores.npz
    --out better.npz
    """
    options.check_out(out, scores, replace=replace)

    import numpy as np

    from labelkin.evaluation.metrics import evaluate
    from labelkin.files import atomic_replace
    from labelkin.models.rescorer import LabelRescorer
    from labelkin.prediction import scores as files
    from labelkin.prediction.in_blocks import labels_in_order

    labelled = files.read_label_sets(train, **reading.named())
    learned = labelled.labels.rows(labelled.train)
    names = [str(name) for name in learned.names.tolist()]
    missing = 0.0 if scale == "probability" else None
    given = files.read_score_file(scores, names, missing)
    if given.names is not None:
        learned = labels_in_order(learned, given.names, "Scores and training labels")
        if n_left_out := len(set(names).difference(given.names)):
            print_message(f"{n_left_out} training labels have no scores and are left out.", quiet)
    unseen = None
    if out_of_fold is not None:
        found = files.read_score_file(out_of_fold, given.names or names, missing)
        unseen = files.columns_like(found, given.names)
    weight: Any = "auto" if evidence_weight is None else evidence_weight
    rescorer = LabelRescorer(labels, variant=variant, evidence_weight=weight, scale=scale)
    with watching(quiet), warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore")
        rescorer.fit(learned, scores=unseen)
    with options.cluster(dask) as engine:
        better = files.rescore_matrix(given, rescorer, engine)
    known = labelled if truth is None else files.read_label_sets(truth, **reading.named())
    if not quiet and (known_rows := files.known_rows(given, known, truth is not None)):
        rows, right = known_rows
        key = "probabilities" if scale == "probability" else "log_odds"
        before, after = (evaluate(right, **{key: one.values[rows]}) for one in (given, better))
        print_message(_before_and_after(before, after))
    kind = (out or scores).suffix.lower()
    if out is None and kind in (".npy", ".npz"):  # stdout gets text
        kind = ".csv" if isinstance(better.values, np.ndarray) else ".txt"
    with nullcontext(sys.stdout.buffer) if out is None else atomic_replace(out) as file:
        files.write_scores(file, better, kind)
        file.flush()
    n_documents, n_labels = given.values.shape
    print_message(f"{counted(n_documents, 'document')}, {counted(n_labels, 'label')}.", quiet)
    for name, one in {train: labelled, truth: known}.items():
        if name and one.reading:
            print_message(f"{name}: {one.reading}.", quiet)


def _before_and_after(one: Evaluation, other: Evaluation) -> str:
    """Return metrics before and after in one sentence."""
    before, after = one.scores(), other.scores()
    shown = ("micro_f1", "macro_f1", "one_error")
    moved = ", ".join(
        f"{METRIC_WORDS[name]} {before[name]:.4f} → {after[name]:.4f}" for name in shown
    )
    hint = ""
    if after["micro_f1"] < before["micro_f1"]:
        hint = " The other labels do not help: --evidence-weight 0 leaves scores unchanged."
    return f"{counted(one.n_documents, 'scored document')} with known labels: {moved}.{hint}"
