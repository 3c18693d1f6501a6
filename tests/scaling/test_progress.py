"""Loops report how far they are to whoever watches, and to nobody else."""

import io

import numpy as np
import pytest

from labelkin import LabelDependenceClassifier, LogisticLabels, NaiveBayes
from labelkin.cli import printing
from labelkin.scaling.progress import track, watched


class Heard(list):
    def __call__(self, *report):
        self.append(report)


def test_nobody_watches_unless_asked_to():
    parts = [1, 2, 3]
    assert track(parts, "work") is parts


def test_a_loop_reports_its_begin_and_its_end():
    heard = Heard()
    with watched(heard):
        assert list(track("abc", "letters")) == ["a", "b", "c"]
        assert list(track(iter("ab"), "unknown length")) == ["a", "b"]
        assert list(track(["one"], "one part")) == ["one"]
    assert heard == [("letters", 0, 3), ("letters", 3, 3)]
    assert list(track("abc", "letters")) == ["a", "b", "c"]
    assert len(heard) == 2


def test_parts_are_reported_as_they_are_done(monkeypatch):
    monkeypatch.setattr("labelkin.scaling.progress._PAUSE", -1.0)
    heard = Heard()
    with watched(heard):
        list(track("abc", "letters"))
    assert [done for _, done, _ in heard] == [0, 1, 2, 3]


def test_a_loop_that_fails_is_ended():
    heard = Heard()
    with watched(heard), pytest.raises(ZeroDivisionError):
        for number in track([1, 0], "shares"):
            1 / number
    assert heard[0] == ("shares", 0, 2)


def test_a_fit_of_many_labels_reports_its_loops():
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 320)) < 0.05).astype(int)
    X = np.abs(rng.normal(size=(60, 5)))
    heard = Heard()
    model = LabelDependenceClassifier(NaiveBayes(top=5), labels=LogisticLabels(neighbours=4))
    with watched(heard):
        model.fit(X, Y)
    reported = {what for what, _, _ in heard}
    assert "labels and their neighbours" in reported
    for what in reported:
        assert (what, 0) in {(name, done) for name, done, _ in heard}


def test_a_terminal_shows_bars_that_go(monkeypatch):
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
