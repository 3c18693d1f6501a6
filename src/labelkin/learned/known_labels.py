"""Known labels: what an answer adds to a prediction, learned from simulated answers.

A person accepts or rejects a label. Most of what that says about the other labels is said already:
the content speaks for all of them, and the label itself was predicted. An answer adds what it is
above the prediction L, for each accepted label k and each rejected one

    to label j:   A_kj (1 − L_k)   and   − R_kj L_k,        A = a₊ max(W, 0) + a₋ min(W, 0)

with the paper's label weights W, and R likewise. So an answer that was expected adds nothing, and
with all four numbers at 1 the answers simply replace the predictions in equation 2. The numbers
are learned on training documents as if each were new, whose answers are known, too: four kinds of
people are dealt to the documents in turn (nothing is drawn at random), and the numbers are those
under which the labels that remain open have the least squared error.

1. Somebody walks down the suggestions and answers the first ones.
2. Somebody names some of the labels but not all. A document of which all labels are named teaches
   that there is no other, which is true of most documents and wrong where it matters: whoever
   names a label wants to be shown those that are left. Walks teach it often enough; and for what
   accepted labels count, documents in which nothing is left to find count half.
3. Somebody rejects wrong suggestions, and passes over the right ones.
4. Somebody answers any part of the labels.

All this adds to the posterior that there is when nothing is known, whose order is that of the
suggestions. Whether answers may change which open label comes first is asked of the same people, as
for predicted labels (``first_place``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from labelkin.label_matrix import Cells, read_weight
from labelkin.learned.candidates import CandidateEvidence
from labelkin.learned.predicted_evidence import PredictedEvidence
from labelkin.method.combination import Combination, Matrix
from labelkin.solvers.logistic import LinearTerm

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: Cells that are enough to learn four numbers from.
_ENOUGH_CELLS = 300_000
#: What the numbers are without data, how many squared errors it takes to move them, and how far.
_START, _INERTIA, _MOST = 0.5, 10.0, 1.5
#: What a document of which all labels are found counts for accepted labels.
_NOTHING_LEFT = 0.5
#: Steps towards the least squared error, and the share of it that ends them.
_STEPS, _HALVINGS, _SETTLED = 10, 6, 1e-5
#: Cells that answers hardly move teach nothing.
_HARDLY = 1e-3
#: Shares of answers in the first place that are tried, beside none.
_SHARES = (0.1, 0.3, 0.5, 0.75, 1.0)
#: Irrational steps, so that documents and places do not fall into step with each other.
_GOLDEN, _PLASTIC, _PLASTIC_2 = 0.6180339887498949, 0.7548776662466927, 0.5698402909980532


@dataclass(frozen=True)
class KnownWeights:
    """How much of the paper's label weights counts for labels that are known.

    Attributes
    ----------
    accepted, rejected
        How much of the weights above 0, and how much of those below 0.
    first_place
        How much accepted and rejected labels have a say in which open label comes first.
    """

    accepted: tuple[float, float]
    rejected: tuple[float, float]
    first_place: tuple[float, float] = (1.0, 1.0)

    def terms(self, paper: LinearTerm) -> tuple[LinearTerm, LinearTerm]:
        """Return what accepted and what rejected labels count, given the paper's term."""
        return paper.by_sign(*self.accepted), paper.by_sign(*self.rejected)

    def added(self, paper: Combination, filled: Matrix, known: Matrix) -> tuple[Matrix, Matrix]:
        """Return what accepted and what rejected labels add, ``(n_documents, n_labels)`` each.

        Label evidence that is not linear has no weights: what it says with the accepted labels
        filled in less what it says of predictions, then with all known labels filled in less that.

        Parameters
        ----------
        paper
            Whose label evidence on true labels counts.
        filled
            Predicted labels.
        known
            1 and 0 where labels are known, NaN where they are open.
        """
        if paper.paper_term is not None:
            term = paper.paper_term
            return (
                _answers_times(known, 1.0, filled, term, self.accepted),
                _answers_times(known, 0.0, filled, term, self.rejected),
            )
        with_accepted = np.where(known == 1, 1.0, filled)
        with_all = np.where(known == 0, 0.0, with_accepted)
        said = [paper.beyond_prior(given) for given in (filled, with_accepted, with_all)]
        return _signed(said[1] - said[0], self.accepted), _signed(said[2] - said[1], self.rejected)

    def added_at(
        self, paper: Combination, cells: Cells, filled: Matrix, known: Matrix, absent: Matrix
    ) -> tuple[Matrix, Matrix]:
        """Return what accepted and what rejected labels add at candidate cells, ``(n_cells,)``.

        As :meth:`added`, with ``filled`` and ``known`` of the cells; ``absent`` is what every label
        counts as that is none, ``(n_labels,)``.
        """
        if paper.paper_term is not None:
            accepted, rejected = self.terms(paper.paper_term)
            return (
                accepted.at_cells(cells, np.where(known == 1, 1.0 - filled, 0.0)),
                rejected.at_cells(cells, np.where(known == 0, -filled, 0.0)),
            )
        with_accepted = np.where(known == 1, 1.0, filled)
        with_all = np.where(known == 0, 0.0, with_accepted)
        given = (filled, with_accepted, with_all)
        said = [paper.added_at(cells, values, absent) for values in given]
        return _signed(said[1] - said[0], self.accepted), _signed(said[2] - said[1], self.rejected)


