"""Steps after any model: calibration, label evidence, thresholds."""

from scipy import sparse

from labelkin import LabelRescorer
from labelkin.label_matrix import read_labels
from labelkin.learned.calibration import fit_calibration
from labelkin.odds import to_log_odds
from labelkin.thresholds import rule_for


def calibrated(unseen, Y, scores, clip=1e-6):
    """Calibrate on out-of-fold scores; return both score matrices as probabilities."""
    before, after = (
        _on_values(part, lambda z, _: to_log_odds(z, clip=clip)) for part in (unseen, scores)
    )
    calibration = fit_calibration(before, read_labels(Y))
    return tuple(_on_values(part, calibration.probabilities) for part in (before, after))


def _on_values(matrix, function):
    """Apply a function of values and columns to an array, or to the stored cells of a CSR array."""
    if not sparse.issparse(matrix):
        return function(matrix, slice(None))
    values = function(matrix.data, matrix.indices)
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def steps(unseen, Y, scores, metric="micro_f1"):
    """Return the decisions after each step: dense, or CSR arrays for candidates.

    ``unseen`` are out-of-fold scores of the training documents, ``Y`` their labels, and ``scores``
    the scores of new documents.
    """
    calibrated_unseen, calibrated_scores = calibrated(unseen, Y, scores)
    rescorer = LabelRescorer()
    rule = rule_for(metric).fit(rescorer.fit_out_of_fold(Y, scores=calibrated_unseen), Y)
    better = rescorer.rescore(calibrated_scores)
    return {
        "scores cut at ½": scores > 0.5,
        "calibrated": calibrated_scores > 0.5,
        "with label evidence": better > 0.5,
        "with thresholds": rule.decide(better),
    }
