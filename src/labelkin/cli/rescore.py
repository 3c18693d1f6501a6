"""``labelkin rescore``: better scores for any classifier, without its model."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from labelkin.cli import options
from labelkin.cli.printing import counted, print_message, watching

if TYPE_CHECKING:
    from labelkin.cli.score_files import Labelled, Scores
    from labelkin.evaluation.metrics import Evaluation
    from labelkin.label_matrix import LabelMatrix
    from labelkin.models.rescorer import LabelRescorer


@options.reads_documents
def rescore(
    scores: Annotated[
        Path,
        typer.Argument(
            metavar="SCORES",
            help="A score matrix: .npz, .npy, .csv, .tsv, .jsonl, .txt (label:score).",
        ),
    ],
    train: Annotated[str, typer.Option(help="Training labels: a corpus, or a 0/1 matrix.")],
    reading: options.Reading,
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
    dask: options.Dask = None,
    quiet: options.Quiet = False,
) -> None:
    """Improve another classifier's scores by what the other labels say.

    Columns are matched by the names of the labels where the files have them, else by their order.
    Of .npy, .csv, .tsv and .jsonl memory holds some documents at a time.

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

    from labelkin.cli import score_files
    from labelkin.files import atomic_replace
    from labelkin.models.rescorer import LabelRescorer
    from labelkin.registry import part_class
    from labelkin.scaling.distributed import using

    labelled = score_files.read_labelled(train, **reading.named())
    learned = labelled.labels.rows(labelled.train)
    names = [str(name) for name in learned.names.tolist()]
    missing = 0.0 if scale == "probability" else None
    blocks = score_files.score_blocks(scores, names, missing)
    given = next(blocks)  # what it says of labels holds for all
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
    rescorer = LabelRescorer(
        part_class("labels", labels)(), variant=variant, evidence_weight=weight, scale=scale
    )
    with watching(quiet), warnings.catch_warnings(record=True, action="always") as caught:
        rescorer.fit(learned, scores=None if unseen is None else _in_order(unseen, given))
    for rule in (str(one.message).partition(" Use ")[0] for one in caught):
        if "in-sample" in rule:
            print_message(f"--out-of-fold {rule} Make them by cross-validation.", quiet)
    known = labelled if truth is None else score_files.read_labelled(truth, **reading.named())
    compared = _Comparison(None if quiet else known, given.names, by_order=truth is not None)
    with (
        options.cluster(dask) as cluster,
        using(cluster) as engine,
        nullcontext(sys.stdout.buffer) if out is None else atomic_replace(out) as file,
    ):
        with_known = ((one, compared.known(one)) for one in chain([given], blocks))
        better = compared.added(engine.map(_rescored, with_known, rescorer=rescorer, scale=scale))
        kind = _kind(out or scores, is_text=out is None)
        n_documents, n_labels = score_files.write_blocks(file, better, kind)
        if said := compared.said():
            print_message(said)
        file.flush()
    print_message(f"{counted(n_documents, 'document')}, {counted(n_labels, 'label')}.", quiet)
    _print_readings({train: labelled, truth: known}, quiet)
    if weight == "auto" and unseen is None:
        reduced = f"label evidence has weight {rescorer.evidence_weight_:g}"
        print_message(f"Without --out-of-fold, {reduced}; set it by --evidence-weight.", quiet)


def _print_readings(read: dict[str | None, Any], quiet: bool) -> None:
    for name, one in read.items():
        if name and one.reading:
            n_documents, n_labels = one.labels.shape
            sizes = f"{counted(n_documents, 'document')}, {counted(n_labels, 'label')}"
            print_message(f"{name}: {sizes} read, {one.reading}.", quiet)


def _kind(like: Path, *, is_text: bool) -> str:
    """Return the ending that says how scores are written; a terminal gets a table, no arrays."""
    kind = like.suffix.lower()
    return ".csv" if is_text and kind in (".npy", ".npz") else kind


