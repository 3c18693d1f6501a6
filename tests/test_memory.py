"""Work that cannot be done is said to be so before it is begun."""

import numpy as np
import pytest

import labelkin.memory
from labelkin import LabelRescorer, LogisticLabels
from labelkin.memory import check_memory, memory_of_machine


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(labelkin.memory, "memory_of_machine", lambda: 20_000)


def test_a_machine_says_what_it_has():
    there = memory_of_machine()
    assert there is None or there > 1e8


def test_the_forecast_names_size_and_way_out(small):
    with pytest.raises(MemoryError, match=r"Work will take about 3.0 GB .* has 0 MB\. Do less\."):
        check_memory(3e9, "Work", "Do less.")
    check_memory(10.0, "Work", "Do less.")


def test_all_label_weights_are_forecast(small):
    Y = np.eye(40)
    with pytest.raises(MemoryError, match=r"40 × 40 labels .*neighbours=\"auto\""):
        LogisticLabels(neighbours=None).fit(Y)
    LogisticLabels(neighbours=4).fit(Y)


def test_a_learned_weight_is_forecast(small):
    Y = np.tile(np.eye(10), (9, 1))
    with pytest.raises(MemoryError, match=r"90 documents × 10 labels .*sparse matrix"):
        LabelRescorer(evidence_weight="auto").fit(Y, scores=Y * 0.8 + 0.1)
