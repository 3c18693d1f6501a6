"""Loops report their progress to a watcher, and the command line shows it."""

import io

import numpy as np

from labelkin import LabelDependenceClassifier, LogisticLabels, NaiveBayes
from labelkin.cli import printing
from labelkin.scaling.progress import track, watched


class Reports(list):
    def __call__(self, *report):
        self.append(report)


def test_loop_reports_start_and_end():
    reports = Reports()
    with watched(reports):
        assert list(track("abc", "letters")) == ["a", "b", "c"]
        assert list(track(iter("ab"), "unknown length")) == ["a", "b"]
        assert list(track(["one"], "one part")) == ["one"]
    assert reports == [("letters", 0, 3), ("letters", 3, 3)]
    assert list(track("abc", "letters")) == ["a", "b", "c"]
    assert len(reports) == 2


def test_finished_parts_are_reported(monkeypatch):
    monkeypatch.setattr("labelkin.scaling.progress._PAUSE", -1.0)
    reports = Reports()
    with watched(reports):
        list(track("abc", "letters"))
    assert [done for _, done, _ in reports] == [0, 1, 2, 3]


def test_fit_of_many_labels_reports_its_loops():
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 320)) < 0.05).astype(int)
    X = np.abs(rng.normal(size=(60, 5)))
    reports = Reports()
    model = LabelDependenceClassifier(NaiveBayes(top=5), labels=LogisticLabels(neighbours=4))
    with watched(reports):
        model.fit(X, Y)
    reported = {what for what, _, _ in reports}
    assert "labels and their neighbours" in reported
    for what in reported:
        assert (what, 0) in {(name, done) for name, done, _ in reports}


def test_terminal_shows_bars(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("labelkin.scaling.progress._PAUSE", -1.0)
    with printing.watching():
        for _ in track(range(3), "documents"):
            pass
    assert "documents" in screen.getvalue()