#: Answers in the place of predictions, and no more: equation 2.
PAPER_WEIGHTS = KnownWeights((1.0, 1.0), (1.0, 1.0))


def learn_known_weights(
    evidence: PredictedEvidence | CandidateEvidence,
    posterior: Matrix,
    constant: Bools,
    *,
    first_place: bool,
) -> KnownWeights:
    """Learn what known labels add, from documents as if each were new.

    Parameters
    ----------
    evidence : PredictedEvidence or CandidateEvidence
        Content and label evidence of the documents, or of their candidates.
    posterior : array of shape (n_documents, n_labels) or (n_cells,)
        Their posterior when nothing is known: by it suggestions are in order.
    constant : array of shape (n_labels,)
        Labels that take no part in the first place.
    first_place : bool
        Whether the documents decide how much answers have a say in who comes first.
    """
    every = 1 + posterior.size // _ENOUGH_CELLS
    if isinstance(evidence, CandidateEvidence):
        some = _Sample.of_candidates(evidence, posterior, ~constant, every)
    else:
        some = _Sample.of(evidence, posterior, ~constant, every)
    dealt = np.full(some.truth.shape, np.nan)
    for turn, person in enumerate(_PEOPLE):
        rows = slice(turn, None, len(_PEOPLE))
        dealt[rows] = _answers(person, some.truth[rows], some.place[rows])
    moves = [np.add(*some.added(_unit(number), dealt)) for number in range(4)]
    cells = _OpenCells.of(some, np.isnan(dealt) & some.is_candidate, moves)
    all_alike = _least_squares(cells, cells.times, np.full(4, _START))
    wanting = np.where(cells.has_more, 1.0, _NOTHING_LEFT) * cells.times
    accepted = _least_squares(cells, wanting, all_alike)[:2].tolist()
    rejected = all_alike[2:].tolist()
    learned = KnownWeights((accepted[0], accepted[1]), (rejected[0], rejected[1]))
    if not first_place:
        return learned
    return replace(learned, first_place=_first_place(some, learned))


def _unit(number: int) -> KnownWeights:
    """Return weights of which one is 1 and all others are 0."""
    one = [float(number == i) for i in range(4)]
    return KnownWeights((one[0], one[1]), (one[2], one[3]))


#: Weights and known labels → what accepted and what rejected ones add.
_Added = Callable[[KnownWeights, Matrix], tuple[Matrix, Matrix]]


