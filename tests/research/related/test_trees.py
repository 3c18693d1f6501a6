"""Trees: fitted trees are compiled, and are not saved."""

import numpy as np
import pytest

from labelkin.research.related import MultilabelForest
from labelkin.storage import save

X = np.array([[0, 0], [0, 1], [0, 5], [9, 6], [9, 7], [9, 2]], dtype=float)
Y = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1], [0, 1, 1], [0, 0, 0]])


def test_saving_a_tree_is_an_error(tmp_path):
    model = MultilabelForest(3, random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match=r"Compiled trees follow the numbers .* train again"):
        save(model, tmp_path / "model.labelkin")
