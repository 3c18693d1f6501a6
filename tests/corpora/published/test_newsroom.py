"""The synthetic newsroom: exact distribution, readable texts, constant bytes."""

import hashlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binom

from labelkin.corpora import Corpus, load, newsroom, newsroom_truth
from labelkin.corpora.published.newsroom import (
    ODD_LABEL,
    ODD_STORIES,
    RARELY_OPEN,
    Desk,
    make_truth,
    newsroom_words,
)

WORDS = newsroom_words()
BEATS, DESKS, EXCLUSIVE = WORDS.stories, WORDS.desks, WORDS.exclusive
TRUTH = newsroom_truth()
NAMES = TRUTH.names.tolist()


@pytest.fixture(scope="module")
def corpus():
    return load("newsroom")


@pytest.fixture(scope="module")
def sampled():
    """200,000 label sets."""
    return TRUTH.sample(200_000, seed=1).astype(bool)


# A world small enough to write down: five labels, 32 label sets.

SMALL_BEATS = {
    "sky": {"sun": 3, "rain": 2, "rain wind": 4},
    "game": {"won": 5, "lost": 2},
}
SMALL_DESKS = {
    "out": Desk(0.7, {"sky": 1.0, "game": 0.3}, {"wind": 2.0}),
    "in": Desk(0.3, {"game": 1.0}),
}
SMALL_EXCLUSIVE = (("won", "lost"), ("sun", "rain"))


def subsets(labels):
    return [
        frozenset(chosen)
        for size in range(len(labels) + 1)
        for chosen in itertools.combinations(labels, size)
    ]


def p_of_beat(chosen, beat, desk):
    """p(labels of the beat | desk), as the model is in words."""
    chance = desk.beats.get(beat, RARELY_OPEN)
    if not chosen:
        return 1 - chance
    lean = {
        frozenset(story.split()): weight
        * math.prod(desk.leans.get(label, 1) for label in story.split())
        for story, weight in SMALL_BEATS[beat].items()
    }
    labels = sorted({label for story in SMALL_BEATS[beat] for label in story.split()})
    odd = {
        s: ODD_LABEL ** len(s)
        for s in subsets(labels)
        if s and not any(set(pair) <= s for pair in SMALL_EXCLUSIVE)
    }
    listed_part = lean.get(chosen, 0) / sum(lean.values())
    odd_part = odd.get(chosen, 0) / sum(odd.values())
    return chance * ((1 - ODD_STORIES) * listed_part + ODD_STORIES * odd_part)


def p_of_label_set(chosen):
    skies = {"sun", "rain", "wind"}
    return sum(
        desk.share
        * p_of_beat(frozenset(chosen & skies), "sky", desk)
        * p_of_beat(frozenset(chosen - skies), "game", desk)
        for desk in SMALL_DESKS.values()
    )


def p_given_others(label, others):
    """p(label | all other labels), or NaN when the others never occur."""
    with_it, without = p_of_label_set(others | {label}), p_of_label_set(others - {label})
    return with_it / (with_it + without) if with_it + without else np.nan


