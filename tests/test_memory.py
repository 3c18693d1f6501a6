"""Work that cannot be done is said to be so before it is begun."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

import labelkin.memory
from labelkin import (
    LabelDependenceClassifier,
    LabelRescorer,
    LogisticLabels,
    NaiveBayes,
    PlattSVM,
)
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


def test_a_classifier_learns_from_scores_of_all_labels_or_does_not_begin(small):
    X = np.tile(np.eye(10), (9, 1))
    model = LabelDependenceClassifier([NaiveBayes(), NaiveBayes(alpha=2)])
    with pytest.raises(MemoryError, match=r"90 documents × 10 labels .*top=100"):
        model.fit(X, X)
    assert not hasattr(model, "content_")
    LabelDependenceClassifier([NaiveBayes(), NaiveBayes(top=3)]).fit(X, X)
    LabelDependenceClassifier(NaiveBayes(), evidence_weight=1).fit(X, X)  # learns from no scores


def test_all_weights_of_svms_are_forecast(small):
    X, Y = np.tile(np.eye(3, 900), (9, 1)), np.tile(np.eye(3), (9, 1))
    with pytest.raises(MemoryError, match=r"3 labels × 900 features .*prune=0\.1"):
        PlattSVM().fit(X, Y)
    PlattSVM(prune=0.1, random_state=0).fit(X, Y)


_FREED = """
import resource, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import labelkin.memory
from labelkin.memory import reused_memory

def pages():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def held():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

def work():
    before = pages()
    arrays = [np.ones(3 * 2**19) for _ in range(12)]  # of 12 MB each, five to a heap of a thread
    del arrays
    return pages() - before

def measured():
    work()
    as_started = work()
    with reused_memory():
        work()
        reused = work()
        most = held()
    for _ in range(20):  # however many blocks, one thread watches
        with reused_memory():
            work()
    watching = sum(isinstance(thread, threading.Timer) for thread in threading.enumerate())
    time.sleep(1.5)
    return as_started, reused, most - held(), work(), watching

labelkin.memory._IDLE = 0.2
print(*(ThreadPoolExecutor(1).submit(measured).result() if "thread" in sys.argv else measured()))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked for it")
@pytest.mark.parametrize("where", ["main", "thread"])  # Dask has its tasks in threads
def test_workers_of_dask_use_freed_memory_again_while_they_work_and_hand_it_back_then(where):
    # What Dask gives them; and pages of one size, which can be counted.
    settings = {"MALLOC_TRIM_THRESHOLD_": "65536", "NUMPY_MADVISE_HUGEPAGE": "0"}
    found = subprocess.run(
        [sys.executable, "-c", _FREED, where],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    as_started, reused, handed_back, afterwards, watching = map(int, found.stdout.split())
    assert as_started > 12 * 2500  # 3,072 pages to each array
    assert reused < as_started / 10
    assert watching == 1
    assert handed_back > 50e6
    assert afterwards > as_started / 2


@pytest.mark.parametrize("setting", [None, "none"])
def test_without_the_setting_of_dask_memory_is_left_alone(monkeypatch, setting):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if setting is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", setting)
    monkeypatch.setattr(labelkin.memory, "_set", lambda settings: pytest.fail("was set"))
    labelkin.memory._settings_of_worker.cache_clear()
    with labelkin.memory.reused_memory():
        pass
    labelkin.memory._settings_of_worker.cache_clear()
