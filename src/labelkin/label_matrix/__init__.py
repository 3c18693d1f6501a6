"""Any kind of ``Y`` → one label matrix with label names; and the way back.

A :class:`LabelMatrix` is what every part of the library learns from and is judged by: a sparse
0/1 matrix (documents × labels), a second one that marks the unknown cells, and the names of the
labels. Whatever a user brings is turned into it here, once.
"""

from labelkin.label_matrix.names import frame_in_order, names_to_columns
from labelkin.label_matrix.reading import read_labels
from labelkin.label_matrix.record import LabelMatrix, labels_for

__all__ = ["LabelMatrix", "frame_in_order", "labels_for", "names_to_columns", "read_labels"]