def test_truth_equals_the_enumeration_of_a_small_world():
    truth = make_truth(SMALL_BEATS, SMALL_DESKS, SMALL_EXCLUSIVE)
    names = truth.names.tolist()
    worlds = subsets(names)
    assert len(worlds) == 32
    assert sum(p_of_label_set(s) for s in worlds) == pytest.approx(1)

    L = np.array([[label in s for label in names] for s in worlds])
    expected = np.array([[p_given_others(label, s) for label in names] for s in worlds])
    prior = [sum(p_of_label_set(s) for s in worlds if label in s) for label in names]

    assert np.isnan(expected).any() and (expected == 0).any() and (expected == 1).any()
    np.testing.assert_allclose(expit(truth.log_odds(L)), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(truth.prior, prior, rtol=1e-12)


def test_every_table_of_the_newsroom_is_a_distribution():
    for (_, stories), table in zip(BEATS.items(), TRUTH.tables, strict=True):
        n_labels = len({label for story in stories for label in story.split()})
        assert table.shape == (len(DESKS), 2**n_labels)
        np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
        assert (table >= 0).all()
    assert TRUTH.shares.sum() == pytest.approx(1)


def test_sampled_labels_follow_the_conditional_probabilities(sampled):
    """Exact binomial tests of every label in every context of other labels seen 500 times."""
    code = sampled @ (1 << np.arange(len(NAMES)))
    surprise = []
    for j in range(len(NAMES)):
        _, first, context, count = np.unique(
            code & ~(1 << j), return_index=True, return_inverse=True, return_counts=True
        )
        seen = np.bincount(context, weights=sampled[:, j])
        p = expit(TRUTH.log_odds(sampled[first[count >= 500]])[:, j])
        surprise.append(two_sided(seen[count >= 500], count[count >= 500], p))
    p_values = np.concatenate(surprise)
    assert len(p_values) > 2000
    assert p_values.min() > 0.01 / len(p_values)


def two_sided(seen, count, p):
    return 2 * np.minimum(binom.cdf(seen, count, p), binom.sf(seen - 1, count, p))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, len(NAMES) - 1))
def test_log_odds_of_a_label_ignore_the_label(seed, j):
    L = TRUTH.sample(5, seed=seed)
    flipped = L.copy()
    flipped[:, j] = 1 - flipped[:, j]
    np.testing.assert_array_equal(TRUTH.log_odds(L)[:, j], TRUTH.log_odds(flipped)[:, j])


# The paper's three phenomena.


def has(Y, label):
    return Y[:, NAMES.index(label)]


@pytest.mark.parametrize("pair", EXCLUSIVE)
def test_labels_that_exclude_each_other_never_meet(sampled, pair):
    one, other = pair
    assert has(sampled, one).sum() > 1000
    assert has(sampled, other).sum() > 1000
    assert not (has(sampled, one) & has(sampled, other)).any()
    assert TRUTH.log_odds([[other, "health"]])[0, NAMES.index(one)] == -np.inf


# The corpus.


@settings(max_examples=20, deadline=None)
@given(st.integers(60, 150), st.integers(0, 10**6))
def test_the_split_is_two_to_one_and_every_label_has_a_training_document(n_documents, seed):
    corpus = newsroom(n_documents, seed=seed)
    both = np.concatenate([corpus.train, corpus.test])
    assert sorted(both.tolist()) == list(range(n_documents))
    assert len(corpus.train) == round(n_documents * 2 / 3)
    assert (np.diff(corpus.train) > 0).all() and (np.diff(corpus.test) > 0).all()
    occurs = corpus.Y.sum(axis=0) > 0
    assert (corpus.Y[corpus.train].sum(axis=0)[occurs] > 0).all()


def test_fewer_documents_are_the_beginning_of_more(corpus):
    few = newsroom(70)
    assert few.documents.tolist() == corpus.documents[:70].tolist()
    assert few.label_sets() == corpus.label_sets()[:70]


def fingerprint(corpus: Corpus) -> str:
    text = "\n\n".join(corpus.documents)
    labels = "\n".join(" ".join(labels) for labels in corpus.label_sets())
    split = " ".join(map(str, corpus.train))
    return hashlib.sha256("\n\n\n".join([text, labels, split]).encode()).hexdigest()


def test_the_truth_of_probabilities_and_unknown_labels_is_an_error():
    L = np.zeros((2, len(NAMES)))
    L[1, 3] = 0.5
    with pytest.raises(ValueError, match="must contain 0, 1 or NaN"):
        TRUTH.log_odds(L)
    L[1, 3] = np.nan
    with pytest.raises(ValueError, match=r"complete label sets, .* got 1 unknown cells"):
        TRUTH.log_odds(L)
    with pytest.raises(ValueError, match="38 labels, got shape"):
        TRUTH.log_odds(np.zeros((2, 5)))


def test_the_bytes_of_the_newsroom_are_constant(corpus):
    assert fingerprint(corpus) == (
        "8052f4ca92873a665f59239a4479d2ecbd7d8bf519f32bc82e9d28205402b3ce"
    )
