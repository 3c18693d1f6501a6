"""Log-odds, decisions, scores and suggestions are those of the golden files.

The tolerance is 1e-9 with the versions and the machine of the files, and 1e-6 with others, which
round differently. A failure means that a number changed; ``make.py`` stores an intended change.
"""

import json

import numpy as np
import pytest

pytest.importorskip("numba", reason="the stored numbers are those of labelkin[fast]")

from golden_answers import golden_answers
from golden_systems import (
    ALSO_KNOWN,
    ALSO_OUT_OF_FOLD,
    CORPORA,
    DATA,
    DECIDED,
    SYSTEMS,
    kept,
    packed,
)
from make import ANSWERS, HERE, MADE_WITH, surroundings

#: Keys of answers that have another name since ``answers.json`` was made; their values have not.
RENAMED: dict[str, str] = {}
STORED = json.loads(ANSWERS.read_text())


@pytest.fixture(scope="session")
def tolerance():
    return 1e-9 if json.loads(MADE_WITH.read_text()) == surroundings() else 1e-6


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.xdist_group(f"golden_{name}")) for name in CORPORA
    ],
)
def corpus(request):
    if request.param == "reuters21578" and not (DATA / "reuters21578").exists():
        pytest.skip(f"no Reuters-21578 in {DATA}: set LABELKIN_DATA")
    return CORPORA[request.param](), np.load(HERE / f"{request.param}.npz")


@pytest.fixture
def check(corpus, tolerance):
    def same(log_odds, name):
        expected = corpus[1][name]
        np.testing.assert_allclose(kept(log_odds), expected, rtol=tolerance, atol=tolerance)

    return same


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_rescorer_gives_the_log_odds_it_gave(corpus, check, name):
    check(corpus[0].rescored(name), name)


@pytest.mark.parametrize("content", ["NB", "kNN", "SVM"])
def test_the_content_classifier_gives_the_log_odds_it_gave(corpus, check, content):
    check(corpus[0].evidence(content)[1], content)


@pytest.mark.parametrize("name", ALSO_KNOWN)
def test_the_rescorer_answers_to_known_labels_as_it_did(corpus, check, name):
    check(corpus[0].rescored(name, corpus[0].accepted()), f"{name}, known")


@pytest.mark.parametrize("name", ALSO_OUT_OF_FOLD)
def test_the_rescorer_has_golden_out_of_fold_scores(corpus, check, name):
    check(corpus[0].rescored_out_of_fold(name), f"{name}, out of fold")


@pytest.mark.parametrize(("name", "thresholds"), DECIDED)
def test_the_classifier_gives_the_log_odds_and_decisions_it_gave(corpus, check, name, thresholds):
    vectors, stored = corpus
    log_odds, decisions = vectors.classified(name, thresholds)
    check(log_odds, name)
    np.testing.assert_array_equal(packed(decisions), stored[f"{name}, {thresholds}"])


def test_the_classifier_answers_to_known_labels_as_it_did(corpus, check):
    name = "SVM+BLR+M2 w=auto"
    check(corpus[0].classified(name, known=corpus[0].accepted())[0], f"{name}, known")


def test_the_classifier_has_golden_out_of_fold_scores(corpus, check):
    name = "NB+BLR+M2 w=auto"
    check(corpus[0].classifier(name, None)[1], f"{name}, out of fold")


def test_a_change_of_one_cell_is_seen(corpus, check):
    log_odds = corpus[0].rescored("NB+BLR+M2").copy()
    log_odds[5, 7] += 1e-3 * (1 + abs(log_odds[5, 7]))  # the tolerance grows with the number
    with pytest.raises(AssertionError):
        check(log_odds, "NB+BLR+M2")


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    return golden_answers(tmp_path_factory.mktemp("answers"))


def flat(answer, place=""):
    """Yield every value of a nested answer, and where it is."""
    if isinstance(answer, dict):
        for key, value in answer.items():
            yield from flat(value, f"{place}.{RENAMED.get(key, key)}")
    elif isinstance(answer, list):
        yield f"{place} has", len(answer)
        for i, value in enumerate(answer):
            yield from flat(value, f"{place}[{i}]")
    else:
        yield place, answer


def split(answer):
    """Return the numbers of an answer, printed words, and all the rest, each by its place."""
    values = dict(flat(answer))
    numbers = {place: value for place, value in values.items() if isinstance(value, float)}
    others = {place: value for place, value in values.items() if place not in numbers}
    words = {place: value for place, value in others.items() if ".words" in place}
    rest = {place: value for place, value in others.items() if place not in words}
    return numbers, words, rest


@pytest.mark.xdist_group("golden_answers")
@pytest.mark.parametrize("name", STORED)
def test_an_answer_has_the_numbers_it_had(answers, tolerance, name):
    (now, _, rest), (before, _, rest_before) = split(answers[name]), split(STORED[name])
    assert rest == rest_before
    assert now.keys() == before.keys()
    assert now == pytest.approx(before, rel=tolerance, abs=tolerance, nan_ok=True)


@pytest.mark.xdist_group("golden_answers")
@pytest.mark.parametrize("name", STORED)
def test_an_answer_has_the_words_it_had(answers, name):
    assert split(answers[name])[1] == split(STORED[name])[1]


@pytest.mark.xdist_group("golden_answers")
def test_all_answers_are_kept(answers):
    assert answers.keys() == STORED.keys()
