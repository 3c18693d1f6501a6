"""After any model: calibrate its scores, ask the other labels, and cut."""

from scipy import sparse

from labelkin import LabelRescorer
from labelkin.label_matrix import Cells, read_labels
from labelkin.learned.calibration import fit_calibration
from labelkin.odds import to_log_odds
from labelkin.thresholds import rule_for


def calibrated(unseen, Y, scores, clip=1e-6):
    """Return both score matrices as probabilities, by the out-of-fold one."""
    labels, found = read_labels(Y), (unseen, scores)
    if not sparse.issparse(unseen):
        before, after = (to_log_odds(part, clip=clip) for part in found)
        calibration = fit_calibration(before, labels)
        return calibration.probabilities(before), calibration.probabilities(after)
    cells = [Cells.of(part) for part in found]
    values = [to_log_odds(part.data, clip=clip) for part in found]
    calibration = fit_calibration(cells[0].matrix(values[0]), labels)
    return tuple(
        some.matrix(calibration.probabilities(each, some.label))
        for some, each in zip(cells, values, strict=True)
    )


def steps(unseen, Y, scores, metric="micro_f1"):
    """Return the decisions after each step: dense, or CSR arrays for candidates.

    ``unseen`` are scores of the training documents by a model that has not seen them, ``Y`` their
    labels, ``scores`` those of new documents.
    """
    honest_unseen, honest = calibrated(unseen, Y, scores)
    rescorer = LabelRescorer()
    rule = rule_for(metric).fit(rescorer.fit_out_of_fold(Y, scores=honest_unseen), Y)
    better = rescorer.rescore(honest)
    return {
        "scores cut at ½": scores > 0.5,
        "calibrated": honest > 0.5,
        "with label evidence": better > 0.5,
        "with thresholds": rule.decide(better),
    }
