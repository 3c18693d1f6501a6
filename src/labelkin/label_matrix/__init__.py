"""Labels, scores and known labels as validated matrices with names.

===================  ======================================  =======================================
:func:`read_labels`  label matrix, label sets, classes       :class:`LabelMatrix`
:func:`read_scores`  log-odds or probabilities               numbers, documents × labels
:func:`read_known`   accepted and rejected labels            1, 0, NaN (open), documents × labels
===================  ======================================  =======================================

A :class:`LabelMatrix`, from which all parts learn and with which they are evaluated, is a sparse
0/1 matrix (documents × labels), a second one that marks the unknown cells, and the label names.
"""

from labelkin.label_matrix.cells import Cells, best_cells, best_labels, to_dense
from labelkin.label_matrix.reading import (
    Scale,
    read_candidates,
    read_known,
    read_labels,
    read_scores,
)
from labelkin.label_matrix.record import (
    Container,
    LabelMatrix,
    frame_in_order,
    in_container,
    labels_for,
    names_to_columns,
    read_weight,
)

__all__ = [
    "Cells",
    "Container",
    "LabelMatrix",
    "Scale",
    "best_cells",
    "best_labels",
    "frame_in_order",
    "in_container",
    "labels_for",
    "names_to_columns",
    "read_candidates",
    "read_known",
    "read_labels",
    "read_scores",
    "read_weight",
    "to_dense",
]