class _Sample(NamedTuple):
    """Some documents to learn from, as matrices of documents × labels, or × candidates.

    ``place`` is that of each label in the suggestions, from 0; ``added`` asks layers that have not
    seen the document. A document's candidates stand side by side, and behind them its labels that
    are none: somebody may name them, and then they join. Behind those there is nothing.
    """

    posterior: Matrix
    truth: Matrix
    place: Ints
    is_candidate: Bools
    takes_part: Bools
    times: Matrix
    added: _Added

    @classmethod
    def of(
        cls, whole: PredictedEvidence, posterior: Matrix, takes_part: Bools, every: int
    ) -> _Sample:
        evidence, posterior = whole.rows(np.arange(len(posterior)) % every == 0), posterior[::every]
        fold, filled = evidence.fold, evidence.filled

        def added(weights: KnownWeights, known: Matrix) -> tuple[Matrix, Matrix]:
            accepted, rejected = np.zeros(known.shape), np.zeros(known.shape)
            for k, layer in enumerate(evidence.layers):
                rows = np.flatnonzero(fold == k)
                accepted[rows], rejected[rows] = weights.added(layer, filled[rows], known[rows])
            return accepted, rejected

        return cls(
            posterior,
            evidence.labels.dense(),
            _places(-posterior),
            np.ones(posterior.shape, dtype=np.bool_),
            np.broadcast_to(takes_part, posterior.shape),
            read_weight(evidence.weight, len(posterior)),
            added,
        )

    @classmethod
    def of_candidates(
        cls, whole: CandidateEvidence, posterior: Matrix, takes_part: Bools, every: int
    ) -> _Sample:
        documents = np.arange(0, whole.cells.shape[0], every)
        candidates, places = whole.cells.take(documents)
        labels, fold = whole.labels.rows(documents), whole.fold[documents]
        cells, here, _ = candidates.union(Cells.of(labels.positive))
        filled, known_posterior = whole.absent[cells.label], np.full(cells.n, -np.inf)
        filled[here], known_posterior[here] = whole.filled[places], posterior[places]
        is_candidate = np.zeros(cells.n, dtype=np.bool_)
        is_candidate[here] = True
        truth = cells.at(labels.positive)
        if labels.unknown is not None:
            truth[cells.at(labels.unknown) > 0] = np.nan
        rows, at = cells.side_by_side(known_posterior, -np.inf)
        parts = [cells.take(np.flatnonzero(fold == k)) for k in range(len(whole.layers))]

        def added(weights: KnownWeights, known: Matrix) -> tuple[Matrix, Matrix]:
            at_cells = known[at]
            accepted, rejected = np.zeros(known.shape), np.zeros(known.shape)
            for layer, (part, own) in zip(whole.layers, parts, strict=True):
                given = part, filled[own], at_cells[own], whole.absent
                where = at[0][own], at[1][own]
                accepted[where], rejected[where] = weights.added_at(layer, *given)
            return accepted, rejected

        return cls(
            rows,
            cells.side_by_side(truth, np.nan)[0],
            _places(-rows),
            cells.side_by_side(is_candidate, False)[0],
            cells.side_by_side(is_candidate & takes_part[cells.label], False)[0],
            read_weight(whole.weight, whole.cells.shape[0])[documents],
            added,
        )


