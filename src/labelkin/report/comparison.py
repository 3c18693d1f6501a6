"""Records of compared systems: what every system scores, and how it stands to its baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from labelkin.label_matrix import read_labels
from labelkin.method.rescorer import LabelRescorer
from labelkin.metrics import Evaluation, evaluate
from labelkin.significance import (
    SUMMED_METRICS,
    Bootstrap,
    SignTest,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
)

if TYPE_CHECKING:
    from labelkin.experiment import Run

_OF_WHOLE_SETS = {"subset_loss", "one_error"}


@dataclass(frozen=True, eq=False)
class System:
    """One system on one corpus.

    Attributes
    ----------
    content
        Name of the content classifier, ``"NB"``.
    addition
        What was added to it, ``"BLR+M2"``; empty for the baseline.
    evaluation
        Every score on the test documents.
    micro, macro
        The s-test and the S-test against the baseline; ``None`` for the baseline itself.
    bootstraps
        Intervals of the differences from the baseline, where they were asked for.
    """

    content: str
    addition: str
    evaluation: Evaluation
    micro: SignTest | None = None
    macro: SignTest | None = None
    bootstraps: tuple[Bootstrap, ...] = ()

    @property
    def name(self) -> str:
        """The name as the paper writes it, ``"NB+BLR+M2"``."""
        return f"{self.content}+{self.addition}" if self.addition else self.content

    @cached_property
    def scores(self) -> dict[str, float]:
        """Every score by the name of its metric."""
        return self.evaluation.scores()


@dataclass(frozen=True, eq=False)
class Comparison:
    """Systems on the same documents of one corpus; the systems of one content stand together."""

    corpus: str
    systems: tuple[System, ...]

    def __getitem__(self, name: str) -> System:
        """Return one system by name."""
        for system in self.systems:
            if system.name == name:
                return system
        known = ", ".join(system.name for system in self.systems)
        raise KeyError(f"No system is named {name!r}; there are {known}.")

    @property
    def proposals(self) -> tuple[System, ...]:
        """The systems that add something to a baseline."""
        return tuple(system for system in self.systems if system.addition)

    def groups(self) -> list[tuple[System, ...]]:
        """Return the systems of each content classifier, in the order of their first system."""
        contents = dict.fromkeys(system.content for system in self.systems)
        return [
            tuple(system for system in self.systems if system.content == content)
            for content in contents
        ]

    def gain(self, system: System, metric: str) -> float:
        """Return by how many per cent a score differs from the baseline's.

        100 · (score − baseline's) / baseline's; NaN where the baseline scores 0, and infinity is
        no gain anyone could read.
        """
        baseline = self[system.content].scores[metric]
        difference = system.scores[metric] - baseline
        return 100 * difference / baseline if baseline else float("nan")


def compare(
    content: str,
    log_odds: ArrayLike,
    additions: Mapping[str, LabelRescorer],
    Y: Any,
    announce: Callable[[str], None] = lambda name: None,
) -> Iterator[System]:
    """Judge content evidence alone, and with each addition; yield a system after the other.

    Parameters
    ----------
    content
        Name of the content classifier.
    log_odds
        Its content evidence for the test documents, ``(n_documents, n_labels)``: computed once,
        shared by all its systems.
    additions
        By name (``"BLR+M2"``) the fitted label evidence, on the scale ``"log_odds"``.
    Y
        The true label sets of the test documents, any kind.
    announce
        Called with the name of each addition's system before it is computed.

    Examples
    --------
    >>> Y = [["tea", "sugar"]] * 6 + [["milk"]] * 6
    >>> additions = {"BLR+M2": LabelRescorer(scale="log_odds").fit(Y)}
    >>> content = [[-2.0, -0.5, 3.0]] * 6 + [[2.0, -2.0, -2.0]] * 6
    >>> alone, added = compare("NB", content, additions, Y)
    >>> added.name, round(alone.scores["micro_f1"], 3), round(added.scores["micro_f1"], 3)
    ('NB+BLR+M2', 0.8, 1.0)
    >>> added.macro.n, added.macro.sign
    (1, '~')
    """
    alone = np.asarray(log_odds, dtype=np.float64)
    yield System(content, "", evaluate(Y, alone))
    for addition, rescorer in additions.items():
        name = f"{content}+{addition}"
        announce(name)
        posterior = rescorer.rescore(alone)
        pair, names = (_decide(alone), _decide(posterior)), (content, name)
        yield System(
            content,
            addition,
            evaluate(Y, posterior),
            micro_sign_test(Y, *pair, names=names),
            macro_sign_test(Y, *pair, names=names),
        )


def compare_runs(
    corpus: str, runs: Iterable[Run], Y: Any, *, bootstrap: bool = False
) -> Comparison:
    """Judge stored runs of one seed by what they decided; nothing is trained.

    A system is tested against its content classifier where that run came before it.

    Parameters
    ----------
    corpus
        Name of the corpus.
    runs
        In the order wanted, a content classifier alone before what is added to it.
    Y
        The true label sets of the test documents, any kind.
    bootstrap
        Whether to draw documents as well, for an interval of each difference.
    """
    alone: dict[str, _Given] = {}
    systems = []
    for run in runs:
        given = _Given(run.system, run.log_odds(), sparse.csr_array(run.decisions()))
        if not run.addition:
            alone[run.content] = given
        system = System(run.content, run.addition, evaluate(Y, given.log_odds, given.decisions))
        if run.addition and run.content in alone:
            system = _test(system, alone[run.content], given, Y, bootstrap)
        systems.append(system)
    return Comparison(corpus, tuple(systems))


class _Given(NamedTuple):
    """What a stored run gave."""

    name: str
    log_odds: Any
    decisions: sparse.csr_array


def _test(system: System, alone: _Given, added: _Given, Y: Any, bootstrap: bool) -> System:
    names = (alone.name, added.name)
    pair = (alone.decisions, added.decisions)
    return replace(
        system,
        micro=micro_sign_test(Y, *pair, names=names),
        macro=macro_sign_test(Y, *pair, names=names),
        bootstraps=tuple(_bootstraps(alone, added, Y)) if bootstrap else (),
    )


def _bootstraps(alone: _Given, added: _Given, Y: Any) -> Iterator[Bootstrap]:
    """Bootstrap every metric that Y allows; the seed is fixed: the same runs, the same interval."""
    truth = read_labels(Y)
    for metric in SUMMED_METRICS:
        if truth.unknown is not None and metric in _OF_WHOLE_SETS:
            continue
        pair = (alone.log_odds, added.log_odds)
        if metric != "one_error":
            pair = (alone.decisions, added.decisions)
        names = (alone.name, added.name)
        yield paired_bootstrap(truth, *pair, metric, random_state=0, names=names)


def _decide(log_odds: Any) -> Any:
    """Decide as :func:`labelkin.metrics.evaluate` does where it is given log-odds only."""
    return (log_odds > 0).astype(np.int64)