class _Known(NamedTuple):
    """Labels of some of a block's documents; whether they were found by id, else by order."""

    rows: list[int]
    labels: LabelMatrix
    by_id: bool


class _Judged(NamedTuple):
    """What the scores of some documents are worth before and after."""

    before: Evaluation
    after: Evaluation
    by_id: bool

    def plus(self, more: _Judged) -> _Judged:
        """Return the same of these documents and more."""
        return _Judged(self.before + more.before, self.after + more.after, self.by_id)


class _Comparison:
    """What scores are worth before and after, added up over blocks, where labels are known.

    Documents are found by their ids; if none is, and ``by_order``, all of them by their order.
    Nothing is compared where nothing is ``labelled``.
    """

    def __init__(
        self, labelled: Labelled | None, names: list[str] | None, *, by_order: bool
    ) -> None:
        from labelkin.cli.score_files import labels_in_order

        # Columns that are numbers are matched by their order.
        if labelled and names is not None and labelled.labels.names.dtype.kind not in "iu":
            labels = labels_in_order(labelled.labels, names, "Scores and known labels")
            labelled = dataclasses.replace(labelled, labels=labels)
        self._labelled = labelled
        self._by_order = by_order
        self._n_seen = 0
        self._totals: dict[bool, _Judged] = {}

    def known(self, scores: Scores) -> _Known | None:
        """Return what is known of the documents of the next block."""
        if self._labelled is None:
            return None
        import numpy as np

        rows = np.arange(self._n_seen, self._n_seen + scores.values.shape[0])
        self._n_seen += len(rows)
        if (found := self._labelled.of(scores)) is not None:
            self._by_order = False
            return _Known(*found, by_id=True)
        if not self._by_order or self._n_seen > self._labelled.labels.shape[0]:
            return None
        return _Known(list(range(len(rows))), self._labelled.labels.rows(rows), by_id=False)

    def added(self, rescored: Iterable[tuple[Scores, _Judged | None]]) -> Iterator[Scores]:
        """Yield better scores, and add up what they are worth."""
        for scores, judged in rescored:
            if judged is not None:
                before = self._totals.get(judged.by_id)
                self._totals[judged.by_id] = judged if before is None else before.plus(judged)
            yield scores

    def said(self) -> str:
        """Return what there is to say when all are scored; --truth of others is an error."""
        n_labelled = 0 if self._labelled is None else self._labelled.labels.shape[0]
        if self._labelled and self._by_order and self._n_seen != n_labelled:
            raise ValueError(
                f"--truth must have the scored documents, by id or {self._n_seen:,} of them in "
                f"their order, got {n_labelled:,} others."
            )
        judged = self._totals.get(not self._by_order)
        if judged is None:
            return ""
        from labelkin.research.reports.scores import WORDS

        before, after = judged.before.scores(), judged.after.scores()
        shown = ("micro_f1", "macro_f1", "one_error")
        moved = ", ".join(f"{WORDS[name]} {before[name]:.4f} → {after[name]:.4f}" for name in shown)
        n_known = counted(judged.before.n_documents, "scored document")
        hint = ""
        if after["micro_f1"] < before["micro_f1"]:
            hint = " The other labels do not help: --evidence-weight 0 leaves scores alone."
        return f"{n_known} with known labels: {moved}.{hint}"


def _rescored(
    block: tuple[Scores, _Known | None], rescorer: LabelRescorer, scale: str
) -> tuple[Scores, _Judged | None]:
    """Return better scores of some documents, and what both are worth where labels are known."""
    scores, known = block
    absent = 0.0 if scale == "probability" else float("-inf")  # of labels that are not stored
    better = dataclasses.replace(scores, values=rescorer.rescore(scores.values), absent=absent)
    if known is None:
        return better, None
    from labelkin.evaluation.metrics import evaluate

    key = "probabilities" if scale == "probability" else "log_odds"
    was, now = (evaluate(known.labels, **{key: one.values[known.rows]}) for one in (scores, better))
    return better, _Judged(was, now, known.by_id)


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