def _walk(truth: Matrix, place: Ints, turn: Ints) -> Bools:
    """Answer the first one to five suggestions, at most half of all."""
    return place < np.minimum(1 + turn % 5, max(truth.shape[1] // 2, 1))[:, None]


def _name_some(truth: Matrix, place: Ints, turn: Ints) -> Bools:
    """Accept one to four of the labels, whichever, but not all."""
    has = truth == 1
    n_own = has.sum(axis=1)
    first = np.floor(n_own * (turn * _GOLDEN % 1)).astype(np.int64)
    own = _places(np.where(has, place, place + truth.shape[1]))
    after_first = (own - first[:, None]) % np.maximum(n_own, 1)[:, None]
    n_named = 1 + turn % np.clip(n_own - 1, 1, 4)
    return has & (after_first < n_named[:, None]) & (n_own > 1)[:, None]


def _reject_wrong(truth: Matrix, place: Ints, turn: Ints) -> Bools:
    """Reject the first one to three wrong suggestions, at most a third of all."""
    wrong = truth == 0
    n_rejected = np.minimum(1 + turn % 3, max(truth.shape[1] // 3, 1))
    return wrong & (_places(np.where(wrong, place, place + len(wrong[0]))) < n_rejected[:, None])


def _answer_some(truth: Matrix, place: Ints, turn: Ints) -> Bools:
    """Answer any part of the labels, from none to nearly all."""
    return (place * _PLASTIC + turn[:, None] * _PLASTIC_2) % 1 < (turn * _GOLDEN % 1)[:, None]


_Person = Callable[[Matrix, Ints, Ints], Bools]
_PEOPLE: tuple[_Person, ...] = (_walk, _name_some, _reject_wrong, _answer_some)


def _answers(person: _Person, truth: Matrix, place: Ints) -> Matrix:
    """Return what a kind of person says of documents: known labels; nobody knows missing cells."""
    return np.where(person(truth, place, np.arange(len(truth))), truth, np.nan)


class _OpenCells(NamedTuple):
    """Cells that answers move, and that stay open; ``moves`` has a column for each number."""

    moves: Matrix
    posterior: Matrix
    truth: Matrix
    times: Matrix
    has_more: Bools

    @classmethod
    def of(cls, some: _Sample, is_open: Bools, moves: list[Matrix]) -> _OpenCells:
        cells = is_open & ~np.isnan(some.truth)
        cells &= np.max([np.abs(move) for move in moves], axis=0) > _HARDLY
        document = np.nonzero(cells)[0]
        has_more = (is_open & (some.truth == 1)).any(axis=1)
        return cls(
            np.column_stack([move[cells] for move in moves]),
            some.posterior[cells],
            some.truth[cells],
            some.times[document],
            has_more[document],
        )


def _least_squares(cells: _OpenCells, times: Matrix, best: Matrix) -> Matrix:
    """Return how much of each move there should be: Gauss-Newton within [0, most]."""
    X = cells.moves

    def errors(weights: Matrix) -> tuple[Matrix, Matrix, float]:
        p = expit(cells.posterior + X @ weights)
        away = weights - _START
        error = p - cells.truth
        return p, error, float(times @ error**2 + _INERTIA * away @ away)

    p, error, loss = errors(best)
    for _ in range(_STEPS):
        slopes = X * (p * (1 - p))[:, None]
        weighted = slopes * times[:, None]
        gradient = weighted.T @ error + _INERTIA * (best - _START)
        step = np.linalg.solve(weighted.T @ slopes + _INERTIA * np.eye(len(best)), gradient)
        for halving in range(_HALVINGS):
            tried = np.clip(best - step / 2**halving, 0.0, _MOST)
            p, error, now = errors(tried)
            if now < loss:
                break
        else:
            break
        settled = loss - now < _SETTLED * loss
        best, loss = tried, now
        if settled:
            break
    return best


def _first_place(some: _Sample, learned: KnownWeights) -> tuple[float, float]:
    """Return the shares of accepted and rejected labels in the first place.

    Those under which most documents have a true label in front of the open ones; above 0 only where
    that is beyond chance, as in :func:`labelkin.learned.first_place.choose_first_place`.
    """
    worlds = [_OpenWorld.of(some, learned, person) for person in _PEOPLE[:3]]
    times = np.concatenate([world.times for world in worlds])

    def right(accepted: float, rejected: float) -> Bools:
        return np.concatenate([world.right(accepted, rejected) for world in worlds])

    def best(right_by: Callable[[float], Bools]) -> float:
        without = right_by(0.0)
        share, most = 0.0, float(times @ without)
        for tried in _SHARES:
            now = right_by(tried)
            wins, losses = times @ (now & ~without), times @ (without & ~now)
            if wins - losses > np.sqrt(wins + losses) and times @ now > most:
                share, most = tried, float(times @ now)
        return share

    rejected = best(lambda share: right(1.0, share))
    return best(lambda share: right(share, rejected)), rejected


class _OpenWorld(NamedTuple):
    """Documents that have an open label left after somebody's answers, in the contest for it."""

    contest: Matrix
    accepted: Matrix
    rejected: Matrix
    is_true: Bools
    times: Matrix

    @classmethod
    def of(cls, some: _Sample, learned: KnownWeights, person: _Person) -> _OpenWorld:
        known = _answers(person, some.truth, some.place)
        is_true = np.isnan(known) & some.is_candidate & (some.truth == 1)
        rows = np.flatnonzero(is_true.any(axis=1) & ~np.isnan(known).all(axis=1))
        accepted, rejected = some.added(learned, known)
        among = np.where(np.isnan(known) & some.takes_part, some.posterior, -np.inf)
        return cls(among[rows], accepted[rows], rejected[rows], is_true[rows], some.times[rows])

    def right(self, accepted: float, rejected: float) -> Bools:
        """Return whether a true label is first, given the shares of the answers."""
        total = self.contest + accepted * self.accepted + rejected * self.rejected
        first = total.argmax(axis=1)
        return np.asarray(self.is_true[np.arange(len(first)), first])


def _places(keys: NDArray[np.generic]) -> Ints:
    """Return the place of each cell in its row, smallest first; of equals the left one."""
    order = np.argsort(keys, axis=1, kind="stable")
    places = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(places, order, np.arange(order.shape[1])[None, :], axis=1)
    return places


def _signed(values: Matrix, shares: tuple[float, float]) -> Matrix:
    """Return values above 0 times the first share, others times the second."""
    return np.where(values > 0, shares[0] * values, shares[1] * values)


def _answers_times(
    known: Matrix, answer: float, filled: Matrix, term: LinearTerm, shares: tuple[float, float]
) -> Matrix:
    """Return what labels of one answer are above their predictions, times their scaled weights.

    Only the labels that have this answer somewhere are looked at: of one document, a few.
    """
    has_answer = known == answer
    used = np.flatnonzero(has_answer.any(axis=0))
    if not len(used):
        return np.zeros(known.shape)
    if sparse.issparse(term.weights):
        news = np.where(has_answer, answer - filled, 0.0)
        return term.by_sign(*shares).beyond_bias(news)
    news = np.where(has_answer[:, used], answer - filled[:, used], 0.0)
    product: Matrix = news @ _signed(term.weights[used], shares)
    return product
